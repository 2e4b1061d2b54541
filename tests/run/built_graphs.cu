// Graphs that are built node by node, changed, copied, updated and launched.
//
// Shows: edges decide the order, not the age of nodes; what a graph is given at instantiation stays; launches
// before and after a graph's stay where they are, though each pair becomes one.
//
// expect: 4 launches -> 2
#include <cstdio>
#include <cstring>
#include <vector>

static int wrong = 0;

#define CHECK(call)                                                                                   \
    do {                                                                                              \
        cudaError_t error = call;                                                                     \
        if (error != cudaSuccess) printf("line %d: %s\n", __LINE__, cudaGetErrorName(error)), wrong++; \
    } while (0)
#define EXPECT(what)                                                    \
    do {                                                                \
        if (!(what)) printf("line %d: not %s\n", __LINE__, #what), wrong++; \
    } while (0)

constexpr int n = 1000, bytes = n * sizeof(int);
__device__ int offset_of_all = 5;

__global__ void add(int *y, const int *x, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + value + offset_of_all - 5;
}

__global__ void increase(int *y, const int *x, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + value;
}

__global__ void twice(int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] *= 2;
}

__global__ void sum(int *y, const int *a, const int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] + b[i];
}

static void count(void *calls) { ++*static_cast<int *>(calls); }

static bool all(const std::vector<int> &values, int first, int step) {
    for (int i = 0; i < n; ++i)
        if (values[i] != first + step * i) return false;
    return true;
}

#if CUDART_VERSION >= 13000
#define EDGES nullptr,
#else
#define EDGES
#endif

