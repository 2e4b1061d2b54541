// Softmax over the rows of a matrix as three kernels, one block for each row: the maximum of the
// row, the exponentials with their sum, the division.
//
// Shows: what one kernel hands to the next (a row's maximum, a row's sum) is written by one thread
// and read by all threads of the same block. The dependences have block width: the three launches
// run as one with a barrier between the segments.
//
// usage: softmax_rows [rows [columns]]
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

constexpr int THREADS = 128;

__global__ void row_maximum(const float *x, float *maximum, int columns) {
    __shared__ float partial[THREADS];
    int row = blockIdx.x;
    float best = -INFINITY;
    for (int c = threadIdx.x; c < columns; c += THREADS) best = fmaxf(best, x[row * columns + c]);
    partial[threadIdx.x] = best;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) maximum[row] = partial[0];
}

__global__ void exponentials(const float *x, const float *maximum, float *y, float *sum, int columns) {
    __shared__ float partial[THREADS];
    int row = blockIdx.x;
    float total = 0.0f;
    for (int c = threadIdx.x; c < columns; c += THREADS) {
        float e = expf(x[row * columns + c] - maximum[row]);
        y[row * columns + c] = e;
        total += e;
    }
    partial[threadIdx.x] = total;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sum[row] = partial[0];
}

__global__ void normalise(float *y, const float *sum, int columns) {
    int row = blockIdx.x;
    for (int c = threadIdx.x; c < columns; c += THREADS) y[row * columns + c] /= sum[row];
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

    float *x, *y, *maximum, *sum;
    CHECK(cudaMalloc(&x, count * sizeof(float)));
    CHECK(cudaMalloc(&y, count * sizeof(float)));
    CHECK(cudaMalloc(&maximum, rows * sizeof(float)));
    CHECK(cudaMalloc(&sum, rows * sizeof(float)));
    CHECK(cudaMemcpy(x, input.data(), count * sizeof(float), cudaMemcpyHostToDevice));

    row_maximum<<<rows, THREADS>>>(x, maximum, columns);
    exponentials<<<rows, THREADS>>>(x, maximum, y, sum, columns);
    normalise<<<rows, THREADS>>>(y, sum, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(output.data(), y, count * sizeof(float), cudaMemcpyDeviceToHost));

    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFree(maximum));
    CHECK(cudaFree(sum));

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
