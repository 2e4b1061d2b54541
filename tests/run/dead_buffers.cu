// Memory that only kernels need which run as one: it is not allocated before the originals run, and
// that of which something is left in a kernel, or that somebody asks about, is allocated as ever.
//
// arguments:
// arguments: apart 90
// expect: 21 launches -> 11
// allocates: 388064 450484
// allocates: 715744 122804
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

__global__ void accumulate(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}

// Within a block, the other way round.
__global__ void turn(float *y, const float *x) {
    int first = blockIdx.x * blockDim.x;
    y[first + threadIdx.x] = x[first + blockDim.x - 1 - threadIdx.x];
}

__global__ void blur(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + x[(i + 1) % n];
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

// Two widths of one matrix.
__attribute__((noinline)) static void rows(float *a, float *b, float *c, int width, int pitch);

static int blocks(int n) { return (n + threads - 1) / threads; }

static void rows(float *a, float *b, float *c, int width, int pitch) {
    fill_rows<<<dim3(blocks(64), 20), threads>>>(b, a, width, 64);
    add_rows<<<dim3(blocks(64), 20), threads>>>(c, b, 64, pitch);
}

static float *memory(int bytes) {
    float *pointer = nullptr;
    if (cudaMalloc(&pointer, bytes) != cudaSuccess) exit(1);
    return pointer;
}

static void expect(const char *what, const float *found, int n, float (*wanted)(int)) {
    std::vector<float> host(n);
    cudaMemcpy(host.data(), found, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        if (host[i] != wanted(i)) {
            printf("%s: %d is %g, not %g\n", what, i, host[i], wanted(i));
            exit(1);
        }
}

int main(int argc, char **argv) {
    bool apart = argc > 1 && !strcmp(argv[1], "apart");
    constexpr int bytes = count * sizeof(float);
    std::vector<float> host(count);
    for (int i = 0; i < count; i++) host[i] = i;
    float *in, *out;
    cudaMalloc(&in, bytes);
    cudaMalloc(&out, bytes);
    cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice);

    // Two intermediates, and one that nobody ever touches.
    float *first, *second, *nobody;
    cudaMalloc(&first, bytes + 1000);
    cudaMalloc(&second, bytes + 2000);
    cudaMalloc(&nobody, 3000);
    scale<<<blocks(count), threads>>>(first, in, count);
    shift<<<blocks(count), threads>>>(second, first, count);
    scale<<<blocks(count), threads>>>(out, second, count);
    cudaFree(first);
    cudaFree(second);
    cudaFree(nobody);
    expect("chain", out, count, [](int i) { return 2.0f * (2.0f * i + 1.0f); });

    // The widths are equal only where the program is told so.
    float *matrix;
    cudaMalloc(&matrix, 10 * bytes);
    int width = 100;
    rows(in, matrix, out, width, argc > 2 ? atoi(argv[2]) : width);
    cudaFree(matrix);
    expect("rows", out, 64, [](int i) { return 2.0f * i + 1.0f; });

    // What is written last may lie over what is read first.
    float *between, *several;
    cudaMalloc(&between, 20 * bytes);
    cudaMalloc(&several, 3 * bytes);
    cudaMemcpy(several, in, bytes, cudaMemcpyDeviceToDevice);
    const int distance = argc > 2 ? 1 : count;
    scale<<<blocks(count), threads>>>(between, several, count);
    shift<<<blocks(count), threads>>>(several + distance, between, count);
    cudaFree(between);
    expect("over it", several + distance, count, [](int i) { return 2.0f * i + 1.0f; });
    cudaFree(several);

    // One that begins with zeros.
    float *sum;
    cudaMalloc(&sum, bytes + 4000);
    cudaMemset(sum, 0, bytes);
    accumulate<<<blocks(count), threads>>>(sum, in, count);
    shift<<<blocks(count), threads>>>(out, sum, count);
    cudaFree(sum);
    expect("sum", out, count, [](int i) { return i + 1.0f; });

    // In each round another one.
    for (int round = 0; round < 3; round++) {
        float *passing;
        cudaMalloc(&passing, bytes + 4500);
        shift<<<blocks(count), threads>>>(passing, in, count);
        scale<<<blocks(count), threads>>>(out, passing, count);
        cudaFree(passing);
    }
    expect("rounds", out, count, [](int i) { return 2.0f * (i + 1.0f); });

    // Values that pass from thread to thread go through shared memory.
    float *turned;
    cudaMalloc(&turned, bytes + 5000);
    turn<<<blocks(count), threads>>>(turned, in);
    turn<<<blocks(count), threads>>>(out, turned);
    cudaFree(turned);
    expect("turn", out, count, [](int i) { return float(i); });

    // A neighbour in another block: nothing fuses.
    float *blurred;
    cudaMalloc(&blurred, bytes + 6000);
    scale<<<blocks(count), threads>>>(blurred, in, count);
    blur<<<blocks(count), threads>>>(out, blurred, count);
    cudaFree(blurred);
    expect("blur", out, count, [](int i) { return 2.0f * i + 2.0f * ((i + 1) % count); });

    // The host looks at it after all.
    float *seen;
    cudaMalloc(&seen, bytes + 7000);
    scale<<<blocks(count), threads>>>(seen, in, count);
    shift<<<blocks(count), threads>>>(out, seen, count);
    expect("seen", seen, count, [](int i) { return 2.0f * i; });
    cudaFree(seen);

    // Somebody asks what it is.
    float *asked;
    cudaMalloc(&asked, bytes + 8000);
    scale<<<blocks(count), threads>>>(asked, in, count);
    shift<<<blocks(count), threads>>>(out, asked, count);
    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, asked);
    if (attributes.type != cudaMemoryTypeDevice) exit(1);
    cudaFree(asked);

    // One of two, of which only a run knows which.
    float *one = memory(bytes + 9000), *other = memory(bytes + 10000);
    scale<<<blocks(count), threads>>>(apart ? one : other, in, count);
    shift<<<blocks(count), threads>>>(out, apart ? one : other, count);
    cudaFree(one);
    cudaFree(other);
    expect("one of two", out, count, [](int i) { return 2.0f * i + 1.0f; });
    cudaFree(in);
    cudaFree(out);
    if (cudaDeviceSynchronize() != cudaSuccess) exit(1);
    puts("PASS");
}
