// test: kernel
// What led to the way that a pointer came: all tests on it, first to last.
__global__ void three_matrices(const float *a, const float *b, const float *c, float *x, float *y, float *z, int width, int of_a, int of_b) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= of_a + 2 * of_b) return;
    const float *matrix;
    float *out;
    if (row < of_a) {
        matrix = a + row * width;
        out = x + row;
    } else if (row < of_a + of_b) {
        matrix = b + (row - of_a) * width;
        out = y + (row - of_a);
    } else {
        matrix = c + (row - of_a - of_b) * width;
        out = z + (row - of_a - of_b);
    }
    float sum = 0;
    for (int k = 0; k < width; k++) sum += matrix[k];
    *out = sum;
}
// Two ways meet before the last one is chosen: neither of the tests there tells anything.
__global__ void ways_that_meet(float *a, float *b, int n, int m) {
    int t = threadIdx.x;
    float *out = b;
    if (t >= n) {
        if (t < m) a[t] = 1;
        out = a + (t - n);
    }
    *out = 2;
}

//> kernel three_matrices
//>   p0 = blockDim.x
//>   p1 = arg7
//>   p2 = arg8
//>   p3 = arg6
//>   p4 = arg6*arg7
//>   p5 = arg6*arg8
//>   q0 = (bx) * p0
//>   q1 = (tx + q0) * p3
//>   loop i0 divergent
//>   may read arg0[4i0 + 4q1 .. +4] : -tx - q0 + p1 + 2p2 - 1 >= 0 and -i0 + p3 - 1 >= 0 and -tx - q0 + p1 - 1 >= 0 in i0 (it depends on the path taken)
//>   may read arg1[4i0 + 4q1 - 4p4 .. +4] : -tx - q0 + p1 + 2p2 - 1 >= 0 and -i0 + p3 - 1 >= 0 and tx + q0 - p1 >= 0 and -tx - q0 + p1 + p2 - 1 >= 0 in i0 (it depends on the path taken)
//>   may read arg2[4i0 + 4q1 - 4p4 - 4p5 .. +4] : -tx - q0 + p1 + 2p2 - 1 >= 0 and -i0 + p3 - 1 >= 0 and tx + q0 - p1 >= 0 and tx + q0 - p1 - p2 >= 0 in i0 (it depends on the path taken)
//>   may write arg3[4tx + 4q0 .. +4] : -tx - q0 + p1 + 2p2 - 1 >= 0 and -tx - q0 + p1 - 1 >= 0 (it depends on the path taken)
//>   may write arg4[4tx + 4q0 - 4p1 .. +4] : -tx - q0 + p1 + 2p2 - 1 >= 0 and tx + q0 - p1 >= 0 and -tx - q0 + p1 + p2 - 1 >= 0 (it depends on the path taken)
//>   may write arg5[4tx + 4q0 - 4p1 - 4p2 .. +4] : -tx - q0 + p1 + 2p2 - 1 >= 0 and tx + q0 - p1 >= 0 and tx + q0 - p1 - p2 >= 0 (it depends on the path taken)
//>   reads arg0 within [0, 4*arg6*arg7)
//>   reads arg1 within [max(0, -4*arg6*arg7), 4*arg6*arg8)
//>   reads arg2 within [max(0, -4*arg6*arg8), 4*arg6*arg8)
//>   writes arg3 within [0, min(4*arg7, 4*arg7 + 8*arg8))
//>   writes arg4 within [max(0, -4*arg7), min(4*arg8, 8*arg8))
//>   writes arg5 within [max(0, -4*arg8), min(4*arg8, 4*gridDim.x*blockDim.x - 4*arg7 - 4*arg8))
//>   requires 0 <= arg6
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel ways_that_meet
//>   p0 = arg2
//>   p1 = arg3
//>   must write arg0[4tx .. +4] : tx - p0 >= 0 and -tx + p1 - 1 >= 0
//>   may write arg0[4tx - 4p0 .. +4] : true (it depends on the path taken)
//>   may write arg1[0 .. +4] : -tx + p0 - 1 >= 0 (it depends on the path taken)
//>   writes arg0 within [min(max(0, 4*arg2), -4*arg2), max(min(4*arg3, 4*blockDim.x), 4*blockDim.x - 4*arg2))
//>   writes arg1 within [0, 4)
