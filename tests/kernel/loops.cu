// test: kernel
__global__ void step_two(float *o, int n) { for (int i = threadIdx.x; i < n; i += 2) o[i] = 0; }
__global__ void step_block(float *o, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) o[i] = 0; }
__global__ void step_down(float *o, int n) { for (int i = n - 1; i >= 0; i -= 3) o[i] = 0; }
__global__ void not_equal(float *o, int n) { for (int i = 0; i != n; i++) o[blockIdx.x * n + i] = 0; }
__global__ void halving(float *o) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = o[blockIdx.x * 256 + t];
    for (int h = 128; h > 0; h >>= 1) { __syncthreads(); if (t < h) s[t] += s[t + h]; }
    if (t == 0) o[blockIdx.x] = s[0];
}
__global__ void halving_runtime(float *o) {
    extern __shared__ float d[];
    int t = threadIdx.x;
    d[t] = o[blockIdx.x * blockDim.x + t];
    for (unsigned h = blockDim.x / 2; h > 0; h /= 2) { __syncthreads(); if (t < h) d[t] += d[t + h]; }
    if (t == 0) o[blockIdx.x] = d[0];
}
__global__ void doubling(float *o) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = o[blockIdx.x * 256 + t];
    for (int h = 1; h < 256; h *= 2) { __syncthreads(); if (t % (2 * h) == 0) s[t] += s[t + h]; }
    if (t == 0) o[blockIdx.x] = s[0];
}
__global__ void doubling_runtime(float *o, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int h = 1; h < n; h *= 2) if (t >= h && t < n) o[t] += o[t - h];
}
__global__ void triangular(float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) for (int j = 0; j <= i; j++) o[i * n + j] = 0;
}
__global__ void packed_triangle(float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) for (int j = 0; j <= i; j++) o[i * (i + 1) / 2 + j] = 0;
}
__global__ void nested_triangle(float *o, int n) {
    for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) o[i * n + j] = o[j * n + i];
}
__global__ void early_exit(float *o, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < n; i++) { if (o[t * n + i] < 0) break; o[t * n + i] = 1; }
}
__global__ void last_value(float *o, int n) {
    int i;
    for (i = 0; i < n; i++) o[i] = 0;
    o[i] = 1;
}
__global__ void continued(float *o, int n) {
    int i = threadIdx.x;
    for (; i < 64; i += 32) o[i] = 0;
    for (; i < n; i += 32) o[i] = 1;
}
__global__ void two_counters(float *o, const float *a, int n) {
    int j = n - 1;
    for (int i = 0; i < n; i++, j--) o[i] = a[j];
}
__global__ void pointer_loop(float *o, const float *a, int n, int pitch) {
    const float *p = a + threadIdx.x;
    for (int i = 0; i < n; i++) { o[threadIdx.x] += *p; p += pitch; }
}
__global__ void pointer_end(float *o, int n) { for (float *p = o, *e = o + n; p != e; ++p) *p = 0; }
__global__ void pointer_less(float *o, int n) { for (float *p = o + threadIdx.x; p < o + n; p += blockDim.x) *p = 0; }
__global__ void ping_pong(float *a, float *b, int n) {
    int t = threadIdx.x;
    float *x = a, *y = b;
    for (int i = 0; i < n; i++) { y[t] = x[t] + 1; float *s = x; x = y; y = s; }
}
__global__ void ping_pong_shared(float *o, int n) {
    __shared__ float s[2][128];
    int t = threadIdx.x, in = 0;
    s[0][t] = o[t];
    for (int i = 0; i < n; i++) { __syncthreads(); s[1 - in][t] = s[in][t ^ 1]; in = 1 - in; }
    __syncthreads();
    o[t] = s[in][t];
}
__global__ void toggled(float *a, float *b, int which) {
    float *x = which ? a : b;
    x[threadIdx.x] = 0;
}
__global__ void long_grid_stride(float *o, long long n) {
    long long stride = (long long)blockDim.x * gridDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) o[i] = 0;
}
__global__ void unsigned_grid_stride(float *o, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) o[i] = 0;
}
__global__ void mixed_bound(float *o, size_t n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = 0;
}
__global__ void long_from_int(float *o, long n) {
    long i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = 0;
}
__global__ void nested_index(float *o, const float *a, int n) {
    int at = 0;
    float sum = 0;
    for (int i = 0; i < n; i++) for (int j = 0; j < 5; j++) sum += a[at++];
    o[threadIdx.x] = sum;
}
__global__ void nested_pointer(float *o, const float *a, int n, int m) {
    float sum = 0;
    for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) { if (j & 1) sum *= 2; sum += *a++; } a += 3; }
    o[threadIdx.x] = sum;
}
__global__ void two_iterations(float *o, const float *a, int width) {
    int i = blockIdx.x * 32 + threadIdx.x;
    for (int k = 0; k < 32; k += 16) o[i + k * width] = a[i + k * width];
}
__global__ void layers(float *o, const float *a, int n, int plane) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    o[c] = a[c];
    c += plane;
    for (int k = 1; k < n - 1; k++) { o[c] = a[c] + a[c - plane]; c += plane; }
    o[c] = a[c];
}
__global__ void head_and_tail(float *o, int n) {
    int i = threadIdx.x;
    for (; i + 3 * 64 < n; i += 4 * 64) { o[i] = 1; o[i + 64] = 1; o[i + 128] = 1; o[i + 192] = 1; }
    for (; i < n; i += 64) o[i] = 2;
}
__global__ void strided_tail(float *o, int n) {
    int i = threadIdx.x;
    for (; i < n; i += blockDim.x) o[i] = 1;
    o[i] = 2;
}
__global__ void do_while_tail(float *o, int n) {
    int i = 0;
    do { o[i] = 1; i++; } while (i < n);
    o[i] = 2;
}
__global__ void broken_off(float *o, const float *a, int n) {
    int i;
    for (i = 0; i < n; i++) if (a[i] < 0) break;
    o[i] = 2;
}

