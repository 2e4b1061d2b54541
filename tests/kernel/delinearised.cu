// test: kernel
__global__ void flip(float *o, const float *a) { int i = blockIdx.x * 64 + threadIdx.x; o[i] = a[i ^ 1]; }
__global__ void flip_sixteen(float *o, const float *a) { int i = blockIdx.x * 64 + threadIdx.x; o[i] = a[i ^ 16]; }
__global__ void reversed(float *o, const float *a) { int i = threadIdx.x & 63; o[i] = a[i ^ 63]; }
__global__ void fields(float *o, const float *a) {
    int i = blockIdx.x * 64 + threadIdx.x;
    o[(i & ~15) | (threadIdx.y & 15)] = a[((i & 15) << 4) | ((i >> 4) & 15)];
}
__global__ void middle_bits(float *o, const float *a) { int i = threadIdx.x; o[i] = a[i & 0x1c]; }
__global__ void row_major(float *o, const float *a, int width, int height) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height) return;
    int row = i / width, column = i % width;
    o[row * width + column] = a[column * height + row];
}
__global__ void row_index(float *o, const float *bias, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] += bias[i % width];
}
__global__ void row_only(float *o, const float *scale, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] *= scale[i / width];
}
__global__ void four_axes(float *o, const float *a, int b, int nh, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= b * nh * n * d) return;
    int x = i / (nh * n * d), rest = i % (nh * n * d);
    int h = rest / (n * d); rest = rest % (n * d);
    int s = rest / d, e = rest % d;
    o[i] = a[((x * n + s) * nh + h) * d + e];
}
__global__ void tile_of(float *o, int tiles) {
    int b = blockIdx.x;
    int tx = b % tiles, ty = b / tiles;
    o[(ty * 16 + threadIdx.y) * tiles * 16 + tx * 16 + threadIdx.x] = 0;
}
__global__ void run_time_shift(float *o, const float *a, int s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    o[i] = a[i >> s] + a[i << s] + a[i & ((1 << s) - 1)];
}
__global__ void shifted_one(float *o, int s) { if (threadIdx.x < (1 << s)) o[threadIdx.x] = 0; }
__global__ void clamped(float *o, const float *a, int w, int h) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) {
        int cx = min(max(x + dx, 0), w - 1), cy = min(max(y + dy, 0), h - 1);
        sum += a[cy * w + cx];
    }
    o[y * w + x] = sum;
}
__global__ void absolute(float *o, const float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = a[abs(i - n / 2)];
}
__global__ void wrapped_neighbour(float *o, const float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = a[(i + 1) % n] + a[(i + n - 1) % n] + a[i == 0 ? n - 1 : i - 1];
}
__global__ void bitfield_extract(float *o, const float *a) {
    unsigned t = threadIdx.x, warp = t >> 5, lane = t & 31;
    o[warp * 32 + lane] = a[lane * 32 + warp];
}
__global__ void signed_division(float *o, const float *a, int n) {
    int i = (int)threadIdx.x - 16;
    o[threadIdx.x] = a[i / 4 + 4] + a[(i % 4) + 3];
}
__global__ void nested_floor(float *o, const float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = a[(i / 4) * 4 + (i % 4) / 2];
}

// A warp takes 32 rows of a block's vector, and eight blocks a vector: the bounds of what is read are
// exact although two numbers are divided.
__global__ void rows_of_warps(const float *x, float *out) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, vector = blockIdx.x / 8;
    float sum = 0.0f;
    for (int row = 32 * warp; row < 32 * warp + 32; ++row) sum += x[256 * vector + row];
    atomicAdd(&out[(blockIdx.x % 8) * 32 + lane], sum);
}

