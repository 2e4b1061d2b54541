// test: kernel
// Whatever the user says of unrolling, a loop that runs once is none, and the body of no other stands twice.
__global__ void once(float *x) {
#pragma unroll 1
    for (int i = threadIdx.x; i < 128; i += 128) x[128 * blockIdx.x + i] = 1;
}
__global__ void once_by_four(float *x) {
#pragma unroll 4
    for (int i = threadIdx.x; i < 128; i += 128) x[128 * blockIdx.x + i] = 1;
}
// From three hundred below zero on it runs up to four times.
__global__ void from_below(float *x) {
#pragma unroll 4
    for (int i = (int)threadIdx.x - 300; i < 128; i += 128)
        if (i >= 0) x[i] = 1;
}
__global__ void from_anywhere(float *x, int first) {
#pragma unroll 4
    for (int i = first; i < 128; i += 128) x[i * 3] = 1;
}

//> kernel once
//>   must write arg0[512bx + 4tx .. +4] : -tx + 127 >= 0
//>   writes arg0 within [0, min(512*gridDim.x, 512*gridDim.x + 4*blockDim.x - 512)), columns [0, min(512, 4*blockDim.x)) of rows of 512
//>   requires 128*gridDim.x - 1 <= 4294967295 or 128*gridDim.x + blockDim.x - 129 <= 4294967295
//>
//> kernel once_by_four
//>   must write arg0[512bx + 4tx .. +4] : -tx + 127 >= 0
//>   writes arg0 within [0, min(512*gridDim.x, 512*gridDim.x + 4*blockDim.x - 512)), columns [0, min(512, 4*blockDim.x)) of rows of 512
//>   requires 128*gridDim.x - 1 <= 4294967295 or 128*gridDim.x + blockDim.x - 129 <= 4294967295
//>
//> kernel from_below
//>   loop i0 divergent
//>   must write arg0[4tx + 512i0 - 1200 .. +4] : -tx - 128i0 + 427 >= 0 and tx + 128i0 - 300 >= 0 in i0
//>   writes arg0 within [0, 512), columns [-1200, min(512, 4*blockDim.x - 1200)) of rows of 512
//>
//> kernel from_anywhere
//>   p0 = arg1
//>   loop i0 uniform
//>   must write arg0[1536i0 + 12p0 .. +4] : -128i0 - p0 + 127 >= 0 in i0
//>   writes arg0 within [12*arg1, 1528), columns [12*arg1, 12*arg1 + 4) of rows of 1536
