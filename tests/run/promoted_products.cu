// Products on tensor cores whose tiles lie in stages of shared memory that the kernel finds by a table of pointers, and
// what follows them element by element, by rows that are counted from the block's first.
//
// Shows: what is written through such a table is shared memory, so that products depend on nothing but their
// matrices, and each takes what follows it along; their rows and those behind become one loop.
//
// expect: 6 launches -> 1
// arguments: 1
// arguments: 3
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <vector>

using namespace nvcuda;

constexpr int ROWS = 128, COLUMNS = 96, DEEP = 64, TILE = 32, STEP = 16, THREADS = 128;

__global__ void product(const half *a, const half *b, half *c) {
    __shared__ __align__(32) half tiles[3 * 2 * TILE * STEP];
    __shared__ __align__(32) float sums[TILE][TILE];
    half *left[3], *right[3];
    for (int s = 0; s < 3; ++s) left[s] = tiles + s * TILE * STEP, right[s] = tiles + (3 + s) * TILE * STEP;
    const int warp = threadIdx.x / 32, row = warp / 2 * 16, column = warp % 2 * 16;
    a += blockIdx.y * TILE * DEEP, b += blockIdx.x * TILE;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    int stage = 0;
    const auto copy = [&](int k, int to) {
        const int i = threadIdx.x, half_row = i / 2, part = i % 2 * 8;
        if (i < 64)
            __pipeline_memcpy_async(left[to] + half_row * STEP + part, a + half_row * DEEP + k + part, 16);
        else
            __pipeline_memcpy_async(right[to] + (i - 64) * 8, b + (k + (i - 64) / 4) * COLUMNS + (i - 64) % 4 * 8, 16);
        __pipeline_commit();
    };
    copy(0, 0);
#pragma unroll 1
    for (int k = 0; k < DEEP; k += STEP) {
        if (k + STEP < DEEP) copy(k + STEP, (stage + 1) % 3);
        __pipeline_wait_prior(k + STEP < DEEP ? 1 : 0);
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
        wmma::load_matrix_sync(x, left[stage] + row * STEP, STEP);
        wmma::load_matrix_sync(y, right[stage] + column, TILE);
        wmma::mma_sync(sum, x, y, sum);
        stage = (stage + 1) % 3;
    }
    wmma::store_matrix_sync(&sums[row][column], sum, TILE, wmma::mem_row_major);
    __syncthreads();
    c += blockIdx.y * TILE * COLUMNS + blockIdx.x * TILE;
    for (int r = threadIdx.x / TILE; r < TILE; r += THREADS / TILE)
        c[r * COLUMNS + threadIdx.x % TILE] = __float2half(sums[r][threadIdx.x % TILE]);
}

__global__ void add_bias(half *x, const half *bias) {
    const int column = blockIdx.x * TILE + threadIdx.x % TILE;
    for (int row = blockIdx.y * TILE + threadIdx.x / TILE, end = blockIdx.y * TILE + TILE; row < end; row += THREADS / TILE)
        x[row * COLUMNS + column] = __hadd(x[row * COLUMNS + column], bias[column]);
}

__global__ void positive(const half *x, half *y) {
    const int column = blockIdx.x * TILE + threadIdx.x % TILE;
    for (int row = blockIdx.y * TILE + threadIdx.x / TILE, end = blockIdx.y * TILE + TILE; row < end; row += THREADS / TILE)
        y[column * ROWS + row] = __hmax(x[row * COLUMNS + column], __float2half(0.0f));
}

static half *numbers(size_t count, int seed, std::vector<float> &host) {
    std::vector<half> drawn(count);
    host.resize(count);
    for (size_t i = 0; i < count; ++i) drawn[i] = __float2half(host[i] = (float)((int)((i * 7 + seed * 5 + i / 11) % 9) - 4));
    half *device;
    cudaMalloc(&device, count * sizeof(half));
    cudaMemcpy(device, drawn.data(), count * sizeof(half), cudaMemcpyHostToDevice);
    return device;
}

int main(int argc, char **argv) {
    const int seed = argc > 1 ? atoi(argv[1]) : 1;
    std::vector<float> a, b[2], bias[2];
    half *left = numbers(ROWS * DEEP, seed, a), *right[2], *add[2], *sum[2], *out[2];
    for (int i = 0; i < 2; ++i) {
        right[i] = numbers(DEEP * COLUMNS, seed + 1 + i, b[i]);
        add[i] = numbers(COLUMNS, seed + 3 + i, bias[i]);
        cudaMalloc(&sum[i], ROWS * COLUMNS * sizeof(half));
        cudaMalloc(&out[i], ROWS * COLUMNS * sizeof(half));
    }
    const dim3 grid(COLUMNS / TILE, ROWS / TILE);
    product<<<grid, THREADS>>>(left, right[0], sum[0]);
    add_bias<<<grid, THREADS>>>(sum[0], add[0]);
    positive<<<grid, THREADS>>>(sum[0], out[0]);
    product<<<grid, THREADS>>>(left, right[1], sum[1]);
    add_bias<<<grid, THREADS>>>(sum[1], add[1]);
    positive<<<grid, THREADS>>>(sum[1], out[1]);
    bool right_results = cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < 2; ++i) {
        std::vector<half> got(ROWS * COLUMNS);
        cudaMemcpy(got.data(), out[i], got.size() * sizeof(half), cudaMemcpyDeviceToHost);
        for (int r = 0; r < ROWS; ++r)
            for (int c = 0; c < COLUMNS; ++c) {
                float expected = bias[i][c];
                for (int k = 0; k < DEEP; ++k) expected += a[r * DEEP + k] * b[i][k * COLUMNS + c];
                right_results &= __half2float(got[c * ROWS + r]) == std::fmax(expected, 0.0f);
            }
    }
    printf(right_results ? "PASS\n" : "FAIL\n");
    return !right_results;
}
