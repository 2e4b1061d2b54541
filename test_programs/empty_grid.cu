// Three launches, the one in the middle with a grid that is empty at run time.
//
// Shows: CUDA refuses an empty grid with an error, skips that launch and runs the others. The three
// launches fuse behind a guard that tests shapes and configurations; the invalid one is issued at
// its own place, so that the host finds the error where it looks for it, and nothing runs fused.
//
// usage: empty_grid [elements [elements of the middle launch]]
//
// expect: 3 launches -> 1
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

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 4000;
    const int middle = argc > 2 ? atoi(argv[2]) : 0;
    if (n < 1 || middle < 0 || middle > n) {
        fprintf(stderr, "usage: %s [elements [elements of the middle launch]]\n", argv[0]);
        return 2;
    }
    const size_t bytes = n * sizeof(int);
    std::vector<int> values(n);
    for (int i = 0; i < n; ++i) values[i] = i;
    int *x;
    cudaMalloc(&x, bytes);
    cudaMemcpy(x, values.data(), bytes, cudaMemcpyHostToDevice);

    const int threads = 128;
    increment<<<(n + threads - 1) / threads, threads>>>(x, n);
    twice<<<(middle + threads - 1) / threads, threads>>>(x, middle);
    cudaError_t status = cudaGetLastError();
    increment<<<(n + threads - 1) / threads, threads>>>(x, n);
    cudaMemcpy(values.data(), x, bytes, cudaMemcpyDeviceToHost);
    cudaFree(x);

    int wrong = status != (middle == 0 ? cudaErrorInvalidValue : cudaSuccess);
    for (int i = 0; i < n; ++i) wrong += values[i] != (i < middle ? 2 * (i + 1) : i + 1) + 1;
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
