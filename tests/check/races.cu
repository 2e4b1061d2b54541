// What `SIRIUS_CHECK=race` finds, one race for each argument; without one, everything is ordered. Comments at ends of
// lines name the places that messages have.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cg = cooperative_groups;

// Lanes of one warp.
__global__ void add_up_warp(int *out, bool ordered) {
    __shared__ int s[32];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
        int other = threadIdx.x < d ? s[threadIdx.x + d] : 0; // lane read
        if (ordered) __syncwarp();
        if (threadIdx.x < d) s[threadIdx.x] += other; // lane write
        if (ordered) __syncwarp();
    }
    if (threadIdx.x == 0) *out = s[0];
}

// The same with volatile accesses, which programs from before Volta rely on.
__global__ void add_up_volatile(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x < 32) {
        volatile int *v = s;
        v[threadIdx.x] += v[threadIdx.x + 32];
        for (int d = 16; d > 0; d /= 2) v[threadIdx.x] += v[threadIdx.x + d];
    }
    if (threadIdx.x == 0) *out = s[0];
}

// Threads of one block, in shared memory.
__global__ void add_up_block(int *out, const int *in, bool ordered) {
    __shared__ int s[128];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; // block sum
        if (ordered) __syncthreads();
    }
    if (threadIdx.x == 0) *out = s[0];
}

// Threads of one block, in global memory. None of them can be told from another.
__global__ void count_threads(int *counter) {
    *counter += 1; // count
}
__global__ void count_threads_atomically(int *counter) { atomicAdd(counter, 1); }

// What is found before an atomic update is looked at again by that, unless it goes elsewhere, too.
__global__ void guess_first(int *sum, int *most, int *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int before = *sum, expected;
    do {
        expected = before;
        before = atomicCAS(sum, expected, expected + i);
    } while (before != expected);
    sums[i] = before;
    if (i > *most) atomicMax(most, i);
}
__global__ void keep_guess(int *sum, int *sums) {
    sums[threadIdx.x] = *sum; // guess
    atomicAdd(sum, 1); // sum updated
}
__global__ void keep_guess_at_times(int *sum, int *sums, bool kept) {
    int before = *sum, expected; // look
    if (kept) sums[threadIdx.x] = before;
    do {
        expected = before;
        before = atomicCAS(sum, expected, expected + 1); // look updated
    } while (before != expected);
}
__global__ void count_in_block(int *out, bool ordered) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1); // counted
    if (ordered) __syncthreads();
    if (threadIdx.x == 40) *out = count; // count read
}

// A lock that threads of all blocks take.
__global__ void count_under_lock(int *counter, int *lock) {
    for (bool waits = true; waits;)
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *counter += 1;
            __threadfence();
            atomicExch(lock, 0);
            waits = false;
        }
}

// Blocks of one launch.
__global__ void count_blocks(int *counter) {
    if (threadIdx.x == 0) *counter += 1; // block count
}
__global__ void last_block_wins(int *out) {
    if (threadIdx.x == 0) *out = blockIdx.x; // block number
}
__global__ void read_first_block(int *out) {
    if (threadIdx.x == 0) out[blockIdx.x] = out[0] + 1; // first block
}
__global__ void blur_in_place(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float next = i + 1 < n ? x[i + 1] : 0; // blur read
    __syncthreads();
    x[i] += next; // blur write
}

// Blocks that leave their sums to the last one.
__global__ void sum_in_last_block(int *out, const int *in, int *parts, unsigned *ticket, bool takes_turns) {
    __shared__ int s[64];
    __shared__ bool last;
    s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < 64; ++i) sum += s[i];
        parts[blockIdx.x] = sum; // part written
        __threadfence();
        unsigned place = takes_turns ? atomicInc(ticket, gridDim.x - 1) : blockIdx.x;
        last = place == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        if (threadIdx.x < gridDim.x) s[threadIdx.x] = parts[threadIdx.x]; // part read
        __syncthreads();
        if (threadIdx.x == 0) {
            int sum = 0;
            for (int i = 0; i < gridDim.x; ++i) sum += s[i];
            *out = sum;
        }
    }
}

// Blocks that wait for the one before them: what it wrote comes first, and what those before it wrote.
__global__ void scan_blocks(int *values, volatile int *ready) {
    if (threadIdx.x == 0) {
        if (blockIdx.x > 0) {
            while (ready[blockIdx.x - 1] == 0) {}
            __threadfence();
            values[blockIdx.x] = values[blockIdx.x - 1] + values[0];
        } else {
            values[0] += 1;
        }
        __threadfence();
        ready[blockIdx.x] = 1;
    }
}

