// test: kernel
__global__ void add(float *o, const float *a, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) o[row * columns + column] += a[row * columns + column];
}
__global__ void stencil(float *o, const float *a, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
        o[y * w + x] = a[y * w + x - 1] + a[y * w + x + 1] + a[(y - 1) * w + x] + a[(y + 1) * w + x];
}
__global__ void gemm(float *c, const float *a, const float *b, int m, int n, int k) {
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

//> kernel add
//>   p0 = blockDim.y
//>   p1 = arg2
//>   p2 = blockDim.x
//>   p3 = arg3
//>   q0 = (by) * p0
//>   q1 = (bx) * p2
//>   q2 = (ty + q0) * p3
//>   must read arg1[4tx + 4q1 + 4q2 .. +4] : -ty - q0 + p1 - 1 >= 0 and -tx - q1 + p3 - 1 >= 0
//>   must read arg0[4tx + 4q1 + 4q2 .. +4] : -ty - q0 + p1 - 1 >= 0 and -tx - q1 + p3 - 1 >= 0
//>   must write arg0[4tx + 4q1 + 4q2 .. +4] : -ty - q0 + p1 - 1 >= 0 and -tx - q1 + p3 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2*arg3, 4*gridDim.x*blockDim.x + 4*arg2*arg3 - 4*arg3)), columns [0, min(4*arg3, 4*gridDim.x*blockDim.x)) of rows of 4*arg3
//>   reads arg1 within [0, min(4*arg2*arg3, 4*gridDim.x*blockDim.x + 4*arg2*arg3 - 4*arg3)), columns [0, min(4*arg3, 4*gridDim.x*blockDim.x)) of rows of 4*arg3
//>   requires 0 <= arg3
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel stencil
//>   p0 = blockDim.x
//>   p1 = arg2
//>   p2 = blockDim.y
//>   p3 = arg3
//>   q0 = (bx) * p0
//>   q1 = (by) * p2
//>   q2 = (ty + q1) * p1
//>   must read arg1[4tx + 4q0 + 4q2 - 4 .. +4] : tx + q0 - 1 >= 0 and -tx - q0 + p1 - 2 >= 0 and ty + q1 - 1 >= 0 and -ty - q1 + p3 - 2 >= 0
//>   must read arg1[4tx + 4q0 + 4q2 + 4 .. +4] : tx + q0 - 1 >= 0 and -tx - q0 + p1 - 2 >= 0 and ty + q1 - 1 >= 0 and -ty - q1 + p3 - 2 >= 0
//>   must read arg1[4tx + 4q0 + 4q2 - 4p1 .. +4] : tx + q0 - 1 >= 0 and -tx - q0 + p1 - 2 >= 0 and ty + q1 - 1 >= 0 and -ty - q1 + p3 - 2 >= 0
//>   must read arg1[4tx + 4q0 + 4q2 + 4p1 .. +4] : tx + q0 - 1 >= 0 and -tx - q0 + p1 - 2 >= 0 and ty + q1 - 1 >= 0 and -ty - q1 + p3 - 2 >= 0
//>   must write arg0[4tx + 4q0 + 4q2 .. +4] : tx + q0 - 1 >= 0 and -tx - q0 + p1 - 2 >= 0 and ty + q1 - 1 >= 0 and -ty - q1 + p3 - 2 >= 0
//>   writes arg0 within [4*arg2 + 4, min(4*arg2*arg3 - 4*arg2 - 4, 4*gridDim.x*blockDim.x + 4*arg2*arg3 - 8*arg2)), columns [4, min(4*arg2 - 4, 4*gridDim.x*blockDim.x)) of rows of 4*arg2
//>   reads arg1 within [min(min(4*arg2, 4), 8*arg2 + 4), max(max(min(4*arg2*arg3 - 4*arg2, 4*gridDim.x*blockDim.x + 4*arg2*arg3 - 8*arg2 + 4), min(4*arg2*arg3 - 8*arg2 - 4, 4*gridDim.x*blockDim.x + 4*arg2*arg3 - 12*arg2)), min(4*arg2*arg3 - 4, 4*gridDim.x*blockDim.x + 4*arg2*arg3 - 4*arg2))), columns [min(min(0, -4*arg2 + 4), 4*arg2 + 4), max(max(min(4*arg2, 4*gridDim.x*blockDim.x + 4), min(-4, 4*gridDim.x*blockDim.x - 4*arg2)), min(8*arg2 - 4, 4*gridDim.x*blockDim.x + 4*arg2))) of rows of 4*arg2
//>   requires 0 <= arg2
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel gemm
//>   p0 = arg3
//>   p1 = arg4
//>   p2 = arg5
//>   q0 = (16by + ty) * p2
//>   q1 = (i0) * p1
//>   q2 = (16by + ty) * p1
//>   loop i0 divergent
//>   must read arg1[4i0 + 4q0 .. +4] : -16by - ty + p0 - 1 >= 0 and -16bx - tx + p1 - 1 >= 0 and -i0 + p2 - 1 >= 0 in i0
//>   must read arg2[64bx + 4tx + 4q1 .. +4] : -16by - ty + p0 - 1 >= 0 and -16bx - tx + p1 - 1 >= 0 and -i0 + p2 - 1 >= 0 in i0
//>   must write arg0[64bx + 4tx + 4q2 .. +4] : -16by - ty + p0 - 1 >= 0 and -16bx - tx + p1 - 1 >= 0
//>   writes arg0 within [0, min(4*arg3*arg4, 64*gridDim.x + 4*blockDim.x + 4*arg3*arg4 - 4*arg4 - 64)), columns [0, min(4*arg4, 64*gridDim.x + 4*blockDim.x - 64)) of rows of 4*arg4
//>   reads arg1 within [0, 4*arg3*arg5)
//>   reads arg2 within [0, min(4*arg4*arg5, 64*gridDim.x + 4*blockDim.x + 4*arg4*arg5 - 4*arg4 - 64)), columns [0, min(4*arg4, 64*gridDim.x + 4*blockDim.x - 64)) of rows of 4*arg4
//>   requires 0 <= arg5
//>   requires 0 <= arg4
//>   requires 16*gridDim.x + blockDim.x - 17 <= 2147483647
