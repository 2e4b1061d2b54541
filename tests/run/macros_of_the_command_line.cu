// The command line defines macros with names that headers use which only clang includes before a program begins.
//
// options: -DN=64
// options: -DN=32 -DX=3 -DM=5 -DF=7 -DQUALIFIERS=static
// options: -DDRIVER
// options: -DGENERATOR
// expect: 1 launches -> 1
#ifdef DRIVER
#include <cuda.h>
#if CUDA_VERSION < 12000 || !defined(CU_IPC_HANDLE_SIZE)
#error "this is not the toolkit's header"
#endif
#include <cuda.h>
CUdeviceptr no_address = 0;
#endif
#ifdef GENERATOR
#include <curand_kernel.h>
#endif
#if CUDA_VERSION < 12000
#error "the version is not known"
#endif
#include <cstdio>

#ifndef N
#define N 16
#endif
#ifndef X
#define X 2
#endif

template <typename Type, int M_> struct Scaled {
    __device__ static Type of(Type value) { return value * M_; }
};

__global__ void scale(int *values) { values[threadIdx.x] = Scaled<int, X>::of(threadIdx.x) + blockDim.x; }

int main() {
    int host[N], *values, sum = 0;
    cudaMalloc(&values, sizeof host);
    scale<<<1, N>>>(values);
    cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; ++i) sum += host[i];
    printf("%d\n", sum);
    printf("PASS\n");
}
