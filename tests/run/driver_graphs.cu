// Graphs by the driver's interface: captured, and built node by node.
//
// expect: 2 launches -> 1
#include <cstdio>
#include <cuda.h>
#include <vector>

static int wrong = 0;

#define CHECK(call)                                                                     \
    do {                                                                                \
        CUresult error = call;                                                          \
        if (error != CUDA_SUCCESS) printf("line %d: %d\n", __LINE__, (int)error), wrong++; \
    } while (0)

constexpr int n = 500;

__global__ void add(int *y, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += value;
}

static void count(void *calls) { ++*static_cast<int *>(calls); }

static void expect(const std::vector<int> &values, int value, int line) {
    for (int i = 0; i < n; ++i)
        if (values[i] != value + i) {
            printf("line %d: element %d is %d\n", line, i, values[i]);
            wrong++;
            return;
        }
}

int main() {
    cudaFree(nullptr);
    CUdeviceptr y;
    CHECK(cuMemAlloc(&y, n * sizeof(int)));
    std::vector<int> input(n), output(n);
    for (int i = 0; i < n; ++i) input[i] = i;
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    cudaFunction_t handle;
    cudaGetFuncBySymbol(&handle, (void *)add);
    CUfunction function = (CUfunction)handle;

    // Copies, sets and launches are recorded, and nothing runs meanwhile.
    CUgraph captured;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemsetD32Async(y, 7, n, stream));
    CHECK(cuMemcpyHtoDAsync(y, input.data(), n * sizeof(int), stream));
    int three = 3;
    void *arguments[] = {&y, &three};
    CHECK(cuLaunchKernel(function, 2, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
    add<<<2, 256, 0, stream>>>((int *)y, 4);
    CHECK(cuMemcpyDtoHAsync(output.data(), y, n * sizeof(int), stream));
    CUstreamCaptureStatus status;
    CHECK(cuStreamIsCapturing(stream, &status));
    if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE || output[1] != 0) puts("not captured"), wrong++;
    CHECK(cuStreamEndCapture(stream, &captured));
    size_t nodes = 0;
    CHECK(cuGraphGetNodes(captured, nullptr, &nodes));
    if (nodes != 5) printf("%zu nodes\n", nodes), wrong++;
    CUgraphExec steps;
    CHECK(cuGraphInstantiate(&steps, captured, 0));
    CHECK(cuGraphLaunch(steps, stream));
    CHECK(cuStreamSynchronize(stream));
    expect(output, 7, __LINE__);

    CUcontext context;
    CHECK(cuCtxGetCurrent(&context));
    CUgraph graph;
    CUgraphNode to, set, kernel, back, called;
    int calls = 0;
    CHECK(cuGraphCreate(&graph, 0));
    CUDA_MEMCPY3D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = input.data();
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE, copy.dstDevice = y;
    copy.WidthInBytes = n * sizeof(int), copy.Height = copy.Depth = 1;
    CHECK(cuGraphAddMemcpyNode(&to, graph, nullptr, 0, &copy, context));
    CUDA_MEMSET_NODE_PARAMS words = {};
    words.dst = y, words.value = 1000, words.elementSize = 4, words.width = 1, words.height = 1;
    CHECK(cuGraphAddMemsetNode(&set, graph, &to, 1, &words, context));
    CUDA_KERNEL_NODE_PARAMS launch = {};
    launch.func = function;
    launch.gridDimX = 2, launch.gridDimY = launch.gridDimZ = 1;
    launch.blockDimX = 256, launch.blockDimY = launch.blockDimZ = 1;
    launch.kernelParams = arguments;
    CHECK(cuGraphAddKernelNode(&kernel, graph, &set, 1, &launch));
    copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.srcDevice = y;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = output.data();
    copy.WidthInBytes = n * sizeof(int), copy.Height = copy.Depth = 1;
    CHECK(cuGraphAddMemcpyNode(&back, graph, &kernel, 1, &copy, context));
    CUDA_HOST_NODE_PARAMS host = {};
    host.fn = count, host.userData = &calls;
    CHECK(cuGraphAddHostNode(&called, graph, &back, 1, &host));
    CUgraphExec built;
    CHECK(cuGraphInstantiate(&built, graph, 0));
    CHECK(cuGraphLaunch(built, stream));
    CHECK(cuStreamSynchronize(stream));
    if (output[0] != 1003 || calls != 1) printf("%d, %d calls\n", output[0], calls), wrong++;
    output[0] = 3;
    expect(output, 3, __LINE__);
    int five = 5;
    void *others[] = {&y, &five};
    launch.kernelParams = others;
    CHECK(cuGraphExecKernelNodeSetParams(built, kernel, &launch));
    CHECK(cuGraphLaunch(built, stream));
    CHECK(cuStreamSynchronize(stream));
    output[0] -= 1000;
    expect(output, 5, __LINE__);
    CHECK(cuGraphExecDestroy(steps));
    CHECK(cuGraphExecDestroy(built));
    CHECK(cuGraphDestroy(captured));
    CHECK(cuGraphDestroy(graph));
    if (cudaGetLastError() != cudaSuccess) puts("an error is left"), wrong++;
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
