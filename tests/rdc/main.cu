// Device functions, variables and a kernel that another unit defines, and names that both units have.
#include "shared.h"
#include <cstdio>

extern __device__ float scale(float x);
extern __constant__ float weights[4];
extern __device__ int counter;
extern __global__ void weigh(float *x, int n);
static __device__ int own_counter;

static __device__ __noinline__ float local(float x) { return x + 1.0f; }

__global__ void apply(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = scale(local(x[i])) + weights[i & 3];
        atomicAdd(&counter, 1);
        atomicAdd(&own_counter, 2);
    }
}

int main() {
    const int n = 100;
    float *x, host[n];
    for (int i = 0; i < n; ++i) host[i] = (float)i / 4.0f;
    float changed[4] = {8, 4, 2, 1};
    cudaMalloc(&x, sizeof host);
    cudaMemcpyToSymbol(weights, changed, sizeof changed);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    apply<<<4, 32>>>(x, n);
    weigh<<<4, 32>>>(x, n);
    add<2><<<4, 32>>>(x, n);
    add_more(x, n);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    int all, own;
    cudaMemcpyFromSymbol(&all, counter, sizeof all);
    cudaMemcpyFromSymbol(&own, own_counter, sizeof own);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += host[i] * (i + 1);
    printf("%d %d %d %.6f %s\n", all, own, count_of_others(), sum,
           cudaGetErrorString(cudaGetLastError()));
    return 0;
}
