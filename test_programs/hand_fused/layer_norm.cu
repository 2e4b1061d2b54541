// The layer normalisation of layer_norm.cu as one kernel, as one writes it by hand: a row is read once,
// kept in shared memory while its mean and its variance are found, and written once. What the compiler
// makes of the three kernels is measured by it.
//
// usage: layer_norm [rows [columns]]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                       \
    do {                                                                                  \
        cudaError_t status = (call);                                                      \
        if (status != cudaSuccess) {                                                      \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

constexpr int THREADS = 128;

__device__ float block_sum(float value, float *partial) {
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    return partial[0];
}

__global__ void layer_norm(const float *x, const float *gain, const float *bias, float *y, int columns) {
    extern __shared__ float kept[];
    __shared__ float sums[THREADS], squares[THREADS];
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += THREADS) {
        float value = x[blockIdx.x * columns + c];
        kept[c] = value;
        sum += value;
    }
    float mean = block_sum(sum, sums) / columns;
    sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += THREADS) {
        float distance = kept[c] - mean;
        sum += distance * distance;
    }
    float variance = block_sum(sum, squares) / columns;
    float scale = 1.0f / sqrtf(variance + 1e-5f);
    for (int c = threadIdx.x; c < columns; c += THREADS)
        y[blockIdx.x * columns + c] = (kept[c] - mean) * scale * gain[c] + bias[c];
}

int main(int argc, char **argv) {
    const int rows = argc > 1 ? atoi(argv[1]) : 64;
    const int columns = argc > 2 ? atoi(argv[2]) : 200;
    if (rows < 1 || columns < 1) {
        fprintf(stderr, "usage: %s [rows [columns]]\n", argv[0]);
        return 2;
    }
    const size_t count = (size_t)rows * columns;
    std::vector<float> input(count), output(count), gains(columns), biases(columns);
    for (size_t i = 0; i < count; ++i) input[i] = (float)((i * 6151) % 997) / 100.0f - 5.0f;
    for (int c = 0; c < columns; ++c) gains[c] = 1.0f + 0.01f * c, biases[c] = 0.5f - 0.02f * c;

    float *x, *y, *gain, *bias;
    CHECK(cudaMalloc(&x, count * sizeof(float)));
    CHECK(cudaMalloc(&y, count * sizeof(float)));
    CHECK(cudaMalloc(&gain, columns * sizeof(float)));
    CHECK(cudaMalloc(&bias, columns * sizeof(float)));
    CHECK(cudaMemcpy(x, input.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(gain, gains.data(), columns * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(bias, biases.data(), columns * sizeof(float), cudaMemcpyHostToDevice));
    layer_norm<<<rows, THREADS, columns * sizeof(float)>>>(x, gain, bias, y, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(output.data(), y, count * sizeof(float), cudaMemcpyDeviceToHost));
    cudaFree(x);
    cudaFree(y);
    cudaFree(gain);
    cudaFree(bias);

    unsigned hash = 2166136261u;
    int wrong = 0;
    for (int r = 0; r < rows; ++r) {
        const float *in = &input[(size_t)r * columns];
        double mean = 0.0, variance = 0.0;
        for (int c = 0; c < columns; ++c) mean += in[c] / columns;
        for (int c = 0; c < columns; ++c) variance += (in[c] - mean) * (in[c] - mean) / columns;
        for (int c = 0; c < columns; ++c) {
            float got = output[(size_t)r * columns + c];
            double expected = (in[c] - mean) / std::sqrt(variance + 1e-5) * gains[c] + biases[c];
            wrong += !(std::fabs(got - expected) <= 1e-3);
            const unsigned char *byte = (const unsigned char *)&got;
            for (size_t k = 0; k < sizeof(float); ++k) hash = (hash ^ byte[k]) * 16777619u;
        }
    }
    printf("layer_norm: %d x %d, checksum %08x\n", rows, columns, hash);
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
