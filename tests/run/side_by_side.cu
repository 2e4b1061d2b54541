// Launches that do not depend on each other run side by side, each in blocks of its own: other grids,
// other blocks of one, two and three dimensions, early returns, barriers and warps of fewer threads
// than the fused block has, shared memory of both kinds, a chain beside a single launch, an empty grid.
//
// arguments: 1000 96
// arguments: 1 33
// arguments: 0 64
// layouts: h
// expect: 19 launches -> 7
#include <cstdio>
#include <cstdlib>

__global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] = x[i] * 2 + gridDim.x;
}

__global__ void transpose(float *out, const float *in, int width, int height) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y] + blockIdx.y;
}

__global__ void cube(int *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        z = blockIdx.z * blockDim.z + threadIdx.z;
    int width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
    out[(z * height + y) * width + x] = 100 * z + 10 * y + x + gridDim.z;
}

__global__ void total(float *out, const float *in) {
    __shared__ float part[64];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

__global__ void votes(int *out, const float *in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int some = __syncthreads_count(in[i] > 3), all = __syncthreads_and(in[i] >= 0),
        any = __syncthreads_or(in[i] > 9);
    if (threadIdx.x == 0) out[blockIdx.x] = 100 * some + 10 * all + any;
}

__global__ void warps(float *out, const float *in) {
    float sum = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum + __popc(__activemask());
}

__global__ void rotate(float *out, const float *in, int by) {
    extern __shared__ float part_of_block[];
    int t = threadIdx.x;
    part_of_block[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = part_of_block[(t + by) % blockDim.x];
}

__global__ void add(float *x, float by) { x[blockIdx.x * blockDim.x + threadIdx.x] += by; }

__global__ void halve(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 0.5f; }

static float *floats(int n) {
    float *host = (float *)malloc(n * sizeof(float)), *device;
    for (int i = 0; i < n; ++i) host[i] = (float)(i % 37) / 4;
    cudaMalloc(&device, n * sizeof(float));
    cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice);
    free(host);
    return device;
}

static void show(const char *name, void *device, int bytes) {
    unsigned char *host = (unsigned char *)malloc(bytes);
    cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost);
    unsigned long long sum = 14695981039346656037ull;
    for (int i = 0; i < bytes; ++i) sum = (sum ^ host[i]) * 1099511628211ull;
    printf("%s %llx %s\n", name, sum, cudaGetErrorString(cudaGetLastError()));
    free(host);
}

// Blocks of 128, 16 x 16, 4 x 4 x 3 and 64 threads; two of them wait.
static void unequal_shapes(int n) {
    float *x = floats(n), *in = floats(70 * 50), *out = floats(70 * 50), *rows = floats(640), *sums = floats(10);
    int *cubes = (int *)floats(8 * 12 * 6);
    scale<<<(n + 127) / 128, 128>>>(x, n);
    transpose<<<dim3(5, 4), dim3(16, 16)>>>(out, in, 70, 50);
    cube<<<dim3(2, 3, 2), dim3(4, 4, 3)>>>(cubes);
    total<<<10, 64>>>(sums, rows);
    show("scale", x, n * 4);
    show("transpose", out, 70 * 50 * 4);
    show("cube", cubes, 8 * 12 * 6 * 4);
    show("total", sums, 40);
}

// Numbers of threads that are known at run time only.
static void computed_shapes(int n, int threads) {
    float *x = floats(n), *y = floats(threads * 7);
    int *cubes = (int *)floats(threads * 2 * 2 * 4 * 3);
    scale<<<(n + threads - 1) / threads, threads>>>(x, n);
    add<<<7, threads>>>(y, 1.5f);
    cube<<<dim3(threads, 2, 2), dim3(1, 2, 3)>>>(cubes);
    show("scale", x, n * 4);
    show("add", y, threads * 7 * 4);
    show("cube", cubes, threads * 2 * 2 * 2 * 3 * 4);
}

// Barriers that count, and warps, in blocks of 64, 256 and 96 threads.
static void counted_barriers() {
    float *in = floats(1024), *out = floats(1024), *turned = floats(1024);
    int *counts = (int *)floats(16);
    votes<<<4, 64>>>(counts, in);
    warps<<<3, 256>>>(out, in);
    rotate<<<5, 96, 96 * sizeof(float)>>>(turned, in, 5);
    show("votes", counts, 16);
    show("warps", out, 3 * 256 * 4);
    show("rotate", turned, 5 * 96 * 4);
}

// A block of 40 threads is not whole warps of a larger one.
static void partial_warps() {
    float *in = floats(1024), *out = floats(1024), *turned = floats(1024);
    rotate<<<4, 40, 40 * sizeof(float)>>>(turned, in, 3);
    warps<<<3, 128>>>(out, in);
    show("rotate", turned, 4 * 40 * 4);
    show("warps", out, 3 * 128 * 4);
}

// Chains in step with a launch of the same block and of another.
static void chains() {
    float *x = floats(640), *y = floats(640), *in = floats(640), *sums = floats(10);
    add<<<10, 64>>>(x, 1.0f);
    total<<<9, 64>>>(sums, in);
    halve<<<10, 64>>>(x);
    add<<<5, 128>>>(y, 2.0f);
    halve<<<5, 128>>>(y);
    show("x", x, 640 * 4);
    show("y", y, 640 * 4);
    show("total", sums, 36);
}

// What one writes the other reads: never side by side, but in threads that are spread over those of the
// other.
static void dependent() {
    float *x = floats(640), *sums = floats(10);
    add<<<5, 128>>>(x, 1.0f);
    total<<<10, 64>>>(sums, x);
    show("total", sums, 40);
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1000, threads = argc > 2 ? atoi(argv[2]) : 96;
    unequal_shapes(n);
    computed_shapes(n, threads);
    counted_barriers();
    partial_warps();
    chains();
    dependent();
    printf("%s\nPASS\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
