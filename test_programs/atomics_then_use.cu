// All threads add to one total with atomics; the next launch reads the total.
//
// Shows: the total is complete only when the whole grid has run. Atomics order nothing across
// blocks, so the dependence has global width.
//
// usage: atomics_then_use [elements]
//
// expect: 2 launches -> 2
// expect-missed: global_dependence
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void add_up(const int *x, int *total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(total, x[i]);
}

__global__ void distance_to_mean(const int *x, const int *total, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = n * x[i] - *total;
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 3000;
    if (n < 1) {
        fprintf(stderr, "usage: %s [elements]\n", argv[0]);
        return 2;
    }
    const size_t bytes = n * sizeof(int);
    std::vector<int> input(n), output(n);
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += input[i] = (i * 7) % 50;
    int *x, *y, *total;
    cudaMalloc(&x, bytes);
    cudaMalloc(&y, bytes);
    cudaMalloc(&total, sizeof(int));
    cudaMemcpy(x, input.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemset(total, 0, sizeof(int));

    const int threads = 128, blocks = (n + threads - 1) / threads;
    add_up<<<blocks, threads>>>(x, total, n);
    distance_to_mean<<<blocks, threads>>>(x, total, y, n);
    cudaMemcpy(output.data(), y, bytes, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(y);
    cudaFree(total);

    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += output[i] != n * input[i] - sum;
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
