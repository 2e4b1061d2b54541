// test: kernel
__global__ void row_sum(float *out, const float *x, int columns) {
    __shared__ float s[256];
    float a = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) a += x[blockIdx.x * columns + c];
    s[threadIdx.x] = a;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k >>= 1) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
__global__ void divergent(float *x, int n) {
    extern __shared__ float s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s[threadIdx.x] = x[i];
    __syncthreads();
    x[i] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void uniform_exit(float *x, int n) {
    if (blockIdx.x >= n) return;
    __syncthreads();
    x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

//> kernel row_sum
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (i0) * p0
//>   q1 = (bx) * p1
//>   loop i0 divergent
//>   loop i1 uniform
//>   loop i2 divergent
//>   must read arg1[4tx + 4q0 + 4q1 .. +4] : -tx - q0 + p1 - 1 >= 0 in i0 in interval 0
//>   must write shared @_ZZ7row_sumPfPKfiE1s[4tx .. +4] : true in interval 0
//>   may read shared @_ZZ7row_sumPfPKfiE1s[4tx + 4*floor((i2)/2) .. +4] : floor((i2)/2) - 1 >= 0 and -tx + floor((i2)/2) - 1 >= 0 and i2 >= 0 and -i2 + p0 >= 0 in i1,i2 (only bounds of a number in it are known) in interval 1,2
//>   may read shared @_ZZ7row_sumPfPKfiE1s[4tx .. +4] : floor((i2)/2) - 1 >= 0 and -tx + floor((i2)/2) - 1 >= 0 and i2 >= 0 and -i2 + p0 >= 0 in i1,i2 (only bounds of a number in it are known) in interval 1,2
//>   may write shared @_ZZ7row_sumPfPKfiE1s[4tx .. +4] : floor((i2)/2) - 1 >= 0 and -tx + floor((i2)/2) - 1 >= 0 and i2 >= 0 and -i2 + p0 >= 0 in i1,i2 (only bounds of a number in it are known) in interval 1,2
//>   must read shared @_ZZ7row_sumPfPKfiE1s[0 .. +4] : -tx = 0 in interval 1,2
//>   must write arg0[4bx .. +4] : -tx = 0 in interval 1,2
//>   barrier uniform
//>   barrier uniform in i1
//>   anti from access 0 to access 6 across barrier 0
//>   flow from access 1 to access 2 across barrier 0
//>   anti from access 2 to access 4 across barrier 1
//>   anti from access 2 to access 4 in one interval
//>   flow from access 4 to access 2 across barrier 1
//>   writes arg0 within [0, 4*gridDim.x)
//>   reads arg1 within [0, 4*gridDim.x*arg2)
//>   requires 0 <= arg2
//>   requires blockDim.x + arg2 - 1 <= 2147483647
//>   requires gridDim.x*arg2 - 1 <= 4294967295 or gridDim.x*arg2 + blockDim.x - arg2 - 1 <= 4294967295
//>   requires gridDim.x*arg2 - 1 <= 4294967295 or gridDim.x*arg2 + blockDim.x - 1 <= 4294967295
//>   static shared 1024 bytes
//>
//> kernel divergent
//>   p0 = blockDim.x
//>   p1 = arg1
//>   q0 = (bx) * p0
//>   must read arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0 in interval 0
//>   must write shared @s[4tx .. +4] : -tx - q0 + p1 - 1 >= 0 in interval 0
//>   must read shared @s[-4tx + 4p0 - 4 .. +4] : -tx - q0 + p1 - 1 >= 0 in interval 1
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0 in interval 1
//>   barrier divergent, uniform if gridDim.x*blockDim.x - 1 <= 2147483647, uniform if gridDim.x*blockDim.x - arg1 - 1 <= -1
//>   flow from access 1 to access 2 across barrier 0
//>   writes arg0 within [0, min(4*arg1, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   dynamic shared
//>
//> kernel uniform_exit
//>   p0 = arg1
//>   p1 = blockDim.x
//>   q0 = (bx) * p1
//>   must write arg0[4tx + 4q0 .. +4] : -bx + p0 - 1 >= 0 in interval 1
//>   barrier uniform
//>   writes arg0 within [0, 4*blockDim.x*arg1)
//>   requires 0 <= arg1
//>   requires blockDim.x*arg1 - 1 <= 4294967295
