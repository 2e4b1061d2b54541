// A copy between two launches keeps what the first one made, before the second changes it.
//
// Shows: copies take part in the order of things. The first launch cannot move below the copy of its
// result, so the two stay apart although every element stays in its thread.
//
// usage: copy_between [elements]
//
// expect: 2 launches -> 2
// expect-missed: copy_between
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void fill(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i;
}

__global__ void square(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * x[i];
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 4000;
    if (n < 1) {
        fprintf(stderr, "usage: %s [elements]\n", argv[0]);
        return 2;
    }
    const size_t bytes = n * sizeof(int);
    std::vector<int> before(n), after(n);
    int *x, *saved;
    cudaMalloc(&x, bytes);
    cudaMalloc(&saved, bytes);

    const int threads = 128, blocks = (n + threads - 1) / threads;
    fill<<<blocks, threads>>>(x, n);
    cudaMemcpy(saved, x, bytes, cudaMemcpyDeviceToDevice);
    square<<<blocks, threads>>>(x, n);
    cudaMemcpy(before.data(), saved, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(after.data(), x, bytes, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(saved);

    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += before[i] != i || after[i] != i * i;
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
