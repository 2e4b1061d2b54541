// Kernels that together have more static shared memory than a block may: barriers between them let
// them have it one after the other, and side by side each block needs only what its own kernel has.
//
// expect: 12 launches -> 4
#include <cstdio>
#include <vector>

constexpr int threads = 128, blocks = 8, count = threads * blocks;

// Each thread spreads its element over a column of its own and sums it up; the columns of a block are
// exchanged in a way that needs a barrier.
template <int Rows, int Turn> __global__ void exchange(float *y, const float *x) {
    __shared__ float tile[Rows][threads];
    int i = blockIdx.x * threads + threadIdx.x;
    for (int row = 0; row < Rows; row++) tile[row][threadIdx.x] = x[i] + row;
    __syncthreads();
    float sum = 0;
    for (int row = 0; row < Rows; row++) sum += tile[row][(threadIdx.x + Turn) % threads] * (row % 3);
    y[i] = sum * 0.0625f;
}

// Blocks of half as many threads, with a tile of 25 KiB.
__global__ void mirror(float *y, const float *x) {
    __shared__ float tile[100][threads / 2];
    int t = threadIdx.x, i = blockIdx.x * (threads / 2) + t;
    for (int row = 0; row < 100; row++) tile[row][threads / 2 - 1 - t] = x[i] + row;
    __syncthreads();
    y[i] = tile[i % 100][t];
}

static void on_host(std::vector<float> &values, int rows, int turn) {
    std::vector<float> before = values;
    for (int i = 0; i < count; i++) {
        int block = i / threads * threads;
        float other = before[block + (i - block + turn) % threads], sum = 0;
        for (int row = 0; row < rows; row++) sum += (other + row) * (row % 3);
        values[i] = sum * 0.0625f;
    }
}

int main() {
    std::vector<float> host(count), got(count);
    for (int i = 0; i < count; i++) host[i] = i % 8;
    float *x, *y, *z, *u;
    cudaMalloc(&x, count * sizeof(float));
    cudaMalloc(&y, count * sizeof(float));
    cudaMalloc(&z, count * sizeof(float));
    cudaMalloc(&u, count * sizeof(float));
    int wrong = 0;
    auto expect = [&](const char *what, const float *device) {
        cudaMemcpy(got.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost);
        for (int i = 0; i < count; i++)
            if (got[i] != host[i] && wrong++ < 5) std::printf("%s: element %d is %f and not %f\n", what, i, got[i], host[i]);
    };

    // 20 KiB each: the third has to wait for the first two.
    cudaMemcpy(x, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    exchange<40, 0><<<blocks, threads>>>(y, x);
    exchange<40, 1><<<blocks, threads>>>(z, y);
    exchange<40, 2><<<blocks, threads>>>(u, z);
    for (int turn = 0; turn < 3; turn++) on_host(host, 40, turn);
    expect("three", u);

    // 30 KiB each, in one thread each but for the tiles: a barrier between any two.
    for (int i = 0; i < count; i++) host[i] = i % 4;
    cudaMemcpy(x, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    exchange<60, 0><<<blocks, threads>>>(y, x);
    exchange<60, 0><<<blocks, threads>>>(z, y);
    exchange<60, 5><<<blocks, threads>>>(u, z);
    exchange<60, 0><<<blocks, threads>>>(x, u);
    for (int turn : {0, 0, 5, 0}) on_host(host, 60, turn);
    expect("four", x);

    // Side by side, 55 KiB together.
    exchange<60, 1><<<blocks, threads>>>(y, x);
    exchange<50, 1><<<blocks / 2, threads>>>(z, u);
    on_host(host, 60, 1);
    expect("beside", y);

    std::vector<float> numbers(count);
    for (int i = 0; i < count; i++) numbers[i] = i % 31;
    cudaMemcpy(u, numbers.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    // A chain of two that take turns beside one with blocks of another size, 85 KiB together.
    exchange<60, 0><<<blocks, threads>>>(x, y);
    mirror<<<blocks * 2, threads / 2>>>(z, u);
    exchange<60, 2><<<blocks, threads>>>(y, x);
    for (int turn : {0, 2}) on_host(host, 60, turn);
    expect("chain beside", y);
    for (int i = 0; i < count; i++) {
        int t = i % (threads / 2);
        host[i] = numbers[i - t + threads / 2 - 1 - t] + i % 100;
    }
    expect("mirror", z);

    std::printf(wrong ? "FAIL\n" : "PASS\n");
    cudaFree(x);
    cudaFree(y);
    cudaFree(z);
    cudaFree(u);
    return wrong != 0;
}
