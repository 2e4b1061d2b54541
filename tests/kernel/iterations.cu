// test: kernel iterations
// What an iteration of a loop over the whole grid does, for kernels that are such a loop and nothing else.

#define LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += gridDim.x * blockDim.x)

__global__ void plain(float *y, const float *x, int n) {
    LOOP(i, n) y[i] = x[i];
}

__global__ void wide(float *y, const float *x, size_t n) {
    size_t i = threadIdx.x + (size_t)blockDim.x * blockIdx.x;
    for (; n > i; i = (size_t)gridDim.x * blockDim.x + i) y[i] = x[i];
}

__global__ void computed_end(float *y, int rows, int columns) {
    LOOP(i, rows * columns) y[i] = 1;
}

__global__ void constant_end(float *y) {
    LOOP(i, 1000) y[i] = 1;
}

struct Packed {
    float *y;
    int n;
};
__global__ void packed(Packed p) {
    LOOP(i, p.n) p.y[i] = 1;
}

__global__ void inner(float *y, const float *x, int n) {
    LOOP(i, n) {
        if (i % 2 == 0) continue;
        float sum = 0;
        for (int k = 0; k < 8; k++) sum += x[8 * i + k];
        y[i] = sum;
    }
}

// None of these is one.
__global__ void carried(float *y, const float *x, int n) {
    float sum = 0;
    LOOP(i, n) y[i] = sum += x[i];
}

__global__ void ended(float *y, const float *x, int n) {
    LOOP(i, n) {
        if (x[i] < 0) return;
        y[i] = x[i];
    }
}

__global__ void of_thread(int *y, int n) {
    LOOP(i, n) y[i] = threadIdx.x;
}

__global__ void in_argument(Packed p) {
    LOOP(i, 100) {
        p.y[i] = p.n;
        p.n = i;
    }
}

__global__ void twice(float *y, float *z, int n) {
    LOOP(i, n) y[i] = 1;
    LOOP(i, n) z[i] = 1;
}

__global__ void behind(float *y, int *done, int n) {
    LOOP(i, n) y[i] = 1;
    *done = 1;
}

__global__ void end_of_memory(float *y, const int *n) {
    LOOP(i, n[i]) y[i] = 1;
}

__global__ void lane(unsigned *y, int n) {
    LOOP(i, n) asm("mov.u32 %0, %laneid;" : "=r"(y[i]));
}

//> kernel plain
//>   p0 = arg2
//>   must read arg1[4bx .. +4] : -bx + p0 - 1 >= 0
//>   must write arg0[4bx .. +4] : -bx + p0 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2, 4*gridDim.x))
//>   reads arg1 within [0, min(4*arg2, 4*gridDim.x))
//>
//> kernel wide
//>   p0 = arg2:s64
//>   must read arg1[4bx .. +4] : -bx + p0 - 1 >= 0
//>   must write arg0[4bx .. +4] : -bx + p0 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2:s64, 4*gridDim.x))
//>   reads arg1 within [0, min(4*arg2:s64, 4*gridDim.x))
//>   requires 0 <= arg2:s64
//>
//> kernel computed_end
//>   p0 = arg1*arg2
//>   must write arg0[4bx .. +4] : -bx + p0 - 1 >= 0
//>   writes arg0 within [0, min(4*arg1*arg2, 4*gridDim.x))
//>
//> kernel constant_end
//>   must write arg0[4bx .. +4] : -bx + 999 >= 0
//>   writes arg0 within [0, min(4000, 4*gridDim.x))
//>
//> kernel packed
//>   p0 = arg0.8
//>   must write arg0[4bx .. +4] : -bx + p0 - 1 >= 0
//>   writes arg0 within [0, min(4*arg0.8, 4*gridDim.x))
//>
//> kernel inner
//>   p0 = arg2
//>   loop i0 uniform
//>   must read arg1[32bx + 4i0 .. +4] : -bx + p0 - 1 >= 0 and bx - 2*floor((bx)/2) - 1 >= 0 and -i0 + 7 >= 0 in i0
//>   must write arg0[4bx .. +4] : -bx + p0 - 1 >= 0 and bx - 2*floor((bx)/2) - 1 >= 0
//>   writes arg0 within [4, min(4*arg2, 4*gridDim.x))
//>   reads arg1 within [32, min(32*arg2, 32*gridDim.x))
//>   requires 8*arg2 - 8 <= 2147483647 or 8*gridDim.x - 8 <= 2147483647
//>   requires 8*arg2 - 1 <= 2147483647 or 8*gridDim.x - 1 <= 2147483647
