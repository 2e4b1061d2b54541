// Launches that fuse with nothing, and that pass a constant by which their kernel repeats a loop or divides: each has a kernel with that
// constant. Beside them stand launches of the same kernels with numbers that only the run knows, or too large ones, and the constants that are
// of no use. An argument is a number that the compiler does not know.
//
// expect: 8 launches -> 8
// arguments: 5
// arguments: 0
#include <cstdio>
#include <cstdlib>
#include <vector>

const int N = 1000;

__global__ void filter(float *out, const float *in, const float *weights, int taps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int tap = 0; tap < taps; tap++) sum += in[(i + tap) % n] * weights[tap];
    out[i] = sum;
}

// The loop touches no memory.
__global__ void power(float *out, const float *in, int exponent, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float product = 1.0f;
    for (int each = 0; each < exponent; each++) product *= in[i];
    out[i] = product;
}

__global__ void mirror(float *out, const float *in, int width, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i / width * width + (width - 1 - i % width)];
}

int main(int argc, char **argv) {
    int known_to_run = argc > 1 ? atoi(argv[1]) : 3;
    std::vector<float> input(N), weights(100), found(N), expected(N);
    for (int i = 0; i < N; i++) input[i] = (i % 23) * 0.125f;
    for (int i = 0; i < 100; i++) weights[i] = (i % 5) - 2.0f;
    float *in, *factors, *out;
    cudaMalloc(&in, N * sizeof(float));
    cudaMalloc(&factors, weights.size() * sizeof(float));
    cudaMalloc(&out, N * sizeof(float));
    cudaMemcpy(in, input.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(factors, weights.data(), weights.size() * sizeof(float), cudaMemcpyHostToDevice);
    bool right = true;
    auto check = [&](auto value) {
        cudaMemcpy(found.data(), out, N * sizeof(float), cudaMemcpyDeviceToHost);
        for (int i = 0; i < N; i++) right &= found[i] == value(i);
    };
    auto filtered = [&](int taps) {
        return [&, taps](int i) {
            float sum = 0.0f;
            for (int tap = 0; tap < taps; tap++) sum += input[(i + tap) % N] * weights[tap];
            return sum;
        };
    };
    auto powers = [&](int exponent) {
        return [&, exponent](int i) {
            float product = 1.0f;
            for (int each = 0; each < exponent; each++) product *= input[i];
            return product;
        };
    };
    auto mirrored = [&](int width) {
        return [&, width](int i) { return input[i / width * width + (width - 1 - i % width)]; };
    };
    filter<<<8, 128>>>(out, in, factors, 5, N);
    check(filtered(5));
    filter<<<8, 128>>>(out, in, factors, known_to_run, N);
    check(filtered(known_to_run));
    filter<<<8, 128>>>(out, in, factors, 100, N);
    check(filtered(100));
    filter<<<8, 128>>>(out, in, factors, 0, N);
    check(filtered(0));
    power<<<8, 128>>>(out, in, 4, N);
    check(powers(4));
    power<<<8, 128>>>(out, in, known_to_run, N);
    check(powers(known_to_run));
    mirror<<<8, 128>>>(out, in, 25, N);
    check(mirrored(25));
    mirror<<<8, 128>>>(out, in, 8 * known_to_run + 10, known_to_run ? 50 : N);
    cudaMemcpy(found.data(), out, N * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 50; i++) right &= found[i] == mirrored(8 * known_to_run + 10)(i);
    puts(right ? "PASS" : "FAIL");
}
