// test: kernel
#include <cooperative_groups.h>
namespace groups = cooperative_groups;
// What orders threads of a block, and what does not.
__global__ void in_loop(const float *x, float *y, int n) {
    __shared__ float s[128];
    for (int k = 0; k < n; k++) {
        s[threadIdx.x] = x[128 * k + threadIdx.x];
        __syncthreads();
        y[128 * k + threadIdx.x] = s[127 - threadIdx.x];
        __syncthreads();
    }
}
// One barrier an iteration is not enough: the next write may overtake the last read.
__global__ void missing(const float *x, float *y, int n) {
    __shared__ float s[128];
    for (int k = 0; k < n; k++) {
        s[threadIdx.x] = x[128 * k + threadIdx.x];
        __syncthreads();
        y[128 * k + threadIdx.x] = s[127 - threadIdx.x];
    }
}
// Two halves that take turns need one only.
__global__ void turns(const float *x, float *y, int n) {
    __shared__ float s[2][128];
    for (int k = 0; k < n; k++) {
        s[k % 2][threadIdx.x] = x[128 * k + threadIdx.x];
        __syncthreads();
        y[128 * k + threadIdx.x] = s[k % 2][127 - threadIdx.x];
    }
}
// All threads of a block take the same way.
__global__ void uniform_branch(const float *x, float *y, int n) {
    __shared__ float s[128];
    s[threadIdx.x] = x[threadIdx.x];
    if (n > 3) {
        __syncthreads();
        y[threadIdx.x] = s[127 - threadIdx.x];
    } else {
        y[threadIdx.x] = s[threadIdx.x];
    }
}
// Some threads only.
__global__ void divergent(const float *x, float *y) {
    __shared__ float s[128];
    s[threadIdx.x] = x[threadIdx.x];
    if (x[threadIdx.x] > 0.0f) __syncthreads();
    y[threadIdx.x] = s[127 - threadIdx.x];
}
// Orders the threads of a warp, not those of the block.
__global__ void warp_barrier(const float *x, float *y) {
    __shared__ float s[128];
    s[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    y[threadIdx.x] = s[threadIdx.x ^ 1];
}
__global__ void votes(const int *x, int *y) {
    __shared__ int s[128];
    s[threadIdx.x] = x[threadIdx.x];
    int n = __syncthreads_count(x[threadIdx.x] > 0);
    y[threadIdx.x] = s[127 - threadIdx.x] + n;
    int any = __syncthreads_or(n > 3) + __syncthreads_and(n > 5);
    s[threadIdx.x] = any;
}
__global__ void group(const float *x, float *y) {
    __shared__ float s[128];
    groups::thread_block block = groups::this_thread_block();
    s[block.thread_rank()] = x[threadIdx.x];
    block.sync();
    y[threadIdx.x] = s[127 - threadIdx.x];
}
__global__ void tiles_of_group(const float *x, float *y) {
    __shared__ float s[128];
    groups::thread_block block = groups::this_thread_block();
    groups::thread_block_tile<16> tile = groups::tiled_partition<16>(block);
    s[threadIdx.x] = x[threadIdx.x];
    tile.sync();
    float sum = s[threadIdx.x ^ 1];
    for (int k = 8; k > 0; k /= 2) sum += tile.shfl_down(sum, k);
    if (tile.thread_rank() == 0) y[threadIdx.x / 16] = sum;
}
// A barrier of the first two warps.
__global__ void named(const float *x, float *y) {
    __shared__ float s[128];
    s[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 64) asm volatile("barrier.sync 1, 64;" ::: "memory");
    y[threadIdx.x] = s[threadIdx.x ^ 1];
}
__global__ void named_two(const float *x, float *y) {
    __shared__ float s[128];
    s[threadIdx.x] = x[threadIdx.x];
    asm volatile("bar.arrive 2, 128;" ::: "memory");
    y[threadIdx.x] = s[threadIdx.x ^ 1];
}
// Number 0 and the whole block is what __syncthreads() is.
__global__ void in_ptx(const float *x, float *y) {
    __shared__ float s[128];
    s[threadIdx.x] = x[threadIdx.x];
    asm volatile("bar.sync 0;" ::: "memory");
    y[threadIdx.x] = s[127 - threadIdx.x];
}
__global__ void fences(const float *x, float *y) {
    y[threadIdx.x] = x[threadIdx.x];
    __threadfence();
    y[threadIdx.x + 128] = x[threadIdx.x];
}
// Orders nothing that a thread does by itself, and stays within the block.
__global__ void block_fence(const float *x, float *y) {
    y[threadIdx.x] = x[threadIdx.x];
    __threadfence_block();
    y[threadIdx.x + 128] = x[threadIdx.x];
}
// Atomics race with none of their kind, but a barrier orders them where their results tell.
__global__ void tickets(int *y) {
    __shared__ int next;
    __shared__ int sum;
    if (threadIdx.x == 0) next = sum = 0;
    __syncthreads();
    int first = atomicAdd(&next, 1);
    atomicAdd(&sum, first);
    __syncthreads();
    int second = atomicAdd(&next, 1);
    atomicAdd(&sum, second);
    __syncthreads();
    y[threadIdx.x] = first + second + sum;
}
// Ends the thread, not the block.
__global__ void leaves_early(const float *x, float *y, int n) {
    __shared__ float s[128];
    if (threadIdx.x >= n) return;
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[n - 1 - threadIdx.x];
}
// Whether a block reaches it hangs on memory, which is the same for all threads while nobody writes there.
__global__ void behind_a_count(const float *x, float *y, const int *count, const int *unused) {
    __shared__ float s[128];
    if (blockIdx.x >= *count) return;
    s[threadIdx.x] = x[threadIdx.x] + *unused;
    __syncthreads();
    y[threadIdx.x] = s[127 - threadIdx.x];
}

//> kernel in_loop
//>   p0 = arg2
//>   loop i0 uniform
//>   must read arg0[4tx + 512i0 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 0,2
//>   must write shared @_ZZ7in_loopPKfPfiE1s[4tx .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 0,2
//>   must read shared @_ZZ7in_loopPKfPfiE1s[-4tx + 508 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 1
//>   must write arg1[4tx + 512i0 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 1
//>   barrier uniform in i0
//>   barrier uniform in i0
//>   anti from access 0 to access 3 across barrier 0
//>   flow from access 1 to access 2 across barrier 0
//>   anti from access 2 to access 1 across barrier 1
//>   flow from access 3 to access 0 across barrier 1
//>   output from access 3 to access 3 in one interval
//>   reads arg0 within [0, 4*blockDim.x + 512*arg2 - 512), columns [0, 4*blockDim.x) of rows of 512
//>   writes arg1 within [0, 4*blockDim.x + 512*arg2 - 512), columns [0, 4*blockDim.x) of rows of 512
//>   requires 128*arg2 - 128 <= 4294967295
//>   static shared 512 bytes
//>
//> kernel missing
//>   p0 = arg2
//>   loop i0 uniform
//>   must read arg0[4tx + 512i0 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 0,1
//>   must write shared @_ZZ7missingPKfPfiE1s[4tx .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 0,1
//>   must read shared @_ZZ7missingPKfPfiE1s[-4tx + 508 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 1
//>   must write arg1[4tx + 512i0 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 1
//>   barrier uniform in i0
//>   anti from access 0 to access 3 across barrier 0
//>   anti from access 0 to access 3 in one interval
//>   flow from access 1 to access 2 across barrier 0
//>   flow from access 1 to access 2 in one interval
//>   anti from access 2 to access 1 across barrier 0
//>   flow from access 3 to access 0 across barrier 0
//>   output from access 3 to access 3 across barrier 0
//>   output from access 3 to access 3 in one interval
//>   reads arg0 within [0, 4*blockDim.x + 512*arg2 - 512), columns [0, 4*blockDim.x) of rows of 512
//>   writes arg1 within [0, 4*blockDim.x + 512*arg2 - 512), columns [0, 4*blockDim.x) of rows of 512
//>   requires 128*arg2 - 128 <= 4294967295
//>   static shared 512 bytes
//>
//> kernel turns
//>   p0 = arg2
//>   loop i0 uniform
//>   must read arg0[4tx + 512i0 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 0,1
//>   must write shared @_ZZ5turnsPKfPfiE1s[4tx + 512i0 - 1024*floor((i0)/2) .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 0,1
//>   must read shared @_ZZ5turnsPKfPfiE1s[-4tx + 512i0 - 1024*floor((i0)/2) + 508 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 1
//>   must write arg1[4tx + 512i0 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 1
//>   barrier uniform in i0
//>   anti from access 0 to access 3 across barrier 0
//>   anti from access 0 to access 3 in one interval
//>   output from access 1 to access 1 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   flow from access 1 to access 2 across barrier 0
//>   flow from access 1 to access 2 in one interval
//>   anti from access 2 to access 1 across barrier 0
//>   flow from access 3 to access 0 across barrier 0
//>   output from access 3 to access 3 across barrier 0
//>   output from access 3 to access 3 in one interval
//>   reads arg0 within [0, 4*blockDim.x + 512*arg2 - 512), columns [0, 4*blockDim.x) of rows of 512
//>   writes arg1 within [0, 4*blockDim.x + 512*arg2 - 512), columns [0, 4*blockDim.x) of rows of 512
//>   requires 128*arg2 - 128 <= 4294967295
//>   static shared 1024 bytes
//>
//> kernel uniform_branch
//>   p0 = arg2
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ14uniform_branchPKfPfiE1s[4tx .. +4] : true in interval 0
//>   must read shared @_ZZ14uniform_branchPKfPfiE1s[-4tx + 508 .. +4] : p0 - 4 >= 0 in interval 1
//>   must write arg1[4tx .. +4] : p0 - 4 >= 0 in interval 1
//>   must write arg1[4tx .. +4] : -p0 + 3 >= 0 in interval 0
//>   barrier uniform
//>   anti from access 0 to access 3 across barrier 0
//>   anti from access 0 to access 4 in one interval
//>   flow from access 1 to access 2 across barrier 0
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   static shared 512 bytes
//>
//> kernel divergent
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ9divergentPKfPfE1s[4tx .. +4] : true in interval 0
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must read shared @_ZZ9divergentPKfPfE1s[-4tx + 508 .. +4] : true in interval 0,1
//>   must write arg1[4tx .. +4] : true in interval 0,1
//>   barrier divergent
//>   anti from access 0 to access 4 across barrier 0
//>   anti from access 0 to access 4 in one interval
//>   flow from access 1 to access 3 across barrier 0
//>   flow from access 1 to access 3 in one interval
//>   anti from access 2 to access 4 across barrier 0
//>   anti from access 2 to access 4 in one interval
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   static shared 512 bytes
//>
//> kernel warp_barrier
//>   must read arg0[4tx .. +4] : true
//>   must write shared @_ZZ12warp_barrierPKfPfE1s[4tx .. +4] : true
//>   must read shared @_ZZ12warp_barrierPKfPfE1s[-4tx + 16*floor((tx)/2) + 4 .. +4] : true
//>   must write arg1[4tx .. +4] : true
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   warp operations
//>   static shared 512 bytes
//>
//> kernel votes
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ5votesPKiPiE1s[4tx .. +4] : true in interval 0
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must read shared @_ZZ5votesPKiPiE1s[-4tx + 508 .. +4] : true in interval 1
//>   must write arg1[4tx .. +4] : true in interval 1
//>   must write shared @_ZZ5votesPKiPiE1s[4tx .. +4] : true in interval 3
//>   barrier uniform
//>   barrier uniform
//>   barrier uniform
//>   anti from access 0 to access 4 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   flow from access 1 to access 3 across barrier 0
//>   anti from access 2 to access 4 across barrier 0
//>   output from access 4 to access 4 in one interval
//>   output from access 5 to access 5 in one interval
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   static shared 512 bytes
//>
//> kernel group
//>   p0 = blockDim.y
//>   p1 = blockDim.x
//>   q0 = (tz) * p0
//>   q1 = (ty + q0) * p1
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ5groupPKfPfE1s[4tx + 4q1 .. +4] : true in interval 0
//>   must read shared @_ZZ5groupPKfPfE1s[-4tx + 508 .. +4] : true in interval 1
//>   must write arg1[4tx .. +4] : true in interval 1
//>   barrier uniform
//>   anti from access 0 to access 3 across barrier 0
//>   flow from access 1 to access 2 across barrier 0
//>   output from access 3 to access 3 in one interval
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   static shared 512 bytes
//>
//> kernel tiles_of_group
//>   p0 = blockDim.y
//>   p1 = blockDim.x
//>   q0 = (tz) * p0
//>   q1 = (ty + q0) * p1
//>   loop i0 uniform
//>   must read arg0[4tx .. +4] : true
//>   must write shared @_ZZ14tiles_of_groupPKfPfE1s[4tx .. +4] : true
//>   must read shared @_ZZ14tiles_of_groupPKfPfE1s[-4tx + 16*floor((tx)/2) + 4 .. +4] : true
//>   must write arg1[4*floor((tx)/16) .. +4] : -tx - q1 + 16*floor((tx + q1)/16) = 0
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*floor((blockDim.x - 1)/16) + 4)
//>   warp operations
//>   static shared 512 bytes
//>
//> kernel named
//>   must read arg0[4tx .. +4] : true
//>   must write shared @_ZZ5namedPKfPfE1s[4tx .. +4] : true
//>   must read shared @_ZZ5namedPKfPfE1s[-4tx + 16*floor((tx)/2) + 4 .. +4] : true
//>   must write arg1[4tx .. +4] : true
//>   lanes exchange what access 1 writes by access 2
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   unfusable: uses a named barrier (named_barrier)
//>   static shared 512 bytes
//>
//> kernel named_two
//>   must read arg0[4tx .. +4] : true
//>   must write shared @_ZZ9named_twoPKfPfE1s[4tx .. +4] : true
//>   must read shared @_ZZ9named_twoPKfPfE1s[-4tx + 16*floor((tx)/2) + 4 .. +4] : true
//>   must write arg1[4tx .. +4] : true
//>   lanes exchange what access 1 writes by access 2
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   unfusable: uses a named barrier (named_barrier)
//>   static shared 512 bytes
//>
//> kernel in_ptx
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ6in_ptxPKfPfE1s[4tx .. +4] : true in interval 0
//>   must read shared @_ZZ6in_ptxPKfPfE1s[-4tx + 508 .. +4] : true in interval 1
//>   must write arg1[4tx .. +4] : true in interval 1
//>   barrier uniform
//>   anti from access 0 to access 3 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   flow from access 1 to access 2 across barrier 0
//>   output from access 3 to access 3 in one interval
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   static shared 512 bytes
//>
//> kernel fences
//>   must read arg0[4tx .. +4] : true
//>   must write arg1[4tx .. +4] : true
//>   must read arg0[4tx .. +4] : true
//>   must write arg1[4tx + 512 .. +4] : true
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x + 512)
//>   unfusable: uses a memory fence (memory_fence)
//>
//> kernel block_fence
//>   must read arg0[4tx .. +4] : true
//>   must write arg1[4tx .. +4] : true
//>   must read arg0[4tx .. +4] : true
//>   must write arg1[4tx + 512 .. +4] : true
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x + 512)
//>
//> kernel tickets
//>   must write shared @_ZZ7ticketsPiE3sum[0 .. +4] : -tx = 0 in interval 0
//>   must write shared @_ZZ7ticketsPiE4next[0 .. +4] : -tx = 0 in interval 0
//>   must atomic shared @_ZZ7ticketsPiE4next[0 .. +4] : true in interval 1
//>   must reduction (add) shared @_ZZ7ticketsPiE3sum[0 .. +4] : true in interval 1
//>   must atomic shared @_ZZ7ticketsPiE4next[0 .. +4] : true in interval 2
//>   must reduction (add) shared @_ZZ7ticketsPiE3sum[0 .. +4] : true in interval 2
//>   must read shared @_ZZ7ticketsPiE3sum[0 .. +4] : true in interval 3
//>   must write arg0[4tx .. +4] : true in interval 3
//>   barrier uniform
//>   barrier uniform
//>   barrier uniform
//>   output from access 0 to access 0 in one interval
//>   output from access 0 to access 3 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   output from access 1 to access 2 across barrier 0
//>   output from access 2 to access 4 across barrier 1
//>   flow from access 5 to access 6 across barrier 2
//>   output from access 7 to access 7 in one interval
//>   writes arg0 within [0, 4*blockDim.x)
//>   static shared 32 bytes
//>
//> kernel leaves_early
//>   p0 = arg2
//>   must read arg0[4tx .. +4] : -tx + p0 - 1 >= 0 in interval 0
//>   must write shared @_ZZ12leaves_earlyPKfPfiE1s[4tx .. +4] : -tx + p0 - 1 >= 0 in interval 0
//>   must read shared @_ZZ12leaves_earlyPKfPfiE1s[-4tx + 4p0 - 4 .. +4] : -tx + p0 - 1 >= 0 in interval 1
//>   must write arg1[4tx .. +4] : -tx + p0 - 1 >= 0 in interval 1
//>   barrier divergent, uniform if 0 <= arg2, uniform if blockDim.x - arg2 - 1 <= -1
//>   anti from access 0 to access 3 across barrier 0
//>   flow from access 1 to access 2 across barrier 0
//>   reads arg0 within [0, min(4*arg2, 4*blockDim.x))
//>   writes arg1 within [0, min(4*arg2, 4*blockDim.x))
//>   requires 0 <= arg2
//>   static shared 512 bytes
//>
//> kernel behind_a_count
//>   must read arg2[0 .. +4] : true in interval 0
//>   may read arg0[4tx .. +4] : true (its condition is not affine) in interval 0
//>   may read arg3[0 .. +4] : true (its condition is not affine) in interval 0
//>   may write shared @_ZZ14behind_a_countPKfPfPKiS3_E1s[4tx .. +4] : true (its condition is not affine) in interval 0
//>   may read shared @_ZZ14behind_a_countPKfPfPKiS3_E1s[-4tx + 508 .. +4] : true (its condition is not affine) in interval 1
//>   may write arg1[4tx .. +4] : true (its condition is not affine) in interval 1
//>   barrier divergent, uniform while unwritten arg2
//>   anti from access 0 to access 5 across barrier 0
//>   anti from access 1 to access 5 across barrier 0
//>   anti from access 2 to access 5 across barrier 0
//>   flow from access 3 to access 4 across barrier 0
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   reads arg2 within [0, 4)
//>   reads arg3 within [0, 4)
//>   static shared 512 bytes