// All blocks at once: those of the toolkit, and a barrier of the program's own, with a counter and a flag.
__global__ void steps_of_grid(float *from, float *to, int n) {
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int step = 0; step < 3; ++step) {
        to[i] = from[(i + 32) % n] + 1;
        grid.sync();
        float *other = from;
        from = to;
        to = other;
    }
}
__global__ void steps_with_barrier(float *from, float *to, int n, int *arrived, volatile int *round, bool ordered) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int step = 0; step < 3; ++step) {
        to[i] = from[(i + 32) % n] + 1; // step
        __syncthreads();
        if (ordered && threadIdx.x == 0) {
            __threadfence();
            if (atomicAdd(arrived, 1) == gridDim.x - 1) {
                *arrived = 0;
                __threadfence();
                *round = step + 1;
            }
            while (*round <= step) {}
            __threadfence();
        }
        __syncthreads();
        float *other = from;
        from = to;
        to = other;
    }
}

// The blocks of a cluster, in each other's shared memory and in global memory.
__global__ void pass_on(int *out, int *sums, bool cleared, bool waits, bool ends) {
    __shared__ int received[32];
    auto cluster = cg::this_cluster();
    unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    received[threadIdx.x] = 0; // cleared
    if (cleared) cluster.sync();
    cluster.map_shared_rank(received, next)[threadIdx.x] = blockIdx.x; // passed on
    cluster.barrier_arrive();
    if (!waits) out[blockIdx.x * 32 + threadIdx.x] = received[threadIdx.x]; // received
    cluster.barrier_wait();
    out[blockIdx.x * 32 + threadIdx.x] = received[31 - threadIdx.x]; // result
    if (ends) cluster.sync();
    int sum = out[(blockIdx.x ^ 1) * 32 + threadIdx.x]; // other result
    cluster.sync();
    if (threadIdx.x == 0 && cluster.block_rank() == 0)
        for (int i = 0; i < 128; ++i) sum += out[blockIdx.x * 32 + i];
    atomicAdd(sums, sum);
}

// Variables of which one thread takes care, behind a test.
__device__ int total, first_total;
__global__ void add_to_total(const int *in, int *found, bool once) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    atomicAdd(&s, in[threadIdx.x]);
    __syncthreads();
    // The compiler loads for all threads what one of them asks for.
    int before = threadIdx.x == 7 ? s : 0;
    found[blockIdx.x * 64 + threadIdx.x] = before;
    if (threadIdx.x == 7) s = before + 1;
    if (threadIdx.x == 0 && blockIdx.x == 0 && once) first_total = first_total + 1;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&total, s);
}

// A load that all do counts where its value is used.
__global__ void read_by_some(int *out, bool ordered) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 3;
    __syncthreads();
    int found = s; // some read
    if (threadIdx.x < 10) out[threadIdx.x] = found;
    if (ordered) __syncthreads();
    if (threadIdx.x == 63) s = 5; // one writes
    __syncthreads();
    int late = threadIdx.x == 7 ? s : 0; // one reads
    if (!ordered && threadIdx.x == 8) s = 6; // meanwhile
    if (threadIdx.x == 7) out[10] = late;
}

__global__ void mark(int *found, int *seen) {
    if (threadIdx.x % 3 == 0) *found = 1;
    seen[threadIdx.x / 2] = 1;
}

__global__ void fill(int *out, int value) { out[threadIdx.x] = value; } // fill
__global__ void twice(int *out, const int *in) { out[threadIdx.x] = 2 * in[threadIdx.x]; } // twice

// Launches when the program ends, when much of it is gone.
struct LastLaunch {
    int *memory = nullptr;
    ~LastLaunch() {
        if (memory) fill<<<1, 64>>>(memory, 9);
    }
} last_launch;

template <class... Arguments>
static void launch_in_clusters(void (*kernel)(Arguments...), int blocks, int threads, int of, Arguments... arguments) {
    cudaLaunchConfig_t configuration = {};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {(unsigned)of, 1, 1};
    configuration.gridDim = blocks;
    configuration.blockDim = threads;
    configuration.attrs = &attribute;
    configuration.numAttrs = 1;
    cudaLaunchKernelEx(&configuration, kernel, arguments...);
}

__managed__ int shared_by_name[64], beside;

