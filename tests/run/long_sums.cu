// Sums of millions of floats by the libraries, against sums in double precision: cuBLAS adds in many partial sums. A
// handle may outlive the stream that it worked on.
//
// expect: 0 launches -> 0
// options: -O1
#include <cmath>
#include <complex>
#include <cstdio>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <vector>

static int failures = 0;
static void check(const char *what, double got, double exact) {
    double error = std::fabs(got / exact - 1);
    if (error <= 2e-6) return;
    printf("%s: %.9g instead of %.9g, off by %.1e\n", what, got, exact, error);
    failures++;
}

int main() {
    const int n = 1 << 22;
    std::vector<float> host(n);
    double sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
        host[i] = 0.3f * (i % 7 + 1);
        sum += host[i];
        squares += (double)host[i] * host[i];
    }
    float *x, *out, result, one = 1, zero = 0;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&out, 4 * sizeof(float));
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaStream_t stream;
    cublasHandle_t handle;
    cudaStreamCreate(&stream);
    cublasCreate(&handle);
    cublasSetStream(handle, stream);
    auto first = [&] {
        float value;
        cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
        return value;
    };

    cublasSnrm2(handle, n, x, 1, &result);
    check("nrm2", result, std::sqrt(squares));
    cublasSdot(handle, n, x, 1, x, 1, &result);
    check("dot", result, squares);
    cublasSasum(handle, n, x, 1, &result);
    check("asum", result, sum);
    cublasDotEx(handle, n, x, CUDA_R_32F, 1, x, CUDA_R_32F, 1, &result, CUDA_R_32F, CUDA_R_32F);
    check("dot of named types", result, squares);
    cublasSgemv(handle, CUBLAS_OP_T, n, 1, &one, x, n, x, 1, &zero, out, 1);
    check("gemv", first(), squares);
    cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, n, &one, x, n, x, n, &zero, out, 1);
    check("gemm", first(), squares);
    cublasSsyrk(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, 1, n, &one, x, n, &zero, out, 1);
    check("syrk", first(), squares);

    // As complex numbers, each with two of them as its parts.
    cuComplex *z = (cuComplex *)x, unit = {1, 0}, none = {0, 0}, product;
    cublasScnrm2(handle, n / 2, z, 1, &result);
    check("complex nrm2", result, std::sqrt(squares));
    cublasScasum(handle, n / 2, z, 1, &result);
    check("complex asum", result, sum);
    cublasCdotc(handle, n / 2, z, 1, z, 1, &product);
    check("complex dot", product.x, squares);
    cublasCgemm(handle, CUBLAS_OP_C, CUBLAS_OP_N, 1, 1, n / 2, &unit, z, n / 2, z, n / 2, &none, (cuComplex *)out, 1);
    check("complex gemm", first(), squares);

    // Whether sums may be inexact is a question that this library can be asked.
    cublasLtMatmulDesc_t description;
    signed char fast = 1;
    cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    failures += cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast) != 0;
    cublasLtMatmulDescDestroy(description);

    cudaFree(x);
    cudaFree(out);
    cudaStreamDestroy(stream);
    failures += cublasDestroy(handle) != CUBLAS_STATUS_SUCCESS;
    puts(failures ? "FAIL" : "PASS");
    return failures != 0;
}
