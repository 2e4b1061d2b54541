// test: kernel
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

// Arithmetic of the headers and of users, volatile or not, has no effect.
__global__ void halves(__half2 *x, const __half2 *y, __nv_bfloat16 *z) {
    int i = threadIdx.x;
    x[i] = __hfma2(x[i], y[i], h2exp(y[i]));
    z[i] = __hmul(z[i], __float2bfloat16(2.0f));
}
__global__ void bits(unsigned *x) {
    unsigned low, high, r;
    asm volatile("{ .reg .u32 t; bfe.u32 t, %3, 4, 8; prmt.b32 t, t, %3, 0x0123;\n\t"
                 "mad.lo.cc.u32 %0, t, %3, t; madc.hi.u32 %1, t, %3, 0; }\n\t"
                 "lop3.b32 %2, %3, %3, %3, 0x96;" : "=r"(low), "=r"(high), "=r"(r) : "r"(x[threadIdx.x]));
    asm volatile("" ::: "memory");
    x[threadIdx.x] = low ^ high ^ r;
}
__global__ void lanes(unsigned *x) {
    unsigned lane, processor;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%smid;" : "=r"(processor));
    x[threadIdx.x] = lane + processor;
}
// Loads and stores with cache hints.
__global__ void hints(const float *a, float *b, float *c) {
    float x, y, z;
    asm volatile("ld.global.cs.f32 %0, [%1];" : "=f"(x) : "l"(a + threadIdx.x));
    asm volatile("ld.global.L1::no_allocate.v2.f32 {%0, %1}, [%2+8];" : "=f"(y), "=f"(z) : "l"(a + 4 * threadIdx.x));
    asm volatile("st.global.cg.f32 [%0], %1;" :: "l"(b + threadIdx.x), "f"(x + y + z) : "memory");
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p st.global.f32 [%0], %1; }"
                 :: "l"(c + threadIdx.x), "f"(x), "r"((int)threadIdx.x) : "memory");
}
__global__ void unsaid(const float *a, float *b) {
    float x;
    asm("ld.global.nc.f32 %0, [%1];" : "=f"(x) : "l"(a + threadIdx.x));
    b[threadIdx.x] = x;
}
// Addresses in shared memory, converted by the compiler or by PTX.
__global__ void addresses(float *a) {
    __shared__ float s[256];
    unsigned converted = (unsigned)__cvta_generic_to_shared(s);
    unsigned own;
    asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(own) : "l"(s));
    float x;
    asm volatile("st.shared.f32 [%0], %1;" :: "r"(converted + 4 * threadIdx.x), "f"(a[threadIdx.x]) : "memory");
    __syncthreads();
    asm volatile("ld.shared.f32 %0, [%1+128];" : "=f"(x) : "r"(own + 4 * (threadIdx.x ^ 1)) : "memory");
    a[threadIdx.x] = x;
}
__global__ void copies(const float4 *a, float4 *b, int n) {
    __shared__ float4 s[2][64];
    for (int k = 0; k < n; k++) {
        __pipeline_memcpy_async(&s[k & 1][threadIdx.x], &a[64 * k + threadIdx.x], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
    }
    b[threadIdx.x] = s[0][63 - threadIdx.x];
}
__global__ void filled(const float *a, float *b, int bytes) {
    extern __shared__ float s[];
    unsigned to = (unsigned)__cvta_generic_to_shared(s + threadIdx.x);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(to), "l"(a + threadIdx.x), "r"(bytes) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    b[threadIdx.x] = s[threadIdx.x];
}
__global__ void matrices(const __half *a, unsigned *b) {
    __shared__ __half s[16 * 16];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    unsigned row = (unsigned)__cvta_generic_to_shared(s + 16 * (threadIdx.x % 16));
    unsigned w, x, y, z;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w), "=r"(x), "=r"(y), "=r"(z) : "r"(row));
    b[threadIdx.x] = w + x + y + z;
}
// What is not modelled says what it is.
__global__ void unknown(int *x) { asm volatile("griddepcontrol.wait;" ::: "memory"); x[threadIdx.x] = 1; }
__global__ void jumps(int *x) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %1, 0; @p bra DONE; st.global.u32 [%0], 1; DONE: }"
                 :: "l"(x), "r"((int)threadIdx.x) : "memory");
}
__global__ void part(int *x) { asm volatile("bar.sync 1, 64;" ::: "memory"); x[threadIdx.x] = 1; }
__global__ void whole(int *x) { asm volatile("bar.sync 0;" ::: "memory"); x[threadIdx.x] = 1; }
__global__ void integers(unsigned long long p, int v) {
    asm volatile("st.global.u32 [%0], %1;" :: "l"(p), "r"(v) : "memory");
    *(int *)(p + 4 * threadIdx.x) = v;
}

