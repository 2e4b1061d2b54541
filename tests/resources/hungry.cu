// A kernel of which each thread keeps more numbers than a thread of the largest block has registers for, behind one that it
// reads from. So many threads as a block may have: the first argument.
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int KEPT = 80;

__global__ void begin(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i % 9;
}

// All numbers are taken in one order, and then in the other.
__global__ void weigh(float *x, const float *y, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i < n ? i : n - 1;
    float kept[KEPT];
#pragma unroll
    for (int k = 0; k < KEPT; ++k) kept[k] = y[at + k * n];
    float sum = i < n ? x[i] : 0;
#pragma unroll
    for (int k = 0; k < KEPT; ++k) sum = sum * 0.5f + kept[k];
#pragma unroll
    for (int k = KEPT - 1; k >= 0; --k) sum = sum * 0.5f + kept[k];
    if (i < n) out[i] = sum;
}

int main(int argc, char **argv) {
    const int n = 2000, threads = argc > 1 ? atoi(argv[1]) : 128, blocks = (n + threads - 1) / threads;
    std::vector<float> weights(n * KEPT), result(n);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = i % 7;
    float *x, *y, *out;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, weights.size() * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemcpy(y, weights.data(), weights.size() * sizeof(float), cudaMemcpyHostToDevice);
    begin<<<blocks, threads>>>(x, n);
    weigh<<<blocks, threads>>>(x, y, out, n);
    cudaMemcpy(result.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
    double all = 0;
    for (float each : result) all = all * 0.999 + each;
    printf("%.9g\n", all);
}
