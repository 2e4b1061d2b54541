// Layer normalisation over rows in three kernels, one block for each row: the mean, the variance,
// the scaled and shifted result. The launches stand in a method of a class template, behind an
// error-check macro, as libraries have them.
//
// Shows: launches that hide in methods and templates are found; error checks between launches do not
// keep them apart; row statistics have block width, so that the three run as one with barriers.
//
// usage: layer_norm [rows [columns]]
//
// expect: 3 launches -> 1
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

template <int THREADS>
__device__ float block_sum(float value) {
    __shared__ float partial[THREADS];
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    return partial[0];
}

template <int THREADS>
__global__ void row_mean(const float *x, float *mean, int columns) {
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += THREADS) sum += x[blockIdx.x * columns + c];
    sum = block_sum<THREADS>(sum);
    if (threadIdx.x == 0) mean[blockIdx.x] = sum / columns;
}

template <int THREADS>
__global__ void row_variance(const float *x, const float *mean, float *variance, int columns) {
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += THREADS) {
        float distance = x[blockIdx.x * columns + c] - mean[blockIdx.x];
        sum += distance * distance;
    }
    sum = block_sum<THREADS>(sum);
    if (threadIdx.x == 0) variance[blockIdx.x] = sum / columns;
}

template <int THREADS>
__global__ void normalise(const float *x, const float *mean, const float *variance, const float *gain,
                          const float *bias, float *y, int columns) {
    float scale = 1.0f / sqrtf(variance[blockIdx.x] + 1e-5f);
    for (int c = threadIdx.x; c < columns; c += THREADS) {
        int i = blockIdx.x * columns + c;
        y[i] = (x[i] - mean[blockIdx.x]) * scale * gain[c] + bias[c];
    }
}

template <int THREADS>
class LayerNorm {
public:
    LayerNorm(int rows, int columns) : rows_(rows), columns_(columns) {
        CHECK(cudaMalloc(&mean_, rows * sizeof(float)));
        CHECK(cudaMalloc(&variance_, rows * sizeof(float)));
    }
    ~LayerNorm() {
        cudaFree(mean_);
        cudaFree(variance_);
    }
    void forward(const float *x, const float *gain, const float *bias, float *y) {
        row_mean<THREADS><<<rows_, THREADS>>>(x, mean_, columns_);
        CHECK(cudaGetLastError());
        row_variance<THREADS><<<rows_, THREADS>>>(x, mean_, variance_, columns_);
        CHECK(cudaGetLastError());
        normalise<THREADS><<<rows_, THREADS>>>(x, mean_, variance_, gain, bias, y, columns_);
        CHECK(cudaGetLastError());
    }

private:
    int rows_, columns_;
    float *mean_ = nullptr, *variance_ = nullptr;
};

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
    {
        LayerNorm<128> norm(rows, columns);
        norm.forward(x, gain, bias, y);
        CHECK(cudaMemcpy(output.data(), y, count * sizeof(float), cudaMemcpyDeviceToHost));
    }
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
