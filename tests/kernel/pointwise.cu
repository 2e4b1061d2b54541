// test: kernel
__global__ void scale(float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}
__global__ void early(float *y, const float *__restrict__ x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    if (v < 0.f) v = 0.f;
    y[i] = v;
}
__global__ void grid_stride(float *y, const float *x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = __ldg(x + i);
}

//> kernel scale
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel early
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read arg1[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   reads arg1 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel grid_stride
//>   p0 = blockDim.x
//>   p1 = gridDim.x*blockDim.x
//>   p2 = arg2
//>   q0 = (bx) * p0
//>   q1 = (i0) * p1
//>   loop i0 divergent
//>   must read arg1[4tx + 4q0 + 4q1 .. +4] : -tx - q0 - q1 + p2 - 1 >= 0 and -q0 - p0 + p1 >= 0 in i0 invariant
//>   must write arg0[4tx + 4q0 + 4q1 .. +4] : -tx - q0 - q1 + p2 - 1 >= 0 and -q0 - p0 + p1 >= 0 in i0
//>   writes arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x + 4*arg2 - 4*blockDim.x))
//>   reads arg1 within [0, min(4*arg2, 4*gridDim.x*blockDim.x + 4*arg2 - 4*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   requires gridDim.x*blockDim.x + arg2 - 1 <= 2147483647
