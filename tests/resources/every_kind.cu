// One launch group, or one region of batches, for each form that a fused kernel can have. The host reads back
// after each, so that none joins another.
#include <cstdio>

constexpr int kCount = 4096;
constexpr int kSteps = 4, kCells = 3, kRow = 64;

__global__ void scale(const float *x, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 0.5f * x[i];
}

__global__ void shift(const float *x, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] + 3.0f;
}

__global__ void __launch_bounds__(256, 4) one_each(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * x[i];
}

// Sums up its block, in blocks of different sizes side by side.
template <int kThreads> __global__ void __launch_bounds__(kThreads, 1024 / kThreads) block_sum(const float *x, float *sums) {
    __shared__ float part[kThreads];
    part[threadIdx.x] = x[blockIdx.x * kThreads + threadIdx.x];
    for (int step = kThreads / 2; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

// Fills more shared memory than three of its kind have together.
template <int kStep> __global__ void exchange(const float *x, float *y) {
    __shared__ float tile[3840];
    int base = blockIdx.x * 64;
    for (int slot = threadIdx.x; slot < 3840; slot += 64) tile[slot] = x[base + threadIdx.x] * (slot + kStep);
    __syncthreads();
    float sum = 0;
    for (int slot = 0; slot < 3840; slot += kStep) sum += tile[slot];
    y[base + threadIdx.x] = sum;
}

// A block walks over its row twice, and so does the next kernel's.
__global__ void row_maximum(const float *x, float *maximum, int columns) {
    __shared__ float part[128];
    float best = -1e30f;
    for (int c = threadIdx.x; c < columns; c += 128) best = fmaxf(best, x[blockIdx.x * columns + c]);
    part[threadIdx.x] = best;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) maximum[blockIdx.x] = part[0];
}

__global__ void less_maximum(const float *x, const float *maximum, float *y, int columns) {
    for (int c = threadIdx.x; c < columns; c += 128)
        y[blockIdx.x * columns + c] = x[blockIdx.x * columns + c] - maximum[blockIdx.x];
}

// A cell over steps: its product with what is below, then its own state.
__global__ void __launch_bounds__(64, 4) product(const float *weight, const float *x, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < kRow; ++k) sum += weight[k * kRow + i] * x[k];
    out[i] = sum;
}

__global__ void advance(const float *product, const float *before, float *after) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    after[i] = product[i] / (1.0f + fabsf(before[i]));
}

static void show(const char *name, const float *device) {
    static float host[kCount];
    cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
    float sum = 0;
    for (float value : host) sum += value;
    printf("%s %a\n", name, sum);
}

static void in_one_loop(float *a, float *b, float *c, float *d, float *e) {
    scale<<<4, 64>>>(a, b, 1000);
    shift<<<4, 64>>>(b, c, 1000);
    scale<<<4, 64>>>(c, d, 1000);
    shift<<<4, 64>>>(d, e, 1000);
    show("loops", e);
}

static void remapped(float *a, float *b, float *c) {
    one_each<<<kCount / 256, 256>>>(a, b);
    one_each<<<kCount / 128, 128>>>(b, c);
    show("remapped", c);
}

static void side_by_side(float *a, float *b, float *c) {
    block_sum<128><<<kCount / 128, 128>>>(a, b);
    block_sum<64><<<kCount / 64, 64>>>(a + 1, c);
    show("sums", b);
    show("sums", c);
}

static void overlaid(float *a, float *b, float *c, float *d) {
    exchange<1><<<16, 64>>>(a, b);
    exchange<2><<<16, 64>>>(b, c);
    exchange<3><<<16, 64>>>(c, d);
    show("exchange", d);
}

static void rows(float *a, float *maximum, float *b, int columns) {
    row_maximum<<<8, 128>>>(a, maximum, columns);
    less_maximum<<<8, 128>>>(a, maximum, b, columns);
    show("rows", b);
}

#define STATE(cell, step) (h + ((cell) * (kSteps + 1) + (step)) * kRow)
#define CELL(cell, step)                                                                        \
    product<<<kRow / 32, 32>>>(weights, STATE(cell - 1, step), products + (cell) * kRow);       \
    advance<<<kRow / 32, 32>>>(products + (cell) * kRow, STATE(cell, step - 1), STATE(cell, step));

// Equal groups written out, which share a kernel and are launched in batches.
static void written_out(const float *weights, float *products, float *h) {
    CELL(1, 1) CELL(2, 1) CELL(1, 2) CELL(2, 2) CELL(1, 3) CELL(2, 3)
    show("written out", h);
}

// The same in loops.
static void batches(const float *weights, float *products, float *h) {
    for (int step = 1; step <= kSteps; ++step)
        for (int cell = 1; cell < kCells; ++cell) {
            CELL(cell, step)
        }
    show("batches", h);
}

static float *make() {
    static float host[kCount];
    for (int i = 0; i < kCount; ++i) host[i] = (float)(i % 37) / 8;
    float *device;
    cudaMalloc(&device, sizeof(host));
    cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
    return device;
}

int main(int count, char **) {
    float *a = make(), *b = make(), *c = make(), *d = make(), *e = make(), *f = make();
    in_one_loop(a, b, c, d, e);
    remapped(a, b, c);
    side_by_side(a, b, c);
    overlaid(a, b, c, d);
    rows(a, f, b, 500 * count);
    written_out(a, b, c);
    batches(a, b, d);
}
