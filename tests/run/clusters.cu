// Clusters of blocks: of the size that the kernel was compiled for, or that the launch asks for; barriers of all their
// threads, in one or in two parts, with threads that leave early; each other's shared memory, by cooperative groups, by
// intrinsics and in inline PTX.
//
// architecture: sm_90
// expect: 6 launches -> 6
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

static int wrong = 0;

static void check(bool right, const char *what) {
    if (right) return;
    printf("%s\n", what);
    wrong++;
}

__global__ void __cluster_dims__(2, 1, 1) ranks(int *out) {
    auto cluster = cg::this_cluster();
    cluster.sync();
    out[blockIdx.x] = cluster.block_rank() + 10 * cluster.num_blocks() + 100 * cluster.num_threads();
}

// A histogram over the shared memory of all blocks.
__global__ void histogram(const int *values, int *bins, int count) {
    extern __shared__ int own[];
    auto cluster = cg::this_cluster();
    const int blocks = cluster.num_blocks(), thread = threadIdx.x;
    own[thread] = 0;
    cluster.sync();
    for (int i = cluster.thread_rank(); i < count; i += cluster.num_threads()) {
        const int bin = values[i];
        atomicAdd(cluster.map_shared_rank(own, bin / blockDim.x) + bin % blockDim.x, 1);
    }
    cluster.sync();
    bins[cg::this_grid().cluster_rank() * blocks * blockDim.x + cluster.block_rank() * blockDim.x + thread] = own[thread];
}

// Every block writes to the next one, and has something else to do until all have.
__global__ void pass_on(int *out) {
    __shared__ int received[32];
    auto cluster = cg::this_cluster();
    const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    // Nobody writes before all are there.
    auto token = cluster.barrier_arrive();
    const int mine = threadIdx.x * 7 + blockIdx.x;
    cluster.barrier_wait(std::move(token));
    static_cast<int *>(__cluster_map_shared_rank(received, next))[threadIdx.x] = mine;
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    out[blockIdx.x * 32 + threadIdx.x] = received[threadIdx.x] + 1000 * __cluster_query_shared_rank(received);
}

// Threads that leave count as arrived.
__global__ void leave(int *out) {
    __shared__ int word;
    const unsigned there = (unsigned)__cvta_generic_to_shared(&word);
    if (threadIdx.x == 0) word = 5 + blockIdx.x;
    if (threadIdx.x > 16) return;
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    unsigned rank, other;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(there), "r"(rank ^ 1));
    int found;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(found) : "r"(other) : "memory");
    if (threadIdx.x == 16) out[blockIdx.x] = found;
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

__global__ void shapes(int *out) {
    const dim3 at = __clusterRelativeBlockIdx(), all = __clusterDim(), which = __clusterIdx(), grid = __clusterGridDimInClusters();
    const int block = blockIdx.x + gridDim.x * blockIdx.y;
    out[block] = at.x + 2 * at.y + 10 * (all.x + 4 * all.y) + 1000 * (which.x + 3 * which.y) + 100000 * (grid.x + grid.y)
        + 10000000 * __clusterDimIsSpecified();
}

// Nothing in these asks for the cluster, but a grid that is not made of whole ones is not run.
template <int BLOCKS> __global__ void __cluster_dims__(BLOCKS) doubled(int *out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}
__global__ void increased(int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

template <class... Arguments>
static cudaError_t launch(void (*kernel)(Arguments...), dim3 grid, int threads, dim3 cluster, size_t bytes, Arguments... arguments) {
    cudaLaunchConfig_t configuration = {};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
    configuration.gridDim = grid;
    configuration.blockDim = threads;
    configuration.dynamicSmemBytes = bytes;
    configuration.attrs = &attribute;
    configuration.numAttrs = 1;
    return cudaLaunchKernelEx(&configuration, kernel, arguments...);
}

int main() {
    constexpr int COUNT = 1000;
    int *out, *values, found[256], host[COUNT];
    cudaMalloc(&out, sizeof found);
    cudaMalloc(&values, sizeof host);
    for (int i = 0; i < COUNT; i++) host[i] = i * i % 64;
    cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);

    ranks<<<4, 32>>>(out);
    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 4; i++) check(found[i] == i % 2 + 20 + 6400, "ranks");
    ranks<<<3, 32>>>(out);
    check(cudaGetLastError() != cudaSuccess, "half a cluster");
    for (int &each : found) each = 0;
    cudaMemcpy(out, found, sizeof found, cudaMemcpyHostToDevice);
    increased<<<3, 32>>>(out);
    doubled<2><<<3, 32>>>(out);
    increased<<<3, 32>>>(out);
    check(cudaGetLastError() != cudaSuccess, "half a cluster between others");
    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 96; i++) check(found[i] == 2, "what the others did");

    check(launch(histogram, 4, 16, 4, 16 * sizeof(int), (const int *)values, out, COUNT) == cudaSuccess, "a launch");
    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    int bins[64] = {};
    for (int value : host) bins[value]++;
    for (int i = 0; i < 64; i++) check(found[i] == bins[i], "a histogram");

    launch(pass_on, 8, 32, 8, 0, out);
    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 256; i++)
        check(found[i] == i % 32 * 7 + (i / 32 + 7) % 8 + 1000 * (i / 32), "what was passed on");

    launch(leave, 4, 32, 2, 0, out);
    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 4; i++) check(found[i] == 5 + (i ^ 1), "without those that left");

    launch(shapes, dim3(6, 4), 1, dim3(2, 2), 0, out);
    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 6; x++)
            check(found[x + 6 * y] == x % 2 + 2 * (y % 2) + 100 + 1000 * (x / 2 + 3 * (y / 2)) + 500000 + 10000000, "shapes");
    shapes<<<dim3(2, 1), 1>>>(out);
    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    check(found[1] == 50 + 1000 + 300000, "blocks by themselves");
    int most = 0;
    cudaDeviceGetAttribute(&most, cudaDevAttrClusterLaunch, 0);
    check(most == 1, "the device's word");
    printf(wrong ? "FAIL\n" : "PASS\n");
    return wrong != 0;
}
