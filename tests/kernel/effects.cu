// test: kernel effects
// Threads and loops are projected out: what is left is what a block touches.
__global__ void pointwise(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
// A row of three for each thread, every second element of it unread; the block's rows are one range.
__global__ void strided(const float *x, float *y) {
    int i = 64 * blockIdx.x + threadIdx.x;
    if (threadIdx.x < 64) y[i] = x[4 * i] + x[4 * i + 2];
}
// Neighbours beyond the block's own elements.
__global__ void stencil(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) y[i] = x[i - 1] + x[i] + x[i + 1];
}
// All elements, by every block.
__global__ void grid_stride(const float *x, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i];
}
// A row of a matrix for each block, and tiles in shared memory.
__global__ void row_sums(const float *m, float *sums, int columns) {
    __shared__ float part[256];
    extern __shared__ float rest[];
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += 256) sum += m[blockIdx.x * columns + c];
    part[threadIdx.x] = sum;
    rest[2 * threadIdx.x + 1] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 0; k < 256; k++) sums[blockIdx.x] = part[k] + rest[2 * k + 1];
    }
}
// Two dimensions; 16 bytes a thread.
__global__ void transposed(const float4 *x, float4 *y) {
    int c = 16 * blockIdx.x + threadIdx.x, r = 16 * blockIdx.y + threadIdx.y;
    if (threadIdx.x < 16 && threadIdx.y < 16) y[512 * c + r] = x[512 * r + c];
}
// Anywhere.
__global__ void scatter(const int *to, const float *x, float *y, int *counts) {
    int i = 32 * blockIdx.x + threadIdx.x;
    y[to[i]] = x[i];
    atomicAdd(&counts[blockIdx.x], 1);
}
// The reduction of a block in a tree.
__global__ void tree(const float *x, float *sums) {
    __shared__ float part[128];
    part[threadIdx.x] = x[128 * blockIdx.x + threadIdx.x];
    __syncthreads();
    for (int stride = 64; stride > 0; stride >>= 1) {
        if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

//> kernel pointwise
//>   a block reads arg0 within [4*blockDim.x*blockIdx.x, min(4*arg2, 4*blockDim.x + 4*blockDim.x*blockIdx.x)): exactly [p0, p1, bx, by, bz, q0] -> { [byte] : p0 <= 1024 and bx >= 0 and by >= 0 and bz >= 0 and 4q0 <= byte < 4p1 and byte < 4p0 + 4q0 }
//>   a block writes arg1 within [4*blockDim.x*blockIdx.x, min(4*arg2, 4*blockDim.x + 4*blockDim.x*blockIdx.x)): exactly [p0, p1, bx, by, bz, q0] -> { [byte] : p0 <= 1024 and bx >= 0 and by >= 0 and bz >= 0 and 4q0 <= byte < 4p1 and byte < 4p0 + 4q0 }
//>
//> kernel strided
//>   a block reads arg0 within [1024*blockIdx.x, min(1024*blockIdx.x + 1020, 16*blockDim.x + 1024*blockIdx.x - 4)): exactly [bx, by, bz, nx] -> { [byte] : bx >= 0 and by >= 0 and bz >= 0 and nx <= 1024 and -12 + 1024bx <= byte <= 1019 + 1024bx and byte <= -5 + 1024bx + 16nx and ((byte <= 1011 + 1024bx and byte <= -13 + 1024bx + 16nx and 16*floor((-4 + byte)/16) <= -16 + byte) or (byte >= -4 + 1024bx and 16*floor((4 + byte)/16) <= -8 + byte)) }
//>   a block writes arg1 within [256*blockIdx.x, min(256*blockIdx.x + 256, 4*blockDim.x + 256*blockIdx.x)): exactly [bx, by, bz, nx] -> { [byte] : bx >= 0 and by >= 0 and bz >= 0 and nx <= 1024 and 256bx <= byte <= 255 + 256bx and byte < 256bx + 4nx }
//>
//> kernel stencil
//>   a block reads arg0 within [max(0, 4*blockDim.x*blockIdx.x - 4), min(4*arg2, 4*blockDim.x + 4*blockDim.x*blockIdx.x + 4)): exactly [p0, p1, bx, by, bz, q0] -> { [byte] : p0 <= 1024 and bx >= 0 and by >= 0 and bz >= 0 and byte >= -4 + 4q0 and 0 <= byte < 4p1 and byte <= 3 + 4p0 + 4q0 and ((byte >= 4q0 and 4 <= byte <= -5 + 4p1 and byte < 4p0 + 4q0) or (byte >= 4 + 4q0 and byte >= 8) or (byte <= -9 + 4p1 and byte <= -5 + 4p0 + 4q0)) }
//>   a block writes arg1 within [max(4, 4*blockDim.x*blockIdx.x), min(4*arg2 - 4, 4*blockDim.x + 4*blockDim.x*blockIdx.x)): exactly [p0, p1, bx, by, bz, q0] -> { [byte] : p0 <= 1024 and bx >= 0 and by >= 0 and bz >= 0 and byte >= 4q0 and 4 <= byte <= -5 + 4p1 and byte < 4p0 + 4q0 }
//>
//> kernel grid_stride
//>   a block reads arg0 within [4*blockDim.x*blockIdx.x, min(4*arg2, 4*gridDim.x*blockDim.x + 4*arg2 - 4*blockDim.x - 4*blockDim.x*blockIdx.x)): at most [p0, p1, p2, bx, by, bz, q0] -> { [byte] : 0 < p0 <= 1024 and bx >= 0 and by >= 0 and bz >= 0 and q0 <= -p0 + p1 and byte < 4p2 }
//>   a block writes arg1 within [4*blockDim.x*blockIdx.x, min(4*arg2, 4*gridDim.x*blockDim.x + 4*arg2 - 4*blockDim.x - 4*blockDim.x*blockIdx.x)): at most [p0, p1, p2, bx, by, bz, q0] -> { [byte] : 0 < p0 <= 1024 and bx >= 0 and by >= 0 and bz >= 0 and q0 <= -p0 + p1 and byte < 4p2 }
//>
//> kernel row_sums
//>   a block reads arg0 within [4*arg2*blockIdx.x, 4*arg2 + 4*arg2*blockIdx.x): exactly [p0, bx, by, bz, q0, nx] -> { [byte] : exists (e0: bx >= 0 and by >= 0 and bz >= 0 and nx <= 1024 and byte < 4p0 + 4q0 and e0 >= 0 and -4q0 - 4nx + byte < 1024e0 <= -4q0 + byte) }
//>   a block writes arg1 within [4*blockIdx.x, 4*blockIdx.x + 4): exactly [p0, bx, by, bz, nx] -> { [byte] : bx >= 0 and by >= 0 and bz >= 0 and 0 < nx <= 1024 and 4bx <= byte <= 3 + 4bx }
//>   a block reads shared @_ZZ8row_sumsPKfPfiE4part within [0, 1024): exactly [p0, bx, by, bz, nx] -> { [byte] : bx >= 0 and by >= 0 and bz >= 0 and 0 < nx <= 1024 and 0 <= byte <= 1023 }
//>   a block writes shared @_ZZ8row_sumsPKfPfiE4part within [0, 4*blockDim.x): exactly [p0, bx, by, bz, nx] -> { [byte] : bx >= 0 and by >= 0 and bz >= 0 and nx <= 1024 and 0 <= byte < 4nx }
//>   a block reads shared @rest within [4, 2048): exactly [p0, bx, by, bz, nx] -> { [byte] : bx >= 0 and by >= 0 and bz >= 0 and 0 < nx <= 1024 and 0 <= byte <= 2047 and 8*floor((byte)/8) <= -4 + byte }
//>   a block writes shared @rest within [4, 8*blockDim.x): exactly [p0, bx, by, bz, nx] -> { [byte] : bx >= 0 and by >= 0 and bz >= 0 and nx <= 1024 and 0 <= byte < 8nx and 8*floor((byte)/8) <= -4 + byte }
//>
//> kernel transposed
//>   a block reads arg0 within [131072*blockIdx.y + 256*blockIdx.x, 16*blockDim.x + 8192*blockDim.y + 131072*blockIdx.y + 256*blockIdx.x - 8192): at most [bx, by, bz, nx, ny] -> { [byte] : exists (e0: bx >= 0 and by >= 0 and bz >= 0 and nx <= 1024 and ny <= 1024 and 0 <= e0 < ny and -256bx - 131072by - 16nx + byte < 8192e0 <= -256bx - 131072by + byte) }
//>   a block writes arg1 within [256*blockIdx.y + 131072*blockIdx.x, 8192*blockDim.x + 16*blockDim.y + 256*blockIdx.y + 131072*blockIdx.x - 8192): at most [bx, by, bz, nx, ny] -> { [byte] : exists (e0: bx >= 0 and by >= 0 and bz >= 0 and nx <= 1024 and ny <= 1024 and 0 <= e0 < nx and -131072bx - 256by - 16ny + byte < 8192e0 <= -131072bx - 256by + byte) }
//>
//> kernel scatter
//>   a block reads arg0 within [128*blockIdx.x, 4*blockDim.x + 128*blockIdx.x): exactly [bx, by, bz, nx] -> { [byte] : bx >= 0 and by >= 0 and bz >= 0 and nx <= 1024 and 128bx <= byte < 128bx + 4nx }
//>   a block reads arg1 within [128*blockIdx.x, 4*blockDim.x + 128*blockIdx.x): exactly [bx, by, bz, nx] -> { [byte] : bx >= 0 and by >= 0 and bz >= 0 and nx <= 1024 and 128bx <= byte < 128bx + 4nx }
//>   a block writes arg2 within [?, ?): anywhere there
//>   a block reads arg3 within [4*blockIdx.x, 4*blockIdx.x + 4): exactly [bx, by, bz] -> { [byte] : bx >= 0 and by >= 0 and bz >= 0 and 4bx <= byte <= 3 + 4bx }
//>   a block writes arg3 within [4*blockIdx.x, 4*blockIdx.x + 4): exactly [bx, by, bz] -> { [byte] : bx >= 0 and by >= 0 and bz >= 0 and 4bx <= byte <= 3 + 4bx }
//>
//> kernel tree
//>   a block reads arg0 within [512*blockIdx.x, 4*blockDim.x + 512*blockIdx.x): exactly [bx, by, bz, nx] -> { [byte] : bx >= 0 and by >= 0 and bz >= 0 and nx <= 1024 and 512bx <= byte < 512bx + 4nx }
//>   a block writes arg1 within [4*blockIdx.x, 4*blockIdx.x + 4): exactly [bx, by, bz, nx] -> { [byte] : bx >= 0 and by >= 0 and bz >= 0 and 0 < nx <= 1024 and 4bx <= byte <= 3 + 4bx }
//>   a block reads shared @_ZZ4treePKfPfE4part within [0, max(min(512, 4*blockDim.x + 256), 4)): at most [bx, by, bz, nx] -> { [byte] : bx >= 0 and by >= 0 and bz >= 0 and nx <= 1024 and ((0 <= byte <= 255 and byte < 4nx) or (exists (e0: 0 <= e0 < nx and 4e0 >= -259 + byte and 8e0 <= -4 + byte))) }
//>   a block writes shared @_ZZ4treePKfPfE4part within [0, max(4*blockDim.x, min(256, 4*blockDim.x))): at most [bx, by, bz, nx] -> { [byte] : bx >= 0 and by >= 0 and bz >= 0 and nx <= 1024 and 0 <= byte < 4nx }
