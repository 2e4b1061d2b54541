// test: kernel
struct View { float *data; int n; int stride; };
__global__ void by_value(View v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < v.n) v.data[i * v.stride] = 1.f;
}
__global__ void bump(float *o, const float *a, int n) {
    const float *p = a + threadIdx.x;
    float s = 0;
    for (int i = 0; i < n; i++) { s += *p; p += blockDim.x; }
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void indirect(float *o, const int *index, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[index[i]] = 1;
}
__global__ void chosen(float *a, float *b, bool first) {
    float *p = first ? a : b;
    p[threadIdx.x] = 1;
}
__global__ void pointer_of_pointer(float **a) { a[blockIdx.x][threadIdx.x] = 1; }
__constant__ float table[64];
__device__ float result;
__global__ void variables(float *o) {
    o[threadIdx.x] = table[threadIdx.x];
    if (threadIdx.x == 0) result = table[1];
}

//> kernel by_value
//>   p0 = blockDim.x
//>   p1 = arg0.8
//>   p2 = arg0.12
//>   q0 = (bx) * p0
//>   q1 = (tx + q0) * p2
//>   must write arg0[4q1 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   writes arg0 within [0, 4*arg0.8*arg0.12 - 4*arg0.12 + 4), columns [0, 4) of rows of 4*arg0.12
//>   requires 0 <= arg0.12
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel bump
//>   p0 = arg2
//>   p1 = blockDim.x
//>   q0 = (i0) * p1
//>   q1 = (bx) * p1
//>   loop i0 uniform
//>   must read arg1[4tx + 4q0 .. +4] : -i0 + p0 - 1 >= 0 in i0
//>   must write arg0[4tx + 4q1 .. +4] : true
//>   writes arg0 within [0, 4*gridDim.x*blockDim.x)
//>   reads arg1 within [0, 4*blockDim.x*arg2)
//>   requires gridDim.x*blockDim.x - 1 <= 4294967295
//>
//> kernel indirect
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read arg1[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   may write arg0[*] : -tx - q0 + p1 - 1 >= 0 (it is read from memory)
//>   writes arg0 within [?, ?)
//>   reads arg1 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel chosen
//>   may write arg0[4tx .. +4] : true (its condition is not affine)
//>   may write arg1[4tx .. +4] : true (its condition is not affine)
//>   writes arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>
//> kernel pointer_of_pointer
//>   must read arg0[8bx .. +8] : true
//>   may write anywhere[*] : true (it is read from memory)
//>   reads arg0 within [0, 8*gridDim.x)
//>   writes anywhere within [?, ?)
//>
//> kernel variables
//>   must read @table[4tx .. +4] : true
//>   must write arg0[4tx .. +4] : true
//>   must read @table[4 .. +4] : -tx = 0
//>   must write @result[0 .. +4] : -tx = 0
//>   writes arg0 within [0, 4*blockDim.x)
//>   writes @result within [0, 4)
//>   reads @table within [0, max(4*blockDim.x, 8))
