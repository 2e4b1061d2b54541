// test: kernel
#include <mma.h>
using namespace nvcuda;
// A warp's tile: rows at the leading dimension, each of which each thread may touch.
__global__ void multiply(const half *a, const half *b, float *c, int width) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    int warp = threadIdx.x / 32;
    for (int k = 0; k < width; k += 16) {
        wmma::load_matrix_sync(left, a + 16 * blockIdx.x * width + k, width);
        wmma::load_matrix_sync(right, b + 16 * warp * width + k, width);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + 256 * warp, sum, 16, wmma::mem_row_major);
}
__global__ void shared_tiles(const half *a, half *b) {
    __shared__ half s[16 * 24];
    for (int i = threadIdx.x; i < 256; i += 32) s[i / 16 * 24 + i % 16] = a[i];
    __syncthreads();
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> tile;
    wmma::load_matrix_sync(tile, s, 24, wmma::mem_row_major);
    wmma::store_matrix_sync(b + 256 * blockIdx.x, tile, 16, wmma::mem_col_major);
}
__global__ void bytes(const signed char *a, int *b) {
    wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 8, 32, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, a + 512, 32);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(b, sum, 32, wmma::mem_row_major);
}

//> kernel multiply
//>   p0 = arg3
//>   q0 = (bx) * p0
//>   q1 = (i2) * p0
//>   q2 = (floor((tx)/32)) * p0
//>   q3 = (i3) * p0
//>   loop i0 uniform
//>   loop i1 uniform
//>   loop i2 in i1 uniform
//>   loop i3 in i1 uniform
//>   loop i4 uniform
//>   may read arg0[32i1 + 32q0 + 2q1 .. +32] : -16i1 + p0 - 1 >= 0 and i2 >= 0 and -i2 + 15 >= 0 in i1,i2 (which part of the tile each thread touches is not known)
//>   may read arg1[32i1 + 32q2 + 2q3 .. +32] : -16i1 + p0 - 1 >= 0 and i3 >= 0 and -i3 + 15 >= 0 in i1,i3 (which part of the tile each thread touches is not known)
//>   may write arg2[64i4 + 1024*floor((tx)/32) .. +64] : i4 >= 0 and -i4 + 15 >= 0 in i4 (which part of the tile each thread touches is not known)
//>   reads arg0 within [0, 32*gridDim.x*arg3 + 30)
//>   reads arg1 within [0, 32*arg3 + 32*arg3*floor((blockDim.x - 1)/32) + 30)
//>   writes arg2 within [0, 1024*floor((blockDim.x - 1)/32) + 1024)
//>   requires 0 <= arg3
//>   requires 16*gridDim.x*arg3 - 16*arg3 <= 4294967295
//>   warp operations
//>
//> kernel shared_tiles
//>   loop i0 divergent
//>   loop i1 uniform
//>   loop i2 uniform
//>   must read arg0[2tx + 64i0 .. +2] : -tx - 32i0 + 255 >= 0 in i0 in interval 0
//>   must write shared @_ZZ12shared_tilesPK6__halfPS_E1s[2tx + 96i0 + 16*floor((tx)/16) .. +2] : -tx - 32i0 + 255 >= 0 in i0 in interval 0
//>   may read shared @_ZZ12shared_tilesPK6__halfPS_E1s[48i1 .. +32] : i1 >= 0 and -i1 + 15 >= 0 in i1 (which part of the tile each thread touches is not known) in interval 1
//>   may write arg1[512bx + 32i2 .. +32] : i2 >= 0 and -i2 + 15 >= 0 in i2 (which part of the tile each thread touches is not known) in interval 1
//>   barrier uniform
//>   anti from access 0 to access 3 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   flow from access 1 to access 2 across barrier 0
//>   output from access 3 to access 3 in one interval
//>   reads arg0 within [0, 512), columns [0, min(512, 2*blockDim.x)) of rows of 64
//>   writes arg1 within [0, 512*gridDim.x)
//>   requires 256*gridDim.x - 256 <= 4294967295
//>   warp operations
//>   static shared 768 bytes
//>
//> kernel bytes
//>   loop i0 uniform
//>   loop i1 uniform
//>   loop i2 uniform
//>   loop i3 uniform
//>   may read arg0[16i1 .. +16] : i1 >= 0 and -i1 + 7 >= 0 in i1 (which part of the tile each thread touches is not known)
//>   may read arg0[32i2 + 512 .. +32] : i2 >= 0 and -i2 + 15 >= 0 in i2 (which part of the tile each thread touches is not known)
//>   may write arg1[128i3 .. +128] : i3 >= 0 and -i3 + 7 >= 0 in i3 (which part of the tile each thread touches is not known)
//>   reads arg0 within [0, 1024)
//>   writes arg1 within [0, 1024)
//>   warp operations
