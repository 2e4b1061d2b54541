// test: kernel
__global__ void breaks(float *o, const float *a, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (a[i] < 0.f) break;
        if (a[i] > 9.f) continue;
        o[i] = 1;
    }
    o[blockIdx.x] = 2;
}
__global__ void varying_step(float *o, const int *a, int n) {
    for (int i = 0; i < n;) {
        o[i] = 1;
        i += a[i] > 3 ? 1 : 2;
    }
}
__global__ void fixed_choice_of_step(float *o, int n, bool wide) {
    int step = wide ? 4 : 1;
    for (int i = threadIdx.x; i < n; i += step) o[i] = 1;
}
__global__ void siblings(float *o, int n, int m) {
    int i = threadIdx.x;
    for (; i + 4 <= n; i += 4) o[i] = 1;
    for (; i < n; ++i) o[i] = 2;
    for (int j = i; j < m; ++j) o[j] = 3;
}
__global__ void triangle(float *o, int n) {
    for (int i = 0; i < n; ++i)
        for (int j = i; j < n; ++j) o[i * n + j] = 1;
}
__global__ void ping_pong(float *a, float *b, int n) {
    for (int i = 0; i < n; ++i) {
        a[threadIdx.x] = b[threadIdx.x + 1];
        float *t = a; a = b; b = t;
    }
}
__global__ void switches(float *o, int mode) {
    switch (mode) {
    case 0: o[threadIdx.x] = 1; break;
    case 1: o[threadIdx.x + 64] = 1; break;
    case 7: return;
    default: o[0] = 3;
    }
    o[blockIdx.x] = 4;
}
__global__ void narrow(float *o, unsigned char c, short s, int n) {
    unsigned char k = (unsigned char)(threadIdx.x * 3 + c);
    if (n > 0) o[k] = o[s + 40];
    o[(unsigned short)(n + blockIdx.x)] = 1;
}
__global__ void wraps(float *o, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i - 1 < n - 2) o[i - 1] = o[i + 1];
    unsigned j = n - i;
    if (j < 5) o[j] = 1;
}
__global__ void backwards(float *o, int n, int step) {
    for (int i = n; i > 0; i -= step) o[i - 1] = 1;
    for (int i = n / 2; i > 0; i /= 2) o[i] = 2;
}
__global__ void by_argument(float *o, const float *bias, int n, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int row = i / columns, column = i % columns;
    o[row * columns + column] = bias[column];
    o[(n + columns - 1) / columns] = 1;
}
__global__ void negative_guard(float *o, int a, int b) {
    int i = threadIdx.x - a;
    if (i < 0 || i >= b || (i & 1)) return;
    if (!(i == 4 && b > 3)) o[i] = 1;
}
__global__ void nested_exits(float *o, const int *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        if (a[i] == 0) return;
        if (i < n / 2) o[i] = 1; else if (i % 3 == 1) o[i + 1] = 2;
    } else if (i < 2 * n) {
        o[i] = 3;
        for (int k = 0; k < 3; ++k) { if (k == i) return; o[k] = 4; }
    }
    o[i + 7] = 5;
}
__global__ void clamped_tile(float *o, int n, int tile) {
    int begin = blockIdx.x * tile, end = min(begin + tile, n);
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x) o[i] = 1;
}
struct Pair { const float *from; float *to; };
__global__ void pairs(Pair p, int n) {
    for (int i = threadIdx.x; i < n; i += 32) p.to[i] = p.from[n - 1 - i];
    p.to += n;
    *p.to = 1;
}
__global__ void local_array(float *o, int n) {
    float t[8];
    for (int i = 0; i < 8; ++i) t[i] = i * n;
    o[threadIdx.x] = t[n & 7];
}

