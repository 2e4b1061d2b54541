// Cooperative launches: all blocks wait for each other, by cooperative groups and by words of their own;
// what is launched around them still fuses, and they fuse with nothing.
//
// expect: 4 launches -> 3
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

constexpr int threads = 64;

// Each step needs what all blocks did in the one before.
__global__ void rotate_sum(int *x, int *y, int steps) {
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank(), n = grid.size();
    for (int step = 0; step < steps; step++) {
        y[i] = x[i] + x[(i + threads) % n];
        grid.sync();
        x[i] = y[n - 1 - i];
        grid.sync();
    }
}

// The last block adds up what the others left; sums of a block go through shared memory.
__global__ void reduce(const int *x, int *parts, int *sum) {
    __shared__ int own[threads];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    own[threadIdx.x] = x[i];
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) own[threadIdx.x] += own[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) parts[blockIdx.x] = own[0];
    cg::this_grid().sync();
    if (i == 0) {
        int all = 0;
        for (int block = 0; block < gridDim.x; block++) all += parts[block];
        *sum = all;
    }
}

// A barrier of its own, by loads and updates with an order.
__global__ void meet(unsigned *arrived, int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned before, now;
        asm volatile("atom.add.release.gpu.u32 %0,[%1],%2;" : "=r"(before) : "l"(arrived), "r"(1) : "memory");
        do {
            asm volatile("ld.acquire.gpu.u32 %0,[%1];" : "=r"(now) : "l"(arrived) : "memory");
        } while (now < gridDim.x);
    }
    __syncthreads();
    int other = x[(i + threads) % (gridDim.x * blockDim.x)];
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(arrived + 1), "r"(other) : "memory");
    asm volatile("red.relaxed.gpu.global.max.s32 [%0], %1;" ::"l"(arrived + 2), "r"(other) : "memory");
}

__global__ void twice(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }
__global__ void more(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 3; }

static int wrong = 0;
static void check(bool holds, const char *what) {
    if (!holds) {
        wrong++;
        printf("wrong: %s\n", what);
    }
}

// Without any synchronisation.
__global__ void ask(int *valid) { *valid = cg::this_grid().is_valid() ? 1 : 2; }

int main() {
    int cooperative = 0, processors = 0, on_one = 0;
    cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_one, rotate_sum, threads, 0);
    check(cooperative == 1 && on_one >= 6, "the device says that it can");

    constexpr int blocks = 6, count = blocks * threads;
    static int expected[count], before[count];
    int *x, *y, *parts, *sum;
    unsigned *arrived;
    cudaMalloc(&x, count * sizeof(int));
    cudaMalloc(&y, count * sizeof(int));
    cudaMalloc(&parts, blocks * sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    cudaMalloc(&arrived, 3 * sizeof(unsigned));
    cudaMemset(arrived, 0, 3 * sizeof(unsigned));
    for (int i = 0; i < count; i++) expected[i] = i % 17;
    cudaMemcpy(x, expected, sizeof expected, cudaMemcpyHostToDevice);

    int steps = 5;
    void *arguments[] = {&x, &y, &steps};
    check(cudaLaunchCooperativeKernel((void *)rotate_sum, blocks, threads, arguments, 0, 0) == cudaSuccess,
          "rotate_sum is launched");
    void *of_reduce[] = {&x, &parts, &sum};
    cudaLaunchCooperativeKernel((void *)reduce, dim3(blocks), dim3(threads), of_reduce, 0, 0);
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < count; i++) before[i] = expected[i] + expected[(i + threads) % count];
        for (int i = 0; i < count; i++) expected[i] = before[count - 1 - i];
    }
    int all = 0, found = 0;
    for (int value : expected) all += value;
    cudaMemcpy(&found, sum, sizeof found, cudaMemcpyDeviceToHost);
    check(found == all, "the sum of all blocks");

    twice<<<blocks, threads>>>(x);
    more<<<blocks, threads>>>(x);
    void *of_meet[] = {&arrived, &x};
    cudaLaunchConfig_t configuration = {};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    configuration.gridDim = blocks;
    configuration.blockDim = threads;
    configuration.attrs = &attribute;
    configuration.numAttrs = 1;
    cudaLaunchKernelExC(&configuration, (void *)meet, of_meet);
    twice<<<blocks, threads>>>(x);
    unsigned met[3] = {};
    cudaMemcpy(met, arrived, sizeof met, cudaMemcpyDeviceToHost);
    unsigned total = 0, most = 0;
    for (int value : expected) {
        total += value * 2 + 4;
        most = most > value * 2 + 4u ? most : value * 2 + 4u;
    }
    check(met[0] == blocks && met[1] == total && met[2] == most, "a barrier of the program's own");
    static int got[count];
    cudaMemcpy(got, x, sizeof got, cudaMemcpyDeviceToHost);
    bool same = true;
    for (int i = 0; i < count; i++) same &= got[i] == (expected[i] * 2 + 4) * 2;
    check(same, "the values after all of it");

    int *valid, answers[2] = {};
    cudaMalloc(&valid, sizeof answers);
    ask<<<1, 1>>>(valid);
    int *behind = valid + 1;
    void *of_ask[] = {&behind};
    cudaLaunchCooperativeKernel((void *)ask, 1, 1, of_ask, 0, 0);
    cudaMemcpy(answers, valid, sizeof answers, cudaMemcpyDeviceToHost);
    check(answers[0] == 2 && answers[1] == 1, "which grids are valid");

    // More blocks than are there at a time.
    int too_many = processors * 2048 / threads + 1;
    check(cudaLaunchCooperativeKernel((void *)rotate_sum, too_many, threads, arguments, 0, 0) ==
              cudaErrorCooperativeLaunchTooLarge,
          "too many blocks");
    cudaGetLastError();

    printf(wrong ? "FAILED: %d\n" : "PASS\n", wrong);
    return wrong != 0;
}
