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
