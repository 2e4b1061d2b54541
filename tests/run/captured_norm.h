// A norm, a product behind it, and a graph that a program captures and adds nodes to.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#define CHECK(call)                                                                  \
    do {                                                                             \
        cudaError_t error = (call);                                                  \
        if (error != cudaSuccess) {                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

const int N = 96, ROWS = 64, TABLE = 5;

__global__ void embedding(const float *table, int n, int token, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = table[token * n + i];
}

__global__ void norm(const float *x, int n, float *out) {
    __shared__ float part[128];
    float own = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) own += x[i] * x[i];
    part[threadIdx.x] = own;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = x[i] / sqrtf(part[0] / n + 1e-5f);
}

__global__ void product(const float *a, const float *x, int n, int rows, float *out) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += a[n * row + i] * x[i];
    out[row] = sum;
}

struct Graph {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    bool is_created = false;
    std::map<std::string, cudaGraphNode_t> nodes;
};
