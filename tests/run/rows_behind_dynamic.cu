// Rows that a fused kernel keeps in shared memory behind what its members have there dynamically: root mean squares,
// scaled rows, with a residual, backwards. Where the host says how much that is, launches bring the rows' memory along;
// where only the run knows, or it is nearly all that there is, rows stay where they are.
//
// usage: rows_behind_dynamic [length of a row [bytes of dynamic memory besides]]
//
// expect: 12 launches -> 3
// arguments:
// arguments: 1
// arguments: 11000
// arguments: 500 40000
// executes: 3
// executes: 3
// executes: 3
// executes: 3
// options: --sirius-opt=-buffer-promotion
// options: --sirius-opt=-row-promotion
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int ROWS = 12, THREADS = 64;

__global__ void mean_square(const float *x, float *scale, int length) {
    extern __shared__ float part[];
    float sum = 0;
    for (int j = threadIdx.x; j < length; j += THREADS) sum += x[blockIdx.x * length + j] * x[blockIdx.x * length + j];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) scale[blockIdx.x] = 1 + part[0];
}

__global__ void scaled(const float *x, const float *scale, float *y, int length) {
    for (int j = threadIdx.x; j < length; j += THREADS)
        y[blockIdx.x * length + j] = x[blockIdx.x * length + j] * scale[blockIdx.x];
}

__global__ void residual(const float *y, const float *x, float *z, int length) {
    for (int j = threadIdx.x; j < length; j += THREADS)
        z[blockIdx.x * length + j] = y[blockIdx.x * length + j] + x[blockIdx.x * length + j];
}

// Uses the last of its dynamic memory, too, so that whoever puts something there is seen.
__global__ void backwards(const float *z, float *out, int length) {
    extern __shared__ float part[];
    part[threadIdx.x] = threadIdx.x;
    for (int j = threadIdx.x; j < length; j += THREADS)
        out[blockIdx.x * length + j] = z[blockIdx.x * length + length - 1 - j] + part[threadIdx.x] - threadIdx.x;
}

static int wrong = 0;

static void run(const char *what, const std::vector<float> &x, int length, int first_bytes, int last_bytes) {
    int count = ROWS * length;
    float *from, *scale, *y, *z, *out;
    cudaMalloc(&from, count * sizeof(float));
    cudaMalloc(&scale, ROWS * sizeof(float));
    cudaMalloc(&y, count * sizeof(float));
    cudaMalloc(&z, count * sizeof(float));
    cudaMalloc(&out, count * sizeof(float));
    cudaMemcpy(from, x.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    mean_square<<<ROWS, THREADS, first_bytes>>>(from, scale, length);
    scaled<<<ROWS, THREADS>>>(from, scale, y, length);
    residual<<<ROWS, THREADS>>>(y, from, z, length);
    backwards<<<ROWS, THREADS, last_bytes>>>(z, out, length);
    std::vector<float> found(count);
    cudaMemcpy(found.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (float *buffer : {from, scale, y, z, out}) cudaFree(buffer);
    for (int i = 0; i < ROWS; i++) {
        float sum = 1;
        for (int j = 0; j < length; j++) sum += x[i * length + j] * x[i * length + j];
        for (int j = 0; j < length; j++) {
            float before = x[i * length + length - 1 - j], expected = before * sum + before;
            if (found[i * length + j] == expected) continue;
            printf("%s: %g in row %d at %d, not %g\n", what, found[i * length + j], i, j, expected);
            wrong++;
            return;
        }
    }
}

int main(int argc, char **argv) {
    int length = argc > 1 ? atoi(argv[1]) : 300, besides = argc > 2 ? atoi(argv[2]) : 0;
    std::vector<float> x(ROWS * length);
    // Small whole numbers, so that sums are exact in any order.
    for (size_t i = 0; i < x.size(); i++) x[i] = int(i * 7 % 5) - 2;
    run("known", x, length, THREADS * sizeof(float), 300);
    run("of the run", x, length, THREADS * sizeof(float) + besides, 300);
    run("nearly all", x, length, 48 << 10, THREADS * sizeof(float));
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