int main(int argc, char **argv) {
    const char *race = argc > 1 ? argv[1] : "";
    auto is = [&](const char *name) { return strcmp(race, name) == 0; };
    int *data, *out, host[256];
    float *x, *y;
    for (int i = 0; i < 256; ++i) host[i] = i;
    cudaMalloc(&data, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&y, sizeof host);
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof host);
    cudaMemset(x, 0, sizeof host);
    cudaMemset(y, 0, sizeof host);

    add_up_warp<<<1, 32>>>(out, !is("lanes"));
    add_up_volatile<<<1, 64>>>(out);
    add_up_block<<<1, 128>>>(out, data, !is("shared"));
    if (is("threads")) count_threads<<<1, 64>>>(out);
    if (is("blocks_and_threads")) count_threads<<<2, 1>>>(out);
    count_threads<<<1, 1>>>(out);
    count_threads_atomically<<<2, 64>>>(out);
    guess_first<<<2, 64>>>(out + 5, out + 6, out + 64);
    if (is("guess")) keep_guess<<<1, 64>>>(out + 5, out + 64);
    keep_guess_at_times<<<1, 64>>>(out + 5, out + 64, is("look"));
    count_in_block<<<1, 64>>>(out, !is("atomics"));
    count_under_lock<<<4, 8>>>(out + 1, out + 2);
    if (is("blocks")) count_blocks<<<4, 64>>>(out);
    if (is("numbers")) last_block_wins<<<4, 64>>>(out);
    if (is("first")) read_first_block<<<4, 64>>>(out);
    blur_in_place<<<is("blur") ? 2 : 1, 64>>>(x, is("blur") ? 128 : 64);
    sum_in_last_block<<<4, 64>>>(out + 3, data, out + 8, (unsigned *)out + 4, !is("ticket"));
    scan_blocks<<<4, 64>>>(out + 16, out + 32);
    int n = 128;
    bool ordered = !is("grid");
    int *arrived = out + 40, *round = out + 41;
    void *steps[] = {&x, &y, &n}, *with_barrier[] = {&x, &y, &n, &arrived, &round, &ordered};
    cudaLaunchCooperativeKernel((void *)steps_of_grid, dim3(4), dim3(32), steps, 0, 0);
    cudaLaunchCooperativeKernel((void *)steps_with_barrier, dim3(4), dim3(32), with_barrier, 0, 0);
    add_to_total<<<2, 64>>>(data, out + 64, true);
    mark<<<4, 64>>>(out + 48, out + 50);
    read_by_some<<<1, 64>>>(out + 48, !is("some"));
    launch_in_clusters(pass_on, 8, 32, 4, (int *)x, out + 48, !is("cluster"), !is("early"), !is("results"));

    cudaDeviceSynchronize();

    // Between streams: an event, the host or the default stream orders what two of them do.
    cudaStream_t one, other, blocking;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaStreamCreate(&blocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    fill<<<1, 64, 0, one>>>(data, 3);
    cudaEventRecord(event, one);
    fill<<<1, 64, 0, one>>>(out, 4);
    if (!is("streams")) cudaStreamWaitEvent(other, event, 0);
    twice<<<1, 64, 0, other>>>(data + 128, data);
    if (!is("default")) cudaStreamSynchronize(other);
    if (is("host")) fill<<<1, 64, 0, one>>>(data + 128, 4);
    cudaMemcpy(host, data + 128, 64 * sizeof(int), cudaMemcpyDeviceToHost);
    fill<<<1, 64, 0, blocking>>>(data, 5);
    twice<<<1, 64>>>(data + 128, data);
    twice<<<1, 64, 0, blocking>>>(data + 64, data + 128);
    printf("%d %s\n", host[0], cudaGetErrorString(cudaDeviceSynchronize()));
    fill<<<1, 64, 0, other>>>(out, 6);
    cudaDeviceSynchronize();

    // Between host and device, in memory of both: the host waits for what it reads, and before it overwrites what is read.
    int *managed, *pinned;
    cudaMallocManaged(&managed, 2 * 4096);
    cudaMallocHost(&pinned, 4096);
    managed[0] = 1;
    managed[1024] = 2;
    fill<<<1, 64>>>(managed, 7);
    managed[1024] += 1;
    if (is("managed")) managed[5] += 1; // host
    cudaDeviceSynchronize();
    managed[5] += 1;
    cudaMemcpyAsync(pinned, data, 256, cudaMemcpyDeviceToHost, one);
    if (is("pinned")) managed[6] = pinned[63];
    cudaStreamSynchronize(one);
    managed[6] = pinned[63];
    cudaMemcpyAsync(data, pinned, 256, cudaMemcpyHostToDevice, one);
    int kept = pinned[0];
    if (is("staging")) pinned[1] = kept;
    cudaStreamSynchronize(one);
    pinned[1] = kept;
    fill<<<1, 64>>>(shared_by_name, 8);
    beside += 1;
    if (is("variable")) shared_by_name[7] += 1;
    cudaDeviceSynchronize();
    shared_by_name[7] += 1;
    // Only the whole pages of it are looked at.
    int *registered = static_cast<int *>(aligned_alloc(4096, 3 * 4096));
    memset(registered, 0, 3 * 4096);
    cudaHostRegister(registered + 512, 2 * 4096, cudaHostRegisterDefault);
    fill<<<1, 64>>>(registered + 1024, 9);
    registered[512] += registered[2048 + 64];
    if (is("registered")) registered[1024 + 63] += 1;
    cudaDeviceSynchronize();
    registered[1024 + 63] += 1;
    cudaHostUnregister(registered + 512);
    free(registered);
    cudaFreeHost(pinned);
    cudaFree(managed);
    last_launch.memory = out;
    printf("PASS\n");
}
