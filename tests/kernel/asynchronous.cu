// test: kernel
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
namespace groups = cooperative_groups;
// Copies that happen at any time up to the thread's wait for them.
__global__ void waited(const float *x, float *y) {
    __shared__ float s[128];
    __pipeline_memcpy_async(&s[threadIdx.x], &x[128 * blockIdx.x + threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[128 * blockIdx.x + threadIdx.x] = s[127 - threadIdx.x];
}
// The barrier comes before the wait, so that it orders nothing.
__global__ void waited_late(const float *x, float *y) {
    __shared__ float s[128];
    __pipeline_memcpy_async(&s[threadIdx.x], &x[128 * blockIdx.x + threadIdx.x], 4);
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    y[128 * blockIdx.x + threadIdx.x] = s[127 - threadIdx.x];
}
// Two stages: the wait leaves the newer group under way.
__global__ void staged(const float *x, float *y, int n) {
    __shared__ float s[2][128];
    __pipeline_memcpy_async(&s[0][threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_commit();
    for (int k = 0; k < n; k++) {
        if (k + 1 < n) __pipeline_memcpy_async(&s[(k + 1) % 2][threadIdx.x], &x[128 * (k + 1) + threadIdx.x], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        y[128 * k + threadIdx.x] = s[k % 2][127 - threadIdx.x];
        __syncthreads();
    }
}
// Twelve bytes of sixteen, then zeros.
__global__ void filled(const float *x, float *y) {
    __shared__ float4 s[128];
    __pipeline_memcpy_async(&s[threadIdx.x], &x[4 * threadIdx.x], 16, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[threadIdx.x] = s[threadIdx.x].x + s[threadIdx.x].w;
}
// Nobody waits: the end of the kernel does.
__global__ void left_over(const float *x, float *y) {
    __shared__ float s[128];
    __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4);
    y[threadIdx.x] = 1.0f;
}
__global__ void thread_scope(const float *x, float *y) {
    __shared__ alignas(16) float s[128];
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&s[threadIdx.x], &x[threadIdx.x], cuda::aligned_size_t<4>(4), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    __syncthreads();
    y[threadIdx.x] = s[127 - threadIdx.x];
    pipe.consumer_release();
}
__global__ void of_group(const float *x, float *y) {
    __shared__ float s[128];
    groups::thread_block block = groups::this_thread_block();
    groups::memcpy_async(block, s, x + 128 * blockIdx.x, sizeof s);
    groups::wait(block);
    y[128 * blockIdx.x + threadIdx.x] = s[127 - threadIdx.x];
}
// Counts of arrivals in shared memory are not modelled: such kernels are unfusable.
__global__ void counted(const float *x, float *y) {
    __shared__ alignas(8) unsigned long long arrivals;
    __shared__ float s[128];
    unsigned at = (unsigned)__cvta_generic_to_shared(&arrivals);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(128) : "memory");
    __syncthreads();
    __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4);
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(at) : "memory");
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    y[threadIdx.x] = 1.0f;
}

//> kernel waited
//>   may keep arg0
//>   must read arg0[512bx + 4tx .. +4] : true asynchronous in interval 0
//>   must write shared @_ZZ6waitedPKfPfE1s[4tx .. +4] : true asynchronous in interval 0
//>   must read shared @_ZZ6waitedPKfPfE1s[-4tx + 508 .. +4] : true in interval 1
//>   must write arg1[512bx + 4tx .. +4] : true in interval 1
//>   barrier uniform
//>   anti from access 0 to access 3 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   flow from access 1 to access 2 across barrier 0
//>   output from access 3 to access 3 in one interval
//>   reads arg0 within [0, 512*gridDim.x + 4*blockDim.x - 512), columns [0, 4*blockDim.x) of rows of 512
//>   writes arg1 within [0, 512*gridDim.x + 4*blockDim.x - 512), columns [0, 4*blockDim.x) of rows of 512
//>   requires 128*gridDim.x + blockDim.x - 129 <= 4294967295
//>   asynchronous copies
//>   static shared 512 bytes
//>
//> kernel waited_late
//>   may keep arg0
//>   must read arg0[512bx + 4tx .. +4] : true asynchronous in interval 0,1
//>   must write shared @_ZZ11waited_latePKfPfE1s[4tx .. +4] : true asynchronous in interval 0,1
//>   must read shared @_ZZ11waited_latePKfPfE1s[-4tx + 508 .. +4] : true in interval 1
//>   must write arg1[512bx + 4tx .. +4] : true in interval 1
//>   barrier uniform
//>   anti from access 0 to access 3 across barrier 0
//>   anti from access 0 to access 3 in one interval
//>   output from access 1 to access 1 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   flow from access 1 to access 2 across barrier 0
//>   flow from access 1 to access 2 in one interval
//>   output from access 3 to access 3 in one interval
//>   reads arg0 within [0, 512*gridDim.x + 4*blockDim.x - 512), columns [0, 4*blockDim.x) of rows of 512
//>   writes arg1 within [0, 512*gridDim.x + 4*blockDim.x - 512), columns [0, 4*blockDim.x) of rows of 512
//>   requires 128*gridDim.x + blockDim.x - 129 <= 4294967295
//>   asynchronous copies
//>   static shared 512 bytes
//>
//> kernel staged
//>   p0 = arg2
//>   may keep arg0
//>   loop i0 uniform
//>   must read arg0[4tx .. +4] : true asynchronous in interval 0,1,2
//>   must write shared @_ZZ6stagedPKfPfiE1s[4tx .. +4] : true asynchronous in interval 0,1,2
//>   must read arg0[4tx + 512i0 + 512 .. +4] : -i0 + p0 - 1 >= 0 and -i0 + p0 - 2 >= 0 in i0 asynchronous in interval 0,1,2
//>   must write shared @_ZZ6stagedPKfPfiE1s[4tx + 512i0 - 1024*floor((i0 + 1)/2) + 512 .. +4] : -i0 + p0 - 1 >= 0 and -i0 + p0 - 2 >= 0 in i0 asynchronous in interval 0,1,2
//>   must read shared @_ZZ6stagedPKfPfiE1s[-4tx + 512i0 - 1024*floor((i0)/2) + 508 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 1
//>   must write arg1[4tx + 512i0 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 1
//>   barrier uniform in i0
//>   barrier uniform in i0
//>   anti from access 0 to access 5 across barrier 0
//>   anti from access 0 to access 5 in one interval
//>   output from access 1 to access 1 across barrier 0
//>   output from access 1 to access 1 across barrier 1
//>   output from access 1 to access 1 in one interval
//>   output from access 1 to access 3 across barrier 0
//>   output from access 1 to access 3 across barrier 1
//>   output from access 1 to access 3 in one interval
//>   flow from access 1 to access 4 across barrier 0
//>   flow from access 1 to access 4 in one interval
//>   anti from access 2 to access 5 across barrier 0
//>   anti from access 2 to access 5 in one interval
//>   output from access 3 to access 1 across barrier 0
//>   output from access 3 to access 1 across barrier 1
//>   output from access 3 to access 3 across barrier 0
//>   output from access 3 to access 3 across barrier 1
//>   output from access 3 to access 3 in one interval
//>   flow from access 3 to access 4 across barrier 0
//>   flow from access 3 to access 4 in one interval
//>   anti from access 4 to access 1 across barrier 1
//>   anti from access 4 to access 3 across barrier 1
//>   flow from access 5 to access 0 across barrier 1
//>   flow from access 5 to access 2 across barrier 1
//>   output from access 5 to access 5 in one interval
//>   reads arg0 within [0, max(4*blockDim.x, 4*blockDim.x + 512*arg2 - 512))
//>   writes arg1 within [0, 4*blockDim.x + 512*arg2 - 512), columns [0, 4*blockDim.x) of rows of 512
//>   requires 128*arg2 - 128 <= 4294967295
//>   asynchronous copies
//>   static shared 1024 bytes
//>
//> kernel filled
//>   may keep arg0
//>   must read arg0[16tx .. +12] : true asynchronous
//>   must write shared @_ZZ6filledPKfPfE1s[16tx .. +16] : true asynchronous
//>   must read shared @_ZZ6filledPKfPfE1s[16tx .. +4] : true
//>   must read shared @_ZZ6filledPKfPfE1s[16tx + 12 .. +4] : true
//>   must write arg1[4tx .. +4] : true
//>   reads arg0 within [0, 16*blockDim.x - 4), columns [0, 12) of rows of 16
//>   writes arg1 within [0, 4*blockDim.x)
//>   asynchronous copies
//>   static shared 2048 bytes
//>
//> kernel left_over
//>   may keep arg0
//>   must read arg0[4tx .. +4] : true asynchronous
//>   must write shared @_ZZ9left_overPKfPfE1s[4tx .. +4] : true asynchronous
//>   must write arg1[4tx .. +4] : true
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   asynchronous copies
//>   static shared 512 bytes
//>
//> kernel thread_scope
//>   may keep arg0
//>   may read arg0[4tx .. +4] : true asynchronous (its condition is not affine) in interval 0
//>   may write shared @_ZZ12thread_scopePKfPfE1s[4tx .. +4] : true asynchronous (its condition is not affine) in interval 0
//>   may read arg0[4tx .. +4] : true (its condition is not affine) in interval 0
//>   may write shared @_ZZ12thread_scopePKfPfE1s[4tx .. +4] : true (its condition is not affine) in interval 0
//>   must read shared @_ZZ12thread_scopePKfPfE1s[-4tx + 508 .. +4] : true in interval 1
//>   must write arg1[4tx .. +4] : true in interval 1
//>   barrier uniform
//>   anti from access 0 to access 5 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   output from access 1 to access 3 in one interval
//>   flow from access 1 to access 4 across barrier 0
//>   anti from access 2 to access 5 across barrier 0
//>   output from access 3 to access 3 in one interval
//>   flow from access 3 to access 4 across barrier 0
//>   output from access 5 to access 5 in one interval
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   asynchronous copies
//>   static shared 512 bytes
//>
//> kernel of_group
//>   p0 = blockDim.x
//>   p1 = blockDim.y
//>   p2 = blockDim.x*blockDim.y*blockDim.z
//>   q0 = (tz) * p1
//>   q1 = (ty + q0) * p0
//>   q2 = (i0) * p2
//>   q3 = (i1) * p2
//>   may keep arg0
//>   loop i0 divergent
//>   loop i1 divergent
//>   may read arg0[512bx + 4tx + 4q1 + 4q2 .. +4] : -tx - q1 - q2 + 127 >= 0 in i0 asynchronous (its condition is not affine) in interval 0
//>   may write shared @_ZZ8of_groupPKfPfE1s[4tx + 4q1 + 4q2 .. +4] : -tx - q1 - q2 + 127 >= 0 in i0 asynchronous (its condition is not affine) in interval 0
//>   may read arg0[512bx + 4tx + 4q1 + 4q3 .. +4] : -tx - q1 - q3 + 127 >= 0 in i1 (its condition is not affine) in interval 0
//>   may write shared @_ZZ8of_groupPKfPfE1s[4tx + 4q1 + 4q3 .. +4] : -tx - q1 - q3 + 127 >= 0 in i1 (its condition is not affine) in interval 0
//>   must read shared @_ZZ8of_groupPKfPfE1s[-4tx + 508 .. +4] : true in interval 1
//>   must write arg1[512bx + 4tx .. +4] : true in interval 1
//>   barrier uniform
//>   anti from access 0 to access 5 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   output from access 1 to access 3 in one interval
//>   flow from access 1 to access 4 across barrier 0
//>   anti from access 2 to access 5 across barrier 0
//>   output from access 3 to access 3 in one interval
//>   flow from access 3 to access 4 across barrier 0
//>   output from access 5 to access 5 in one interval
//>   reads arg0 within [0, 512*gridDim.x)
//>   writes arg1 within [0, 512*gridDim.x + 4*blockDim.x - 512), columns [0, 4*blockDim.x) of rows of 512
//>   requires 128*gridDim.x + blockDim.x - 129 <= 4294967295
//>   asynchronous copies
//>   static shared 512 bytes
//>
//> kernel counted
//>   may keep arg0
//>   must atomic shared @_ZZ7countedPKfPfE8arrivals[0 .. +8] : -tx = 0 in interval 0
//>   must read arg0[4tx .. +4] : true asynchronous in interval 1
//>   must write shared @_ZZ7countedPKfPfE1s[4tx .. +4] : true asynchronous in interval 1
//>   must atomic shared @_ZZ7countedPKfPfE8arrivals[0 .. +8] : true in interval 1
//>   must atomic shared @_ZZ7countedPKfPfE8arrivals[0 .. +8] : true in interval 1
//>   must write arg1[4tx .. +4] : true in interval 1
//>   barrier uniform
//>   output from access 0 to access 3 across barrier 0
//>   output from access 0 to access 4 across barrier 0
//>   anti from access 1 to access 5 in one interval
//>   output from access 2 to access 2 in one interval
//>   output from access 5 to access 5 in one interval
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   unfusable: uses barriers in shared memory (shared_barrier)
//>   asynchronous copies
//>   static shared 528 bytes
