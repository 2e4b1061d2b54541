// test: kernel
#include <cuda_fp16.h>
#include <mma.h>
// Threads of a warp work together: none of these touches memory but the tiles and rows.
__global__ void shuffles(const int *x, int *y) {
    int v = x[threadIdx.x];
    v += __shfl_sync(0xffffffffu, v, 3);
    v += __shfl_up_sync(0xffffffffu, v, 1);
    v += __shfl_down_sync(0xffffffffu, v, 2, 16);
    v += __shfl_xor_sync(0xffffffffu, v, 4);
    y[threadIdx.x] = v;
}
__global__ void votes(const int *x, unsigned *y) {
    int v = x[threadIdx.x];
    y[4 * threadIdx.x] = __ballot_sync(0xffffffffu, v > 0);
    y[4 * threadIdx.x + 1] = __any_sync(0xffffffffu, v > 1);
    y[4 * threadIdx.x + 2] = __all_sync(0xffffffffu, v > 2);
    y[4 * threadIdx.x + 3] = __activemask();
}
__global__ void matches(const int *x, unsigned *y, int *same) {
    int all;
    y[2 * threadIdx.x] = __match_any_sync(0xffffffffu, x[threadIdx.x]);
    y[2 * threadIdx.x + 1] = __match_all_sync(0xffffffffu, x[threadIdx.x], &all);
    same[threadIdx.x] = all;
}
__global__ void reduced(const unsigned *x, unsigned *y) {
    y[2 * threadIdx.x] = __reduce_add_sync(0xffffffffu, x[threadIdx.x]);
    y[2 * threadIdx.x + 1] = __reduce_max_sync(0xffffffffu, x[threadIdx.x]);
}
// A place that another thread told.
__global__ void told_place(const float *x, float *y, int *next) {
    int at = 0;
    if (threadIdx.x % 32 == 0) at = atomicAdd(next, 32);
    at = __shfl_sync(0xffffffffu, at, 0);
    y[at + threadIdx.x % 32] = x[threadIdx.x];
}
// A tile that the warps of a block share.
__global__ void squares(const half *a, float *c) {
    using namespace nvcuda;
    __shared__ half s[16 * 16];
    for (int i = threadIdx.x; i < 256; i += 32) s[i] = a[256 * blockIdx.x + i];
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, s, 16);
    wmma::load_matrix_sync(right, s, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c + 256 * blockIdx.x, sum, 16, wmma::mem_row_major);
}
// Rows of 16 bytes in shared memory, and the product that takes them.
__global__ void matrices(const half *a, float *c) {
    __shared__ half s[16 * 16];
    int lane = threadIdx.x % 32;
    for (int i = threadIdx.x; i < 256; i += 32) s[i] = a[i];
    __syncthreads();
    unsigned left[4], right[2];
    unsigned at = (unsigned)__cvta_generic_to_shared(s + 16 * (lane % 16) + 8 * (lane / 16));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(left[0]), "=r"(left[1]), "=r"(left[2]), "=r"(left[3]) : "r"(at) : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(right[0]), "=r"(right[1]) : "r"(at) : "memory");
    float d[4] = {};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
    for (int k = 0; k < 4; k++) c[4 * lane + k] = d[k];
}