int main() {
    int *x, *a, *b, *y;
    cudaMalloc(&x, bytes), cudaMalloc(&a, bytes), cudaMalloc(&b, bytes), cudaMalloc(&y, bytes);
    int *plain_a = a, *plain_x = x, *plain_y = y;  // nobody has the addresses of these
    std::vector<int> input(n), output(n);
    for (int i = 0; i < n; ++i) input[i] = i;
    cudaStream_t stream;
    cudaStreamCreate(&stream);

    // x -> a = x + 10, b = x + 20, b *= 2, y = a + b -> output; a call of the host at the end.
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t to, first, second, doubled, joined, from, called, node;
    int ten = 10, twenty = 20, calls = 0;
    void *first_arguments[] = {&a, &x, &ten}, *second_arguments[] = {&b, &x, &twenty};
    void *twice_arguments[] = {&b}, *sum_arguments[] = {&y, &a, &b};
    auto kernel = [](void *function, void **arguments) {
        cudaKernelNodeParams parameters = {};
        parameters.func = function;
        parameters.gridDim = dim3(4);
        parameters.blockDim = dim3(256);
        parameters.kernelParams = arguments;
        return parameters;
    };
    // The sum is the oldest of the kernels, and still comes last.
    cudaKernelNodeParams parameters = kernel((void *)sum, sum_arguments);
    CHECK(cudaGraphAddKernelNode(&joined, graph, nullptr, 0, &parameters));
    CHECK(cudaGraphAddMemcpyNode1D(&from, graph, &joined, 1, output.data(), y, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaGraphAddMemcpyNode1D(&to, graph, nullptr, 0, x, input.data(), bytes, cudaMemcpyHostToDevice));
    parameters = kernel((void *)add, first_arguments);
    CHECK(cudaGraphAddKernelNode(&first, graph, &to, 1, &parameters));
    parameters = kernel((void *)add, second_arguments);
    CHECK(cudaGraphAddKernelNode(&second, graph, &to, 1, &parameters));
    parameters = kernel((void *)twice, twice_arguments);
    CHECK(cudaGraphAddKernelNode(&doubled, graph, &second, 1, &parameters));
    cudaGraphNode_t sources[] = {first, doubled}, sinks[] = {joined, joined};
    CHECK(cudaGraphAddDependencies(graph, sources, sinks, EDGES 2));
    cudaHostNodeParams host = {count, &calls};
    CHECK(cudaGraphAddHostNode(&called, graph, &from, 1, &host));

    size_t nodes = 0, edges = 0, roots = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, EDGES &edges));
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    EXPECT(nodes == 7 && edges == 7 && roots == 1);
    std::vector<cudaGraphNode_t> before(edges), after(edges);
    CHECK(cudaGraphGetEdges(graph, before.data(), after.data(), EDGES &edges));
    bool seen = false;
    for (size_t i = 0; i < edges; ++i) seen |= before[i] == second && after[i] == doubled;
    EXPECT(seen);
    size_t earlier = 2;
    cudaGraphNode_t pair[2];
    CHECK(cudaGraphNodeGetDependencies(joined, pair, EDGES &earlier));
    EXPECT(earlier == 2 && pair[0] == first && pair[1] == doubled);
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(to, &type));
    EXPECT(type == cudaGraphNodeTypeMemcpy);

    cudaGraphExec_t steps;
    CHECK(cudaGraphInstantiate(&steps, graph, 0));
    ten = 1000;  // the node has its own
    increase<<<4, 256, 0, stream>>>(plain_a, plain_x, 1);
    twice<<<4, 256, 0, stream>>>(plain_a);
    CHECK(cudaGraphLaunch(steps, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(all(output, 10 + 2 * 20, 3) && calls == 1);
    twice<<<4, 256, 0, stream>>>(plain_y);
    increase<<<4, 256, 0, stream>>>(plain_y, plain_y, 1);
    cudaMemcpyAsync(output.data(), y, bytes, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    EXPECT(all(output, 101, 6));

    // A changed argument: of one node of the executable graph, then of the graph and all at once.
    cudaKernelNodeParams found;
    CHECK(cudaGraphKernelNodeGetParams(first, &found));
    EXPECT(found.func == (void *)add && found.gridDim.x == 4 && *(int *)found.kernelParams[2] == 10);
    int hundred = 100;
    void *changed_arguments[] = {&a, &x, &hundred};
    found.kernelParams = changed_arguments;
    CHECK(cudaGraphExecKernelNodeSetParams(steps, first, &found));
    CHECK(cudaGraphLaunch(steps, stream));
    cudaStreamSynchronize(stream);
    EXPECT(all(output, 140, 3));
    hundred = 200;
    CHECK(cudaGraphKernelNodeSetParams(first, &found));
    cudaGraphExecUpdateResultInfo result;
    CHECK(cudaGraphExecUpdate(steps, graph, &result));
    CHECK(cudaGraphLaunch(steps, stream));
    cudaStreamSynchronize(stream);
    EXPECT(all(output, 240, 3) && calls == 3);
    CHECK(cudaGraphNodeSetEnabled(steps, doubled, 0));
    CHECK(cudaGraphLaunch(steps, stream));
    cudaStreamSynchronize(stream);
    EXPECT(all(output, 220, 2));

    // A copy has nodes of its own; without one of them it is another graph.
    cudaGraph_t copy;
    CHECK(cudaGraphClone(&copy, graph));
    CHECK(cudaGraphNodeFindInClone(&node, doubled, copy));
    EXPECT(node != doubled);
    CHECK(cudaGraphDestroyNode(node));
    EXPECT(cudaGraphExecUpdate(steps, copy, &result) == cudaErrorGraphExecUpdateFailure);
    EXPECT(result.result == cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT(cudaGraphAddDependencies(graph, &joined, &to, EDGES 1) == cudaSuccess);
    cudaGraphExec_t circle;
    EXPECT(cudaGraphInstantiate(&circle, graph, 0) != cudaSuccess);
    CHECK(cudaGraphRemoveDependencies(graph, &joined, &to, EDGES 1));

    // Words are set; memory of the graph's own; a graph within another; variables; an event.
    cudaGraph_t outer;
    CHECK(cudaGraphCreate(&outer, 0));
    cudaMemAllocNodeParams memory = {};
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location.type = cudaMemLocationTypeDevice;
    memory.bytesize = bytes;
    cudaGraphNode_t given, set, inner, variable, read, recorded, back, freed;
    CHECK(cudaGraphAddMemAllocNode(&given, outer, nullptr, 0, &memory));
    cudaMemsetParams words = {};
    words.dst = memory.dptr, words.value = 0x01020304, words.elementSize = 4, words.width = n, words.height = 1;
    CHECK(cudaGraphAddMemsetNode(&set, outer, &given, 1, &words));
    CHECK(cudaGraphAddChildGraphNode(&inner, outer, &set, 1, copy));
    int six = 6, seven = 0;
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&variable, outer, &inner, 1, offset_of_all, &six, sizeof six, 0,
                                         cudaMemcpyHostToDevice));
    void *read_arguments[] = {&y, &memory.dptr, &seven};
    parameters = kernel((void *)add, read_arguments);
    CHECK(cudaGraphAddKernelNode(&read, outer, &variable, 1, &parameters));
    cudaEvent_t event;
    cudaEventCreate(&event);
    CHECK(cudaGraphAddEventRecordNode(&recorded, outer, &read, 1, event));
    CHECK(cudaGraphAddMemcpyNode1D(&back, outer, &recorded, 1, input.data(), y, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaGraphAddMemFreeNode(&freed, outer, &back, 1, memory.dptr));
    cudaGraphExec_t all_steps;
    CHECK(cudaGraphInstantiate(&all_steps, outer, 0));
    CHECK(cudaGraphDestroy(copy));
    CHECK(cudaGraphDestroy(outer));
    CHECK(cudaGraphLaunch(all_steps, stream));
    cudaStreamSynchronize(stream);
    EXPECT(all(output, 220, 2) && all(input, 0x01020304 + 1, 0));
    EXPECT(cudaEventQuery(event) == cudaSuccess);

    // A graph by capture of two streams, begun into one that is there.
    cudaStream_t other;
    cudaStreamCreate(&other);
    cudaEvent_t fork, join;
    cudaEventCreate(&fork), cudaEventCreate(&join);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemsetAsync(a, 0, bytes, stream);
    cudaEventRecord(fork, stream);
    cudaStreamWaitEvent(other, fork, 0);
    cudaMemsetAsync(b, 1, bytes, other);
    cudaMemsetAsync(x, 2, bytes, stream);
    EXPECT(cudaStreamEndCapture(stream, &copy) == cudaErrorStreamCaptureUnjoined);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemsetAsync(a, 0, bytes, stream);
    cudaEventRecord(fork, stream);
    cudaStreamWaitEvent(other, fork, 0);
    cudaMemsetAsync(b, 1, bytes, other);
    cudaMemsetAsync(x, 2, bytes, stream);
    cudaEventRecord(join, other);
    cudaStreamWaitEvent(stream, join, 0);
    int *own;
    cudaMallocAsync(&own, bytes, stream);
    cudaMemcpyAsync(own, b, bytes, cudaMemcpyDeviceToDevice, stream);
    cudaMemcpyAsync(output.data(), own, bytes, cudaMemcpyDeviceToHost, stream);
    cudaFreeAsync(own, stream);
    CHECK(cudaStreamEndCapture(stream, &copy));
    CHECK(cudaGraphGetNodes(copy, nullptr, &nodes));
    CHECK(cudaGraphGetEdges(copy, nullptr, nullptr, EDGES &edges));
    EXPECT(nodes == 7 && edges == 7);
    cudaGraphExec_t captured;
    CHECK(cudaGraphInstantiate(&captured, copy, 0));
    for (int k = 0; k < 2; ++k) CHECK(cudaGraphLaunch(captured, stream));
    cudaStreamSynchronize(stream);
    EXPECT(all(output, 0x01010101, 0));

    int version;
    cudaRuntimeGetVersion(&version);
    EXPECT(version == CUDART_VERSION);
    cudaGraphExecDestroy(steps), cudaGraphExecDestroy(all_steps), cudaGraphExecDestroy(captured);
    cudaGraphDestroy(graph), cudaGraphDestroy(copy);
    EXPECT(cudaGetLastError() != cudaSuccess && cudaGetLastError() == cudaSuccess);
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
