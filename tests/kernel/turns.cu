// test: kernel
__global__ void swapped_pointers(float *a, float *b, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float *from = a, *to = b;
    for (int s = 0; s < steps; s++) {
        to[i] = from[i];
        float *other = from;
        from = to;
        to = other;
    }
}
__global__ void swapped_shared(float *o, int n) {
    __shared__ float one[64], two[64];
    float *from = one, *to = two;
    one[threadIdx.x] = 0;
    for (int s = 0; s < n; s++) {
        __syncthreads();
        to[threadIdx.x] = from[63 - threadIdx.x];
        float *other = from;
        from = to;
        to = other;
    }
    o[blockIdx.x * 64 + threadIdx.x] = one[threadIdx.x];
}
__global__ void flipped(float *o, int n) {
    __shared__ float s[2][64];
    int p = 0;
    s[0][threadIdx.x] = 0;
    for (int i = 0; i < n; i++) {
        __syncthreads();
        s[p ^ 1][threadIdx.x] = s[p][63 - threadIdx.x];
        p ^= 1;
    }
    p = 1;
    for (int i = 0; i < n; i++, p = 1 - p) o[p * 64 + threadIdx.x] = 0;
}
__global__ void three_stages(float *o, int n) {
    __shared__ float s[3][32];
    int stage = 0;
    for (int i = 0; i < n; i++) {
        s[stage][threadIdx.x] = o[i * 32 + threadIdx.x];
        __syncthreads();
        o[i * 32 + threadIdx.x] = s[stage][31 - threadIdx.x];
        stage = (stage + 1) % 3;
    }
}
__global__ void three_pointers(float *a, float *b, float *c, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < n; i++) {
        c[t] = a[t] + b[t];
        float *first = a;
        a = b;
        b = c;
        c = first;
    }
}
__global__ void chosen_once(float *a, float *b, int n) {
    float *p = a;
    for (int i = 0; i < n; i++) {
        p[threadIdx.x] = 0;
        if (i == 3) p = b;
    }
}
__global__ void flag_as_number(float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i - (i == n - 1)] = o[i + (i != n - 1)];
}
__global__ void nearest(float *o, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = x[abs(i - 5)] + x[abs(n)];
}
__global__ void clamped(float *o, const float *x, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= m) return;
    int left = min(max(i - 1, 0), n - 1), up = min(max(j - 1, 0), m - 1);
    int right = min(max(i + 1, 0), n - 1), down = min(max(j + 1, 0), m - 1);
    o[j * n + i] = x[up * n + left] + x[down * n + right];
}
__global__ void pointer_end(float *o, const float *x, int n) {
    const float *end = x + n;
    float sum = 0;
    for (const float *p = x; p != end; p++) sum += *p;
    for (const float *p = x + threadIdx.x; p < end; p += 32) sum += *p;
    o[threadIdx.x] = sum;
}
__global__ void not_equal_down(float *o, int n) {
    for (int i = n; i != 0; i--) o[blockIdx.x * n + i - 1] = 0;
    for (unsigned i = 0; i != 64; i += 4) o[blockIdx.x * 64 + i + threadIdx.x] = 1;
}
__global__ void not_equal_misses(float *o, int n) {
    for (int i = 0; i != n; i += 3) o[i] = 0;
}
__global__ void not_equal_from_thread(float *o, int n) {
    for (int i = threadIdx.x; i != n; i++) o[i] = 0;
}

