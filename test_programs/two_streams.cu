// One stream makes a vector, an event tells another stream, which works on it.
//
// Shows: launches on different streams stay unfused; an event orders them, and it is recorded behind
// the first launch only if that launch is not moved. The two launches on one stream may run as one.
//
// usage: two_streams [elements]
//
// expect: 3 launches -> 2
// expect-missed: stream
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void fill(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i % 1000;
}

__global__ void square(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}

__global__ void add(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 4000;
    if (n < 1) {
        fprintf(stderr, "usage: %s [elements]\n", argv[0]);
        return 2;
    }
    const size_t bytes = n * sizeof(int);
    std::vector<int> output(n);
    int *x, *y;
    cudaMalloc(&x, bytes);
    cudaMalloc(&y, bytes);
    cudaStream_t producer, consumer;
    cudaStreamCreate(&producer);
    cudaStreamCreate(&consumer);
    cudaEvent_t made;
    cudaEventCreate(&made);

    const int threads = 128, blocks = (n + threads - 1) / threads;
    fill<<<blocks, threads, 0, producer>>>(x, n);
    cudaEventRecord(made, producer);
    cudaStreamWaitEvent(consumer, made, 0);
    square<<<blocks, threads, 0, consumer>>>(x, y, n);
    add<<<blocks, threads, 0, consumer>>>(x, y, n);
    cudaStreamSynchronize(consumer);
    cudaMemcpy(output.data(), y, bytes, cudaMemcpyDeviceToHost);

    cudaEventDestroy(made);
    cudaStreamDestroy(producer);
    cudaStreamDestroy(consumer);
    cudaFree(x);
    cudaFree(y);

    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += output[i] != (i % 1000) * (i % 1000) + i % 1000;
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
