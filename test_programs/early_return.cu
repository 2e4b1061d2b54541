// Threads beyond the end return at once; the next kernel has a barrier that all threads must reach.
//
// Shows: in a fused kernel an early return leaves its own segment only, or the barrier of the next
// would wait for ever. The third kernel returns before a barrier of its own: CUDA lets the others
// pass without those threads, but in a fused kernel they would still be needed, so it stays unfused.
//
// usage: early_return [elements]
//
// expect: 3 launches -> 1
// expect-missed:
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int THREADS = 64;

__global__ void square(const int *x, int *y, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    y[i] = x[i] * x[i];
}

// Replaces every element by the sum of its block's elements.
__global__ void block_sums(int *y, int n) {
    __shared__ int partial[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    partial[threadIdx.x] = i < n ? y[i] : 0;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < THREADS; ++k) sum += partial[k];
    if (i < n) y[i] = sum;
}

// Adds the first element of the block to all; threads beyond the end have left.
__global__ void add_first(int *y, int n) {
    __shared__ int first;
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    if (threadIdx.x == 0) first = y[i];
    __syncthreads();
    y[i] += first;
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 1001;
    if (n < 1) {
        fprintf(stderr, "usage: %s [elements]\n", argv[0]);
        return 2;
    }
    const size_t bytes = n * sizeof(int);
    std::vector<int> input(n), output(n);
    for (int i = 0; i < n; ++i) input[i] = i % 17 - 8;

    int *x, *y;
    cudaMalloc(&x, bytes);
    cudaMalloc(&y, bytes);
    cudaMemcpy(x, input.data(), bytes, cudaMemcpyHostToDevice);
    const int blocks = (n + THREADS - 1) / THREADS;
    square<<<blocks, THREADS>>>(x, y, n);
    block_sums<<<blocks, THREADS>>>(y, n);
    add_first<<<blocks, THREADS>>>(y, n);
    cudaMemcpy(output.data(), y, bytes, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(y);

    std::vector<int> sums(blocks);
    for (int i = 0; i < n; ++i) sums[i / THREADS] += input[i] * input[i];
    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += output[i] != 2 * sums[i / THREADS];
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
