// Two launches that need nothing of each other, one with blocks of 1,024 threads and one with small ones. Side by side a multiprocessor
// holds few blocks of either, so that this takes longer where the grids are large. Only the run knows them, and asks. In the twin the
// second reads what the first adds up. Arguments are rows, columns, and whether it is the twin.
//
// expect: 4 launches -> 3
// executes: 1 2 1 2 2
// arguments: 20 64 0
// arguments: 40 3200 0
// arguments: 1 32 0
// arguments: 20 64 1
// arguments: 40 960 1
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

const int WARP = 32, THREADS = 1024;

// The sums of columns, 32 of them to a block.
__global__ void sum_columns(float *sums, const float *in, int rows, int columns) {
    extern __shared__ float parts[];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    float sum = 0;
    for (int row = warp; row < rows; row += warps) sum += in[row * columns + blockIdx.x * WARP + lane];
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = 0;
        for (int w = 0; w < warps; ++w) sum += parts[w * WARP + lane];
        sums[blockIdx.x * WARP + lane] += sum;
    }
}
__global__ void windows(float *out, const float *in, int terms, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = 0;
    for (int k = 0; k < terms; ++k) sum += in[(i + k) % count];
    out[i] = sum;
}
__global__ void add_sums(float *out, const float *in, const float *sums, int columns, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[i] + sums[i % columns];
}

int main(int argc, char **argv) {
    int rows = argc > 1 ? std::atoi(argv[1]) : 20, columns = argc > 2 ? std::atoi(argv[2]) : 64;
    int terms = argc > 4 ? std::atoi(argv[4]) : 3;
    bool twin = argc > 3 && std::atoi(argv[3]);
    int count = rows * columns;
    std::vector<float> host(count), result(count), sums(columns);
    for (int i = 0; i < count; ++i) host[i] = i % 16 / 4.0f;
    float *in, *out, *all;
    cudaMalloc(&in, count * sizeof(float));
    cudaMalloc(&out, count * sizeof(float));
    cudaMalloc(&all, columns * sizeof(float));
    cudaMemcpy(in, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(all, sums.data(), columns * sizeof(float), cudaMemcpyHostToDevice);
    if (twin) {
        sum_columns<<<columns / WARP, THREADS, THREADS * sizeof(float)>>>(all, in, rows, columns);
        add_sums<<<(count + 127) / 128, 128>>>(out, in, all, columns, count);
    } else {
        sum_columns<<<columns / WARP, THREADS, THREADS * sizeof(float)>>>(all, in, rows, columns);
        windows<<<(count + 127) / 128, 128>>>(out, in, terms, count);
    }
    cudaMemcpy(result.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(sums.data(), all, columns * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int column = 0; column < columns; ++column) {
        float sum = 0;
        for (int row = 0; row < rows; ++row) sum += host[row * columns + column];
        wrong += sum != sums[column];
    }
    for (int i = 0; i < count; ++i) {
        float expected = twin ? host[i] + sums[i % columns] : 0;
        for (int k = 0; k < terms && !twin; ++k) expected += host[(i + k) % count];
        wrong += result[i] != expected;
    }
    printf("%s\n", wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
