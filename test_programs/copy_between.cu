// A copy between two launches keeps what the first one made, before the second changes it.
//
// Shows: copies take part in the order of things. One within the device moves its elements as a thread
// of a launch would: the three are one launch. No launch moves below a copy of its result to the
// host, so the last one stays unfused.
//
// usage: copy_between [elements]
//
// expect: 3 launches -> 2
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
    square<<<blocks, threads>>>(x, n);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(saved);

    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += before[i] != i || after[i] != i * i;
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
