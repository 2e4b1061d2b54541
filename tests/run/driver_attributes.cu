// Memory pools, attributes of streams, and what else the driver tells of contexts, streams, functions and nodes
// of graphs; copies of arrays in order of a stream.
//
// expect: 1 launches -> 1
#include <cstdio>
#include <cstdint>
#include <cstring>
#include <cuda.h>
#include <thread>
#include <vector>

static int wrong = 0;

#define CHECK(call)                                                                     \
    do {                                                                                \
        int error = call;                                                               \
        if (error != 0) printf("line %d: %d\n", __LINE__, error), wrong++;              \
    } while (0)

#define EXPECT(condition)                                                               \
    do {                                                                                \
        if (!(condition)) printf("line %d: not so\n", __LINE__), wrong++;               \
    } while (0)

constexpr int n = 300;

__global__ void add(int *y, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += value;
}

static void expect(CUdeviceptr y, int value, int line) {
    std::vector<int> values(n);
    CHECK(cuMemcpyDtoH(values.data(), y, n * sizeof(int)));
    for (int i = 0; i < n; ++i)
        if (values[i] != value) {
            printf("line %d: element %d is %d\n", line, i, values[i]);
            wrong++;
            return;
        }
}

static void pools(CUstream stream) {
    CUmemoryPool own, first;
    CHECK(cuDeviceGetDefaultMemPool(&first, 0));
    CUmemPoolProps properties = {};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CHECK(cuMemPoolCreate(&own, &properties));
    EXPECT(own != first);
    // What is set is told again, to either interface.
    cuuint64_t threshold = 1 << 20, told = 1;
    CHECK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &told));
    EXPECT(told == 0);
    CHECK(cuMemPoolSetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    CHECK(cudaMemPoolGetAttribute((cudaMemPool_t)own, cudaMemPoolAttrReleaseThreshold, &told));
    EXPECT(told == threshold);
    CHECK(cuMemPoolGetAttribute(first, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &told));
    EXPECT(told == 0);
    int reuse = 0;
    CHECK(cuMemPoolSetAttribute(own, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &reuse));
    reuse = 7;
    CHECK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &reuse));
    EXPECT(reuse == 0);
    CUmemAccess_flags access;
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CHECK(cuMemPoolGetAccess(&access, own, &here));
    EXPECT(access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);

    CUdeviceptr y;
    CHECK(cuMemAllocFromPoolAsync(&y, n * sizeof(int), own, stream));
    CHECK(cuMemsetD32Async(y, 5, n, stream));
    add<<<2, 256, 0, stream>>>((int *)y, 4);
    CHECK(cuStreamSynchronize(stream));
    expect(y, 9, __LINE__);
    CHECK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &told));
    EXPECT(told >= n * sizeof(int));
    CHECK(cuMemFreeAsync(y, stream));
    CHECK(cuMemPoolTrimTo(own, 0));
    CHECK(cuMemPoolDestroy(own));
    EXPECT(cuMemPoolTrimTo(own, 0) == CUDA_ERROR_INVALID_VALUE);
}

static void attributes(CUstream stream) {
    cudaStreamAttrValue window = {};
    window.accessPolicyWindow.base_ptr = &window;
    window.accessPolicyWindow.num_bytes = 4096;
    window.accessPolicyWindow.hitRatio = 0.5f;
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window));
    CUstream other;
    CHECK(cuStreamCreateWithPriority(&other, CU_STREAM_NON_BLOCKING, -2));
    CUstreamAttrValue told = {};
    CHECK(cuStreamGetAttribute(other, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &told));
    EXPECT(told.accessPolicyWindow.num_bytes == 0);
    CHECK(cuStreamCopyAttributes(other, stream));
    CHECK(cuStreamGetAttribute(other, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &told));
    EXPECT(told.accessPolicyWindow.num_bytes == 4096 && told.accessPolicyWindow.hitRatio == 0.5f);
    window.accessPolicyWindow.hitRatio = 1.5f;
    EXPECT(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window) ==
           cudaErrorInvalidValue);
    CHECK(cuStreamGetAttribute(other, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &told));
    EXPECT(told.syncPolicy == CU_SYNC_POLICY_AUTO);
    CHECK(cuStreamGetAttribute(other, CU_STREAM_ATTRIBUTE_PRIORITY, &told));
    EXPECT(told.priority == -2);
    told.priority = -1;
    CHECK(cuStreamSetAttribute(other, CU_STREAM_ATTRIBUTE_PRIORITY, &told));
    int priority = 0;
    CHECK(cuStreamGetPriority(other, &priority));
    EXPECT(priority == -1);
    CHECK(cudaCtxResetPersistingL2Cache());

    CUcontext current, of_stream;
    CHECK(cuCtxGetCurrent(&current));
    CHECK(cuStreamGetCtx(other, &of_stream));
    EXPECT(of_stream == current);
    unsigned long long one, two;
    CHECK(cuStreamGetId(stream, &one));
    CHECK(cuStreamGetId(other, &two));
    EXPECT(one != two);
    CHECK(cuCtxGetId(current, &one));
    CHECK(cuCtxGetId(nullptr, &two));
    EXPECT(one == two);
    CHECK(cuStreamDestroy(other));
}