//> kernel flip
//>   must read arg1[256bx - 4tx + 16*floor((tx)/2) + 4 .. +4] : true
//>   must write arg0[256bx + 4tx .. +4] : true
//>   writes arg0 within [0, 256*gridDim.x + 4*blockDim.x - 256), columns [0, 4*blockDim.x) of rows of 256
//>   reads arg1 within [max(-4, -4*blockDim.x + 8), min(256*gridDim.x + 4*blockDim.x - 252, 256*gridDim.x + 16*floor((blockDim.x - 1)/2) - 248)), columns [max(-4, -4*blockDim.x + 8), min(4*blockDim.x + 4, 16*floor((blockDim.x - 1)/2) + 8)) of rows of 256
//>   requires 64*gridDim.x + blockDim.x - 64 <= 2147483647 or 64*gridDim.x + 4*floor((blockDim.x - 1)/2) - 63 <= 2147483647
//>   requires 64*gridDim.x + blockDim.x - 65 <= 2147483647
//>
//> kernel flip_sixteen
//>   must read arg1[256bx + 4tx - 128*floor((tx)/16) + 256*floor((tx)/32) + 64 .. +4] : true
//>   must write arg0[256bx + 4tx .. +4] : true
//>   writes arg0 within [0, 256*gridDim.x + 4*blockDim.x - 256), columns [0, 4*blockDim.x) of rows of 256
//>   reads arg1 within [max(-184, -4*blockDim.x + 68), min(256*gridDim.x + 4*blockDim.x - 72, 256*gridDim.x + 4*blockDim.x + 256*floor((blockDim.x - 1)/32) - 192)), columns [max(-4*blockDim.x + 68, -128*floor((blockDim.x - 1)/16) + 64), min(188, 4*blockDim.x + 64)) of rows of 256
//>   requires 64*gridDim.x + blockDim.x - 19 <= 2147483647 or 64*gridDim.x + 3*blockDim.x - 51 <= 2147483647 or 64*gridDim.x + 64*floor((blockDim.x - 1)/32) - 18 <= 2147483647
//>   requires 64*gridDim.x + blockDim.x - 65 <= 2147483647
//>
//> kernel reversed
//>   must read arg1[-4tx + 256*floor((tx)/64) + 252 .. +4] : true
//>   must write arg0[4tx - 256*floor((tx)/64) .. +4] : true
//>   writes arg0 within [max(0, -256*floor((blockDim.x - 1)/64)), min(256, 4*blockDim.x)), columns [0, 4*blockDim.x) of rows of 256
//>   reads arg1 within [max(0, -4*blockDim.x + 256), min(256, 256*floor((blockDim.x - 1)/64) + 256)), columns [-4*blockDim.x + 256, 256) of rows of 256
//>
//> kernel fields
//>   must read arg1[16bx + 64tx - 1020*floor((tx)/16) - 64*floor((4bx + floor((tx)/16))/16) .. +4] : true
//>   must write arg0[256bx + 4ty + 64*floor((tx)/16) - 64*floor((ty)/16) .. +4] : true
//>   writes arg0 within [max(0, -64*floor((blockDim.y - 1)/16)), 256*gridDim.x + 64*floor((blockDim.x - 1)/16) - 192), columns [max(0, -64*floor((blockDim.y - 1)/16)), 64*floor((blockDim.x - 1)/16) + 64) of rows of 256
//>   reads arg1 within [max(0, -1024*floor((blockDim.x - 1)/16)), min(1024, 64*blockDim.x)), columns [max(-4*floor((blockDim.x - 1)/16), -64*floor((4*gridDim.x + floor((blockDim.x - 1)/16) - 4)/16)), min(64*blockDim.x, 16*gridDim.x + 64*blockDim.x - 76)) of rows of 1020
//>   requires 64*gridDim.x + blockDim.x - 65 <= 4294967295
//>   requires 64*gridDim.x + blockDim.x - 50 <= 4294967295 or 64*gridDim.x + 16*floor((blockDim.x - 1)/16) - 49 <= 4294967295 or 64*gridDim.x + blockDim.x + blockDim.y - 66 <= 4294967295
//>
//> kernel middle_bits
//>   must read arg1[16*floor((tx)/4) - 128*floor((tx)/32) .. +4] : true
//>   must write arg0[4tx .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x)
//>   reads arg1 within [max(-12, -128*floor((blockDim.x - 1)/32)), min(128, 16*floor((blockDim.x - 1)/4) + 4)), columns [0, 16*floor((blockDim.x - 1)/4) + 4) of rows of 128
//>
//> kernel row_major
//>   p0 = blockDim.x
//>   p1 = arg2
//>   p2 = arg3
//>   p3 = arg2*arg3
//>   q0 = (bx) * p0
//>   q1 = (i0) * p1
//>   q2 = (tx + q0 - q1) * p2
//>   quotient i0 = (tx + q0) / (p1)
//>   must read arg1[4i0 + 4q2 .. +4] : -tx - q0 + p3 - 1 >= 0 and tx + q0 - q1 >= 0 and -tx - q0 + q1 + p1 - 1 >= 0 in i0
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p3 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2*arg3, 4*gridDim.x*blockDim.x))
//>   reads arg1 within [0, 4*arg2*arg3 + 4*floor((arg2*arg3 - 1)/arg2) - 4*arg3 + 4), columns [0, 4*arg2*arg3 - 4*arg3 + 4) of rows of 4
//>   requires 0 <= arg3
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   requires 1 <= arg2
//>
//> kernel row_index
//>   p0 = blockDim.x
//>   p1 = arg2
//>   p2 = arg3
//>   q0 = (bx) * p0
//>   q1 = (i0) * p2
//>   quotient i0 = (tx + q0) / (p2)
//>   must read arg1[4tx + 4q0 - 4q1 .. +4] : -tx - q0 + p1 - 1 >= 0 and tx + q0 - q1 >= 0 and -tx - q0 + q1 + p2 - 1 >= 0 in i0
//>   must read arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   reads arg1 within [max(0, -4*arg3*floor((arg2 - 1)/arg3)), min(4*arg2, 4*arg3)), columns [max(0, -4*arg3 + 4), min(4*arg2, 4*arg2 + 4*arg3 - 4)) of rows of 4*arg3
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   requires 1 <= arg3
//>
//> kernel row_only
//>   p0 = blockDim.x
//>   p1 = arg2
//>   p2 = arg3
//>   q0 = (bx) * p0
//>   q1 = (i0) * p2
//>   quotient i0 = (tx + q0) / (p2)
//>   must read arg1[4i0 .. +4] : -tx - q0 + p1 - 1 >= 0 and tx + q0 - q1 >= 0 and -tx - q0 + q1 + p2 - 1 >= 0 in i0
//>   must read arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   reads arg1 within [0, 4*floor((arg2 - 1)/arg3) + 4)
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   requires 1 <= arg3
//>
//> kernel four_axes
//>   p0 = blockDim.x
//>   p1 = arg3
//>   p2 = arg4
//>   p3 = arg5
//>   p4 = arg2*arg3*arg4*arg5
//>   p5 = arg3*arg4*arg5
//>   p6 = arg4*arg5
//>   q0 = (bx) * p0
//>   q1 = (i0) * p5
//>   q2 = (i0) * p2
//>   q3 = (i1) * p6
//>   q4 = (i2) * p3
//>   q5 = (i2 + q2) * p1
//>   q6 = (i1 + q5) * p3
//>   quotient i0 = (tx + q0) / (p5)
//>   quotient i1 = (tx + q0 - q1) / (p6)
//>   quotient i2 = (tx + q0 - q1 - q3) / (p3)
//>   must read arg1[4tx + 4q0 - 4q1 - 4q3 - 4q4 + 4q6 .. +4] : -tx - q0 + p4 - 1 >= 0 and tx + q0 - q1 >= 0 and -tx - q0 + q1 + p5 - 1 >= 0 and tx + q0 - q1 - q3 >= 0 and -tx - q0 + q1 + q3 + p6 - 1 >= 0 and tx + q0 - q1 - q3 - q4 >= 0 and -tx - q0 + q1 + q3 + q4 + p3 - 1 >= 0 in i0,i1,i2
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p4 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2*arg3*arg4*arg5, 4*gridDim.x*blockDim.x))
//>   reads arg1 within [max(0, -4*arg2*arg3*arg4*arg5 + 4), min(4*gridDim.x*blockDim.x + 4*arg3*arg4*arg5*floor((gridDim.x*blockDim.x - 1)/arg3*arg4*arg5) + 4*arg3*arg5*floor((gridDim.x*blockDim.x - 1)/arg5) + 4*arg5*floor((arg2*arg3*arg4*arg5 - 1)/arg4*arg5), 4*arg2*arg3*arg4*arg5 + 4*arg3*arg4*arg5*floor((gridDim.x*blockDim.x - 1)/arg3*arg4*arg5) + 4*arg3*arg5*floor((gridDim.x*blockDim.x - 1)/arg5) + 4*arg5*floor((arg2*arg3*arg4*arg5 - 1)/arg4*arg5))), columns [max(0, -4*arg2*arg3*arg4*arg5 + 4), min(4*gridDim.x*blockDim.x + 4*arg3*arg4*arg5*floor((gridDim.x*blockDim.x - 1)/arg3*arg4*arg5) + 4*arg3*arg5*floor((gridDim.x*blockDim.x - 1)/arg5) + 4*arg5*floor((arg2*arg3*arg4*arg5 - 1)/arg4*arg5), 4*arg2*arg3*arg4*arg5 + 4*arg3*arg4*arg5*floor((gridDim.x*blockDim.x - 1)/arg3*arg4*arg5) + 4*arg3*arg5*floor((gridDim.x*blockDim.x - 1)/arg5) + 4*arg5*floor((arg2*arg3*arg4*arg5 - 1)/arg4*arg5))) of rows of 4*arg3*arg4*arg5
//>   requires 0 <= arg4
//>   requires 0 <= arg3
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   requires arg2*arg3*arg4*arg5 - 1 <= 2147483647 or arg3*arg4*arg5 - 1 <= 2147483647 or arg2*arg3*arg4*arg5 + arg3*arg4*arg5 - 2 <= 2147483647
//>   requires arg2*arg3*arg4*arg5 - 1 <= 2147483647 or arg3*arg4*arg5 - 1 <= 2147483647 or arg4*arg5 - 1 <= 2147483647
//>   requires 1 <= arg5
//>   requires arg3*arg4*arg5 <= 4294967295
//>   requires 1 <= arg3*arg4*arg5
//>   requires arg4*arg5 <= 4294967295
//>   requires 1 <= arg4*arg5
//>
//> kernel tile_of
//>   p0 = arg1
//>   q0 = (i0) * p0
//>   q1 = (ty + 16i0) * p0
//>   quotient i0 = (bx) / (p0)
//>   must write arg0[64bx + 4tx - 64q0 + 64q1 .. +4] : bx - q0 >= 0 and -bx + q0 + p0 - 1 >= 0 in i0
//>   writes arg0 within [max(0, -64*arg1*floor((gridDim.x - 1)/arg1)), min(4*blockDim.x + 64*blockDim.y*arg1 + 1024*arg1*floor((gridDim.x - 1)/arg1) - 64, 64*gridDim.x + 4*blockDim.x + 64*blockDim.y*arg1 + 1024*arg1*floor((gridDim.x - 1)/arg1) - 64*arg1 - 64)), columns [max(0, -64*arg1 + 64), min(64*gridDim.x + 4*blockDim.x - 64, 64*gridDim.x + 4*blockDim.x + 64*arg1 - 128)) of rows of 64*arg1
//>   requires 1 <= arg1
//>   requires blockDim.x + 16*blockDim.y*arg1 + 256*arg1*floor((gridDim.x - 1)/arg1) - 17 <= 4294967295 or 16*gridDim.x + blockDim.x + 16*blockDim.y*arg1 + 256*arg1*floor((gridDim.x - 1)/arg1) - 16*arg1 - 17 <= 4294967295
//>
//> kernel run_time_shift
//>   p0 = blockDim.x
//>   q0 = (bx) * p0
//>   loop i0 divergent
//>   may read arg1[4i0 .. +4] : i0 >= 0 and tx - i0 + q0 >= 0 in i0 (only bounds of a number in it are known)
//>   may read arg1[*] : true (it is shifted by a run-time value)
//>   may read arg1[*] : true (it is a bitwise combination)
//>   must write arg0[4tx + 4q0 .. +4] : true
//>   writes arg0 within [0, 4*gridDim.x*blockDim.x)
//>   reads arg1 within [?, ?)
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel shifted_one
//>   may write arg0[4tx .. +4] : true (its condition is not affine)
//>   writes arg0 within [0, 4*blockDim.x)
//>
//> kernel clamped
//>   p0 = arg2
//>   p1 = arg3
//>   p2 = min(0, arg2 - 1)
//>   p3 = arg2*arg3
//>   p4 = arg2*min(0, arg3 - 1)
//>   q0 = (16by + ty + i0) * p0
//>   q1 = (16by + ty) * p0
//>   loop i0 divergent
//>   loop i1 in i0 divergent
//>   must read arg1[64bx + 4tx + 4i1 + 4q0 - 4p0 - 4 .. +4] : -16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0 and -i0 + 2 >= 0 and -i1 + 2 >= 0 and 16by + ty + i0 - 1 >= 0 and -16by - ty - i0 + p1 >= 0 and p1 - 1 >= 0 and 16bx + tx + i1 - 1 >= 0 and -16bx - tx - i1 + p0 >= 0 and p0 - 1 >= 0 in i0,i1
//>   must read arg1[4q0 - 4 .. +4] : (-16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0 and -i0 + 2 >= 0 and -i1 + 2 >= 0 and 16by + ty + i0 - 1 >= 0 and -16by - ty - i0 + p1 >= 0 and p1 - 1 >= 0 and 16bx + tx + i1 - 1 >= 0 and 16bx + tx + i1 - p0 - 1 >= 0) or (-16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0 and -i0 + 2 >= 0 and -i1 + 2 >= 0 and 16by + ty + i0 - 1 >= 0 and -16by - ty - i0 + p1 >= 0 and p1 - 1 >= 0 and 16bx + tx + i1 - 1 >= 0 and -p0 >= 0) in i0,i1
//>   must read arg1[4q0 - 4p0 + 4p2 .. +4] : -16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0 and -i0 + 2 >= 0 and -i1 + 2 >= 0 and 16by + ty + i0 - 1 >= 0 and -16by - ty - i0 + p1 >= 0 and p1 - 1 >= 0 and -16bx - tx - i1 >= 0 in i0,i1
//>   must read arg1[64bx + 4tx + 4i1 - 4p0 + 4p3 - 4 .. +4] : (-16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0 and -i0 + 2 >= 0 and -i1 + 2 >= 0 and 16by + ty + i0 - 1 >= 0 and 16by + ty + i0 - p1 - 1 >= 0 and 16bx + tx + i1 - 1 >= 0 and -16bx - tx - i1 + p0 >= 0 and p0 - 1 >= 0) or (-16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0 and -i0 + 2 >= 0 and -i1 + 2 >= 0 and 16by + ty + i0 - 1 >= 0 and -p1 >= 0 and 16bx + tx + i1 - 1 >= 0 and -16bx - tx - i1 + p0 >= 0 and p0 - 1 >= 0) in i0,i1
//>   must read arg1[4p3 - 4 .. +4] : (-16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0 and -i0 + 2 >= 0 and -i1 + 2 >= 0 and 16by + ty + i0 - 1 >= 0 and 16by + ty + i0 - p1 - 1 >= 0 and 16bx + tx + i1 - 1 >= 0 and 16bx + tx + i1 - p0 - 1 >= 0) or (-16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0 and -i0 + 2 >= 0 and -i1 + 2 >= 0 and 16by + ty + i0 - 1 >= 0 and 16by + ty + i0 - p1 - 1 >= 0 and 16bx + tx + i1 - 1 >= 0 and -p0 >= 0) or (-16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0 and -i0 + 2 >= 0 and -i1 + 2 >= 0 and 16by + ty + i0 - 1 >= 0 and -p1 >= 0 and 16bx + tx + i1 - 1 >= 0 and 16bx + tx + i1 - p0 - 1 >= 0) or (-16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0 and -i0 + 2 >= 0 and -i1 + 2 >= 0 and 16by + ty + i0 - 1 >= 0 and -p1 >= 0 and 16bx + tx + i1 - 1 >= 0 and -p0 >= 0) in i0,i1
//>   must read arg1[-4p0 + 4p2 + 4p3 .. +4] : (-16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0 and -i0 + 2 >= 0 and -i1 + 2 >= 0 and 16by + ty + i0 - 1 >= 0 and 16by + ty + i0 - p1 - 1 >= 0 and -16bx - tx - i1 >= 0) or (-16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0 and -i0 + 2 >= 0 and -i1 + 2 >= 0 and 16by + ty + i0 - 1 >= 0 and -p1 >= 0 and -16bx - tx - i1 >= 0) in i0,i1
//>   must read arg1[64bx + 4tx + 4i1 + 4p4 - 4 .. +4] : -16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0 and -i0 + 2 >= 0 and -i1 + 2 >= 0 and -16by - ty - i0 >= 0 and 16bx + tx + i1 - 1 >= 0 and -16bx - tx - i1 + p0 >= 0 and p0 - 1 >= 0 in i0,i1
//>   must read arg1[4p0 + 4p4 - 4 .. +4] : (-16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0 and -i0 + 2 >= 0 and -i1 + 2 >= 0 and -16by - ty - i0 >= 0 and 16bx + tx + i1 - 1 >= 0 and 16bx + tx + i1 - p0 - 1 >= 0) or (-16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0 and -i0 + 2 >= 0 and -i1 + 2 >= 0 and -16by - ty - i0 >= 0 and 16bx + tx + i1 - 1 >= 0 and -p0 >= 0) in i0,i1
//>   must read arg1[4p2 + 4p4 .. +4] : -16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0 and -i0 + 2 >= 0 and -i1 + 2 >= 0 and -16by - ty - i0 >= 0 and -16bx - tx - i1 >= 0 in i0,i1
//>   must write arg0[64bx + 4tx + 4q1 .. +4] : -16bx - tx + p0 - 1 >= 0 and -16by - ty + p1 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2*arg3, 64*gridDim.x + 4*blockDim.x + 4*arg2*arg3 - 4*arg2 - 64)), columns [0, min(4*arg2, 64*gridDim.x + 4*blockDim.x - 64)) of rows of 4*arg2
//>   reads arg1 within [min(min(min(min(min(min(min(min(0, 4*arg2 - 4), 4*min(0, arg2 - 1)), 4*arg2*arg3 - 4*arg2), 4*arg2*arg3 - 4), 4*arg2*arg3 + 4*min(0, arg2 - 1) - 4*arg2), 4*arg2*min(0, arg3 - 1)), 4*arg2 + 4*arg2*min(0, arg3 - 1) - 4), 4*arg2*min(0, arg3 - 1) + 4*min(0, arg2 - 1)), max(max(max(max(max(min(4*arg2*arg3, 4*arg2 + 4*arg2*arg3 - 4), 4*arg2*arg3), 4*arg2*arg3 + 4*min(0, arg2 - 1) - 4*arg2 + 4), min(4*arg2 + 4*arg2*min(0, arg3 - 1), 8*arg2 + 4*arg2*min(0, arg3 - 1) - 4)), 4*arg2 + 4*arg2*min(0, arg3 - 1)), 4*arg2*min(0, arg3 - 1) + 4*min(0, arg2 - 1) + 4))
//>   requires 0 <= arg2
//>   requires 16*gridDim.x + blockDim.x - 17 <= 2147483647
//>
//> kernel absolute
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   may read arg1[*] : -tx - q0 + p1 - 1 >= 0 (it may wrap around)
//>   may read arg1[*] : -tx - q0 + p1 - 1 >= 0 (it may wrap around)
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   reads arg1 within [?, ?)
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel wrapped_neighbour
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   q1 = (i0) * p1
//>   q2 = (i1) * p1
//>   quotient i0 = (tx + q0 + 1) / (p1)
//>   quotient i1 = (tx + q0 + p1 - 1) / (p1)
//>   must read arg1[4tx + 4q0 - 4q1 + 4 .. +4] : -tx - q0 + p1 - 1 >= 0 and tx + q0 - q1 + 1 >= 0 and -tx - q0 + q1 + p1 - 2 >= 0 in i0
//>   must read arg1[4tx + 4q0 - 4q2 + 4p1 - 4 .. +4] : -tx - q0 + p1 - 1 >= 0 and tx + q0 - q2 + p1 - 1 >= 0 and -tx - q0 + q2 >= 0 in i1
//>   must read arg1[4p1 - 4 .. +4] : -tx - q0 + p1 - 1 >= 0 and -tx - q0 = 0
//>   must read arg1[4tx + 4q0 - 4 .. +4] : -tx - q0 + p1 - 1 >= 0 and tx + q0 - 1 >= 0
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   reads arg1 within [min(min(min(max(0, -4*arg2*floor((arg2)/arg2) + 4), max(0, 4*arg2 - 4*arg2*floor((2*arg2 - 2)/arg2) - 4)), 4*arg2 - 4), 0), max(max(min(4*arg2, 8*arg2 - 4), 4*arg2), min(4*arg2 - 4, 4*gridDim.x*blockDim.x - 4))), columns [min(min(min(max(4, -4*arg2 + 8), max(0, 4*arg2 - 4)), 4*arg2 - 4), 0), max(max(max(min(4*arg2 + 4, 8*arg2), min(8*arg2 - 4, 12*arg2 - 8)), 4*arg2), min(4*arg2 - 4, 4*gridDim.x*blockDim.x - 4))) of rows of 4*arg2
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   requires 1 <= arg2
//>   requires 2*arg2 - 2 <= 2147483647 or gridDim.x*blockDim.x + arg2 - 2 <= 2147483647
//>
//> kernel bitfield_extract
//>   must read arg1[128tx - 4092*floor((tx)/32) .. +4] : true
//>   must write arg0[4tx .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x)
//>   reads arg1 within [-4092*floor((blockDim.x - 1)/32), 128*blockDim.x - 124), columns [0, 128*blockDim.x - 124) of rows of 4092
//>
//> kernel signed_division
//>   may read arg1[*] : true (it may wrap around)
//>   may read arg1[*] : true (it may wrap around)
//>   must write arg0[4tx .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x)
//>   reads arg1 within [?, ?)
//>
//> kernel nested_floor
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read arg1[4*floor((tx + q0)/2) + 8*floor((tx + q0)/4) .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   reads arg1 within [0, min(min(4*arg2, 2*arg2 + 4*floor((arg2 - 1)/2) + 2), 4*floor((arg2 - 1)/2) + 8*floor((arg2 - 1)/4) + 4)), columns [0, min(2*arg2 + 2, 4*floor((arg2 - 1)/2) + 4)) of rows of 8
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel rows_of_warps
//>   loop i0 divergent
//>   must read arg0[4i0 + 1024*floor((bx)/8) - 8589934592*floor((bx)/67108864) + 128*floor((tx)/32) .. +4] : -i0 + 31 >= 0 in i0
//>   must reduction (floating add) arg1[128bx + 4tx - 1024*floor((bx)/8) - 128*floor((tx)/32) .. +4] : true
//>   reads arg0 within [max(-896, -8589934592*floor((gridDim.x - 1)/67108864)), 128*floor((blockDim.x - 1)/32) + 8589934592), columns [0, 1024*floor((gridDim.x - 1)/8) + 128*floor((blockDim.x - 1)/32) + 128) of rows of 8589934592
//>   writes arg1 within [max(0, -1024*floor((gridDim.x - 1)/8)), min(1024, 128*gridDim.x)), columns [max(0, -128*floor((blockDim.x - 1)/32)), min(128*gridDim.x, 128*gridDim.x + 4*blockDim.x - 128)) of rows of 1024
