// Nodes of a graph that the program counts by a function whose address it asks for: each kernel stays a node of its own.
//
// built with: -lcuda
// expect: 0 launches -> 0
// executes: 2
#include <cstdio>
#include <cuda.h>
#include <vector>

constexpr int count = 1024, threads = 128;

__global__ void multiply(float *y, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * 3;
}

int main() {
    std::vector<float> host(count);
    for (int i = 0; i < count; i++) host[i] = float(i % 64);
    float *x, *y, *z;
    for (float **each : {&x, &y, &z}) cudaMalloc(each, count * sizeof(float));
    cudaMemcpy(x, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    void *first[] = {&y, &x}, *second[] = {&z, &y};
    cudaKernelNodeParams parameters = {};
    parameters.func = (void *)multiply;
    parameters.gridDim = dim3(count / threads);
    parameters.blockDim = dim3(threads);
    cudaGraph_t graph;
    cudaGraphNode_t before, behind;
    cudaGraphCreate(&graph, 0);
    parameters.kernelParams = first;
    cudaGraphAddKernelNode(&before, graph, nullptr, 0, &parameters);
    parameters.kernelParams = second;
    cudaGraphAddKernelNode(&behind, graph, &before, 1, &parameters);

    void *found = nullptr;
    CUdriverProcAddressQueryResult how;
    if (cuGetProcAddress("cuGraphGetNodes", &found, 12000, 0, &how) != CUDA_SUCCESS || !found) return puts("no function"), 1;
    size_t nodes = 0;
    ((CUresult(*)(CUgraph, CUgraphNode *, size_t *))found)(graph, nullptr, &nodes);
    if (nodes != 2) return printf("%zu nodes\n", nodes), 1;

    cudaGraphExec_t executable;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, 0);
    cudaMemcpy(host.data(), z, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++)
        if (host[i] != (i % 64) * 9.0f) return printf("%d is %g\n", i, host[i]), 1;
    puts(cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
}
