// test: kernel
__global__ void tiles(float *o, const float *a) {
    int i = blockIdx.x * 256 + threadIdx.x;
    int row = i / 32, column = i % 16;
    o[row] = a[column];
    o[i & ~7] = a[(i >> 2) + (i & 3)];
}
__global__ void vectors(float4 *o, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { float4 v = o[i]; v.x += v.w; o[i] = v; }
}
__global__ void sizes(double *o, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    o[i] = 0;
}
__global__ void stride_sizes(double *o, size_t n) {
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) o[i] = 0;
}
__global__ void downwards(float *o, int n) {
    for (int i = n - 1; i >= 0; i--) o[blockIdx.x * n + i] = 0;
}
__global__ void do_while(float *o, int n) {
    int i = threadIdx.x;
    do { o[i] = 0; i += 32; } while (i < n);
}
__global__ void clamp(float *o, const float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int left = max(i - 1, 0), right = i + 1 < n ? i + 1 : n - 1;
    o[i] = a[left] + a[right];
}

//> kernel tiles
//>   must read arg1[4tx - 64*floor((tx)/16) .. +4] : true
//>   must write arg0[32bx + 4*floor((tx)/32) .. +4] : true
//>   must read arg1[256bx + 4tx - 12*floor((tx)/4) .. +4] : true
//>   must write arg0[1024bx + 32*floor((tx)/8) .. +4] : true
//>   writes arg0 within [0, max(32*gridDim.x + 4*floor((blockDim.x - 1)/32) - 28, 1024*gridDim.x + 32*floor((blockDim.x - 1)/8) - 1020)), columns [0, max(4*floor((blockDim.x - 1)/32) + 4, 4)) of rows of 32
//>   reads arg1 within [min(max(0, -64*floor((blockDim.x - 1)/16)), max(0, -12*floor((blockDim.x - 1)/4))), max(min(64, 4*blockDim.x), min(256*gridDim.x + blockDim.x - 244, 256*gridDim.x + 4*blockDim.x - 256))), columns [min(0, max(0, -12*floor((blockDim.x - 1)/4))), max(4*blockDim.x, min(256*gridDim.x + blockDim.x - 244, 256*gridDim.x + 4*blockDim.x - 256))) of rows of 64
//>   requires 256*gridDim.x + blockDim.x - 257 <= 2147483647
//>
//> kernel vectors
//>   p0 = blockDim.x
//>   p1 = arg1
//>   q0 = (bx) * p0
//>   must read arg0[16tx + 16q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must read arg0[16tx + 16q0 + 12 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg0[16tx + 16q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg0[16tx + 16q0 + 12 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   writes arg0 within [0, min(16*arg1, 16*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   requires 0 <= arg1
//>
//> kernel sizes
//>   p0 = blockDim.x
//>   p1 = arg1:s64
//>   q0 = (bx) * p0
//>   must write arg0[8tx + 8q0 .. +8] : -tx - q0 + p1 - 1 >= 0
//>   writes arg0 within [0, min(8*arg1:s64, 8*gridDim.x*blockDim.x))
//>   requires 0 <= arg1:s64
//>
//> kernel stride_sizes
//>   p0 = blockDim.x
//>   p1 = gridDim.x*blockDim.x
//>   p2 = arg1:s64
//>   q0 = (bx) * p0
//>   q1 = (i0) * p1
//>   loop i0 divergent
//>   must write arg0[8tx + 8q0 + 8q1 .. +8] : -tx - q0 - q1 + p2 - 1 >= 0 and -q0 - p0 + p1 >= 0 in i0
//>   writes arg0 within [0, min(8*arg1:s64, 8*gridDim.x*blockDim.x + 8*arg1:s64 - 8*blockDim.x))
//>   requires gridDim.x*blockDim.x + arg1:s64 - 1 <= 9223372036854775806
//>   requires 0 <= arg1:s64
//>   requires 8*arg1:s64 - 8 <= 4611686018427387904 or 8*gridDim.x*blockDim.x + 8*arg1:s64 - 8 <= 4611686018427387904
//>
//> kernel downwards
//>   p0 = arg1
//>   q0 = (bx) * p0
//>   loop i0 uniform
//>   must write arg0[-4i0 + 4q0 + 4p0 - 4 .. +4] : -i0 + p0 - 1 >= 0 in i0
//>   writes arg0 within [0, 4*gridDim.x*arg1)
//>   requires 0 <= arg1
//>   requires gridDim.x*arg1 - 1 <= 4294967295
//>
//> kernel do_while
//>   p0 = arg1
//>   loop i0 divergent
//>   must write arg0[4tx + 128i0 .. +4] : i0 = 0 or (i0 - 1 >= 0 and -tx - 32i0 + p0 - 1 >= 0) in i0
//>   writes arg0 within [0, max(4*blockDim.x, 4*arg1)), columns [0, max(4*blockDim.x, min(4*arg1 - 128, 4*blockDim.x))) of rows of 128
//>
//> kernel clamp
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read arg1[4tx + 4q0 - 4 .. +4] : -tx - q0 + p1 - 1 >= 0 and tx + q0 - 1 >= 0
//>   must read arg1[0 .. +4] : -tx - q0 + p1 - 1 >= 0 and -tx - q0 >= 0
//>   must read arg1[4tx + 4q0 + 4 .. +4] : -tx - q0 + p1 - 1 >= 0 and -tx - q0 + p1 - 2 >= 0
//>   must read arg1[4p1 - 4 .. +4] : -tx - q0 + p1 - 1 >= 0 and tx + q0 - p1 + 1 >= 0
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   reads arg1 within [min(0, 4*arg2 - 4), max(max(4, min(4*arg2, 4*gridDim.x*blockDim.x + 4)), 4*arg2))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
