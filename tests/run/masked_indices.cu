// Subscripts that are a masked or narrow part of a counter, plus something else: `base + i % 16`.
// A vectoriser may not take them for counters that go on.
//
// expect: 10 launches -> 10
#include <cstdio>

constexpr int threads = 96, blocks = 4, count = threads * blocks;

__global__ void remainder(int *y, const int *x, int base) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[blockIdx.x * base + threadIdx.x % 16];
}

__global__ void shifted(int *y, const int *x, int base) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[base + (threadIdx.x >> 2 & 7)] + x[base + (threadIdx.x & 0x18)];
}

__global__ void narrow(int *y, const int *x, int base) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char byte = threadIdx.x * 8;
    y[i] = x[base + byte];
}

__global__ void narrow_signed(int *y, const int *x, int base) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    signed char byte = threadIdx.x * 8;
    y[i] = x[base + byte];
}

__global__ void bits(int *y, const int *x, int base) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    struct { int low : 4; unsigned high : 3; } part = {(int)threadIdx.x, threadIdx.x};
    y[i] = x[base + part.low] + x[base + part.high];
}

__global__ void inner(int *y, const int *x, int base, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int k = 0; k < n; k++) sum += x[base + (k & 15)] * x[k + i % 8];
    y[i] = sum;
}

__global__ void written(int *y, const int *x, int base) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 64) y[blockIdx.x * base + (threadIdx.x * 5) % 64] = x[i];
}

__global__ void wide(int *y, const int *x, long base) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    y[i] = x[base + (i & 31)] + x[base + (unsigned short)(i * 2048) / 2048];
}

__global__ void rows(int *y, const int *x, int base) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / 8, column = i - row * 8;
    y[i] = x[base * (row % 4) + column];
}

__global__ void unrolled(int *y, const int *x, int base) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int ring[4] = {};
    for (int k = 0; k < 12; k++) ring[k % 4] += x[base + (i + k) % 8];
    y[i] = ring[0] - ring[1] + ring[2] * 3 - ring[i % 4];
}

static int wrong = 0;
static int host[count];

template <class Expected> static void expect(const int *device, Expected value, const char *what) {
    int found[count];
    cudaMemcpy(found, device, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) {
        if (found[i] != value(i)) {
            printf("%s: element %d is %d, not %d\n", what, i, found[i], value(i));
            wrong++;
            return;
        }
    }
}

int main(int argc, char **) {
    int *x, *y;
    for (int i = 0; i < count; i++) host[i] = i * i % 509;
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&y, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    remainder<<<blocks, threads>>>(y, x, argc * 7);
    expect(y, [](int i) { return host[i / threads * 7 + i % threads % 16]; }, "remainder");
    shifted<<<blocks, threads>>>(y, x, argc * 9);
    expect(y, [](int i) { return host[9 + i % threads / 4 % 8] + host[9 + (i % threads & 24)]; }, "shifted");
    narrow<<<blocks, threads>>>(y, x, argc);
    expect(y, [](int i) { return host[1 + i % threads * 8 % 256]; }, "narrow");
    narrow_signed<<<blocks, threads>>>(y, x, argc * 128);
    expect(y, [](int i) { return host[128 + (signed char)(i % threads * 8)]; }, "narrow, signed");
    bits<<<blocks, threads>>>(y, x, argc * 8);
    expect(y, [](int i) { return host[8 + (i % threads % 16 ^ 8) - 8] + host[8 + i % threads % 8]; }, "bits");
    inner<<<blocks, threads>>>(y, x, argc * 3, argc * 100);
    expect(y, [](int i) {
        int sum = 0;
        for (int k = 0; k < 100; k++) sum += host[3 + k % 16] * host[k + i % 8];
        return sum;
    }, "inner");
    cudaMemset(y, 0, sizeof host);
    written<<<blocks, threads>>>(y, x, argc * 64);
    expect(y, [](int i) {
        for (int t = 0; t < 64; t++)
            if (i < blocks * 64 && t * 5 % 64 == i % 64) return host[i / 64 * threads + t];
        return 0;
    }, "written");
    wide<<<blocks, threads>>>(y, x, argc * 5);
    expect(y, [](int i) { return 2 * host[5 + i % 32]; }, "wide");
    rows<<<blocks, threads>>>(y, x, argc * 11);
    expect(y, [](int i) { return host[11 * (i / 8 % 4) + i % 8]; }, "rows");
    unrolled<<<blocks, threads>>>(y, x, argc * 2);
    expect(y, [](int i) {
        int ring[4] = {};
        for (int k = 0; k < 12; k++) ring[k % 4] += host[2 + (i + k) % 8];
        return ring[0] - ring[1] + ring[2] * 3 - ring[i % 4];
    }, "unrolled");
    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
