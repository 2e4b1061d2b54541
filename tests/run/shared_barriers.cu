// Barriers in shared memory: primitives, `cuda::barrier`, and PTX with parities. Threads arrive, do other
// work, and ask in a loop whether all have arrived; some drop out. Kernels that have them run alone, and
// their neighbours fuse around them.
//
// expect: 8 launches -> 6
// expect-missed: unfusable
// expect-missed: unfusable
// expect-missed: unfusable
// expect-missed: unfusable
// expect-missed: unfusable
#include <cstdio>
#include <cuda/barrier>
#include <cuda_awbarrier_primitives.h>

constexpr int count = 1000, threads = 128, blocks = (count + threads - 1) / threads;

__global__ void scale(float *y, const float *x, float by) {
    int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) y[i] = x[i] * by;
}

__global__ void add(float *y, const float *x, float by) {
    int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) y[i] += x[i] * by;
}

// Between arriving and waiting each thread works on what is its own.
__global__ void reversed(float *y, const float *x) {
    __shared__ float tile[threads];
    __shared__ __mbarrier_t all;
    if (threadIdx.x == 0) __mbarrier_init(&all, threads);
    __syncthreads();
    int i = blockIdx.x * threads + threadIdx.x;
    float own = i < count ? x[i] : 0.0f;
    tile[threadIdx.x] = own;
    __mbarrier_token_t token = __mbarrier_arrive(&all);
    own *= 0.5f;
    while (!__mbarrier_test_wait(&all, token)) {
    }
    if (i < count) y[i] = own + tile[threads - 1 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) __mbarrier_inval(&all);
}

// Phase after phase, a tree of sums; half of the threads drop out each time.
__global__ void sums(float *y, const float *x) {
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ float tile[threads];
    __shared__ alignas(barrier) unsigned char room[sizeof(barrier)];
    barrier &all = *reinterpret_cast<barrier *>(room);
    if (threadIdx.x == 0) init(&all, threads);
    __syncthreads();
    int i = blockIdx.x * threads + threadIdx.x;
    tile[threadIdx.x] = i < count ? x[i] : 0.0f;
    all.arrive_and_wait();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x >= half) {
            all.arrive_and_drop();
            break;
        }
        tile[threadIdx.x] += tile[threadIdx.x + half];
        all.arrive_and_wait();
    }
    if (threadIdx.x == 0) y[blockIdx.x] += tile[0];
}

// The first warp hands pieces to the others, full and empty in turn.
__global__ void handed_on(float *y, const float *x) {
    __shared__ float piece[32];
    __shared__ unsigned long long bars[2];
    unsigned full = __cvta_generic_to_shared(&bars[0]), empty = __cvta_generic_to_shared(&bars[1]);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(full), "r"(32));
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(empty), "r"(threads - 32));
    }
    __syncthreads();
    auto arrive = [](unsigned at) {
        unsigned long long state;
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    };
    auto wait = [](unsigned at, unsigned parity) {
        unsigned over = 0;
        while (!over)
            asm volatile(
                "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                : "=r"(over)
                : "r"(at), "r"(parity)
                : "memory");
    };
    float sum = 0.0f;
    for (unsigned round = 0; round < 6; ++round) {
        if (threadIdx.x < 32) {
            wait(empty, round + 1 & 1);
            piece[threadIdx.x] = x[(blockIdx.x * 32 + round * 97 + threadIdx.x) % count];
            arrive(full);
        } else {
            wait(full, round & 1);
            sum += piece[(threadIdx.x + round) % 32];
            arrive(empty);
        }
    }
    int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) y[i] += sum;
}

int main() {
    static float x[count], expected[count], y[count];
    float *d_x, *d_y, *d_z;
    for (int i = 0; i < count; ++i) x[i] = float(i * 7 % 31);
    cudaMalloc(&d_x, sizeof x);
    cudaMalloc(&d_y, sizeof x);
    cudaMalloc(&d_z, sizeof x);
    cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemset(d_z, 0, sizeof x);
    scale<<<blocks, threads>>>(d_y, d_x, 2.0f);
    add<<<blocks, threads>>>(d_y, d_x, 1.0f);
    reversed<<<blocks, threads>>>(d_z, d_y);
    sums<<<blocks, threads>>>(d_z, d_y);
    handed_on<<<blocks, threads>>>(d_z, d_y);
    add<<<blocks, threads>>>(d_z, d_y, 1.0f);
    scale<<<blocks, threads>>>(d_y, d_z, 0.5f);
    reversed<<<blocks, threads>>>(d_z, d_y);
    cudaMemcpy(y, d_z, sizeof y, cudaMemcpyDeviceToHost);

    auto in_block = [](const float *from, int block, int thread) {
        int i = block * threads + thread;
        return i < count ? from[i] : 0.0f;
    };
    auto turned = [&](float *to, const float *from) {
        for (int i = 0; i < count; ++i)
            to[i] = from[i] * 0.5f + in_block(from, i / threads, threads - 1 - i % threads);
    };
    static float tripled[count], z[count];
    for (int i = 0; i < count; ++i) tripled[i] = x[i] * 3.0f;
    turned(z, tripled);
    for (int block = 0; block < blocks; ++block) {
        float tile[threads];
        for (int i = 0; i < threads; ++i) tile[i] = in_block(tripled, block, i);
        for (int half = threads / 2; half > 0; half /= 2)
            for (int i = 0; i < half; ++i) tile[i] += tile[i + half];
        z[block] += tile[0];
    }
    for (int i = 0; i < count; ++i) {
        float sum = 0.0f;
        for (int round = 0; round < 6 && i % threads >= 32; ++round)
            sum += tripled[(i / threads * 32 + round * 97 + (i % threads + round) % 32) % count];
        z[i] = (z[i] + sum + tripled[i]) * 0.5f;
    }
    turned(expected, z);
    int wrong = 0;
    for (int i = 0; i < count; ++i) wrong += y[i] != expected[i];
    printf("%s, %d wrong, %g\n", wrong ? "FAIL" : "PASS", wrong, y[count - 1]);
    return wrong != 0;
}