//> kernel breaks
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (i0) * p0
//>   loop i0 divergent
//>   may read arg1[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0 in i0 (it is in a loop whose end is not affine)
//>   may write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0 in i0 (its condition is not affine)
//>   must write arg0[4bx .. +4] : true
//>   writes arg0 within [0, max(4*arg2, 4*gridDim.x))
//>   reads arg1 within [0, 4*arg2)
//>   requires blockDim.x + arg2 - 1 <= 2147483647
//>
//> kernel varying_step
//>   loop i0 divergent
//>   may write arg0[*] : true in i0 (its step changes in the loop)
//>   may read arg1[*] : true in i0 (its step changes in the loop)
//>   writes arg0 within [?, ?)
//>   reads arg1 within [?, ?)
//>
//> kernel fixed_choice_of_step
//>   p0 = arg1
//>   loop i0 divergent
//>   may write arg0[4tx + 16i0 .. +4] : -tx - 4i0 + p0 - 1 >= 0 or -tx - i0 + p0 - 1 >= 0 in i0 (its condition is not affine)
//>   may write arg0[4tx + 4i0 .. +4] : -tx - 4i0 + p0 - 1 >= 0 or -tx - i0 + p0 - 1 >= 0 in i0 (its condition is not affine)
//>   writes arg0 within [0, max(max(4*arg1, 16*arg1 - 12), min(4*arg1, 3*blockDim.x + arg1))), columns [0, max(max(min(4*arg1, 4*blockDim.x), min(4*arg1, 3*blockDim.x + arg1)), 4*arg1)) of rows of 16
//>
//> kernel siblings
//>   p0 = arg1
//>   loop i0 divergent
//>   loop i1 divergent
//>   loop i2 divergent
//>   loop i3 divergent
//>   must write arg0[4tx + 16i0 .. +4] : -tx - 4i0 + p0 - 4 >= 0 in i0
//>   may write arg0[4tx + 4i1 + 4i3 .. +4] : -tx - i1 - i3 + p0 - 1 >= 0 and i3 >= 0 in i1,i3 (only bounds of a number in it are known)
//>   may write arg0[*] : true in i2 (it is the last value of a loop)
//>   writes arg0 within [?, ?)
//>
//> kernel triangle
//>   p0 = arg1
//>   q0 = (i0) * p0
//>   loop i0 uniform
//>   loop i1 in i0 uniform
//>   must write arg0[4i0 + 4i1 + 4q0 .. +4] : -i0 + p0 - 1 >= 0 and -i0 - i1 + p0 - 1 >= 0 in i0,i1
//>   writes arg0 within [0, min(4*arg1*arg1, 4*arg1 + 4*arg1*arg1 - 4)), columns [0, min(4*arg1, 8*arg1 - 4)) of rows of 4*arg1
//>   requires 0 <= arg1
//>
//> kernel ping_pong
//>   p0 = arg2
//>   loop i0 uniform
//>   must read arg1[4tx + 4 .. +4] : -i0 + p0 - 1 >= 0 and i0 - 2*floor((i0)/2) = 0 in i0
//>   must read arg0[4tx + 4 .. +4] : -i0 + p0 - 1 >= 0 and i0 - 2*floor((i0)/2) - 1 = 0 in i0
//>   must write arg0[4tx .. +4] : -i0 + p0 - 1 >= 0 and i0 - 2*floor((i0)/2) = 0 in i0
//>   must write arg1[4tx .. +4] : -i0 + p0 - 1 >= 0 and i0 - 2*floor((i0)/2) - 1 = 0 in i0
//>   writes arg0 within [0, 4*blockDim.x + 4)
//>   writes arg1 within [0, 4*blockDim.x + 4)
//>
//> kernel switches
//>   p0 = arg1
//>   must write arg0[4tx .. +4] : -p0 = 0
//>   must write arg0[4tx + 256 .. +4] : -p0 + 1 = 0
//>   must write arg0[0 .. +4] : (-p0 - 1 >= 0 and -p0 >= 0 and -p0 + 6 >= 0) or (-p0 - 1 >= 0 and -p0 >= 0 and p0 - 8 >= 0) or (-p0 - 1 >= 0 and p0 - 2 >= 0 and -p0 + 6 >= 0) or (-p0 - 1 >= 0 and p0 - 2 >= 0 and p0 - 8 >= 0) or (p0 - 1 >= 0 and -p0 >= 0 and -p0 + 6 >= 0) or (p0 - 1 >= 0 and -p0 >= 0 and p0 - 8 >= 0) or (p0 - 1 >= 0 and p0 - 2 >= 0 and -p0 + 6 >= 0) or (p0 - 1 >= 0 and p0 - 2 >= 0 and p0 - 8 >= 0)
//>   may write arg0[4bx .. +4] : true (its condition has too many cases)
//>   writes arg0 within [0, max(4*blockDim.x + 256, 4*gridDim.x))
//>
//> kernel narrow
//>   p0 = arg3
//>   p1 = arg2:s16
//>   p2 = arg1:s8
//>   must read arg0[4p1 + 160 .. +4] : p0 - 1 >= 0
//>   must write arg0[12tx + 4p2 .. +4] : p0 - 1 >= 0
//>   must write arg0[4bx + 4p0 - 262144*floor((bx + p0)/65536) .. +4] : true
//>   writes arg0 within [min(min(4*arg2:s16 + 160, 4*arg1:s8), max(0, 4*arg3 - 262144*floor((gridDim.x + arg3 - 1)/65536))), max(max(4*arg2:s16 + 164, 12*blockDim.x + 4*arg1:s8 - 8), min(262144, 4*gridDim.x + 4*arg3 - 262144*floor((arg3)/65536)))), columns [min(min(4*arg2:s16 + 160, 4*arg1:s8), max(0, 4*arg3 - 262144*floor((gridDim.x + arg3 - 1)/65536))), max(max(4*arg2:s16 + 164, 4*arg1:s8 + 4), min(262144, 4*gridDim.x + 4*arg3 - 262144*floor((arg3)/65536)))) of rows of 12
//>   requires 3*blockDim.x + arg1:s8 - 3 <= 255
//>   requires 0 <= arg1:s8
//>
//> kernel wraps
//>   p0 = blockDim.x
//>   p1 = arg1
//>   q0 = (bx) * p0
//>   must read arg0[4tx + 4q0 + 4 .. +4] : tx + q0 - 1 >= 0 and -tx - q0 + p1 - 2 >= 0
//>   must write arg0[4tx + 4q0 - 4 .. +4] : tx + q0 - 1 >= 0 and -tx - q0 + p1 - 2 >= 0
//>   must write arg0[-4tx - 4q0 + 4p1 .. +4] : -tx - q0 + p1 >= 0 and tx + q0 - p1 + 4 >= 0
//>   writes arg0 within [min(0, max(0, 4*arg1 - 4*gridDim.x*blockDim.x + 4)), max(min(4*arg1, 4*gridDim.x*blockDim.x + 4), min(20, 4*arg1 + 4)))
//>   requires gridDim.x*blockDim.x - 2 <= 2147483647
//>   requires 0 <= arg1 - 2
//>   requires -2147483648 <= arg1 - gridDim.x*blockDim.x + 1
//>
//> kernel backwards
//>   p0 = arg2
//>   p1 = arg1
//>   q0 = (i0) * p0
//>   loop i0 uniform
//>   loop i1 uniform
//>   must write arg0[-4q0 + 4p1 - 4 .. +4] : -q0 + p1 - 1 >= 0 in i0
//>   may write arg0[*] : true in i1 (it changes irregularly in a loop)
//>   writes arg0 within [?, ?)
//>   requires 0 <= arg2
//>
//> kernel by_argument
//>   p0 = blockDim.x
//>   p1 = arg2
//>   p2 = arg3
//>   p3 = floor((arg2 + arg3 - 1)/arg3)
//>   q0 = (bx) * p0
//>   q1 = (i0) * p2
//>   quotient i0 = (tx + q0) / (p2)
//>   must read arg1[4tx + 4q0 - 4q1 .. +4] : -tx - q0 + p1 - 1 >= 0 and tx + q0 - q1 >= 0 and -tx - q0 + q1 + p2 - 1 >= 0 in i0
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg0[4p3 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   writes arg0 within [min(0, 4*floor((arg2 + arg3 - 1)/arg3)), max(min(4*arg2, 4*gridDim.x*blockDim.x), 4*floor((arg2 + arg3 - 1)/arg3) + 4))
//>   reads arg1 within [max(0, -4*arg3*floor((arg2 - 1)/arg3)), min(4*arg2, 4*arg3)), columns [max(0, -4*arg3 + 4), min(4*arg2, 4*arg2 + 4*arg3 - 4)) of rows of 4*arg3
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   requires 1 <= arg3
//>   requires arg2 + arg3 - 1 <= 2147483647
//>   requires 0 <= arg2 + arg3 - 1
//>
//> kernel negative_guard
//>   p0 = arg1
//>   p1 = arg2
//>   must write arg0[4tx - 4p0 .. +4] : (-tx + p0 + 2*floor((tx - p0)/2) - 2147483648*floor((tx - p0)/2147483648) = 0 and -tx + p0 + p1 - 1 >= 0 and -tx + p0 + 3 >= 0) or (-tx + p0 + 2*floor((tx - p0)/2) - 2147483648*floor((tx - p0)/2147483648) = 0 and -tx + p0 + p1 - 1 >= 0 and tx - p0 - 5 >= 0) or (-tx + p0 + 2*floor((tx - p0)/2) - 2147483648*floor((tx - p0)/2147483648) = 0 and -tx + p0 + p1 - 1 >= 0 and -tx + p0 + 4 = 0 and -p1 + 3 >= 0)
//>   writes arg0 within [max(-4, -4*arg1), max(min(min(8589934592, 4*arg2), 8*floor((arg2 - 1)/2) + 4), min(min(20, 4*arg1 + 8589934608), -8589934592*floor((-1*arg1)/2147483648) + 20)))
//>   requires 2147483648*floor((blockDim.x - arg1 - 1)/2147483648) + 1 <= 2147483647 or blockDim.x - arg1 <= 2147483647 or 2*blockDim.x - 2*arg1 - 2*floor((-1*arg1)/2) - 2 <= 2147483647
//>
//> kernel nested_exits
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   loop i0 divergent
//>   must read arg1[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   may write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0 and -tx - q0 + floor((p1)/2) - 1 >= 0 (its condition is not affine)
//>   may write arg0[4tx + 4q0 + 4 .. +4] : -tx - q0 + p1 - 1 >= 0 and tx + q0 - floor((p1)/2) >= 0 and -tx - q0 + 3*floor((tx + q0)/3) + 1 = 0 (its condition is not affine)
//>   must write arg0[4tx + 4q0 .. +4] : tx + q0 - p1 >= 0 and -tx - q0 + 2p1 - 1 >= 0
//>   may write arg0[4i0 .. +4] : (tx + q0 - p1 >= 0 and -tx - q0 + 2p1 - 1 >= 0 and -i0 + 2 >= 0 and tx - i0 + q0 - 1 >= 0) or (tx + q0 - p1 >= 0 and -tx - q0 + 2p1 - 1 >= 0 and -i0 + 2 >= 0 and -tx + i0 - q0 - 1 >= 0) in i0 (it is in a loop whose end is not affine)
//>   may write arg0[4tx + 4q0 + 28 .. +4] : (-tx - q0 + p1 - 1 >= 0 and -tx - q0 + floor((p1)/2) - 1 >= 0) or (-tx - q0 + p1 - 1 >= 0 and tx + q0 - floor((p1)/2) >= 0 and -tx - q0 + 3*floor((tx + q0)/3) >= 0) or (-tx - q0 + p1 - 1 >= 0 and tx + q0 - floor((p1)/2) >= 0 and tx + q0 - 3*floor((tx + q0)/3) - 2 >= 0) or (-tx - q0 + p1 - 1 >= 0 and tx + q0 - floor((p1)/2) >= 0 and -tx - q0 + 3*floor((tx + q0)/3) + 1 = 0) or (tx + q0 - p1 >= 0 and tx + q0 - 2p1 >= 0) or (tx + q0 - p1 >= 0 and -tx - q0 + 2p1 - 1 >= 0) (its condition is not affine)
//>   writes arg0 within [min(min(min(0, max(max(8, 2*arg2 + 2), 4*floor((arg2)/2) + 4)), max(0, 4*arg2)), max(28, 8*arg2 + 28)), max(max(max(max(max(min(12, 8*arg2 - 4), min(min(2*arg2 + 28, 4*arg2 + 28), 4*floor((arg2)/2) + 28)), min(4*arg2 + 28, 4*gridDim.x*blockDim.x + 28)), min(4*arg2 + 28, 12*floor((arg2 - 1)/3) + 36)), 4*gridDim.x*blockDim.x + 28), min(8*arg2 + 28, 4*gridDim.x*blockDim.x + 28)))
//>   reads arg1 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   requires 0 <= arg2
//>
//> kernel clamped_tile
//>   p0 = blockDim.x
//>   p1 = arg2
//>   p2 = arg1
//>   q0 = (bx) * p1
//>   q1 = (i0) * p0
//>   loop i0 divergent
//>   must write arg0[4tx + 4q0 + 4q1 .. +4] : -tx - q1 + p1 - 1 >= 0 and -tx - q0 - q1 + p2 - 1 >= 0 in i0
//>   writes arg0 within [0, min(4*arg1, 4*arg1 + 4*arg2 - 4)), columns [0, min(4*arg1, 4*arg2)) of rows of 4*arg2
//>   requires 0 <= arg2
//>   requires gridDim.x*arg2 + blockDim.x - arg2 - 1 <= 2147483647
//>   requires gridDim.x*arg2 + blockDim.x - 1 <= 2147483647 or blockDim.x + arg1 - 1 <= 2147483647 or blockDim.x + arg1 + arg2 - 2 <= 2147483647
//>   requires arg1 + arg2 - 2 <= 2147483647 or gridDim.x*arg2 - 1 <= 2147483647 or gridDim.x*arg2 + blockDim.x - 1 <= 2147483647
//>
//> kernel pairs
//>   p0 = arg1
//>   loop i0 divergent
//>   must read arg0[-4tx - 128i0 + 4p0 - 4 .. +4] : -tx - 32i0 + p0 - 1 >= 0 in i0
//>   must write arg0.8[4tx + 128i0 .. +4] : -tx - 32i0 + p0 - 1 >= 0 in i0
//>   must write arg0.8[4p0 .. +4] : true
//>   reads arg0 within [0, 4*arg1), columns [max(0, 4*arg1 - 4*blockDim.x), 4*arg1) of rows of 128
//>   writes arg0.8 within [min(0, 4*arg1), 4*arg1 + 4), columns [min(0, 4*arg1), max(min(4*arg1, 4*blockDim.x), 4*arg1 + 4)) of rows of 128
//>
//> kernel local_array
//>   loop i0 uniform
//>   must write arg0[4tx .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x)
