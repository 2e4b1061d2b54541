// test: kernel
__global__ void flip(float *o, const float *a) { int i = blockIdx.x * 64 + threadIdx.x; o[i] = a[i ^ 1]; }
__global__ void flip_sixteen(float *o, const float *a) { int i = blockIdx.x * 64 + threadIdx.x; o[i] = a[i ^ 16]; }
__global__ void reversed(float *o, const float *a) { int i = threadIdx.x & 63; o[i] = a[i ^ 63]; }
__global__ void fields(float *o, const float *a) {
    int i = blockIdx.x * 64 + threadIdx.x;
    o[(i & ~15) | (threadIdx.y & 15)] = a[((i & 15) << 4) | ((i >> 4) & 15)];
}
__global__ void middle_bits(float *o, const float *a) { int i = threadIdx.x; o[i] = a[i & 0x1c]; }
__global__ void row_major(float *o, const float *a, int width, int height) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height) return;
    int row = i / width, column = i % width;
    o[row * width + column] = a[column * height + row];
}
__global__ void row_index(float *o, const float *bias, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] += bias[i % width];
}
__global__ void row_only(float *o, const float *scale, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] *= scale[i / width];
}
__global__ void four_axes(float *o, const float *a, int b, int nh, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= b * nh * n * d) return;
    int x = i / (nh * n * d), rest = i % (nh * n * d);
    int h = rest / (n * d); rest = rest % (n * d);
    int s = rest / d, e = rest % d;
    o[i] = a[((x * n + s) * nh + h) * d + e];
}
__global__ void tile_of(float *o, int tiles) {
    int b = blockIdx.x;
    int tx = b % tiles, ty = b / tiles;
    o[(ty * 16 + threadIdx.y) * tiles * 16 + tx * 16 + threadIdx.x] = 0;
}
__global__ void run_time_shift(float *o, const float *a, int s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    o[i] = a[i >> s] + a[i << s] + a[i & ((1 << s) - 1)];
}
__global__ void shifted_one(float *o, int s) { if (threadIdx.x < (1 << s)) o[threadIdx.x] = 0; }
__global__ void clamped(float *o, const float *a, int w, int h) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) {
        int cx = min(max(x + dx, 0), w - 1), cy = min(max(y + dy, 0), h - 1);
        sum += a[cy * w + cx];
    }
    o[y * w + x] = sum;
}
__global__ void absolute(float *o, const float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = a[abs(i - n / 2)];
}
__global__ void wrapped_neighbour(float *o, const float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = a[(i + 1) % n] + a[(i + n - 1) % n] + a[i == 0 ? n - 1 : i - 1];
}
__global__ void bitfield_extract(float *o, const float *a) {
    unsigned t = threadIdx.x, warp = t >> 5, lane = t & 31;
    o[warp * 32 + lane] = a[lane * 32 + warp];
}
__global__ void signed_division(float *o, const float *a, int n) {
    int i = (int)threadIdx.x - 16;
    o[threadIdx.x] = a[i / 4 + 4] + a[(i % 4) + 3];
}
__global__ void nested_floor(float *o, const float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = a[(i / 4) * 4 + (i % 4) / 2];
}
