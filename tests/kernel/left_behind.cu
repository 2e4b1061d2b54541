// test: kernel
// What a loop of no known length leaves behind is at least what it began with, where it grows.
__global__ void rest_of_groups(const float *x, float *out, int n) {
    float sum = 0;
    int t = threadIdx.x, step = blockDim.x;
    for (int k = 0; k < n / step - 7; t += step, k++) sum += x[t];
    for (; t < n; t += step) sum -= x[t];
    out[threadIdx.x] = sum;
}
// Each number that the switch may be of has a case, so that the loop has one way out.
__global__ void switch_of_all(const float *x, float *out, int n) {
    float sum = 0;
    int t = threadIdx.x;
    for (int k = 0; k < n; t += blockDim.x, k++) {
        float a;
        switch (k % 3) {
        case 0: a = x[t]; break;
        case 1: a = x[t] * 2; break;
        case 2: a = x[t] + 1; break;
        }
        sum += a;
    }
    out[t] = sum;
}
__global__ void found(const float *x, float *out, int n, float sought) {
    int t = threadIdx.x, step = blockDim.x;
    for (; t < n; t += step) if (x[t] == sought) break;
    if (t + 1 < n) out[t + 1] = 1;
}
// Twins: nothing bounds it from above, it falls, it may do either, it may wrap.
__global__ void not_found(const float *x, float *out, int n, float sought) {
    int t = threadIdx.x, step = blockDim.x;
    for (; t < n; t += step) if (x[t] == sought) break;
    out[t] = 1;
}
__global__ void from_behind(const float *x, float *out, int n, float sought) {
    int t = n - 1 - threadIdx.x, step = blockDim.x;
    for (; t >= 0; t -= step) if (x[t] == sought) break;
    if (t > 0 && t < n) out[t - 1] = 1;
}
__global__ void either_way(const float *x, float *out, int n, int step, float sought) {
    int t = threadIdx.x;
    for (int k = 0; k < n; t += step, k++) if (x[k] == sought) break;
    if (t >= 0 && t < n) out[t] = 1;
}
__global__ void wrapped(const float *x, float *out, unsigned n, float sought) {
    unsigned t = threadIdx.x;
    for (unsigned k = 0; k < n; t += blockDim.x, k++) if (x[k] == sought) break;
    if (t < n) out[t] = 1;
}

//> kernel rest_of_groups
//>   p0 = arg2
//>   p1 = blockDim.x
//>   p2 = floor((arg2)/blockDim.x)
//>   q0 = (i0) * p1
//>   q1 = (i1) * p1
//>   loop i0 uniform
//>   loop i1 divergent
//>   loop i2 divergent
//>   must read arg0[4tx + 4q0 .. +4] : -i0 + p2 - 8 >= 0 in i0
//>   may read arg0[4tx + 4i2 + 4q1 .. +4] : -tx - i2 - q1 + p0 - 1 >= 0 and i2 >= 0 in i1,i2 (only bounds of a number in it are known)
//>   must write arg1[4tx .. +4] : true
//>   reads arg0 within [0, max(4*blockDim.x*floor((arg2)/blockDim.x) - 28*blockDim.x, 4*arg2))
//>   writes arg1 within [0, 4*blockDim.x)
//>   requires 0 <= arg2
//>
//> kernel switch_of_all
//>   p0 = arg2
//>   p1 = blockDim.x
//>   p2 = blockDim.x*arg2
//>   q0 = (i0) * p1
//>   loop i0 uniform
//>   must read arg0[4tx + 4q0 .. +4] : -i0 + p0 - 1 >= 0 and -i0 + 3*floor((i0)/3) = 0 in i0
//>   must read arg0[4tx + 4q0 .. +4] : -i0 + p0 - 1 >= 0 and -i0 + 3*floor((i0)/3) + 1 = 0 in i0
//>   must read arg0[4tx + 4q0 .. +4] : -i0 + p0 - 1 >= 0 and -i0 + 3*floor((i0)/3) + 2 = 0 in i0
//>   must write arg1[4tx + 4p2 .. +4] : true
//>   reads arg0 within [0, 4*blockDim.x*arg2)
//>   writes arg1 within [4*blockDim.x*arg2, 4*blockDim.x + 4*blockDim.x*arg2)
//>   requires blockDim.x + blockDim.x*arg2 - 1 <= 2147483647
//>   requires -2147483648 <= blockDim.x*arg2
//>   requires 0 <= arg2
//>
//> kernel found
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (i0) * p0
//>   loop i0 divergent
//>   loop i1 divergent
//>   may read arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0 in i0 (it is in a loop whose end is not affine)
//>   may write arg1[4tx + 4i1 + 4 .. +4] : -tx - i1 + p1 - 2 >= 0 and i1 >= 0 in i1 (only bounds of a number in it are known)
//>   reads arg0 within [0, 4*arg2)
//>   writes arg1 within [4, 4*arg2)
//>
//> kernel not_found
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (i0) * p0
//>   loop i0 divergent
//>   loop i1 divergent
//>   may read arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0 in i0 (it is in a loop whose end is not affine)
//>   may write arg1[4tx + 4i1 .. +4] : i1 >= 0 in i1 (only bounds of a number in it are known)
//>   reads arg0 within [0, 4*arg2)
//>   writes arg1 within [0, ?)
//>
//> kernel from_behind
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (i0) * p0
//>   loop i0 divergent
//>   may read arg0[-4tx - 4q0 + 4p1 - 4 .. +4] : -tx - q0 + p1 - 1 >= 0 in i0 (it is in a loop whose end is not affine)
//>   may write arg1[*] : true (it is the last value of a loop)
//>   reads arg0 within [0, 4*arg2)
//>   writes arg1 within [?, ?)
//>   requires -2147483648 <= arg2 - blockDim.x
//>
//> kernel either_way
//>   p0 = arg2
//>   loop i0 divergent
//>   may read arg0[4i0 .. +4] : -i0 + p0 - 1 >= 0 in i0 (it is in a loop whose end is not affine)
//>   may write arg1[*] : true (it is the last value of a loop)
//>   reads arg0 within [0, 4*arg2)
//>   writes arg1 within [?, ?)
//>   requires 0 <= arg3
//>
//> kernel wrapped
//>   p0 = arg2
//>   loop i0 divergent
//>   may read arg0[4i0 .. +4] : -i0 + p0 - 1 >= 0 in i0 (it is in a loop whose end is not affine)
//>   may write arg1[*] : true (it is the last value of a loop)
//>   reads arg0 within [0, 4*arg2)
//>   writes arg1 within [?, ?)
//>   requires 0 <= arg2
