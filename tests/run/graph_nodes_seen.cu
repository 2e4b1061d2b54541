// Nodes of a graph that the program looks at later: it gives one of them other parameters, and counts them. So each kernel
// stays a node of its own.
//
// expect: 0 launches -> 0
// executes: 4
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int count = 1024, threads = 128, blocks = count / threads, bytes = count * sizeof(float);

#define CHECK(call)                                                                  \
    do {                                                                             \
        cudaError_t error = (call);                                                  \
        if (error != cudaSuccess) {                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

__global__ void multiply(float *y, const float *x, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * by;
}

__global__ void add(float *y, const float *x, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + by;
}

int main() {
    float *x, *y, *z;
    CHECK(cudaMalloc(&x, bytes));
    CHECK(cudaMalloc(&y, bytes));
    CHECK(cudaMalloc(&z, bytes));
    std::vector<float> host(count);
    for (int i = 0; i < count; i++) host[i] = float(i % 64);
    CHECK(cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice));

    float three = 3.0f, five = 5.0f;
    void *first[] = {&y, &x, &three}, *second[] = {&z, &y, &five};
    cudaKernelNodeParams parameters = {};
    parameters.gridDim = dim3(blocks);
    parameters.blockDim = dim3(threads);
    cudaGraph_t graph;
    cudaGraphNode_t before, behind;
    CHECK(cudaGraphCreate(&graph, 0));
    parameters.func = (void *)multiply;
    parameters.kernelParams = first;
    CHECK(cudaGraphAddKernelNode(&before, graph, nullptr, 0, &parameters));
    parameters.func = (void *)add;
    parameters.kernelParams = second;
    CHECK(cudaGraphAddKernelNode(&behind, graph, &before, 1, &parameters));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    if (nodes != 2) printf("%zu nodes\n", nodes), exit(1);

    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaDeviceSynchronize());
    three = 7.0f;
    parameters.func = (void *)multiply;
    parameters.kernelParams = first;
    CHECK(cudaGraphExecKernelNodeSetParams(executable, before, &parameters));
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaMemcpy(host.data(), z, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; i++)
        if (host[i] != (i % 64) * 7.0f + 5.0f) printf("%d is %g\n", i, host[i]), exit(1);
    puts("PASS");
}
