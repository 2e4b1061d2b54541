// test: kernel
// Barriers cut a kernel into intervals; what they are for stands behind them.
__global__ void reverse(float *x) {
    __shared__ float s[256];
    s[threadIdx.x] = x[256 * blockIdx.x + threadIdx.x];
    __syncthreads();
    x[256 * blockIdx.x + threadIdx.x] = s[255 - threadIdx.x];
}
// Nothing passes between threads: the barrier orders nothing.
__global__ void needless(float *x) {
    __shared__ float s[256];
    s[threadIdx.x] = x[256 * blockIdx.x + threadIdx.x];
    __syncthreads();
    x[256 * blockIdx.x + threadIdx.x] = 2.0f * s[threadIdx.x];
}
// Two barriers an iteration; the second one keeps the next iteration's writes back.
__global__ void tiles(const float *a, float *b, int n) {
    __shared__ float s[32][33];
    float sum = 0.0f;
    for (int k = 0; k < n; k++) {
        s[threadIdx.y][threadIdx.x] = a[32 * (32 * k + threadIdx.y) + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 32; j++) sum += s[j][threadIdx.x];
        __syncthreads();
    }
    b[32 * threadIdx.y + threadIdx.x] = sum;
}
// Dynamic shared memory, carved at run time.
__global__ void carved(const int *x, int *y, int n) {
    extern __shared__ int both[];
    int *first = both, *second = both + n;
    if (threadIdx.x < n) { first[threadIdx.x] = x[threadIdx.x]; second[threadIdx.x] = 2 * x[threadIdx.x]; }
    __syncthreads();
    if (threadIdx.x < n) y[threadIdx.x] = first[n - 1 - threadIdx.x] + second[n - 1 - threadIdx.x];
    if (n > 64) __syncthreads();
    if (threadIdx.x < n) second[n - 1 - threadIdx.x] = y[threadIdx.x];
}
// Volatile lockstep, and a sum into shared memory.
__global__ void counts(const int *x, int *y) {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, x[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = total;
}

//> kernel reverse
//>   must read arg0[1024bx + 4tx .. +4] : true in interval 0
//>   must write shared @_ZZ7reversePfE1s[4tx .. +4] : true in interval 0
//>   must read shared @_ZZ7reversePfE1s[-4tx + 1020 .. +4] : true in interval 1
//>   must write arg0[1024bx + 4tx .. +4] : true in interval 1
//>   barrier uniform
//>   flow from access 1 to access 2 across barrier 0
//>   writes arg0 within [0, 1024*gridDim.x + 4*blockDim.x - 1024), columns [0, 4*blockDim.x) of rows of 1024
//>   requires 256*gridDim.x + blockDim.x - 257 <= 4294967295
//>   static shared 1024 bytes
//>
//> kernel needless
//>   must read arg0[1024bx + 4tx .. +4] : true in interval 0
//>   must write shared @_ZZ8needlessPfE1s[4tx .. +4] : true in interval 0
//>   must read shared @_ZZ8needlessPfE1s[4tx .. +4] : true in interval 1
//>   must write arg0[1024bx + 4tx .. +4] : true in interval 1
//>   barrier uniform
//>   writes arg0 within [0, 1024*gridDim.x + 4*blockDim.x - 1024), columns [0, 4*blockDim.x) of rows of 1024
//>   requires 256*gridDim.x + blockDim.x - 257 <= 4294967295
//>   static shared 1024 bytes
//>
//> kernel tiles
//>   p0 = arg2
//>   loop i0 uniform
//>   loop i1 in i0 uniform
//>   must read arg0[4tx + 128ty + 4096i0 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 0,2
//>   must write shared @_ZZ5tilesPKfPfiE1s[4tx + 132ty .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 0,2
//>   must read shared @_ZZ5tilesPKfPfiE1s[4tx + 132i1 .. +4] : -i0 + p0 - 1 >= 0 and -i1 + 31 >= 0 in i0,i1 in interval 1
//>   must write arg1[4tx + 128ty .. +4] : true in interval 0,2
//>   barrier uniform in i0
//>   barrier uniform in i0
//>   output from access 1 to access 1 in one interval
//>   flow from access 1 to access 2 across barrier 0
//>   anti from access 2 to access 1 across barrier 1
//>   output from access 3 to access 3 in one interval
//>   reads arg0 within [0, 4*blockDim.x + 128*blockDim.y + 4096*arg2 - 4224), columns [0, 4*blockDim.x + 128*blockDim.y - 128) of rows of 4096
//>   writes arg1 within [0, 4*blockDim.x + 128*blockDim.y - 128), columns [0, 4*blockDim.x) of rows of 128
//>   requires blockDim.x + 32*blockDim.y + 1024*arg2 - 1057 <= 4294967295
//>   static shared 4224 bytes
//>
//> kernel carved
//>   p0 = arg2
//>   must read arg0[4tx .. +4] : -tx + p0 - 1 >= 0 in interval 0
//>   must write shared @both[4tx .. +4] : -tx + p0 - 1 >= 0 in interval 0
//>   must read arg0[4tx .. +4] : -tx + p0 - 1 >= 0 in interval 0
//>   must write shared @both[4tx + 4p0 .. +4] : -tx + p0 - 1 >= 0 in interval 0
//>   must read shared @both[-4tx + 4p0 - 4 .. +4] : -tx + p0 - 1 >= 0 in interval 1
//>   must read shared @both[-4tx + 8p0 - 4 .. +4] : -tx + p0 - 1 >= 0 in interval 1
//>   must write arg1[4tx .. +4] : -tx + p0 - 1 >= 0 in interval 1
//>   must read arg1[4tx .. +4] : -tx + p0 - 1 >= 0 in interval 1,2
//>   must write shared @both[-4tx + 8p0 - 4 .. +4] : -tx + p0 - 1 >= 0 in interval 1,2
//>   barrier uniform
//>   barrier uniform
//>   anti from access 0 to access 6 across barrier 0
//>   flow from access 1 to access 4 across barrier 0
//>   anti from access 2 to access 6 across barrier 0
//>   flow from access 3 to access 5 across barrier 0
//>   output from access 3 to access 8 across barrier 0
//>   reads arg0 within [0, min(4*arg2, 4*blockDim.x))
//>   writes arg1 within [0, min(4*arg2, 4*blockDim.x))
//>   requires 0 <= arg2
//>   dynamic shared
//>
//> kernel counts
//>   must write shared @_ZZ6countsPKiPiE5total[0 .. +4] : -tx = 0 in interval 0
//>   must read arg0[4tx .. +4] : true in interval 1
//>   must reduction (add) shared @_ZZ6countsPKiPiE5total[0 .. +4] : true in interval 1
//>   must read shared @_ZZ6countsPKiPiE5total[0 .. +4] : -tx = 0 in interval 2
//>   must write arg1[4bx .. +4] : -tx = 0 in interval 2
//>   barrier uniform
//>   barrier uniform
//>   output from access 0 to access 0 in one interval
//>   output from access 0 to access 2 across barrier 0
//>   anti from access 1 to access 4 across barrier 1
//>   flow from access 2 to access 3 across barrier 1
//>   output from access 4 to access 4 in one interval
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*gridDim.x)
//>   static shared 16 bytes
