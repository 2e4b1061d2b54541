// Copies, fills, frees and allocations between launches: memory that comes back at the same
// address, copies on the device, rows with a pitch, asynchronous copies from memory that changes,
// symbols, allocation in a stream's order.
//
// expect: 37 launches -> 26
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int count = 256, threads = 64, blocks = count / threads;
constexpr size_t bytes = count * sizeof(float);

__constant__ float weight[4];
__device__ float table[count];
__device__ float *where;

__global__ void scale(float *y, const float *x, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = by * x[i];
}

__global__ void weigh(float *y, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = weight[i % 4] * x[i];
}

__global__ void to_table(const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    table[i] = x[i] + 1.0f;
}

__global__ void from_table(float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2.0f * table[i];
}

__global__ void through_where(float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = where[i] + 0.5f;
}

static int wrong = 0;
static float host[count];

template <class Expected> static void expect(const float *device, Expected value, const char *what) {
    float found[count];
    cudaMemcpy(found, device, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) {
        if (found[i] != (float)value(i)) {
            printf("%s: element %d is %g, not %g\n", what, i, found[i], (float)value(i));
            wrong++;
            return;
        }
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) {
        printf("error: %s\n", cudaGetErrorString(status));
        exit(1);
    }
}

// The temporary is freed between its reader and the next launch, whose memory takes its place.
static float *chain(const float *x, int rounds) {
    float *result;
    check(cudaMalloc(&result, bytes));
    scale<<<blocks, threads>>>(result, x, 1.0f);
    for (int round = 0; round < rounds; round++) {
        float *temporary;
        check(cudaMalloc(&temporary, bytes));
        scale<<<blocks, threads>>>(temporary, result, 2.0f);
        check(cudaFree(result));
        check(cudaMalloc(&result, bytes));
        scale<<<blocks, threads>>>(result, temporary, 3.0f);
        check(cudaFree(temporary));
    }
    return result;
}