//> kernel swapped_pointers
//>   p0 = blockDim.x
//>   p1 = arg2
//>   p2 = arg3
//>   q0 = (bx) * p0
//>   loop i0 divergent
//>   must read arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0 and -i0 + p2 - 1 >= 0 and i0 - 2*floor((i0)/2) = 0 in i0
//>   must read arg1[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0 and -i0 + p2 - 1 >= 0 and i0 - 2*floor((i0)/2) - 1 = 0 in i0
//>   must write arg1[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0 and -i0 + p2 - 1 >= 0 and i0 - 2*floor((i0)/2) = 0 in i0
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0 and -i0 + p2 - 1 >= 0 and i0 - 2*floor((i0)/2) - 1 = 0 in i0
//>   writes arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   writes arg1 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel swapped_shared
//>   p0 = arg1
//>   loop i0 uniform
//>   must write shared @_ZZ14swapped_sharedPfiE3one[4tx .. +4] : true in interval 0
//>   must read shared @_ZZ14swapped_sharedPfiE3one[-4tx + 252 .. +4] : -i0 + p0 - 1 >= 0 and i0 - 2*floor((i0)/2) = 0 in i0 in interval 1
//>   must read shared @_ZZ14swapped_sharedPfiE3two[-4tx + 252 .. +4] : -i0 + p0 - 1 >= 0 and i0 - 2*floor((i0)/2) - 1 = 0 in i0 in interval 1
//>   must write shared @_ZZ14swapped_sharedPfiE3two[4tx .. +4] : -i0 + p0 - 1 >= 0 and i0 - 2*floor((i0)/2) = 0 in i0 in interval 1
//>   must write shared @_ZZ14swapped_sharedPfiE3one[4tx .. +4] : -i0 + p0 - 1 >= 0 and i0 - 2*floor((i0)/2) - 1 = 0 in i0 in interval 1
//>   must read shared @_ZZ14swapped_sharedPfiE3one[4tx .. +4] : true in interval 0,1
//>   must write arg0[256bx + 4tx .. +4] : true in interval 0,1
//>   barrier uniform in i0
//>   flow from access 0 to access 1 across barrier 0
//>   anti from access 1 to access 4 across barrier 0
//>   anti from access 1 to access 4 in one interval
//>   anti from access 2 to access 3 across barrier 0
//>   anti from access 2 to access 3 in one interval
//>   flow from access 3 to access 2 across barrier 0
//>   flow from access 4 to access 1 across barrier 0
//>   writes arg0 within [0, 256*gridDim.x + 4*blockDim.x - 256), columns [0, 4*blockDim.x) of rows of 256
//>   requires 64*gridDim.x + blockDim.x - 65 <= 4294967295
//>   static shared 512 bytes
//>
//> kernel flipped
//>   p0 = arg1
//>   loop i0 uniform
//>   loop i1 uniform
//>   must write shared @_ZZ7flippedPfiE1s[4tx .. +4] : true in interval 0
//>   must read shared @_ZZ7flippedPfiE1s[-4tx + 256i0 - 512*floor((i0)/2) + 252 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 1
//>   must write shared @_ZZ7flippedPfiE1s[4tx - 256i0 + 512*floor((i0)/2) + 256 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 1
//>   must write arg0[4tx - 256i1 + 512*floor((i1)/2) + 256 .. +4] : -i1 + p0 - 1 >= 0 in i1 in interval 0,1
//>   barrier uniform in i0
//>   flow from access 0 to access 1 across barrier 0
//>   output from access 0 to access 2 across barrier 0
//>   anti from access 1 to access 2 across barrier 0
//>   anti from access 1 to access 2 in one interval
//>   flow from access 2 to access 1 across barrier 0
//>   output from access 2 to access 2 across barrier 0
//>   output from access 2 to access 2 in one interval
//>   output from access 3 to access 3 in one interval
//>   writes arg0 within [max(0, -256*arg1 + 512), min(4*blockDim.x + 256, 4*blockDim.x + 512*floor((arg1 - 1)/2) + 256)), columns [-256*arg1 + 512, 4*blockDim.x + 256) of rows of 512
//>   static shared 512 bytes
//>
//> kernel three_stages
//>   p0 = arg1
//>   loop i0 uniform
//>   must read arg0[4tx + 128i0 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 0,1
//>   must write shared @_ZZ12three_stagesPfiE1s[4tx + 128i0 - 384*floor((i0)/3) .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 0,1
//>   must read shared @_ZZ12three_stagesPfiE1s[-4tx + 128i0 - 384*floor((i0)/3) + 124 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 1
//>   must write arg0[4tx + 128i0 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 1
//>   barrier uniform in i0
//>   anti from access 0 to access 3 across barrier 0
//>   anti from access 0 to access 3 in one interval
//>   output from access 1 to access 1 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   flow from access 1 to access 2 across barrier 0
//>   flow from access 1 to access 2 in one interval
//>   anti from access 2 to access 1 across barrier 0
//>   flow from access 3 to access 0 across barrier 0
//>   output from access 3 to access 3 across barrier 0
//>   output from access 3 to access 3 in one interval
//>   lanes exchange what access 1 writes by access 2
//>   writes arg0 within [0, 4*blockDim.x + 128*arg1 - 128), columns [0, 4*blockDim.x) of rows of 128
//>   requires 32*arg1 - 32 <= 4294967295
//>   static shared 384 bytes
//>
//> kernel three_pointers
//>   p0 = arg3
//>   p1 = blockDim.x
//>   q0 = (bx) * p1
//>   loop i0 uniform
//>   must read arg0[4tx + 4q0 .. +4] : -i0 + p0 - 1 >= 0 and i0 - 3*floor((i0)/3) = 0 in i0
//>   must read arg1[4tx + 4q0 .. +4] : -i0 + p0 - 1 >= 0 and i0 - 3*floor((i0)/3) - 1 = 0 in i0
//>   must read arg2[4tx + 4q0 .. +4] : -i0 + p0 - 1 >= 0 and i0 - 3*floor((i0)/3) - 2 = 0 in i0
//>   must read arg1[4tx + 4q0 .. +4] : -i0 + p0 - 1 >= 0 and i0 - 3*floor((i0)/3) = 0 in i0
//>   must read arg2[4tx + 4q0 .. +4] : -i0 + p0 - 1 >= 0 and i0 - 3*floor((i0)/3) - 1 = 0 in i0
//>   must read arg0[4tx + 4q0 .. +4] : -i0 + p0 - 1 >= 0 and i0 - 3*floor((i0)/3) - 2 = 0 in i0
//>   must write arg2[4tx + 4q0 .. +4] : -i0 + p0 - 1 >= 0 and i0 - 3*floor((i0)/3) = 0 in i0
//>   must write arg0[4tx + 4q0 .. +4] : -i0 + p0 - 1 >= 0 and i0 - 3*floor((i0)/3) - 1 = 0 in i0
//>   must write arg1[4tx + 4q0 .. +4] : -i0 + p0 - 1 >= 0 and i0 - 3*floor((i0)/3) - 2 = 0 in i0
//>   writes arg0 within [0, 4*gridDim.x*blockDim.x)
//>   writes arg1 within [0, 4*gridDim.x*blockDim.x)
//>   writes arg2 within [0, 4*gridDim.x*blockDim.x)
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel chosen_once
//>   p0 = arg2
//>   loop i0 uniform
//>   may write arg0[4tx .. +4] : -i0 + p0 - 1 >= 0 in i0 (it depends on the path taken)
//>   may write arg1[4tx .. +4] : -i0 + p0 - 1 >= 0 in i0 (it depends on the path taken)
//>   writes arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>
//> kernel flag_as_number
//>   p0 = blockDim.x
//>   p1 = arg1
//>   q0 = (bx) * p0
//>   must read arg0[4tx + 4q0 + 4 .. +4] : (-tx - q0 + p1 - 1 >= 0 and -tx - q0 + p1 - 2 >= 0) or (-tx - q0 + p1 - 1 >= 0 and tx + q0 - p1 >= 0)
//>   must read arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0 and -tx - q0 + p1 - 1 = 0
//>   must write arg0[4tx + 4q0 - 4 .. +4] : -tx - q0 + p1 - 1 >= 0 and -tx - q0 + p1 - 1 = 0
//>   must write arg0[4tx + 4q0 .. +4] : (-tx - q0 + p1 - 1 >= 0 and -tx - q0 + p1 - 2 >= 0) or (-tx - q0 + p1 - 1 >= 0 and tx + q0 - p1 >= 0)
//>   writes arg0 within [min(max(-4, 4*arg1 - 8), 0), min(4*arg1 + 4, 4*gridDim.x*blockDim.x + 4))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel nearest
//>   p0 = blockDim.x
//>   p1 = arg2
//>   p2 = max(-1*arg2, arg2)
//>   q0 = (bx) * p0
//>   must read arg1[4tx + 4q0 - 20 .. +4] : -tx - q0 + p1 - 1 >= 0 and tx + q0 - 5 >= 0
//>   must read arg1[-4tx - 4q0 + 20 .. +4] : -tx - q0 + p1 - 1 >= 0 and -tx - q0 + 4 >= 0
//>   must read arg1[4p2 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   reads arg1 within [min(min(0, max(4, -4*arg2 + 24)), 4*max(-1*arg2, arg2)), max(max(min(4*arg2 - 20, 4*gridDim.x*blockDim.x - 20), 24), 4*max(-1*arg2, arg2) + 4))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   requires -1*arg2 <= 2147483647
//>
//> kernel clamped
//>   p0 = blockDim.x
//>   p1 = arg2
//>   p2 = blockDim.y
//>   p3 = arg3
//>   p4 = min(0, arg2 - 1)
//>   p5 = arg2*arg3
//>   p6 = arg2*min(0, arg3 - 1)
//>   q0 = (bx) * p0
//>   q1 = (by) * p2
//>   q2 = (ty + q1) * p1
//>   must read arg1[4tx + 4q0 + 4q2 - 4p1 - 4 .. +4] : -tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 - 1 >= 0 and -ty - q1 + p3 >= 0 and p3 - 1 >= 0 and tx + q0 - 1 >= 0 and -tx - q0 + p1 >= 0 and p1 - 1 >= 0
//>   must read arg1[4q2 - 4 .. +4] : (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 - 1 >= 0 and -ty - q1 + p3 >= 0 and p3 - 1 >= 0 and tx + q0 - 1 >= 0 and tx + q0 - p1 - 1 >= 0) or (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 - 1 >= 0 and -ty - q1 + p3 >= 0 and p3 - 1 >= 0 and tx + q0 - 1 >= 0 and -p1 >= 0)
//>   must read arg1[4q2 - 4p1 + 4p4 .. +4] : -tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 - 1 >= 0 and -ty - q1 + p3 >= 0 and p3 - 1 >= 0 and -tx - q0 >= 0
//>   must read arg1[4tx + 4q0 - 4p1 + 4p5 - 4 .. +4] : (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 - 1 >= 0 and ty + q1 - p3 - 1 >= 0 and tx + q0 - 1 >= 0 and -tx - q0 + p1 >= 0 and p1 - 1 >= 0) or (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 - 1 >= 0 and -p3 >= 0 and tx + q0 - 1 >= 0 and -tx - q0 + p1 >= 0 and p1 - 1 >= 0)
//>   must read arg1[4p5 - 4 .. +4] : (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 - 1 >= 0 and ty + q1 - p3 - 1 >= 0 and tx + q0 - 1 >= 0 and tx + q0 - p1 - 1 >= 0) or (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 - 1 >= 0 and ty + q1 - p3 - 1 >= 0 and tx + q0 - 1 >= 0 and -p1 >= 0) or (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 - 1 >= 0 and -p3 >= 0 and tx + q0 - 1 >= 0 and tx + q0 - p1 - 1 >= 0) or (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 - 1 >= 0 and -p3 >= 0 and tx + q0 - 1 >= 0 and -p1 >= 0)
//>   must read arg1[-4p1 + 4p4 + 4p5 .. +4] : (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 - 1 >= 0 and ty + q1 - p3 - 1 >= 0 and -tx - q0 >= 0) or (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 - 1 >= 0 and -p3 >= 0 and -tx - q0 >= 0)
//>   must read arg1[4tx + 4q0 + 4p6 - 4 .. +4] : -tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and -ty - q1 >= 0 and tx + q0 - 1 >= 0 and -tx - q0 + p1 >= 0 and p1 - 1 >= 0
//>   must read arg1[4p1 + 4p6 - 4 .. +4] : (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and -ty - q1 >= 0 and tx + q0 - 1 >= 0 and tx + q0 - p1 - 1 >= 0) or (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and -ty - q1 >= 0 and tx + q0 - 1 >= 0 and -p1 >= 0)
//>   must read arg1[4p4 + 4p6 .. +4] : -tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and -ty - q1 >= 0 and -tx - q0 >= 0
//>   must read arg1[4tx + 4q0 + 4q2 + 4p1 + 4 .. +4] : -tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 + 1 >= 0 and -ty - q1 + p3 - 2 >= 0 and p3 - 1 >= 0 and tx + q0 + 1 >= 0 and -tx - q0 + p1 - 2 >= 0 and p1 - 1 >= 0
//>   must read arg1[4q2 + 8p1 - 4 .. +4] : (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 + 1 >= 0 and -ty - q1 + p3 - 2 >= 0 and p3 - 1 >= 0 and tx + q0 + 1 >= 0 and tx + q0 - p1 + 1 >= 0) or (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 + 1 >= 0 and -ty - q1 + p3 - 2 >= 0 and p3 - 1 >= 0 and tx + q0 + 1 >= 0 and -p1 >= 0)
//>   must read arg1[4tx + 4q0 - 4p1 + 4p5 + 4 .. +4] : (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 + 1 >= 0 and ty + q1 - p3 + 1 >= 0 and tx + q0 + 1 >= 0 and -tx - q0 + p1 - 2 >= 0 and p1 - 1 >= 0) or (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 + 1 >= 0 and -p3 >= 0 and tx + q0 + 1 >= 0 and -tx - q0 + p1 - 2 >= 0 and p1 - 1 >= 0)
//>   must read arg1[4p5 - 4 .. +4] : (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 + 1 >= 0 and ty + q1 - p3 + 1 >= 0 and tx + q0 + 1 >= 0 and tx + q0 - p1 + 1 >= 0) or (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 + 1 >= 0 and ty + q1 - p3 + 1 >= 0 and tx + q0 + 1 >= 0 and -p1 >= 0) or (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 + 1 >= 0 and -p3 >= 0 and tx + q0 + 1 >= 0 and tx + q0 - p1 + 1 >= 0) or (-tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and ty + q1 + 1 >= 0 and -p3 >= 0 and tx + q0 + 1 >= 0 and -p1 >= 0)
//>   must write arg0[4tx + 4q0 + 4q2 .. +4] : -tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2*arg3, 4*gridDim.x*blockDim.x + 4*arg2*arg3 - 4*arg2)), columns [0, min(4*arg2, 4*gridDim.x*blockDim.x)) of rows of 4*arg2
//>   reads arg1 within [min(min(min(min(min(min(min(min(min(min(0, 4*arg2 - 4), 4*min(0, arg2 - 1)), 4*arg2*arg3 - 4*arg2), 4*arg2*arg3 - 4), 4*arg2*arg3 + 4*min(0, arg2 - 1) - 4*arg2), 4*arg2*min(0, arg3 - 1)), 4*arg2 + 4*arg2*min(0, arg3 - 1) - 4), 4*arg2*min(0, arg3 - 1) + 4*min(0, arg2 - 1)), max(4, 4*arg2 + 4)), max(8*arg2 - 4, 4*arg2 - 4)), max(max(max(max(max(max(max(max(min(4*arg2*arg3 - 4*arg2 - 4, 4*gridDim.x*blockDim.x + 4*arg2*arg3 - 8*arg2 - 4), 4*arg2*arg3 - 4*arg2), 4*arg2*arg3 + 4*min(0, arg2 - 1) - 8*arg2 + 4), 4*arg2*arg3), 4*arg2*arg3 + 4*min(0, arg2 - 1) - 4*arg2 + 4), min(4*arg2 + 4*arg2*min(0, arg3 - 1) - 4, 4*gridDim.x*blockDim.x + 4*arg2*min(0, arg3 - 1) - 4)), 4*arg2 + 4*arg2*min(0, arg3 - 1)), 4*arg2*min(0, arg3 - 1) + 4*min(0, arg2 - 1) + 4), min(4*arg2*arg3, 4*gridDim.x*blockDim.x + 4*arg2*arg3 - 4*arg2 + 4)))
//>   requires 0 <= arg2
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel pointer_end
//>   p0 = arg2
//>   loop i0 uniform
//>   loop i1 divergent
//>   must read arg1[4i0 .. +4] : -i0 + p0 - 1 >= 0 in i0
//>   must read arg1[4tx + 128i1 .. +4] : -tx - 32i1 + p0 - 1 >= 0 in i1
//>   must write arg0[4tx .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x)
//>   reads arg1 within [0, 4*arg2), columns [0, max(4*arg2, min(4*arg2, 4*blockDim.x))) of rows of 128
//>   requires 0 <= 4*arg2
//>
//> kernel not_equal_down
//>   p0 = arg1
//>   q0 = (bx) * p0
//>   loop i0 uniform
//>   loop i1 uniform
//>   must write arg0[-4i0 + 4q0 + 4p0 - 4 .. +4] : -i0 + p0 - 1 >= 0 in i0
//>   must write arg0[256bx + 4tx + 16i1 .. +4] : -i1 + 15 >= 0 in i1
//>   writes arg0 within [0, max(4*gridDim.x*arg1, 256*gridDim.x + 4*blockDim.x - 16)), columns [0, max(4*arg1, 256*gridDim.x + 4*blockDim.x - 16)) of rows of 4*arg1
//>   requires 0 <= arg1
//>   requires gridDim.x*arg1 - 1 <= 4294967295
//>   requires 64*gridDim.x + blockDim.x - 5 <= 4294967295
//>
//> kernel not_equal_misses
//>   p0 = arg1
//>   loop i0 uniform
//>   may write arg0[12i0 .. +4] : -3i0 + p0 - 1 >= 0 or 3i0 - p0 - 1 >= 0 in i0 (it is in a loop whose end is not affine)
//>   writes arg0 within [min(0, max(0, 4*arg1 + 4)), ?), columns [0, 4) of rows of 12
//>
//> kernel not_equal_from_thread
//>   p0 = arg1
//>   loop i0 divergent
//>   may write arg0[4tx + 4i0 .. +4] : -tx - i0 + p0 - 1 >= 0 or tx + i0 - p0 - 1 >= 0 in i0 (it is in a loop whose end is not affine)
//>   writes arg0 within [min(0, max(0, 4*arg1 + 4)), ?)
