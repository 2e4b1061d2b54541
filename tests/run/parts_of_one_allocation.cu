// Kernels that hand on a thread's four elements in parts of one allocation, which each step writes anew.
//
// Shows: launches that wait, with buffers that are replaced as a whole among theirs and one that is not, run over parts
// of an allocation that are told apart by what each of them touches.
//
// arguments: 1
// arguments: 5
// expect: 5 launches -> 3
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int ELEMENTS = 2048, THREADS = 128, OWN = 4;

// A thread has four elements.
#define FOR_OWN for (int i = 0, e = blockIdx.x * OWN * THREADS + threadIdx.x; i < OWN; ++i, e += THREADS)

__global__ void __launch_bounds__(THREADS) doubled(const float *in, float *out) {
    FOR_OWN out[e] = 2.0f * in[e];
}

__global__ void __launch_bounds__(THREADS) raised(const float *in, float *out) {
    FOR_OWN out[e] = in[e] + 1.0f;
}

// An element a thread.
__global__ void __launch_bounds__(THREADS) negated(const float *in, float *out) {
    const int e = blockIdx.x * THREADS + threadIdx.x;
    out[e] = -in[e];
}

// Of elements of other blocks.
__global__ void __launch_bounds__(THREADS) sums(const float *in, float *out) {
    FOR_OWN {
        float sum = 0.0f;
        for (int k = 0; k < 32; ++k) sum += in[k * 64 + e % 64] * ((k ^ e) & 7);
        out[e] = sum;
    }
}

int main(int argc, char **argv) {
    const int steps = argc > 1 ? atoi(argv[1]) : 5;
    std::vector<float> host(steps * ELEMENTS);
    for (size_t i = 0; i < host.size(); ++i) host[i] = (float)(i % 97) - 48.0f;
    float *in, *way, *other, *out, *out2;
    cudaMalloc(&in, host.size() * sizeof(float));
    cudaMalloc(&way, 2 * ELEMENTS * sizeof(float));
    cudaMalloc(&other, ELEMENTS * sizeof(float));
    cudaMalloc(&out, host.size() * sizeof(float));
    cudaMalloc(&out2, host.size() * sizeof(float));
    cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
    const dim3 grid(ELEMENTS / THREADS / OWN);
    for (int step = 0; step < steps; ++step) {
        doubled<<<grid, THREADS>>>(in + step * ELEMENTS, way);
        raised<<<grid, THREADS>>>(way, way + ELEMENTS);
        sums<<<grid, THREADS>>>(way + ELEMENTS, out + step * ELEMENTS);
        // What is replaced as a whole makes all of these launches wait.
        negated<<<ELEMENTS / THREADS, THREADS>>>(in + step * ELEMENTS, other);
        sums<<<grid, THREADS>>>(other, out2 + step * ELEMENTS);
    }
    std::vector<float> result(host.size()), result2(host.size()), last(2 * ELEMENTS);
    cudaMemcpy(result.data(), out, result.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(result2.data(), out2, result2.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(last.data(), way, last.size() * sizeof(float), cudaMemcpyDeviceToHost);
    bool right = true;
    for (size_t i = 0; i < host.size(); ++i) {
        const size_t begin = i / ELEMENTS * ELEMENTS, e = i % ELEMENTS;
        float sum = 0.0f, sum2 = 0.0f;
        for (int k = 0; k < 32; ++k) {
            const float value = host[begin + k * 64 + e % 64];
            sum += (2.0f * value + 1.0f) * ((k ^ e) & 7);
            sum2 -= value * ((k ^ e) & 7);
        }
        right &= result[i] == sum && result2[i] == sum2;
    }
    for (size_t i = 0; i < ELEMENTS; ++i) {
        const float doubled = 2.0f * host[host.size() - ELEMENTS + i];
        right &= last[i] == doubled && last[ELEMENTS + i] == doubled + 1.0f;
    }
    printf("%s\n", right ? "PASS" : "FAIL");
    return !right;
}