int main(int argc, char **) {
    float *x, *y, *z;
    for (int i = 0; i < count; i++) host[i] = i;
    check(cudaMalloc(&x, bytes));
    check(cudaMalloc(&y, bytes));
    check(cudaMalloc(&z, bytes));
    check(cudaMemcpy(x, host, bytes, cudaMemcpyHostToDevice));

    // The same address in two lives.
    float *first, *second;
    check(cudaMalloc(&first, bytes));
    scale<<<blocks, threads>>>(first, x, 2.0f);
    scale<<<blocks, threads>>>(y, first, 3.0f);
    check(cudaFree(first));
    check(cudaMalloc(&second, bytes));
    scale<<<blocks, threads>>>(second, x, 5.0f);
    scale<<<blocks, threads>>>(z, second, 7.0f);
    check(cudaFree(second));
    expect(y, [](int i) { return 6 * i; }, "first life");
    expect(z, [](int i) { return 35 * i; }, "second life");
    float *end = chain(x, 2 * argc);
    expect(end, [](int i) { return 36 * i; }, "chain");
    check(cudaFree(end));

    // Copies and fills between, of that memory and of other memory.
    scale<<<blocks, threads>>>(y, x, 2.0f);
    check(cudaMemcpy(z, y, bytes, cudaMemcpyDeviceToDevice));
    scale<<<blocks, threads>>>(y, y, 3.0f);
    expect(z, [](int i) { return 2 * i; }, "copied between");
    expect(y, [](int i) { return 6 * i; }, "after the copy");
    scale<<<blocks, threads>>>(y, x, 2.0f);
    check(cudaMemset(y + count / 2, 0, bytes / 2));
    scale<<<blocks, threads>>>(z, y, 3.0f);
    expect(z, [](int i) { return i < count / 2 ? 6 * i : 0; }, "half filled between");
    scale<<<blocks, threads>>>(y, x, 2.0f);
    check(cudaMemset(z, 0, bytes));
    scale<<<blocks, threads>>>(z, y, 3.0f);
    expect(z, [](int i) { return 6 * i; }, "overwritten fill");
    scale<<<blocks, threads>>>(y, x, 2.0f);
    check(cudaMemcpy(x, y, bytes / 2, cudaMemcpyDeviceToDevice));
    scale<<<blocks, threads>>>(z, y, 3.0f);
    scale<<<blocks, threads>>>(y, x, 1.0f);
    expect(y, [](int i) { return i < count / 2 ? 2 * i : i; }, "source overwritten between");
    check(cudaMemcpy2D(x, 64, host, 64, 64, bytes / 64, cudaMemcpyHostToDevice));
    scale<<<blocks, threads>>>(y, x, 2.0f);
    check(cudaMemcpy2D(y, 128, x, 128, 64, bytes / 128, cudaMemcpyDeviceToDevice));
    scale<<<blocks, threads>>>(z, y, 3.0f);
    expect(z, [](int i) { return i % 32 < 16 ? 3 * i : 6 * i; }, "rows between");

    // The host's array changes at once after an asynchronous copy.
    check(cudaMemcpyAsync(x, host, bytes, cudaMemcpyHostToDevice));
    memset(host, 0, bytes);
    scale<<<blocks, threads>>>(y, x, 2.0f);
    check(cudaMemcpyAsync(x, host, bytes, cudaMemcpyHostToDevice));
    scale<<<blocks, threads>>>(z, x, 2.0f);
    expect(y, [](int i) { return 2 * i; }, "first asynchronous copy");
    expect(z, [](int) { return 0; }, "second asynchronous copy");
    for (int i = 0; i < count; i++) host[i] = i;
    check(cudaMemcpy(x, host, bytes, cudaMemcpyHostToDevice));

    // Symbols: written by copies and kernels, read by kernels and copies, and a pointer in one.
    float weights[4] = {1, 2, 3, 4};
    check(cudaMemcpyToSymbol(weight, weights, sizeof weights));
    weigh<<<blocks, threads>>>(y, x);
    weights[0] = 10;
    check(cudaMemcpyToSymbol(weight, weights, sizeof(float)));
    weigh<<<blocks, threads>>>(z, y);
    expect(z, [](int i) { return i * (i % 4 + 1) * (i % 4 ? i % 4 + 1 : 10); }, "weights");
    to_table<<<blocks, threads>>>(x);
    from_table<<<blocks, threads>>>(y);
    expect(y, [](int i) { return 2 * (i + 1); }, "table");
    to_table<<<blocks, threads>>>(y);
    check(cudaMemcpyFromSymbol(host, table, bytes));
    check(cudaMemcpyToSymbol(table, x, bytes, 0, cudaMemcpyDeviceToDevice));
    from_table<<<blocks, threads>>>(z);
    for (int i = 0; i < count; i++) wrong += host[i] != 2 * (i + 1) + 1;
    expect(z, [](int i) { return 2 * i; }, "copied table");
    void *address;
    check(cudaGetSymbolAddress(&address, table));
    to_table<<<blocks, threads>>>(x);
    scale<<<blocks, threads>>>(y, (float *)address, 2.0f);
    scale<<<blocks, threads>>>((float *)address, x, 4.0f);
    from_table<<<blocks, threads>>>(z);
    expect(y, [](int i) { return 2 * (i + 1); }, "address of the table");
    expect(z, [](int i) { return 8 * i; }, "table by its address");
    check(cudaMemcpyToSymbol(where, &y, sizeof y));
    scale<<<blocks, threads>>>(y, x, 2.0f);
    through_where<<<blocks, threads>>>(z);
    scale<<<blocks, threads>>>(y, z, 2.0f);
    expect(y, [](int i) { return 4 * i + 1; }, "pointer in a symbol");
    float *none = nullptr;
    check(cudaMemcpyToSymbol(where, &none, sizeof none));

    // In a stream's order.
    cudaStream_t stream;
    check(cudaStreamCreate(&stream));
    float *async;
    check(cudaMallocAsync((void **)&async, bytes, stream));
    scale<<<blocks, threads, 0, stream>>>(async, x, 2.0f);
    scale<<<blocks, threads, 0, stream>>>(y, async, 3.0f);
    check(cudaFreeAsync(async, stream));
    check(cudaMallocAsync((void **)&async, bytes, stream));
    scale<<<blocks, threads, 0, stream>>>(async, y, 2.0f);
    scale<<<blocks, threads, 0, stream>>>(z, async, 3.0f);
    check(cudaFreeAsync(async, stream));
    check(cudaStreamSynchronize(stream));
    expect(z, [](int i) { return 36 * i; }, "in order of the stream");

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