static void kernels(CUfunction function) {
    size_t parameters = 0, bytes = 0;
    CHECK(cuFuncGetParamCount(function, &parameters));
    EXPECT(parameters == 2);
    CUfunctionLoadingState state;
    CHECK(cuFuncLoad(function));
    CHECK(cuFuncIsLoaded(&state, function));
    EXPECT(state == CU_FUNCTION_LOADING_STATE_LOADED);
    int grid = 0, block = 0, grid_again = 0, block_again = 0;
    CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, nullptr, 0, 0));
    CHECK(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid_again, &block_again, function, nullptr, 0, 0,
                                                    CU_OCCUPANCY_DEFAULT));
    EXPECT(block > 0 && block == block_again && grid == grid_again);
    CHECK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 1, 256));
    EXPECT(bytes > 0);
    char address[32];
    CUdevice device = 7;
    CHECK(cuDeviceGetPCIBusId(address, sizeof address, 0));
    CHECK(cuDeviceGetByPCIBusId(&device, address));
    EXPECT(device == 0);
}

static void nodes(CUstream stream, CUfunction function) {
    CUcontext context;
    CHECK(cuCtxGetCurrent(&context));
    CUdeviceptr y;
    CHECK(cuMemAlloc(&y, n * sizeof(int)));
    CHECK(cuMemsetD2D32Async(y, 4, 1, 1, n, stream));
    CHECK(cuStreamSynchronize(stream));
    expect(y, 1, __LINE__);
    CUgraph graph, clone;
    CUgraphNode set, kernel, found;
    CHECK(cuGraphCreate(&graph, 0));
    CUDA_MEMSET_NODE_PARAMS fill = {};
    fill.dst = y, fill.value = 3, fill.elementSize = 4, fill.width = n, fill.height = 1;
    CHECK(cuGraphAddMemsetNode(&set, graph, nullptr, 0, &fill, context));
    int two = 2;
    void *arguments[] = {&y, &two};
    CUDA_KERNEL_NODE_PARAMS launch = {};
    launch.func = function, launch.kernelParams = arguments;
    launch.gridDimX = 2, launch.gridDimY = launch.gridDimZ = 1;
    launch.blockDimX = 256, launch.blockDimY = launch.blockDimZ = 1;
    CHECK(cuGraphAddKernelNode(&kernel, graph, &set, 1, &launch));
    CHECK(cuGraphClone(&clone, graph));
    CHECK(cuGraphNodeFindInClone(&found, set, clone));
    EXPECT(found != set);
    // A clone's node changes by itself.
    CUDA_MEMSET_NODE_PARAMS told = {};
    CHECK(cuGraphMemsetNodeGetParams(found, &told));
    EXPECT(told.value == 3 && told.width == n);
    told.value = 30;
    CHECK(cuGraphMemsetNodeSetParams(found, &told));
    CUgraphExec made, of_clone;
    CHECK(cuGraphInstantiate(&made, graph, 0));
    CHECK(cuGraphInstantiate(&of_clone, clone, 0));
    CHECK(cuGraphLaunch(of_clone, stream));
    CHECK(cuStreamSynchronize(stream));
    expect(y, 32, __LINE__);
    CHECK(cuGraphLaunch(made, stream));
    CHECK(cuStreamSynchronize(stream));
    expect(y, 5, __LINE__);
    unsigned enabled = 0;
    CHECK(cuGraphNodeGetEnabled(made, kernel, &enabled));
    EXPECT(enabled == 1);
    CHECK(cuGraphNodeSetEnabled(made, kernel, 0));
    CHECK(cuGraphNodeGetEnabled(made, kernel, &enabled));
    EXPECT(enabled == 0);
    fill.value = 8;
    CHECK(cuGraphExecMemsetNodeSetParams(made, set, &fill, context));
    CHECK(cuGraphLaunch(made, stream));
    CHECK(cuStreamSynchronize(stream));
    expect(y, 8, __LINE__);
    CHECK(cuGraphExecDestroy(made));
    CHECK(cuGraphExecDestroy(of_clone));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuGraphDestroy(clone));
    CHECK(cuMemFree(y));
}

