// test: kernel
#include <cstdio>
__global__ void sums(int *h, const int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { atomicAdd(&h[x[i] & 63], 1); atomicMax(&h[64], x[i]); }
}
__global__ void tickets(int *h, int *o) { o[threadIdx.x] = atomicAdd(h, 1); }
__global__ void assembly(unsigned *o) {
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    o[threadIdx.x] = lane;
}
__global__ void quiet_assembly(unsigned *o, unsigned a) {
    unsigned r;
    asm("brev.b32 %0, %1;" : "=r"(r) : "r"(a));
    o[threadIdx.x] = r;
}
__global__ void prints(int n) { if (n > 3) printf("%d\n", n); }
__global__ void shuffles(float *x) {
    float v = x[threadIdx.x];
    v += __shfl_down_sync(0xffffffffu, v, 16);
    x[threadIdx.x] = v;
}
__global__ void fences(int *x) { x[threadIdx.x] = 1; __threadfence(); x[32 + threadIdx.x] = 2; }
__global__ void spins(volatile int *x) { while (*x == 0) {} }
__global__ void __launch_bounds__(128) clocks(long long *x) { x[threadIdx.x] = clock64(); }

//> kernel sums
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   loop i0 divergent
//>   must read arg1[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   may reduction (add) arg0[4i0 .. +4] : -tx - q0 + p1 - 1 >= 0 and i0 >= 0 and -i0 + 63 >= 0 in i0 (only bounds of a number in it are known)
//>   must read arg1[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must reduction (maximum) arg0[256 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   writes arg0 within [0, 260)
//>   reads arg1 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel tickets
//>   must atomic arg0[0 .. +4] : true
//>   must write arg1[4tx .. +4] : true
//>   writes arg0 within [0, 4)
//>   writes arg1 within [0, 4*blockDim.x)
//>
//> kernel assembly
//>   must write arg0[4tx .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x)
//>   warp operations
//>
//> kernel quiet_assembly
//>   must write arg0[4tx .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x)
//>
//> kernel prints
//>   prints
//>
//> kernel shuffles
//>   must read arg0[4tx .. +4] : true
//>   must write arg0[4tx .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x)
//>   warp operations
//>
//> kernel fences
//>   must write arg0[4tx .. +4] : true
//>   must write arg0[4tx + 128 .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x + 128)
//>   unfusable: uses a memory fence (memory_fence)
//>
//> kernel spins
//>   loop i0 divergent
//>   may read arg0[0 .. +4] : true in i0 volatile (it is in a loop whose end is not affine)
//>   reads arg0 within [0, 4)
//>   unfusable: accesses volatile global memory (volatile_memory)
//>
//> kernel clocks
//>   must write arg0[8tx .. +8] : true
//>   writes arg0 within [0, 8*blockDim.x)
//>   unfusable: reads a clock (clock)
//>   at most 128 threads
