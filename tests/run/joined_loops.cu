// Loops with strides of the grid: chains of kernels whose loops become one when they are fused, and
// kernels whose loops must stay behind each other.
//
// expect: 9 launches -> 3
// arguments: 1000
// arguments: 1
// arguments: 70000
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void scale(const float *x, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 0.5f * x[i];
}

__global__ void shift(const float *x, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] + 3.0f;
}

__global__ void clamp(float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (y[i] < 0.0f) y[i] = 0.0f;
}

// What the first loop of a thread leaves in `last` the second one needs from the beginning.
__global__ void last_of_thread(const float *x, float *last, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = t; i < n; i += gridDim.x * blockDim.x) last[t] = x[i];
}

__global__ void less_last(const float *x, const float *last, float *y, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = t; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] - last[t];
}

// The second loop of a thread overwrites what the first one reads of the element behind.
__global__ void pairs(const float *x, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int behind = i + (int)(gridDim.x * blockDim.x);
        y[i] = x[i] + (behind < n ? x[behind] : 0.0f);
    }
}

__global__ void clear(float *x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = -1.0f;
}

static unsigned hash(const float *device, int n) {
    std::vector<float> host(n);
    cudaMemcpy(host.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost);
    unsigned value = 2166136261u;
    for (size_t i = 0; i < n * sizeof(float); ++i) value = (value ^ ((const unsigned char *)host.data())[i]) * 16777619u;
    return value;
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 1000;
    std::vector<float> input(n);
    for (int i = 0; i < n; ++i) input[i] = (float)(i % 23) - 11.0f;
    float *x, *a, *b, *c, *last, *d, *e;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMalloc(&c, n * sizeof(float));
    cudaMalloc(&d, n * sizeof(float));
    cudaMalloc(&e, n * sizeof(float));
    cudaMemcpy(x, input.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(e, input.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&last, 4 * 64 * sizeof(float));
    cudaMemset(last, 0, 4 * 64 * sizeof(float));
    scale<<<4, 64>>>(x, a, n);
    shift<<<4, 64>>>(a, b, n);
    clamp<<<4, 64>>>(b, n);
    scale<<<4, 64>>>(b, c, n);
    printf("chain %08x %08x\n", hash(c, n), hash(a, n));
    last_of_thread<<<4, 64>>>(x, last, n);
    less_last<<<4, 64>>>(x, last, d, n);
    printf("last %08x\n", hash(d, n));
    pairs<<<4, 64>>>(e, a, n);
    clear<<<4, 64>>>(e, n);
    shift<<<4, 64>>>(e, b, n);
    printf("pairs %08x %08x %08x\n", hash(a, n), hash(e, n), hash(b, n));
    cudaFree(x);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFree(last);
    cudaFree(d);
    cudaFree(e);
    printf("%s\nPASS\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