static void arrays(CUstream stream) {
    CUDA_ARRAY_DESCRIPTOR row = {8, 0, CU_AD_FORMAT_SIGNED_INT32, 1};
    CUarray first, second;
    CHECK(cuArrayCreate(&first, &row));
    CHECK(cuArrayCreate(&second, &row));
    int values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, found[8] = {};
    CHECK(cuMemcpyHtoAAsync(first, 0, values, sizeof values, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyAtoA(second, 4, first, 0, 28));
    CHECK(cuMemcpyAtoHAsync(found, second, 4, 28, stream));
    CHECK(cuStreamSynchronize(stream));
    EXPECT(memcmp(values, found, 28) == 0 && found[7] == 0);
    CHECK(cuArrayDestroy(first));
    CHECK(cuArrayDestroy(second));
}

struct Asked {
    CUevent event;
    CUresult answer;
};
static void ask(void *asked) {
    auto *of = static_cast<Asked *>(asked);
    of->answer = cuEventQuery(of->event);
}

static void pointersAndCallbacks(CUstream stream) {
    CUcontext current, told;
    CHECK(cuCtxGetCurrent(&current));
    CUdeviceptr y, z;
    // A stream brings its context along.
    std::thread([stream] {
        CUdeviceptr own;
        CHECK(cuMemAllocAsync(&own, 64, stream));
        CHECK(cuMemFreeAsync(own, stream));
        EXPECT(cuMemAlloc(&own, 64) == CUDA_ERROR_INVALID_CONTEXT);
    }).join();
    CHECK(cuMemAlloc(&y, 64));
    CHECK(cuMemAlloc(&z, 64));
    CHECK(cuPointerGetAttribute(&told, CU_POINTER_ATTRIBUTE_CONTEXT, y));
    EXPECT(told == current);
    unsigned long long one, two;
    CHECK(cuPointerGetAttribute(&one, CU_POINTER_ATTRIBUTE_BUFFER_ID, y + 4));
    CHECK(cuPointerGetAttribute(&two, CU_POINTER_ATTRIBUTE_BUFFER_ID, z));
    EXPECT(one != two);
    CUfunc_cache split;
    CHECK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    CHECK(cuCtxGetCacheConfig(&split));
    EXPECT(split == CU_FUNC_CACHE_PREFER_L1);

    // Copies between contexts name these, so that none has to be current.
    CHECK(cuMemsetD8(y, 7, 64));
    CUDA_MEMCPY3D_PEER copy = {};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = y, copy.dstDevice = z;
    copy.srcContext = copy.dstContext = current;
    copy.WidthInBytes = 64, copy.Height = copy.Depth = 1;
    CHECK(cuMemcpy3DPeer(&copy));
    unsigned char bytes[64] = {};
    CHECK(cuMemcpyDtoH(bytes, z, 64));
    EXPECT(bytes[0] == 7 && bytes[63] == 7);

    Asked asked = {};
    asked.answer = CUDA_ERROR_UNKNOWN;
    CHECK(cuEventCreate(&asked.event, CU_EVENT_DEFAULT));
    CHECK(cuEventRecord(asked.event, stream));
    CHECK(cuLaunchHostFunc(stream, ask, &asked));
    CHECK(cuStreamSynchronize(stream));
    EXPECT(asked.answer == CUDA_SUCCESS);
    CHECK(cuEventDestroy(asked.event));
    CHECK(cuMemFree(y));
    CHECK(cuMemFree(z));
}

int main() {
    // A pool is a device's, and wants no context.
    CHECK(cuInit(0));
    CUmemoryPool first;
    CHECK(cuDeviceGetDefaultMemPool(&first, 0));
    CHECK(cuMemPoolTrimTo(first, 0));
    cudaFree(nullptr);
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    cudaFunction_t handle;
    cudaGetFuncBySymbol(&handle, (void *)add);
    pools(stream);
    attributes(stream);
    kernels((CUfunction)handle);
    nodes(stream, (CUfunction)handle);
    arrays(stream);
    pointersAndCallbacks(stream);
    CHECK(cuStreamDestroy(stream));
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
