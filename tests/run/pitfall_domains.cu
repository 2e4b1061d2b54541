// Grid-stride loops, kernels that use gridDim and blockDim, swapped and flat axes, launch bounds,
// and launches that are not quite of one shape.
//
// expect: 42 launches -> 23
#include <cstdio>
#include <vector>

constexpr int count = 4096;

__global__ void stride(float *y, const float *x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] + 1.0f;
}

__global__ void stride_turned(float *y, const float *x, int n) {
    int step = gridDim.x * blockDim.x;
    for (int i = n - 1 - (blockIdx.x * blockDim.x + threadIdx.x); i >= 0; i -= step) y[i] = 2.0f * x[i];
}

// The same elements to other threads.
__global__ void chunked(float *y, const float *x, int n) {
    int share = (n + gridDim.x * blockDim.x - 1) / (gridDim.x * blockDim.x);
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * share;
    for (int i = first; i < first + share && i < n; i++) y[i] = 3.0f * x[i];
}

// The result depends on the shape itself.
__global__ void shape(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + gridDim.x * 1000 + gridDim.y * 100 + blockDim.x + blockDim.y * 10 + blockDim.z;
}

__global__ void last_block(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x == gridDim.x - 1 && i < n) y[i] = -y[i];
}

__global__ void first_rows(float *y, const float *x, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    y[row * width + column] = x[row * width + column] + row;
}

__global__ void transposed(float *y, const float *x, int width) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    y[row * width + column] = x[row * width + column] * 2.0f;
}

__global__ void slab(float *y, const float *x) {
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int i = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
    y[i] = x[i] * 0.5f;
}

__global__ void __launch_bounds__(128, 2) bounded(float *y, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] - 1.0f;
}

template <int Block> __global__ void __launch_bounds__(Block) fixed(float *y, const float *x) {
    int i = blockIdx.x * Block + threadIdx.x;
    y[i] = x[i] * 4.0f;
}

// Unsigned arithmetic that wraps on purpose.
__global__ void wraps(float *y, const float *x, unsigned offset) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x + offset;
    i -= offset;
    y[i] = x[i] + 0.25f;
}

// Sixty-four bits, and a byte.
__global__ void wide(float *y, const float *x, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 0.5f;
}

__global__ void narrow(float *y, const float *x) {
    unsigned char lane = blockIdx.x * blockDim.x + threadIdx.x;
    y[lane] = x[lane] + 0.125f;
}

static int wrong = 0;
static float host[count];

template <class Expected> static void expect(const float *device, Expected value, const char *what) {
    static float found[count];
    cudaMemcpy(found, device, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) {
        if (found[i] != (float)value(i)) {
            printf("%s: element %d is %g, not %g\n", what, i, found[i], (float)value(i));
            wrong++;
            return;
        }
    }
}

int main(int argc, char **) {
    float *x, *y, *z;
    for (int i = 0; i < count; i++) host[i] = i;
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&y, sizeof host);
    cudaMalloc(&z, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    int blocks = 7 * argc;

    stride<<<blocks, 96>>>(y, x, count);
    stride<<<blocks, 96>>>(z, y, count);
    expect(z, [](int i) { return i + 2; }, "strides");
    stride<<<blocks, 96>>>(y, x, count);
    stride_turned<<<blocks, 96>>>(z, y, count);
    expect(z, [](int i) { return 2 * i + 2; }, "turned");
    stride<<<blocks, 96>>>(y, x, count);
    chunked<<<blocks, 96>>>(z, y, count);
    expect(z, [](int i) { return 3 * i + 3; }, "chunked");
    chunked<<<blocks, 96>>>(y, x, count);
    chunked<<<blocks, 96>>>(z, y, count);
    expect(z, [](int i) { return 9 * i; }, "chunks");
    stride<<<blocks, 96>>>(y, x, count);
    stride<<<blocks + 1, 96>>>(z, y, count);
    expect(z, [](int i) { return i + 2; }, "one block more");
    stride<<<blocks, 96>>>(y, x, count);
    stride<<<blocks, 32 * argc + 64>>>(z, y, count);
    expect(z, [](int i) { return i + 2; }, "sizes equal at run time");
    stride<<<blocks, 96>>>(y, x, count);
    stride<<<blocks, 32 * argc + 32>>>(z, y, count);
    expect(z, [](int i) { return i + 2; }, "sizes different at run time");
    stride<<<1, 1>>>(y, x, count);
    stride<<<1, 1>>>(z, y, count);
    expect(z, [](int i) { return i + 2; }, "one thread");

    shape<<<32, 128>>>(y, x, count);
    shape<<<32, 128>>>(z, y, count);
    last_block<<<32, 128>>>(z, count);
    expect(z, [](int i) { return (i < count - 128 ? 1 : -1) * (i + 64000 + 200 + 256 + 20 + 2); }, "shapes");
    shape<<<dim3(32, 1), dim3(128, 1)>>>(y, x, count);
    shape<<<64, 64>>>(z, y, count);
    last_block<<<64, 64>>>(z, count);
    expect(z, [](int i) { return (i < count - 64 ? 1 : -1) * (i + 96000 + 200 + 192 + 20 + 2); }, "two shapes");

    first_rows<<<dim3(4, 4), dim3(16, 16)>>>(y, x, 64);
    first_rows<<<dim3(4, 4), dim3(16, 16)>>>(z, y, 64);
    expect(z, [](int i) { return i + 2 * (i / 64); }, "rows");
    first_rows<<<dim3(4, 4), dim3(16, 16)>>>(y, x, 64);
    transposed<<<dim3(4, 4), dim3(16, 16)>>>(z, y, 64);
    expect(z, [](int i) { return 2 * (i + i / 64); }, "transposed");
    slab<<<dim3(2, 2, 4), dim3(4, 8, 8)>>>(y, x);
    slab<<<dim3(2, 2, 4), dim3(4, 8, 8)>>>(z, y);
    expect(z, [](int i) { return 0.25f * i; }, "slabs");
    slab<<<dim3(2, 2, 4), dim3(4, 8, 8)>>>(y, x);
    slab<<<dim3(4, 2, 2), dim3(8, 8, 4)>>>(z, y);
    expect(z, [](int i) { return 0.25f * i; }, "slabs of two shapes");
    slab<<<16, 256>>>(y, x);
    wide<<<16, 256>>>(z, y, count * (long long)argc);
    expect(z, [](int i) { return 0.5f * i + 0.5f; }, "wide");

    bounded<<<32, 128>>>(y, x);
    fixed<128><<<32, 128>>>(z, y);
    expect(z, [](int i) { return 4 * (i - 1); }, "bounds");
    fixed<256><<<16, 256>>>(y, x);
    wide<<<16, 256>>>(z, y, count);
    expect(z, [](int i) { return 4 * i + 0.5f; }, "bound of 256");
    fixed<128><<<32, 128 * argc>>>(y, x);
    fixed<64><<<64, 64 * argc>>>(z, y);
    expect(z, [](int i) { return 16 * i; }, "two bounds");

    wraps<<<32, 128>>>(y, x, 4294967295u - 2000 * argc);
    wraps<<<32, 128>>>(z, y, 4294967295u - 100 * argc);
    expect(z, [](int i) { return i + 0.5f; }, "wraps");
    cudaMemset(y, 0, sizeof host);
    cudaMemset(z, 0, sizeof host);
    narrow<<<2, 128>>>(y, x);
    narrow<<<2, 128>>>(z, y);
    expect(z, [](int i) { return i < 256 ? i + 0.25f : 0.0f; }, "narrow");

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
