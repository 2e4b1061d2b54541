// Barriers behind an early return of threads that have no element: those that have returned wait there too, however many they
// are. An argument is the number of elements.
//
// expect: 8 launches -> 4
// executes: 4 4 4
// arguments: 1024
// arguments: 1000
// arguments: 1280
#include <cstdio>
#include <cstdlib>
#include <vector>

const int THREADS = 256;

// Neighbours in a block.
__global__ void turn(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __shared__ float part[THREADS];
    part[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = part[threadIdx.x ^ 1] + 1;
}

// The barrier stands in the branch.
__global__ void swap(const float *in, float *out, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        part[threadIdx.x] = in[i] * 2;
        __syncthreads();
        out[i] = part[threadIdx.x ^ 1];
    }
}

// Rows of a matrix: two tests.
__global__ void rows(const float *in, float *out, int width, int height) {
    __shared__ float part[THREADS];
    int x = threadIdx.x, y = blockIdx.x;
    if (x >= width) return;
    if (y >= height) return;
    part[x] = in[y * width + x];
    __syncthreads();
    out[y * width + x] = part[width - 1 - x] * 0.5f;
}

__global__ void twice(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

__global__ void scale(float *x, int width, int height) {
    if (threadIdx.x < width && blockIdx.x < height) x[blockIdx.x * width + threadIdx.x] += 3;
}

// Whether threads go on hangs on what they load.
__global__ void chosen(const float *in, float *out, const int *goes, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (goes[i % n] < 0) return;
    part[threadIdx.x] = in[i % n];
    __syncthreads();
    if (i < n) out[i] = part[threadIdx.x ^ 1];
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 1024, blocks = n / THREADS + (n % THREADS ? 1 : 0);
    const size_t bytes = blocks * THREADS * sizeof(float);
    std::vector<float> host(blocks * THREADS);
    for (size_t i = 0; i < host.size(); ++i) host[i] = float(i % 19) - 4;
    float *in, *out, *more, *last;
    int *goes;
    cudaMalloc(&in, bytes);
    cudaMalloc(&out, bytes);
    cudaMalloc(&more, bytes);
    cudaMalloc(&last, bytes);
    cudaMalloc(&goes, bytes);
    cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(out, host.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(more, host.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(last, host.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemset(goes, 0, bytes);
    cudaDeviceSynchronize();

    turn<<<blocks, THREADS>>>(in, out, n);
    twice<<<blocks, THREADS>>>(out, n);
    cudaMemcpy(host.data(), out, bytes, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += host[i] * (i % 7);

    swap<<<blocks, THREADS>>>(in, more, n);
    twice<<<blocks, THREADS>>>(more, n);
    cudaMemcpy(host.data(), more, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n - 1; ++i) sum += host[i] * (i % 5);

    rows<<<blocks, THREADS>>>(in, last, n % THREADS ? 200 : THREADS, n / THREADS);
    scale<<<blocks, THREADS>>>(last, n % THREADS ? 200 : THREADS, n / THREADS);
    cudaMemcpy(host.data(), last, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) sum += host[i] * (i % 3);

    chosen<<<blocks, THREADS>>>(in, out, goes, n);
    twice<<<blocks, THREADS>>>(out, n);
    cudaMemcpy(host.data(), out, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) sum += host[i];
    std::printf("%.9g\nPASS\n", sum);
}
