// Copies into shared memory that a thread starts and waits for: primitives, a pipeline of a thread,
// and of a group of threads. Their kernels fuse with their neighbours, since the end of a segment
// waits for what is left.
//
// expect: 9 launches -> 3
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdio>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace groups = cooperative_groups;
constexpr int count = 1024, threads = 128, blocks = count / threads;

__global__ void scale(float *y, const float *x, float by) {
    int i = blockIdx.x * threads + threadIdx.x;
    y[i] = x[i] * by;
}

// In two stages: the second half is under way while the first one is used.
__global__ void reversed_in_stages(float *y, const float *x) {
    __shared__ float s[2][threads / 2];
    int half = threads / 2, first = blockIdx.x * threads;
    if (threadIdx.x < half) {
        __pipeline_memcpy_async(&s[0][threadIdx.x], &x[first + threadIdx.x], 4);
        __pipeline_commit();
        __pipeline_memcpy_async(&s[1][threadIdx.x], &x[first + half + threadIdx.x], 4);
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    if (threadIdx.x < half) y[first + threads - 1 - threadIdx.x] = s[0][threadIdx.x];
    __pipeline_wait_prior(0);
    __syncthreads();
    if (threadIdx.x < half) y[first + half - 1 - threadIdx.x] = s[1][threadIdx.x];
}

__global__ void with_pipeline(float *y, const float *x) {
    __shared__ alignas(16) float s[threads];
    int i = blockIdx.x * threads + threadIdx.x;
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&s[threadIdx.x], &x[i], cuda::aligned_size_t<4>(4), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    __syncthreads();
    y[i] = s[threadIdx.x ^ 1];
    pipe.consumer_release();
}

__global__ void with_group(float *y, const float *x) {
    __shared__ alignas(16) float s[threads];
    groups::thread_block block = groups::this_thread_block();
    groups::memcpy_async(block, s, x + blockIdx.x * threads, sizeof s);
    groups::wait(block);
    y[blockIdx.x * threads + threadIdx.x] = s[threads - 1 - threadIdx.x];
}

// One float of four, then zeros; nobody waits in the end.
__global__ void filled(float *y, const float *x) {
    __shared__ float4 s[threads];
    int i = blockIdx.x * threads + threadIdx.x;
    __pipeline_memcpy_async(&s[threadIdx.x], &x[4 * (i / 4)], 16, 12);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[i] = s[threadIdx.x].x + s[threadIdx.x].y;
    __pipeline_memcpy_async(&s[threadIdx.x], &x[4 * (i / 4)], 16, 0);
}

int main() {
    static float host[count], found[count];
    float *x, *y, *z;
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&y, sizeof host);
    cudaMalloc(&z, sizeof host);
    for (int i = 0; i < count; i++) host[i] = i % 91;
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    int wrong = 0;
    auto expect = [&](auto value, const char *what) {
        cudaMemcpy(found, z, sizeof found, cudaMemcpyDeviceToHost);
        for (int i = 0; i < count; i++)
            if (found[i] != value(i)) {
                printf("%s: element %d is %g, not %g\n", what, i, found[i], value(i));
                wrong++;
                break;
            }
    };
    auto mirror = [](int i) { return i / threads * threads + threads - 1 - i % threads; };

    scale<<<blocks, threads>>>(y, x, 2.0f);
    reversed_in_stages<<<blocks, threads>>>(z, y);
    scale<<<blocks, threads>>>(z, z, 3.0f);
    expect([&](int i) { return 6.0f * host[mirror(i)]; }, "stages");
    scale<<<blocks, threads>>>(y, x, 2.0f);
    with_pipeline<<<blocks, threads>>>(z, y);
    with_group<<<blocks, threads>>>(y, z);
    scale<<<blocks, threads>>>(z, y, 1.0f);
    expect([&](int i) { return 2.0f * host[mirror(i) ^ 1]; }, "pipelines");
    scale<<<blocks, threads>>>(y, x, 5.0f);
    filled<<<blocks, threads>>>(z, y);
    expect([&](int i) { return 5.0f * host[i / 4 * 4]; }, "filled");
    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