//> kernel shuffles
//>   must read arg0[4tx .. +4] : true
//>   must write arg1[4tx .. +4] : true
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   warp operations
//>
//> kernel votes
//>   must read arg0[4tx .. +4] : true
//>   must write arg1[16tx .. +4] : true
//>   must write arg1[16tx + 4 .. +4] : true
//>   must write arg1[16tx + 8 .. +4] : true
//>   must write arg1[16tx + 12 .. +4] : true
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 16*blockDim.x)
//>   warp operations
//>
//> kernel matches
//>   must read arg0[4tx .. +4] : true
//>   must write arg1[8tx .. +4] : true
//>   must read arg0[4tx .. +4] : true
//>   must write arg1[8tx + 4 .. +4] : true
//>   must write arg2[4tx .. +4] : true
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 8*blockDim.x)
//>   writes arg2 within [0, 4*blockDim.x)
//>   warp operations
//>
//> kernel reduced
//>   must read arg0[4tx .. +4] : true
//>   must write arg1[8tx .. +4] : true
//>   must read arg0[4tx .. +4] : true
//>   must write arg1[8tx + 4 .. +4] : true
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 8*blockDim.x)
//>   warp operations
//>
//> kernel told_place
//>   must atomic arg2[0 .. +4] : -tx + 32*floor((tx)/32) = 0
//>   must read arg0[4tx .. +4] : true
//>   may write arg1[*] : true (it is the result of a call)
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [?, ?)
//>   writes arg2 within [0, 4)
//>   warp operations
//>
//> kernel squares
//>   loop i0 divergent
//>   loop i1 uniform
//>   loop i2 uniform
//>   loop i3 uniform
//>   loop i4 uniform
//>   must read arg0[512bx + 2tx + 64i0 .. +2] : -tx - 32i0 + 255 >= 0 in i0 in interval 0
//>   must write shared @_ZZ7squaresPK6__halfPfE1s[2tx + 64i0 .. +2] : -tx - 32i0 + 255 >= 0 in i0 in interval 0
//>   may read shared @_ZZ7squaresPK6__halfPfE1s[32i2 .. +32] : i2 >= 0 and -i2 + 15 >= 0 in i2 (which part of the tile each thread touches is not known) in interval 1
//>   may read shared @_ZZ7squaresPK6__halfPfE1s[32i3 .. +32] : i3 >= 0 and -i3 + 15 >= 0 in i3 (which part of the tile each thread touches is not known) in interval 1
//>   may write arg1[1024bx + 64i4 .. +64] : i4 >= 0 and -i4 + 15 >= 0 in i4 (which part of the tile each thread touches is not known) in interval 1
//>   barrier uniform
//>   anti from access 0 to access 4 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   flow from access 1 to access 2 across barrier 0
//>   flow from access 1 to access 3 across barrier 0
//>   output from access 4 to access 4 in one interval
//>   reads arg0 within [0, 512*gridDim.x), columns [0, min(512, 2*blockDim.x)) of rows of 64
//>   writes arg1 within [0, 1024*gridDim.x)
//>   requires 256*gridDim.x - 1 <= 4294967295
//>   warp operations
//>   static shared 512 bytes
//>
//> kernel matrices
//>   loop i0 divergent
//>   loop i1 uniform
//>   must read arg0[2tx + 64i0 .. +2] : -tx - 32i0 + 255 >= 0 in i0 in interval 0
//>   must write shared @_ZZ8matricesPK6__halfPfE1s[2tx + 64i0 .. +2] : -tx - 32i0 + 255 >= 0 in i0 in interval 0
//>   may read shared @_ZZ8matricesPK6__halfPfE1s[32tx - 496*floor((tx)/16) - 32*floor((tx)/32) .. +16] : true (the warp touches the rows that its threads name) in interval 1
//>   may read shared @_ZZ8matricesPK6__halfPfE1s[32tx - 496*floor((tx)/16) - 32*floor((tx)/32) .. +16] : true (the warp touches the rows that its threads name) in interval 1
//>   must write arg1[16tx + 4i1 - 512*floor((tx)/32) .. +4] : -i1 + 3 >= 0 in i1 in interval 1
//>   barrier uniform
//>   anti from access 0 to access 4 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   flow from access 1 to access 2 across barrier 0
//>   flow from access 1 to access 3 across barrier 0
//>   output from access 4 to access 4 in one interval
//>   reads arg0 within [0, 512), columns [0, min(512, 2*blockDim.x)) of rows of 64
//>   writes arg1 within [max(0, -512*floor((blockDim.x - 1)/32)), min(512, 16*blockDim.x)), columns [0, 16*blockDim.x) of rows of 512
//>   warp operations
//>   static shared 512 bytes
