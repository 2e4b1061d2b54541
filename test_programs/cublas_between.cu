// A product of matrices by cuBLAS between kernels of the program's own.
//
// Shows: a library's call is a node with known reads and writes. The two kernels that make its input run
// as one before it, and the two that work on its result run as one after it. A kernel before the call
// that has nothing to do with it moves below it, to the one that uses what it makes. A norm at the end
// is a result on the host, for which the host waits.
//
// usage: cublas_between [rows]
//
// expect: 5 launches -> 2
#include <cublas_v2.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t status = (call);                                                      \
        if (status != cudaSuccess) {                                                      \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorName(status)); \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

#define CUBLAS_CHECK(call)                                                                    \
    do {                                                                                      \
        cublasStatus_t status = (call);                                                       \
        if (status != CUBLAS_STATUS_SUCCESS) {                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cublasGetStatusName(status)); \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)

__global__ void centre(float *x, float mean, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] -= mean;
}

__global__ void scale(float *x, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}

__global__ void make_shift(float *shift, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) shift[i] = float(i % 5) - 2.0f;
}

__global__ void add(float *y, const float *shift, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += shift[i];
}

__global__ void rectify(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = y[i] > 0.0f ? y[i] : 0.0f;
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 48;
    if (n < 1 || n > 1000) {
        fprintf(stderr, "usage: %s [rows]\n", argv[0]);
        return 2;
    }
    const int elements = n * n;
    const size_t bytes = elements * sizeof(float);
    std::vector<float> a(elements), b(elements), y(elements);
    for (int i = 0; i < elements; ++i) {
        a[i] = float(i % 9);
        b[i] = float(i % 4) - 1.0f;
    }
    float *d_a, *d_b, *d_y, *d_shift;
    CUDA_CHECK(cudaMalloc(&d_a, bytes));
    CUDA_CHECK(cudaMalloc(&d_b, bytes));
    CUDA_CHECK(cudaMalloc(&d_y, bytes));
    CUDA_CHECK(cudaMalloc(&d_shift, bytes));
    CUDA_CHECK(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice));
    cublasHandle_t handle;
    CUBLAS_CHECK(cublasCreate(&handle));

    const int threads = 128, blocks = (elements + threads - 1) / threads;
    const float one = 1.0f, zero = 0.0f;
    centre<<<blocks, threads>>>(d_a, 4.0f, elements);
    scale<<<blocks, threads>>>(d_a, 0.5f, elements);
    make_shift<<<blocks, threads>>>(d_shift, elements);
    CUBLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, d_a, n, d_b, n, &zero,
                             d_y, n));
    add<<<blocks, threads>>>(d_y, d_shift, elements);
    rectify<<<blocks, threads>>>(d_y, elements);
    float norm = -1.0f;
    CUBLAS_CHECK(cublasSnrm2(handle, elements, d_y, 1, &norm));
    CUDA_CHECK(cudaMemcpy(y.data(), d_y, bytes, cudaMemcpyDeviceToHost));

    CUBLAS_CHECK(cublasDestroy(handle));
    CUDA_CHECK(cudaFree(d_a));
    CUDA_CHECK(cudaFree(d_b));
    CUDA_CHECK(cudaFree(d_y));
    CUDA_CHECK(cudaFree(d_shift));

    // All values are small multiples of a half, so that every order of summation is exact.
    int wrong = 0;
    double squares = 0.0;
    for (int column = 0; column < n; ++column) {
        for (int row = 0; row < n; ++row) {
            float sum = 0.0f;
            for (int k = 0; k < n; ++k)
                sum += (a[row + k * n] - 4.0f) * 0.5f * b[column + k * n];
            sum += float((row + column * n) % 5) - 2.0f;
            const float expected = sum > 0.0f ? sum : 0.0f;
            wrong += y[row + column * n] != expected;
            squares += double(expected) * expected;
        }
    }
    const double expected_norm = std::sqrt(squares);
    wrong += !(std::fabs(norm - expected_norm) <= 1e-4 * (expected_norm + 1.0));
    printf(wrong ? "FAIL: %d values differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