//> kernel step_two
//>   p0 = arg1
//>   loop i0 divergent
//>   must write arg0[4tx + 8i0 .. +4] : -tx - 2i0 + p0 - 1 >= 0 in i0
//>   writes arg0 within [0, 4*arg1), columns [0, min(4*arg1, 4*blockDim.x)) of rows of 8
//>
//> kernel step_block
//>   p0 = blockDim.x
//>   p1 = arg1
//>   q0 = (i0) * p0
//>   loop i0 divergent
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0 in i0
//>   writes arg0 within [0, 4*arg1)
//>   requires blockDim.x + arg1 - 1 <= 2147483647
//>
//> kernel step_down
//>   p0 = arg1
//>   loop i0 uniform
//>   must write arg0[-12i0 + 4p0 - 4 .. +4] : -3i0 + p0 - 1 >= 0 in i0
//>   writes arg0 within [0, 4*arg1), columns [4*arg1 - 4, 4*arg1) of rows of 12
//>
//> kernel not_equal
//>   p0 = arg1
//>   q0 = (bx) * p0
//>   loop i0 uniform
//>   must write arg0[4i0 + 4q0 .. +4] : -i0 + p0 - 1 >= 0 in i0
//>   writes arg0 within [0, 4*gridDim.x*arg1)
//>   requires 0 <= arg1
//>   requires gridDim.x*arg1 - 1 <= 4294967295
//>
//> kernel halving
//>   loop i0 uniform
//>   loop i1 divergent
//>   must read arg0[1024bx + 4tx .. +4] : true in interval 0
//>   must write shared @_ZZ7halvingPfE1s[4tx .. +4] : true in interval 0
//>   may read shared @_ZZ7halvingPfE1s[4tx + 4i1 .. +4] : i1 - 1 >= 0 and -tx + i1 - 1 >= 0 and i1 >= 0 and -i1 + 128 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   may read shared @_ZZ7halvingPfE1s[4tx .. +4] : i1 - 1 >= 0 and -tx + i1 - 1 >= 0 and i1 >= 0 and -i1 + 128 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   may write shared @_ZZ7halvingPfE1s[4tx .. +4] : i1 - 1 >= 0 and -tx + i1 - 1 >= 0 and i1 >= 0 and -i1 + 128 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   must read shared @_ZZ7halvingPfE1s[0 .. +4] : -tx = 0 in interval 0,1
//>   must write arg0[4bx .. +4] : -tx = 0 in interval 0,1
//>   barrier uniform in i0
//>   flow from access 1 to access 2 across barrier 0
//>   anti from access 2 to access 4 across barrier 0
//>   anti from access 2 to access 4 in one interval
//>   flow from access 4 to access 2 across barrier 0
//>   writes arg0 within [0, 1024*gridDim.x + 4*blockDim.x - 1024), columns [0, max(4*blockDim.x, 4*gridDim.x)) of rows of 1024
//>   requires 256*gridDim.x + blockDim.x - 257 <= 4294967295
//>   static shared 1024 bytes
//>
//> kernel halving_runtime
//>   p0 = blockDim.x
//>   q0 = (bx) * p0
//>   loop i0 uniform
//>   loop i1 divergent
//>   must read arg0[4tx + 4q0 .. +4] : true in interval 0
//>   must write shared @d[4tx .. +4] : true in interval 0
//>   may read shared @d[4tx + 4*floor((i1)/2) .. +4] : floor((i1)/2) - 1 >= 0 and -tx + floor((i1)/2) - 1 >= 0 and i1 >= 0 and -i1 + p0 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   may read shared @d[4tx .. +4] : floor((i1)/2) - 1 >= 0 and -tx + floor((i1)/2) - 1 >= 0 and i1 >= 0 and -i1 + p0 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   may write shared @d[4tx .. +4] : floor((i1)/2) - 1 >= 0 and -tx + floor((i1)/2) - 1 >= 0 and i1 >= 0 and -i1 + p0 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   must read shared @d[0 .. +4] : -tx = 0 in interval 0,1
//>   must write arg0[4bx .. +4] : -tx = 0 in interval 0,1
//>   barrier uniform in i0
//>   anti from access 0 to access 6 across barrier 0
//>   anti from access 0 to access 6 in one interval
//>   flow from access 1 to access 2 across barrier 0
//>   anti from access 2 to access 4 across barrier 0
//>   anti from access 2 to access 4 in one interval
//>   flow from access 4 to access 2 across barrier 0
//>   writes arg0 within [0, max(4*gridDim.x*blockDim.x, 4*gridDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 4294967295
//>   dynamic shared
//>
//> kernel doubling
//>   loop i0 uniform
//>   loop i1 divergent
//>   must read arg0[1024bx + 4tx .. +4] : true in interval 0
//>   must write shared @_ZZ8doublingPfE1s[4tx .. +4] : true in interval 0
//>   may read shared @_ZZ8doublingPfE1s[4tx + 4i1 + 4 .. +4] : -i1 + 254 >= 0 and i1 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   may read shared @_ZZ8doublingPfE1s[4tx .. +4] : -i1 + 254 >= 0 and i1 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   may write shared @_ZZ8doublingPfE1s[4tx .. +4] : -i1 + 254 >= 0 and i1 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   must read shared @_ZZ8doublingPfE1s[0 .. +4] : -tx = 0 in interval 0,1
//>   must write arg0[4bx .. +4] : -tx = 0 in interval 0,1
//>   barrier uniform in i0
//>   flow from access 1 to access 2 across barrier 0
//>   anti from access 2 to access 4 across barrier 0
//>   anti from access 2 to access 4 in one interval
//>   flow from access 4 to access 2 across barrier 0
//>   writes arg0 within [0, 1024*gridDim.x + 4*blockDim.x - 1024), columns [0, max(4*blockDim.x, 4*gridDim.x)) of rows of 1024
//>   requires 256*gridDim.x + blockDim.x - 257 <= 4294967295
//>   static shared 1024 bytes
//>
//> kernel doubling_runtime
//>   p0 = arg1
//>   p1 = blockDim.x
//>   q0 = (bx) * p1
//>   loop i0 uniform
//>   loop i1 divergent
//>   may read arg0[4tx - 4i1 + 4q0 - 4 .. +4] : -i1 + p0 - 2 >= 0 and tx - i1 + q0 - 1 >= 0 and -tx - q0 + p0 - 1 >= 0 and i1 >= 0 in i0,i1 (only bounds of a number in it are known)
//>   may read arg0[4tx + 4q0 .. +4] : -i1 + p0 - 2 >= 0 and tx - i1 + q0 - 1 >= 0 and -tx - q0 + p0 - 1 >= 0 and i1 >= 0 in i0,i1 (only bounds of a number in it are known)
//>   may write arg0[4tx + 4q0 .. +4] : -i1 + p0 - 2 >= 0 and tx - i1 + q0 - 1 >= 0 and -tx - q0 + p0 - 1 >= 0 and i1 >= 0 in i0,i1 (only bounds of a number in it are known)
//>   writes arg0 within [min(max(0, -4*arg1 + 8), 4), min(4*arg1, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel triangular
//>   p0 = blockDim.x
//>   p1 = arg1
//>   q0 = (bx) * p0
//>   q1 = (tx + q0) * p1
//>   loop i0 divergent
//>   must write arg0[4i0 + 4q1 .. +4] : -tx - q0 + p1 - 1 >= 0 and tx - i0 + q0 >= 0 in i0
//>   writes arg0 within [0, min(4*arg1*arg1, 4*gridDim.x*blockDim.x + 4*arg1*arg1 - 4*arg1)), columns [0, min(4*arg1, 4*gridDim.x*blockDim.x)) of rows of 4*arg1
//>   requires 0 <= arg1
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel packed_triangle
//>   p0 = blockDim.x
//>   p1 = arg1
//>   q0 = (bx) * p0
//>   loop i0 divergent
//>   may write arg0[*] : -tx - q0 + p1 - 1 >= 0 and tx - i0 + q0 >= 0 in i0 (it multiplies two varying values)
//>   writes arg0 within [?, ?)
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel nested_triangle
//>   p0 = arg1
//>   q0 = (i0 + i1) * p0
//>   q1 = (i0) * p0
//>   loop i0 uniform
//>   loop i1 in i0 uniform
//>   must read arg0[4i0 + 4q0 + 4p0 .. +4] : -i0 + p0 - 1 >= 0 and -i0 - i1 + p0 - 2 >= 0 in i0,i1
//>   must write arg0[4i0 + 4i1 + 4q1 + 4 .. +4] : -i0 + p0 - 1 >= 0 and -i0 - i1 + p0 - 2 >= 0 in i0,i1
//>   writes arg0 within [min(4*arg1, 4), max(4*arg1*arg1 - 4, min(4*arg1*arg1 - 4, 4*arg1*arg1 - 4*arg1))), columns [min(4*arg1, 4), max(8*arg1 - 4, min(4*arg1, 8*arg1 - 4))) of rows of 4*arg1
//>   requires 0 <= arg1
//>
//> kernel early_exit
//>   p0 = arg1
//>   p1 = blockDim.x
//>   q0 = (bx) * p1
//>   q1 = (tx + q0) * p0
//>   loop i0 divergent
//>   may read arg0[4i0 + 4q1 .. +4] : -i0 + p0 - 1 >= 0 in i0 (it is in a loop whose end is not affine)
//>   may write arg0[4i0 + 4q1 .. +4] : -i0 + p0 - 1 >= 0 in i0 (its condition is not affine)
//>   writes arg0 within [0, 4*gridDim.x*blockDim.x*arg1)
//>   requires 0 <= arg1
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel last_value
//>   p0 = arg1
//>   loop i0 uniform
//>   must write arg0[4i0 .. +4] : -i0 + p0 - 1 >= 0 in i0
//>   must write arg0[4p0 .. +4] : true
//>   writes arg0 within [min(0, 4*arg1), 4*arg1 + 4)
//>   requires 0 <= arg1
//>
//> kernel continued
//>   p0 = arg1
//>   loop i0 divergent
//>   loop i1 divergent
//>   loop i2 divergent
//>   must write arg0[4tx + 128i0 .. +4] : -tx - 32i0 + 63 >= 0 in i0
//>   may write arg0[4tx + 128i1 + 4i2 .. +4] : -tx - 32i1 - i2 + p0 - 1 >= 0 and i2 >= 0 in i1,i2 (only bounds of a number in it are known)
//>   writes arg0 within [0, max(256, 4*arg1)), columns [0, max(min(256, 4*blockDim.x), 4*arg1)) of rows of 128
//>
//> kernel two_counters
//>   p0 = arg2
//>   loop i0 uniform
//>   must read arg1[-4i0 + 4p0 - 4 .. +4] : -i0 + p0 - 1 >= 0 in i0
//>   must write arg0[4i0 .. +4] : -i0 + p0 - 1 >= 0 in i0
//>   writes arg0 within [0, 4*arg2)
//>   reads arg1 within [0, 4*arg2)
//>
//> kernel pointer_loop
//>   p0 = arg2
//>   p1 = arg3
//>   q0 = (i0) * p1
//>   loop i0 uniform
//>   must read arg1[4tx + 4q0 .. +4] : -i0 + p0 - 1 >= 0 in i0
//>   must read arg0[4tx .. +4] : -i0 + p0 - 1 >= 0 in i0
//>   must write arg0[4tx .. +4] : -i0 + p0 - 1 >= 0 in i0
//>   writes arg0 within [0, 4*blockDim.x)
//>   reads arg1 within [0, 4*blockDim.x + 4*arg2*arg3 - 4*arg3), columns [0, 4*blockDim.x) of rows of 4*arg3
//>   requires 0 <= arg3
//>
//> kernel pointer_end
//>   p0 = arg1
//>   loop i0 uniform
//>   must write arg0[4i0 .. +4] : -i0 + p0 - 1 >= 0 in i0
//>   writes arg0 within [0, 4*arg1)
//>   requires 0 <= 4*arg1
//>
//> kernel pointer_less
//>   p0 = blockDim.x
//>   p1 = arg1
//>   q0 = (i0) * p0
//>   loop i0 divergent
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0 in i0
//>   writes arg0 within [0, 4*arg1)
//>
//> kernel ping_pong
//>   p0 = arg2
//>   loop i0 uniform
//>   must read arg0[4tx .. +4] : -i0 + p0 - 1 >= 0 and i0 - 2*floor((i0)/2) = 0 in i0
//>   must read arg1[4tx .. +4] : -i0 + p0 - 1 >= 0 and i0 - 2*floor((i0)/2) - 1 = 0 in i0
//>   must write arg1[4tx .. +4] : -i0 + p0 - 1 >= 0 and i0 - 2*floor((i0)/2) = 0 in i0
//>   must write arg0[4tx .. +4] : -i0 + p0 - 1 >= 0 and i0 - 2*floor((i0)/2) - 1 = 0 in i0
//>   writes arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>
//> kernel ping_pong_shared
//>   p0 = arg1
//>   loop i0 uniform
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ16ping_pong_sharedPfiE1s[4tx .. +4] : true in interval 0
//>   must read shared @_ZZ16ping_pong_sharedPfiE1s[-4tx + 512i0 + 16*floor((tx)/2) - 1024*floor((i0)/2) + 4 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 1
//>   must write shared @_ZZ16ping_pong_sharedPfiE1s[4tx - 512i0 + 1024*floor((i0)/2) + 512 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 1
//>   must read shared @_ZZ16ping_pong_sharedPfiE1s[4tx + 512p0 - 1024*floor((p0)/2) .. +4] : true in interval 2
//>   must write arg0[4tx .. +4] : true in interval 2
//>   barrier uniform in i0
//>   barrier uniform
//>   flow from access 1 to access 2 across barrier 0
//>   output from access 1 to access 3 across barrier 0
//>   flow from access 1 to access 4 across barrier 1
//>   anti from access 2 to access 3 across barrier 0
//>   anti from access 2 to access 3 in one interval
//>   flow from access 3 to access 2 across barrier 0
//>   output from access 3 to access 3 across barrier 0
//>   output from access 3 to access 3 in one interval
//>   flow from access 3 to access 4 across barrier 1
//>   writes arg0 within [0, 4*blockDim.x)
//>   requires 0 <= arg1
//>   static shared 1024 bytes
//>
//> kernel toggled
//>   p0 = arg2
//>   must write arg1[4tx .. +4] : -p0 = 0
//>   must write arg0[4tx .. +4] : -p0 - 1 >= 0 or p0 - 1 >= 0
//>   writes arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>
//> kernel long_grid_stride
//>   p0 = blockDim.x
//>   p1 = gridDim.x*blockDim.x
//>   p2 = arg1:s64
//>   q0 = (bx) * p0
//>   q1 = (i0) * p1
//>   loop i0 divergent
//>   must write arg0[4tx + 4q0 + 4q1 .. +4] : -tx - q0 - q1 + p2 - 1 >= 0 and -q0 - p0 + p1 >= 0 in i0
//>   writes arg0 within [0, min(4*arg1:s64, 4*gridDim.x*blockDim.x + 4*arg1:s64 - 4*blockDim.x))
//>   requires 4*arg1:s64 - 4 <= 4611686018427387904 or 4*gridDim.x*blockDim.x + 4*arg1:s64 - 4 <= 4611686018427387904
//>
//> kernel unsigned_grid_stride
//>   p0 = blockDim.x
//>   p1 = gridDim.x*blockDim.x
//>   p2 = arg1
//>   q0 = (bx) * p0
//>   q1 = (i0) * p1
//>   loop i0 divergent
//>   must write arg0[4tx + 4q0 + 4q1 .. +4] : -tx - q0 - q1 + p2 - 1 >= 0 and -q0 - p0 + p1 >= 0 in i0
//>   writes arg0 within [0, min(4*arg1, 4*gridDim.x*blockDim.x + 4*arg1 - 4*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   requires gridDim.x*blockDim.x + arg1 - 1 <= 2147483647
//>   requires 0 <= arg1
//>
//> kernel mixed_bound
//>   p0 = arg1:s64
//>   p1 = blockDim.x
//>   q0 = (bx) * p1
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p0 - 1 >= 0
//>   writes arg0 within [0, min(4*arg1:s64, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   requires 0 <= arg1:s64
//>
//> kernel long_from_int
//>   p0 = arg1:s64
//>   p1 = blockDim.x
//>   q0 = (bx) * p1
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p0 - 1 >= 0
//>   writes arg0 within [0, min(4*arg1:s64, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 4294967295
//>
//> kernel nested_index
//>   p0 = arg2
//>   loop i0 uniform
//>   loop i1 in i0 uniform
//>   must read arg1[20i0 + 4i1 .. +4] : -i0 + p0 - 1 >= 0 and -i1 + 4 >= 0 in i0,i1
//>   must write arg0[4tx .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x)
//>   reads arg1 within [0, 20*arg2)
//>
//> kernel nested_pointer
//>   p0 = arg2
//>   p1 = arg3
//>   p2 = 4*arg3 + 12
//>   q0 = (i0) * p2
//>   loop i0 uniform
//>   loop i1 in i0 uniform
//>   must read arg1[4i1 + q0 .. +4] : -i0 + p0 - 1 >= 0 and -i1 + p1 - 1 >= 0 and 4p1 - p2 + 12 = 0 in i0,i1
//>   must write arg0[4tx .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x)
//>   reads arg1 within [0, 12*arg2 + 4*arg2*arg3 - 12), columns [0, 4*arg3) of rows of 4*arg3 + 12
//>   requires 0 <= 4*arg3 + 12
//>   requires 0 <= arg3
//>
//> kernel two_iterations
//>   p0 = arg2
//>   q0 = (i0) * p0
//>   loop i0 uniform
//>   must read arg1[128bx + 4tx + 64q0 .. +4] : -i0 + 1 >= 0 in i0
//>   must write arg0[128bx + 4tx + 64q0 .. +4] : -i0 + 1 >= 0 in i0
//>   writes arg0 within [0, 128*gridDim.x + 4*blockDim.x + 64*arg2 - 128), columns [0, 128*gridDim.x + 4*blockDim.x - 128) of rows of 64*arg2
//>   reads arg1 within [0, 128*gridDim.x + 4*blockDim.x + 64*arg2 - 128), columns [0, 128*gridDim.x + 4*blockDim.x - 128) of rows of 64*arg2
//>   requires 0 <= arg2
//>   requires 32*gridDim.x + blockDim.x - 33 <= 2147483647
//>
//> kernel layers
//>   p0 = blockDim.x
//>   p1 = arg2
//>   p2 = arg3
//>   p3 = arg2*arg3
//>   q0 = (bx) * p0
//>   q1 = (i0) * p2
//>   loop i0 uniform
//>   must read arg1[4tx + 4q0 .. +4] : true
//>   must write arg0[4tx + 4q0 .. +4] : true
//>   must read arg1[4tx + 4q0 + 4q1 + 4p2 .. +4] : -i0 + p1 - 3 >= 0 in i0
//>   must read arg1[4tx + 4q0 + 4q1 .. +4] : -i0 + p1 - 3 >= 0 in i0
//>   must write arg0[4tx + 4q0 + 4q1 + 4p2 .. +4] : -i0 + p1 - 3 >= 0 in i0
//>   must read arg1[4tx + 4q0 - 4p2 + 4p3 .. +4] : true
//>   must write arg0[4tx + 4q0 - 4p2 + 4p3 .. +4] : true
//>   writes arg0 within [min(min(0, 4*arg3), 4*arg2*arg3 - 4*arg3), max(max(4*gridDim.x*blockDim.x, 4*gridDim.x*blockDim.x + 4*arg2*arg3 - 8*arg3), 4*gridDim.x*blockDim.x + 4*arg2*arg3 - 4*arg3)), columns [min(min(0, 4*arg3), 4*arg2*arg3 - 4*arg3), max(max(4*gridDim.x*blockDim.x, 4*gridDim.x*blockDim.x + 4*arg3), 4*gridDim.x*blockDim.x + 4*arg2*arg3 - 4*arg3)) of rows of 4*arg3
//>   reads arg1 within [min(min(0, 4*arg3), 4*arg2*arg3 - 4*arg3), max(max(4*gridDim.x*blockDim.x, 4*gridDim.x*blockDim.x + 4*arg2*arg3 - 12*arg3), 4*gridDim.x*blockDim.x + 4*arg2*arg3 - 4*arg3)), columns [min(min(0, 4*arg3), 4*arg2*arg3 - 4*arg3), max(max(4*gridDim.x*blockDim.x, 4*gridDim.x*blockDim.x + 4*arg3), 4*gridDim.x*blockDim.x + 4*arg2*arg3 - 4*arg3)) of rows of 4*arg3
//>   requires 0 <= arg3
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   requires 0 <= arg2 - 2
//>   requires gridDim.x*blockDim.x + arg2*arg3 - arg3 - 1 <= 2147483647
//>   requires -2147483648 <= arg2*arg3 - arg3
//>
//> kernel head_and_tail
//>   p0 = arg1
//>   loop i0 divergent
//>   loop i1 divergent
//>   loop i2 divergent
//>   must write arg0[4tx + 1024i0 .. +4] : -tx - 256i0 + p0 - 193 >= 0 in i0
//>   must write arg0[4tx + 1024i0 + 256 .. +4] : -tx - 256i0 + p0 - 193 >= 0 in i0
//>   must write arg0[4tx + 1024i0 + 512 .. +4] : -tx - 256i0 + p0 - 193 >= 0 in i0
//>   must write arg0[4tx + 1024i0 + 768 .. +4] : -tx - 256i0 + p0 - 193 >= 0 in i0
//>   may write arg0[4tx + 256i1 + 4i2 .. +4] : -tx - 64i1 - i2 + p0 - 1 >= 0 and i2 >= 0 in i1,i2 (only bounds of a number in it are known)
//>   writes arg0 within [0, 4*arg1), columns [0, max(min(4*arg1, 4*blockDim.x + 768), 4*arg1)) of rows of 1024
//>
//> kernel strided_tail
//>   p0 = blockDim.x
//>   p1 = arg1
//>   q0 = (i0) * p0
//>   q1 = (i1) * p0
//>   loop i0 divergent
//>   quotient i1 = (-tx + p0 + p1 - 1) / (p0)
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0 in i0
//>   must write arg0[4tx + 4q1 .. +4] : -tx - q1 + p0 + p1 - 1 >= 0 and tx + q1 - p1 >= 0 in i1
//>   writes arg0 within [min(0, max(0, 4*arg1)), max(4*arg1, min(4*blockDim.x + 4*blockDim.x*floor((blockDim.x + blockDim.x*floor((blockDim.x + arg1 - 1)/blockDim.x) - 1)/blockDim.x), 4*blockDim.x + 4*arg1)))
//>   requires blockDim.x + arg1 - 1 <= 2147483647
//>   requires 0 <= arg1
//>
//> kernel do_while_tail
//>   p0 = arg1
//>   loop i0 uniform
//>   must write arg0[4i0 .. +4] : i0 = 0 or (i0 - 1 >= 0 and -i0 + p0 - 1 >= 0) in i0
//>   must write arg0[4p0 .. +4] : true
//>   writes arg0 within [min(0, 4*arg1), max(4, 4*arg1 + 4))
//>   requires 0 <= arg1 - 1
//>
//> kernel broken_off
//>   p0 = arg2
//>   loop i0 divergent
//>   loop i1 divergent
//>   may read arg1[4i0 .. +4] : -i0 + p0 - 1 >= 0 in i0 (it is in a loop whose end is not affine)
//>   may write arg0[4i1 .. +4] : i1 >= 0 in i1 (only bounds of a number in it are known)
//>   writes arg0 within [0, ?)
//>   reads arg1 within [0, 4*arg2)
