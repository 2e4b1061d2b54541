// Launches that are one only where a run says so: on streams that may be one, with sizes that may be equal.
//
// arguments:
// arguments: apart
// expect: 12 launches -> 7
// expect-missed: copy_between
// expect-missed: copy_between
// expect-missed: global_dependence
// expect-missed: copy_between
// expect-missed: copy_between
// expect-missed: stream
// executes: 7
// executes: 12
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int count = 4096, threads = 128;

__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

__global__ void shift(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1.0f;
}

// Rows of a matrix, the threads of a row beside each other.
__global__ void fill_rows(float *y, const float *x, int width, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column < columns) y[row * width + column] = 2.0f * x[row * width + column];
}

__global__ void add_rows(float *z, const float *y, int columns, int pitch) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column < columns) z[row * pitch + column] = y[row * pitch + column] + 1.0f;
}

// Elements by steps of the grid, and by steps that the host computed.
__global__ void halve(float *y, const float *x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 0.5f * x[i];
}

__global__ void less_one(float *y, const float *x, int n, int step) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) y[i] = x[i] - 1.0f;
}

static int blocks(int n) { return (n + threads - 1) / threads; }

// A library that is given its streams.
__attribute__((noinline)) void on_two(float *a, float *b, float *c, cudaStream_t one, cudaStream_t two) {
    scale<<<blocks(count), threads, 0, one>>>(b, a, count);
    shift<<<blocks(count), threads, 0, two>>>(c, b, count);
}

// The second is the default stream, which the first may be.
__attribute__((noinline)) void on_default(float *a, float *b, float *c, cudaStream_t one) {
    shift<<<blocks(count), threads, 0, one>>>(b, a, count);
    scale<<<blocks(count), threads>>>(c, b, count);
}

// Two widths of one matrix.
__attribute__((noinline)) void rows(float *a, float *b, float *c, int width, int pitch) {
    fill_rows<<<dim3(blocks(100), 20), threads>>>(b, a, width, 100);
    add_rows<<<dim3(blocks(100), 20), threads>>>(c, b, 100, pitch);
}

// A width that the host knows and one that it is told.
__attribute__((noinline)) void rows_of_known(float *a, float *b, float *c, int pitch) {
    fill_rows<<<dim3(blocks(100), 20), threads>>>(b, a, 100, 100);
    add_rows<<<dim3(blocks(100), 20), threads>>>(c, b, 100, pitch);
}

// Eight blocks, and a step that may be that of all their threads; a smaller one repeats elements.
__attribute__((noinline)) void steps(float *a, float *b, float *c, int step) {
    halve<<<8, threads>>>(b, a, count);
    less_one<<<8, threads>>>(c, b, count, step);
}

int main(int argc, char **) {
    float *a, *b, *c, *d;
    const size_t bytes = count * sizeof(float);
    std::vector<float> host(count);
    for (int i = 0; i < count; ++i) host[i] = (float)(i % 100);
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&c, bytes);
    cudaMalloc(&d, bytes);
    cudaMemcpy(a, host.data(), bytes, cudaMemcpyHostToDevice);
    cudaStream_t one, two;
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    const bool same = argc < 2;
    int wrong = 0;
    auto expect = [&](const float *device, auto value, const char *what) {
        cudaDeviceSynchronize();
        cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost);
        for (int i = 0; i < count; ++i) {
            if (host[i] == value((float)(i % 100))) continue;
            printf("%s: element %d is %g\n", what, i, host[i]);
            ++wrong;
            return;
        }
    };
    on_two(a, b, c, one, same ? one : two);
    expect(c, [](float x) { return 2 * x + 1; }, "two streams");
    on_default(c, b, d, same ? nullptr : two);
    expect(d, [](float x) { return 2 * (2 * x + 2); }, "a stream and the default one");

    // Rows of 100 elements, or what overlapping and spread rows make of them.
    auto element = [&](const float *device, int row, int width, int column) {
        float value;
        cudaMemcpy(&value, device + row * width + column, sizeof(float), cudaMemcpyDeviceToHost);
        return value;
    };
    cudaMemset(b, 0, bytes);
    rows(a, b, c, 100, same ? 100 : 101);
    rows_of_known(a, b, d, same ? 100 : 99);
    for (int row = 0; row < 20; ++row)
        for (float *device : {c, d}) {
            const int width = same ? 100 : device == c ? 101 : 99;
            const float value = element(device, row, width, 50);
            if (value == 2.0f * ((row * width + 50) % 100) + 1) continue;
            printf("row %d of width %d: %g\n", row, width, value);
            ++wrong;
        }
    steps(a, b, c, same ? 8 * threads : 4 * threads);
    expect(c, [](float x) { return 0.5f * x - 1; }, "steps");

    // Streams that were just made are two; what they share is ordered by the default one's rules.
    scale<<<blocks(count), threads, 0, one>>>(b, a, count);
    shift<<<blocks(count), threads>>>(c, b, count);
    expect(c, [](float x) { return 2 * x + 1; }, "a made stream and the default one");
    // What one stream waits for another by is not passed.
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
