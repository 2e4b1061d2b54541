// test: kernel
// Planes that lie a grid apart: of what the indices ask for and of what is touched, the furthest plane is enough.
__global__ void planes(float *o, const float *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    o[i] = a[i] + a[i + threads] + a[i + 2 * threads] + a[i + 3 * threads];
}
// These lie apart by a number that may be of either sign: none stands for the others.
__global__ void apart(float *o, const float *a, int apart) {
    int i = threadIdx.x;
    o[i] = a[i + apart] + a[i + 2 * apart] + a[i + 3 * apart];
}

//> kernel planes
//>   p0 = blockDim.x
//>   p1 = gridDim.x*blockDim.x
//>   q0 = (bx) * p0
//>   must read arg1[4tx + 4q0 .. +4] : true
//>   must read arg1[4tx + 4q0 + 4p1 .. +4] : -q0 - p0 + p1 >= 0
//>   must read arg1[4tx + 4q0 + 8p1 .. +4] : -q0 - p0 + p1 >= 0
//>   must read arg1[4tx + 4q0 + 12p1 .. +4] : -q0 - p0 + p1 >= 0
//>   must write arg0[4tx + 4q0 .. +4] : true
//>   writes arg0 within [0, 4*gridDim.x*blockDim.x)
//>   reads arg1 within [0, 16*gridDim.x*blockDim.x)
//>   requires gridDim.x*blockDim.x <= 2147483647
//>
//> kernel apart
//>   p0 = arg2
//>   must read arg1[4tx + 4p0 .. +4] : true
//>   must read arg1[4tx + 8p0 .. +4] : true
//>   must read arg1[4tx + 12p0 .. +4] : true
//>   must write arg0[4tx .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x)
//>   reads arg1 within [min(4*arg2, 12*arg2), max(4*blockDim.x + 4*arg2, 4*blockDim.x + 12*arg2))