//> kernel halves
//>   must read arg0[4tx .. +4] : true
//>   must read arg1[4tx .. +4] : true
//>   must write arg0[4tx .. +4] : true
//>   must read arg2[2tx .. +2] : true
//>   must write arg2[2tx .. +2] : true
//>   writes arg0 within [0, 4*blockDim.x)
//>   reads arg1 within [0, 4*blockDim.x)
//>   writes arg2 within [0, 2*blockDim.x)
//>
//> kernel bits
//>   must read arg0[4tx .. +4] : true
//>   must write arg0[4tx .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x)
//>
//> kernel lanes
//>   must write arg0[4tx .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x)
//>   unfusable: reads the register %smid (hardware_register)
//>   warp operations
//>
//> kernel hints
//>   may keep arg0
//>   may keep arg1
//>   may keep arg2
//>   must read arg0[4tx .. +4] : true
//>   must read arg0[16tx + 8 .. +8] : true
//>   must write arg1[4tx .. +4] : true
//>   may write arg2[4tx .. +4] : true (a predicate decides)
//>   reads arg0 within [0, 16*blockDim.x), columns [0, max(4*blockDim.x, 16)) of rows of 16
//>   writes arg1 within [0, 4*blockDim.x)
//>   writes arg2 within [0, 4*blockDim.x)
//>
//> kernel unsaid
//>   may keep arg0
//>   must read arg0[4tx .. +4] : true invariant
//>   must write arg1[4tx .. +4] : true
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>
//> kernel addresses
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ9addressesPfE1s[4tx .. +4] : true in interval 0
//>   must read shared @_ZZ9addressesPfE1s[-4tx + 16*floor((tx)/2) + 132 .. +4] : true in interval 1
//>   must write arg0[4tx .. +4] : true in interval 1
//>   barrier uniform
//>   anti from access 0 to access 3 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   flow from access 1 to access 2 across barrier 0
//>   output from access 3 to access 3 in one interval
//>   writes arg0 within [0, 4*blockDim.x)
//>   static shared 1024 bytes
//>
//> kernel copies
//>   p0 = arg2
//>   may keep arg0
//>   loop i0 uniform
//>   must read arg0[16tx + 1024i0 .. +16] : -i0 + p0 - 1 >= 0 in i0 asynchronous in interval 0,1
//>   must write shared @_ZZ6copiesPK6float4PS_iE1s[16tx + 1024i0 - 2048*floor((i0)/2) .. +16] : -i0 + p0 - 1 >= 0 in i0 asynchronous in interval 0,1
//>   must read shared @_ZZ6copiesPK6float4PS_iE1s[-16tx + 1008 .. +16] : true in interval 0,1
//>   must write arg1[16tx .. +16] : true in interval 0,1
//>   barrier uniform in i0
//>   anti from access 0 to access 3 across barrier 0
//>   anti from access 0 to access 3 in one interval
//>   output from access 1 to access 1 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   flow from access 1 to access 2 across barrier 0
//>   flow from access 1 to access 2 in one interval
//>   output from access 3 to access 3 in one interval
//>   reads arg0 within [0, 16*blockDim.x + 1024*arg2 - 1024), columns [0, 16*blockDim.x) of rows of 1024
//>   writes arg1 within [0, 16*blockDim.x)
//>   requires 64*arg2 - 64 <= 4294967295
//>   asynchronous copies
//>   static shared 2048 bytes
//>
//> kernel filled
//>   may keep arg0
//>   may read arg0[4tx .. +4] : true asynchronous (it copies as many bytes as it is told)
//>   must write shared @s[4tx .. +4] : true asynchronous
//>   must read shared @s[4tx .. +4] : true
//>   must write arg1[4tx .. +4] : true
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   asynchronous copies
//>   dynamic shared
//>
//> kernel matrices
//>   must read arg0[2tx .. +2] : true in interval 0
//>   must write shared @_ZZ8matricesPK6__halfPjE1s[2tx .. +2] : true in interval 0
//>   may read shared @_ZZ8matricesPK6__halfPjE1s[32tx - 512*floor((tx)/16) .. +16] : true (the warp touches the rows that its threads name) in interval 1
//>   must write arg1[4tx .. +4] : true in interval 1
//>   barrier uniform
//>   anti from access 0 to access 3 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   flow from access 1 to access 2 across barrier 0
//>   output from access 3 to access 3 in one interval
//>   reads arg0 within [0, 2*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   warp operations
//>   static shared 512 bytes
//>
//> kernel unknown
//>   must write arg0[4tx .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x)
//>   opaque: uses the PTX instruction `griddepcontrol.wait`
//>
//> kernel jumps
//>   may keep arg0
//>   opaque: uses inline assembly that is not read: `{ .reg .pred p; setp.ne.b32 p, $1, 0; @p bra DONE; st.glo...`
//>
//> kernel part
//>   must write arg0[4tx .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x)
//>   unfusable: uses a named barrier (named_barrier)
//>
//> kernel whole
//>   must write arg0[4tx .. +4] : true in interval 1
//>   barrier uniform
//>   output from access 0 to access 0 in one interval
//>   writes arg0 within [0, 4*blockDim.x)
//>
//> kernel integers
//>   may keep arg0
//>   may write anywhere[*] : true (its origin is not known)
//>   may write anywhere[*] : true (its origin is not known)
//>   writes anywhere within [?, ?)
