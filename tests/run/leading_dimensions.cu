// Rows whose distance only the run knows: matrices with a leading dimension, pitched memory in bytes, a block a row.
// They run as one where rows are at least as far apart as they are long, and one after the other where they overlap.
//
// expect: 8 launches -> 4
// executes: 4 4 8
// arguments:
// arguments: 70 70
// arguments: 70 33
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int ROWS = 19;

// Each element is a function of its place, so that it does not matter who of two writes it.
__global__ void number(float *a, size_t distance, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        a[y * distance + x] = y * distance + x;
}

__global__ void twice(const float *a, float *b, size_t distance, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        b[y * distance + x] = 2 * a[y * distance + x];
}

__global__ void number_bytes(char *a, size_t pitch, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        ((float *)(a + y * pitch))[x] = y * (pitch / 4) + x;
}

__global__ void twice_bytes(const char *a, char *b, size_t pitch, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        ((float *)(b + y * pitch))[x] = 2 * ((const float *)(a + y * pitch))[x];
}

__global__ void number_rows(float *a, int columns, int distance) {
    for (int column = threadIdx.x; column < columns; column += blockDim.x)
        a[blockIdx.x * distance + column] = blockIdx.x * distance + column;
}

__global__ void twice_rows(const float *a, float *b, int columns, int distance) {
    for (int column = threadIdx.x; column < columns; column += blockDim.x)
        b[blockIdx.x * distance + column] = 2 * a[blockIdx.x * distance + column];
}

__global__ void number_batch(float *a, int n, int distance) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[blockIdx.y * distance + i] = blockIdx.y * distance + i;
}

__global__ void twice_batch(const float *a, float *b, int n, int distance) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[blockIdx.y * distance + i] = 2 * a[blockIdx.y * distance + i];
}

int main(int argc, char **argv) {
    const int width = argc > 1 ? atoi(argv[1]) : 70, distance = argc > 2 ? atoi(argv[2]) : 96;
    const int all = (ROWS - 1) * distance + width;
    float *a, *b;
    cudaMalloc(&a, all * sizeof(float));
    cudaMalloc(&b, all * sizeof(float));
    std::vector<float> host(all);
    bool right = true;
    const auto check = [&](const char *what) {
        cudaMemcpy(host.data(), b, all * sizeof(float), cudaMemcpyDeviceToHost);
        for (int i = 0; i < all; i++) {
            const float expected = distance >= width && i % distance >= width ? 0 : 2 * i;
            if (host[i] != expected && right)
                right = printf("FAIL %s at %d: %g, not %g\n", what, i, host[i], expected) == 0;
        }
        cudaMemset(b, 0, all * sizeof(float));
    };
    const dim3 threads(16, 8), blocks((width + 15) / 16, (ROWS + 7) / 8), batch((width + 31) / 32, ROWS);
    cudaMemset(b, 0, all * sizeof(float));
    number<<<blocks, threads>>>(a, distance, width, ROWS);
    twice<<<blocks, threads>>>(a, b, distance, width, ROWS);
    check("elements");
    number_bytes<<<blocks, threads>>>((char *)a, distance * sizeof(float), width, ROWS);
    twice_bytes<<<blocks, threads>>>((const char *)a, (char *)b, distance * sizeof(float), width, ROWS);
    check("bytes");
    number_rows<<<ROWS, 64>>>(a, width, distance);
    twice_rows<<<ROWS, 64>>>(a, b, width, distance);
    check("rows");
    number_batch<<<batch, 32>>>(a, width, distance);
    twice_batch<<<batch, 32>>>(a, b, width, distance);
    check("batch");
    printf(right ? "PASS\n" : "FAIL\n");
    return !right;
}
