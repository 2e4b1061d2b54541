// Rows that are as long as a block has threads, and rows of a warp: loops that advance by the threads of the block run
// once at most. One that begins below zero may run twice.
//
// expect: 5 launches -> 2
// expect-missed: global_dependence
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int ROWS = 40, WIDTH = 128, THREADS = 128, LANES = 32;

__global__ void add_bias(const float *in, const float *bias, float *out) {
    for (int i = threadIdx.x; i < WIDTH; i += THREADS) out[blockIdx.x * WIDTH + i] = in[blockIdx.x * WIDTH + i] + bias[i];
}

__global__ void normalise(float *x) {
    __shared__ float partial[THREADS / LANES];
    float sum = 0;
    for (unsigned i = threadIdx.x; i <= WIDTH - 1; i += THREADS) sum += x[blockIdx.x * WIDTH + i];
    for (int distance = LANES / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x % LANES == 0) partial[threadIdx.x / LANES] = sum;
    __syncthreads();
    float mean = 0;
    for (int warp = 0; warp < THREADS / LANES; ++warp) mean += partial[warp] / WIDTH;
    for (size_t i = threadIdx.x; i < WIDTH; i += THREADS) x[blockIdx.x * WIDTH + i] -= mean;
}

// A warp a quarter of a row.
__global__ void scale_quarters(float *x, const float *scale) {
    const int warp = threadIdx.x / LANES;
    float *quarter = x + blockIdx.x * WIDTH + warp * LANES;
    for (int i = threadIdx.x % LANES; i < LANES; i += LANES) quarter[i] *= scale[warp];
}

// Threads below half go around twice.
__global__ void smooth(const float *x, float *out) {
    for (int i = (int)threadIdx.x - THREADS / 2; i < WIDTH; i += THREADS)
        if (i >= 0) out[blockIdx.x * WIDTH + i] = x[blockIdx.x * WIDTH + i] + x[(ROWS - 1 - blockIdx.x) * WIDTH + i];
}

__global__ void square(float *x) {
    for (int i = threadIdx.x; i < WIDTH; i += 2 * WIDTH) x[blockIdx.x * WIDTH + i] *= x[blockIdx.x * WIDTH + i];
}

int main() {
    std::vector<float> host(ROWS * WIDTH), bias(WIDTH), scale(THREADS / LANES), found(ROWS * WIDTH);
    for (int i = 0; i < ROWS * WIDTH; ++i) host[i] = i % 29;
    for (int i = 0; i < WIDTH; ++i) bias[i] = i % 3;
    for (int i = 0; i < THREADS / LANES; ++i) scale[i] = 1 + i;
    float *in, *added, *by, *factors, *out;
    cudaMalloc(&in, host.size() * sizeof(float));
    cudaMalloc(&added, host.size() * sizeof(float));
    cudaMalloc(&out, host.size() * sizeof(float));
    cudaMalloc(&by, bias.size() * sizeof(float));
    cudaMalloc(&factors, scale.size() * sizeof(float));
    cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(by, bias.data(), bias.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(factors, scale.data(), scale.size() * sizeof(float), cudaMemcpyHostToDevice);
    add_bias<<<ROWS, THREADS>>>(in, by, added);
    normalise<<<ROWS, THREADS>>>(added);
    scale_quarters<<<ROWS, THREADS>>>(added, factors);
    smooth<<<ROWS, THREADS>>>(added, out);
    square<<<ROWS, THREADS>>>(out);
    cudaMemcpy(found.data(), out, found.size() * sizeof(float), cudaMemcpyDeviceToHost);

    std::vector<double> expected(ROWS * WIDTH);
    for (int row = 0; row < ROWS; ++row) {
        double mean = 0;
        for (int i = 0; i < WIDTH; ++i) mean += (host[row * WIDTH + i] + bias[i]) / WIDTH;
        for (int i = 0; i < WIDTH; ++i)
            expected[row * WIDTH + i] = (host[row * WIDTH + i] + bias[i] - mean) * scale[i / LANES];
    }
    double worst = 0;
    for (int row = 0; row < ROWS; ++row)
        for (int i = 0; i < WIDTH; ++i) {
            const double sum = expected[row * WIDTH + i] + expected[(ROWS - 1 - row) * WIDTH + i];
            worst = std::fmax(worst, std::fabs(found[row * WIDTH + i] - sum * sum));
        }
    printf("block_wide_rows: first %g, last %g\n", found[0], found[ROWS * WIDTH - 1]);
    puts(worst < 0.05 ? "PASS" : "FAIL");
    return worst >= 0.05;
}
