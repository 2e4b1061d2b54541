// test: kernel
#include <cuda_fp16.h>
// Sums whose result nobody uses are reductions; everything else reads and writes.
__global__ void sums(int *i, unsigned *u, float *f, double *d, unsigned long long *l, __half2 *h2, __half *h) {
    atomicAdd(i, 1);
    atomicSub(u, 1u);
    atomicAdd(f, 1.0f);
    atomicAdd(d, 1.0);
    atomicAdd(l, 1ull);
    atomicAdd(h2, __float2half2_rn(1.0f));
    atomicAdd(h, __float2half(1.0f));
    atomicAdd_block(i + 1, 1);
    atomicAdd_system(i + 2, 1);
}
__global__ void others(int *i, unsigned *u) {
    atomicMin(i + 0, 1);
    atomicMax(u + 1, 1u);
    atomicAnd(i + 2, 1);
    atomicOr(i + 3, 1);
    atomicXor(i + 4, 1);
    atomicInc(u + 5, 7u);
    atomicDec(u + 6, 7u);
    atomicExch(i + 7, 1);
    atomicCAS(i + 8, 1, 2);
}
__global__ void used(int *i, float *f, int *o) { o[threadIdx.x] = atomicAdd(i, 1) + (int)atomicAdd(f, 1.0f); }
__global__ void in_ptx(float *f, unsigned *u) {
    unsigned old;
    asm volatile("red.global.add.f32 [%0], %1;" :: "l"(f + threadIdx.x), "f"(1.0f) : "memory");
    asm volatile("red.global.gpu.max.u32 [%0], %1;" :: "l"(u), "r"(1) : "memory");
    asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(u + 1), "r"(1) : "memory");
    asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(u + 2), "r"(old), "r"(1) : "memory");
    u[3] = old;
}
__global__ void in_shared(int *o) {
    __shared__ int counts[64];
    counts[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&counts[o[threadIdx.x] & 63], 1);
    __syncthreads();
    o[threadIdx.x] = counts[threadIdx.x];
}

//> kernel sums
//>   may keep arg5
//>   may keep arg6
//>   must reduction (add) arg0[0 .. +4] : true
//>   must reduction (add) arg1[0 .. +4] : true
//>   must reduction (floating add) arg2[0 .. +4] : true
//>   must reduction (floating add) arg3[0 .. +8] : true
//>   must reduction (add) arg4[0 .. +8] : true
//>   must reduction (floating add) arg5[0 .. +4] : true
//>   must reduction (floating add) arg6[0 .. +2] : true
//>   must reduction (add for its block) arg0[4 .. +4] : true
//>   must reduction (add) arg0[8 .. +4] : true
//>   writes arg0 within [0, 12)
//>   writes arg1 within [0, 4)
//>   writes arg2 within [0, 4)
//>   writes arg3 within [0, 8)
//>   writes arg4 within [0, 8)
//>   writes arg5 within [0, 4)
//>   writes arg6 within [0, 2)
//>
//> kernel others
//>   must reduction (minimum) arg0[0 .. +4] : true
//>   must reduction (unsigned maximum) arg1[4 .. +4] : true
//>   must reduction (and) arg0[8 .. +4] : true
//>   must reduction (or) arg0[12 .. +4] : true
//>   must reduction (exclusive or) arg0[16 .. +4] : true
//>   must reduction (increment up to 7) arg1[20 .. +4] : true
//>   must reduction (decrement up to 7) arg1[24 .. +4] : true
//>   must atomic arg0[28 .. +4] : true
//>   must atomic arg0[32 .. +4] : true
//>   writes arg0 within [0, 36)
//>   writes arg1 within [4, 28)
//>
//> kernel used
//>   must atomic arg0[0 .. +4] : true
//>   must atomic arg1[0 .. +4] : true
//>   must write arg2[4tx .. +4] : true
//>   writes arg0 within [0, 4)
//>   writes arg1 within [0, 4)
//>   writes arg2 within [0, 4*blockDim.x)
//>
//> kernel in_ptx
//>   may keep arg0
//>   may keep arg1
//>   must reduction (floating add) arg0[4tx .. +4] : true
//>   must reduction (unsigned maximum) arg1[0 .. +4] : true
//>   must atomic arg1[4 .. +4] : true
//>   must atomic arg1[8 .. +4] : true
//>   must write arg1[12 .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 16)
//>   unfusable: orders memory by atomics (atomic_order)
//>
//> kernel in_shared
//>   loop i0 divergent
//>   must write shared @_ZZ9in_sharedPiE6counts[4tx .. +4] : true in interval 0
//>   must read arg0[4tx .. +4] : true in interval 1
//>   may reduction (add) shared @_ZZ9in_sharedPiE6counts[4i0 .. +4] : i0 >= 0 and -i0 + 63 >= 0 in i0 (only bounds of a number in it are known) in interval 1
//>   must read shared @_ZZ9in_sharedPiE6counts[4tx .. +4] : true in interval 2
//>   must write arg0[4tx .. +4] : true in interval 2
//>   barrier uniform
//>   barrier uniform
//>   output from access 0 to access 0 in one interval
//>   output from access 0 to access 2 across barrier 0
//>   anti from access 1 to access 4 across barrier 1
//>   flow from access 2 to access 3 across barrier 1
//>   output from access 4 to access 4 in one interval
//>   writes arg0 within [0, 4*blockDim.x)
//>   static shared 256 bytes
