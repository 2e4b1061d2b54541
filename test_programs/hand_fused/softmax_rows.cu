// The softmax of softmax_rows.cu as one kernel, as one writes it by hand: a row is read once, kept in
// shared memory while its maximum and its sum are found, and written once. What the compiler makes of
// the three kernels is measured by it.
//
// usage: softmax_rows [rows [columns]]
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

__global__ void softmax(const float *x, float *y, int columns) {
    extern __shared__ float kept[];
    __shared__ float maxima[THREADS], sums[THREADS];
    int row = blockIdx.x;
    float best = -INFINITY;
    for (int c = threadIdx.x; c < columns; c += THREADS) {
        float value = x[row * columns + c];
        kept[c] = value;
        best = fmaxf(best, value);
    }
    maxima[threadIdx.x] = best;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            maxima[threadIdx.x] = fmaxf(maxima[threadIdx.x], maxima[threadIdx.x + half]);
        __syncthreads();
    }
    best = maxima[0];
    float total = 0.0f;
    for (int c = threadIdx.x; c < columns; c += THREADS) {
        float e = expf(kept[c] - best);
        kept[c] = e;
        total += e;
    }
    sums[threadIdx.x] = total;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    total = sums[0];
    for (int c = threadIdx.x; c < columns; c += THREADS) y[row * columns + c] = kept[c] / total;
}

int main(int argc, char **argv) {
    const int rows = argc > 1 ? atoi(argv[1]) : 96;
    const int columns = argc > 2 ? atoi(argv[2]) : 300;
    if (rows < 1 || columns < 1) {
        fprintf(stderr, "usage: %s [rows [columns]]\n", argv[0]);
        return 2;
    }
    const size_t count = (size_t)rows * columns;
    std::vector<float> input(count), output(count);
    for (size_t i = 0; i < count; ++i) input[i] = (float)((i * 7919) % 1201) / 200.0f - 3.0f;

    float *x, *y;
    CHECK(cudaMalloc(&x, count * sizeof(float)));
    CHECK(cudaMalloc(&y, count * sizeof(float)));
    CHECK(cudaMemcpy(x, input.data(), count * sizeof(float), cudaMemcpyHostToDevice));

    softmax<<<rows, THREADS, columns * sizeof(float)>>>(x, y, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(output.data(), y, count * sizeof(float), cudaMemcpyDeviceToHost));

    CHECK(cudaFree(x));
    CHECK(cudaFree(y));

    unsigned hash = 2166136261u;
    int wrong = 0;
    for (int r = 0; r < rows; ++r) {
        const float *in = &input[(size_t)r * columns];
        double best = in[0], total = 0.0;
        for (int c = 0; c < columns; ++c) best = std::fmax(best, in[c]);
        for (int c = 0; c < columns; ++c) total += std::exp(in[c] - best);
        for (int c = 0; c < columns; ++c) {
            float got = output[(size_t)r * columns + c];
            double expected = std::exp(in[c] - best) / total;
            wrong += !(std::fabs(got - expected) <= 1e-4 * expected);
            const unsigned char *byte = (const unsigned char *)&got;
            for (size_t k = 0; k < sizeof(float); ++k) hash = (hash ^ byte[k]) * 16777619u;
        }
    }
    printf("softmax_rows: %d x %d, checksum %08x\n", rows, columns, hash);
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
