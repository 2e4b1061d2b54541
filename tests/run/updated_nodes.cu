// Kernel nodes that a program adds while it captures, and gives other parameters before each launch of its graph, as a decoder
// does for each token. Nodes that come one behind the other are one where their kernels fuse, with what they are given now:
// where a test fails for one launch of the graph, all of them run, and in the next they may be one again.
//
// expect: 4 launches -> 3
// expect-missed: control_flow global_dependence
// executes: 19
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>
#include <cuda_runtime.h>

__global__ void scale(const float *x, float *y, int n, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * factor;
}

__global__ void add(const float *y, float *z, int n, int shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] += y[i] + shift;
}

// Each needs its neighbour's, which is another block's at the end of a block.
__global__ void smooth(const float *z, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = z[i] + z[(i + 1) % n];
}

__global__ void halve(float *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] *= 0.5f;
}

struct Graph {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    bool made = false;
    std::map<std::string, cudaGraphNode_t> nodes;

    void set(const std::string &name, const cudaKernelNodeParams &parameters, cudaStream_t stream) {
        if (made) {
            cudaGraphExecKernelNodeSetParams(executable, nodes[name], &parameters);
            return;
        }
        cudaStreamCaptureStatus status;
        cudaGraph_t captured;
        const cudaGraphNode_t *behind;
        size_t count;
        cudaStreamGetCaptureInfo(stream, &status, nullptr, &captured, &behind, nullptr, &count);
        cudaGraphNode_t node;
        cudaGraphAddKernelNode(&node, captured, behind, count, &parameters);
        nodes[name] = node;
        cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies);
    }
};

struct Step {
    float *x, *y, *z;
    int n, added, blocks, threads, shift;
    float factor;
};

// What a step is, as nodes.
static void build(Graph &graph, const Step &step, cudaStream_t stream) {
    cudaKernelNodeParams parameters = {};
    {
        parameters.blockDim = dim3(graph.made ? step.threads : 64);
        parameters.gridDim = dim3(step.blocks);
        parameters.func = (void *)scale;
        const float *x = step.x;
        float *y = step.y, factor = step.factor;
        int n = step.n;
        void *arguments[] = {&x, &y, &n, &factor};
        parameters.kernelParams = arguments;
        graph.set("scale", parameters, stream);
    }
    {
        parameters.gridDim = dim3(step.blocks);
        if (graph.made) parameters.blockDim = dim3(step.threads == 32 ? 128 : 64);
        parameters.func = (void *)add;
        const float *y = step.y;
        float *z = step.z;
        int n = step.added, shift = step.shift;
        void *arguments[] = {&y, &z, &n, &shift};
        parameters.kernelParams = arguments;
        graph.set("add", parameters, stream);
    }
    {
        parameters.gridDim = dim3(step.blocks);
        parameters.func = (void *)smooth;
        const float *z = step.z;
        float *y = step.y;
        int n = step.n;
        void *arguments[] = {&z, &y, &n};
        parameters.kernelParams = arguments;
        graph.set("smooth", parameters, stream);
    }
    if (!graph.made) halve<<<step.blocks, 64, 0, stream>>>(step.z, step.n);
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 200;
    Step step = {nullptr, nullptr, nullptr, n, n, (n + 63) / 64, 64, 0, 1};
    std::vector<float> x(n), y(n), z(n), found(n);
    for (int i = 0; i < n; ++i) x[i] = i % 9;
    for (float **each : {&step.x, &step.y, &step.z}) cudaMalloc(each, n * sizeof(float));
    cudaMemcpy(step.x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(step.z, 0, n * sizeof(float));
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    Graph graph;
    bool right = true;
    for (int t = 0; t < 6; ++t) {
        step.shift = t;
        step.factor = t + 1;
        // Once fewer are added than scaled, once the result goes back to where it came from, and once blocks are others.
        step.threads = t == 2 ? 32 : 64;
        step.blocks = (n + step.threads - 1) / step.threads;
        step.added = t == 3 ? n - 10 : n;
        float *target = step.z;
        if (t == 4) step.z = step.x;
        if (!graph.made) cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
        build(graph, step, stream);
        if (!graph.made) {
            cudaStreamEndCapture(stream, &graph.graph);
            cudaGraphInstantiate(&graph.executable, graph.graph, 0);
            graph.made = true;
        }
        cudaGraphLaunch(graph.executable, stream);
        cudaStreamSynchronize(stream);
        step.z = target;
        std::vector<float> &sum = t == 4 ? x : z;
        for (int i = 0; i < n; ++i) y[i] = x[i] * step.factor;
        for (int i = 0; i < step.added; ++i) sum[i] += y[i] + t;
        for (int i = 0; i < n; ++i) y[i] = sum[i] + sum[(i + 1) % n];
        for (int i = 0; i < n; ++i) z[i] *= 0.5f;
        cudaMemcpy(found.data(), step.y, n * sizeof(float), cudaMemcpyDeviceToHost);
        if (found != y) right = false, printf("wrong: y in step %d\n", t);
        cudaMemcpy(found.data(), step.z, n * sizeof(float), cudaMemcpyDeviceToHost);
        if (found != z) right = false, printf("wrong: z in step %d\n", t);
    }
    cudaGraphExecDestroy(graph.executable);
    cudaGraphDestroy(graph.graph);
    if (cudaGetLastError() != cudaSuccess) right = false;
    printf(right ? "PASS\n" : "FAIL\n");
    return !right;
}
