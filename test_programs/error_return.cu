// Between two launches the host may turn back: when the first launch failed, or when the caller
// wanted no second step.
//
// Shows: launches only ever move down, and where control leaves before the fused launch, those that
// were waiting are issued there. The first launch happens on every path, as written.
//
// usage: error_return [elements]
//
// expect: 2 launches -> 1
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void increment(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}

__global__ void twice(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

static int process(int *x, int n, int steps) {
    const int threads = 128, blocks = (n + threads - 1) / threads;
    increment<<<blocks, threads>>>(x, n);
    if (cudaGetLastError() != cudaSuccess) return -1;
    if (steps < 2) return 1;
    twice<<<blocks, threads>>>(x, n);
    if (cudaGetLastError() != cudaSuccess) return -1;
    return 2;
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 4000;
    if (n < 1) {
        fprintf(stderr, "usage: %s [elements]\n", argv[0]);
        return 2;
    }
    const size_t bytes = n * sizeof(int);
    std::vector<int> values(n, 5);
    int *x;
    cudaMalloc(&x, bytes);
    int wrong = 0, expected = 5;
    for (int steps = 1; steps <= 4; ++steps) {
        cudaMemcpy(x, values.data(), bytes, cudaMemcpyHostToDevice);
        int done = process(x, n, steps);
        cudaMemcpy(values.data(), x, bytes, cudaMemcpyDeviceToHost);
        expected = steps < 2 ? expected + 1 : 2 * (expected + 1);
        wrong += done != (steps < 2 ? 1 : 2);
        for (int i = 0; i < n; ++i) wrong += values[i] != expected;
    }
    cudaFree(x);
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
