// Kernels' nodes that a program adds to graphs one after the other, each behind the one before, run as one launch. Twins
// stay: a node with two others behind it, one that comes behind two, and nodes that the program adds in one turn of a loop
// behind those of another.
//
// expect: 3 launches -> 1
// executes: 17
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

__global__ void sum(float *z, const float *x, const float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    z[i] = x[i] + y[i];
}

static float *memory() {
    float *pointer = nullptr;
    CHECK(cudaMalloc(&pointer, bytes));
    CHECK(cudaMemset(pointer, 0, bytes));
    return pointer;
}

static void launch(cudaGraph_t graph, int times) {
    cudaGraphExec_t executable;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < times; i++) CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaStreamDestroy(stream));
}

static void expect(const char *what, const float *found, float (*wanted)(float)) {
    for (int i = 0; i < count; i++)
        if (found[i] != wanted(float(i % 64))) {
            printf("%s: %d is %g, not %g\n", what, i, found[i], wanted(float(i % 64)));
            exit(1);
        }
}

// A copy to the device, three kernels in a row, a copy back. The parameters are changed from node to node.
static void chain(float *x, float *y, float *z, float *host, float *result) {
    float three = 3.0f, five = 5.0f;
    void *first[] = {&y, &x, &three}, *second[] = {&z, &y, &five}, *third[] = {&z, &z, &three};
    cudaKernelNodeParams parameters = {};
    parameters.gridDim = dim3(blocks);
    parameters.blockDim = dim3(threads);
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t to, nodes[3], from;
    CHECK(cudaGraphAddMemcpyNode1D(&to, graph, nullptr, 0, x, host, bytes, cudaMemcpyHostToDevice));
    parameters.func = (void *)multiply;
    parameters.kernelParams = first;
    CHECK(cudaGraphAddKernelNode(&nodes[0], graph, &to, 1, &parameters));
    parameters.func = (void *)add;
    parameters.kernelParams = second;
    CHECK(cudaGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &parameters));
    // What the first nodes were given stays theirs.
    three = 2.0f;
    parameters.func = (void *)multiply;
    parameters.kernelParams = third;
    CHECK(cudaGraphAddKernelNode(&nodes[2], graph, &nodes[1], 1, &parameters));
    CHECK(cudaGraphAddMemcpyNode1D(&from, graph, &nodes[2], 1, result, z, bytes, cudaMemcpyDeviceToHost));
    five = 0.0f;
    launch(graph, 2);
    CHECK(cudaGraphDestroy(graph));
}

// Two nodes come behind the first one, and the last one behind both.
static void diamond(float *x, float *y, float *z, float *result) {
    float two = 2.0f;
    void *first[] = {&y, &x, &two}, *left[] = {&z, &y, &two}, *right[] = {&x, &y, &two}, *last[] = {&y, &x, &z};
    cudaKernelNodeParams parameters = {};
    parameters.gridDim = dim3(blocks);
    parameters.blockDim = dim3(threads);
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t from, both[2], to, copied;
    parameters.func = (void *)multiply;
    parameters.kernelParams = first;
    CHECK(cudaGraphAddKernelNode(&from, graph, nullptr, 0, &parameters));
    parameters.kernelParams = left;
    CHECK(cudaGraphAddKernelNode(&both[0], graph, &from, 1, &parameters));
    parameters.func = (void *)add;
    parameters.kernelParams = right;
    CHECK(cudaGraphAddKernelNode(&both[1], graph, &from, 1, &parameters));
    parameters.func = (void *)sum;
    parameters.kernelParams = last;
    CHECK(cudaGraphAddKernelNode(&to, graph, both, 2, &parameters));
    CHECK(cudaGraphAddMemcpyNode1D(&copied, graph, &to, 1, result, y, bytes, cudaMemcpyDeviceToHost));
    launch(graph, 1);
    CHECK(cudaGraphDestroy(graph));
}

// Pairs, of which a graph is made in between: it has what was there by then.
static void by_and_by(float *x, float *y, float *z, float *result) {
    float one = 1.0f;
    void *first[] = {&y, &x, &one}, *second[] = {&z, &z, &one};
    cudaKernelNodeParams parameters = {};
    parameters.func = (void *)add;
    parameters.gridDim = dim3(blocks);
    parameters.blockDim = dim3(threads);
    CHECK(cudaMemset(z, 0, bytes));
    for (int i = 0; i < 2; i++) {
        cudaGraph_t graph;
        CHECK(cudaGraphCreate(&graph, 0));
        cudaGraphNode_t before, behind;
        parameters.kernelParams = second;
        CHECK(cudaGraphAddKernelNode(&before, graph, nullptr, 0, &parameters));
        if (i == 1) launch(graph, 3);
        parameters.kernelParams = first;
        CHECK(cudaGraphAddKernelNode(&behind, graph, &before, 1, &parameters));
        launch(graph, 1);
        CHECK(cudaGraphDestroy(graph));
    }
    CHECK(cudaMemcpy(result, z, bytes, cudaMemcpyDeviceToHost));
}

// Each node comes behind the one of the turn before.
static void in_turns(float *x, float *result) {
    float two = 2.0f;
    void *arguments[] = {&x, &x, &two};
    cudaKernelNodeParams parameters = {};
    parameters.func = (void *)multiply;
    parameters.gridDim = dim3(blocks);
    parameters.blockDim = dim3(threads);
    parameters.kernelParams = arguments;
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t before, now;
    CHECK(cudaGraphAddKernelNode(&before, graph, nullptr, 0, &parameters));
    for (int i = 0; i < 3; i++) {
        CHECK(cudaGraphAddKernelNode(&now, graph, &before, 1, &parameters));
        before = now;
    }
    launch(graph, 1);
    CHECK(cudaMemcpy(result, x, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaGraphDestroy(graph));
}

int main() {
    float *x = memory(), *y = memory(), *z = memory();
    std::vector<float> host(count), result(count);
    for (int i = 0; i < count; i++) host[i] = float(i % 64);
    chain(x, y, z, host.data(), result.data());
    expect("chain", result.data(), [](float x) { return (x * 3.0f + 5.0f) * 2.0f; });
    diamond(x, y, z, result.data());
    expect("diamond", result.data(), [](float x) { return (x * 2.0f + 2.0f) + x * 2.0f * 2.0f; });
    by_and_by(x, y, z, result.data());
    expect("by and by", result.data(), [](float) { return 5.0f; });
    in_turns(x, result.data());
    expect("in turns", result.data(), [](float x) { return (x * 2.0f + 2.0f) * 16.0f; });
    puts("PASS");
}
