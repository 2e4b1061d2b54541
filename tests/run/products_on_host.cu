// cuBLASXt's products of matrices in host and device memory, compared with sums written out.
//
// expect: 0 launches -> 0
#include <cmath>
#include <complex>
#include <cstdio>
#include <cublasXt.h>
#include <cuda_runtime.h>
#include <vector>

static int failures = 0;

static void same(const char *what, long long got, long long expected) {
    if (got != expected && failures++ < 20) printf("%s: %lld instead of %lld\n", what, got, expected);
}
template <typename T>
static void close(const char *what, T got, T expected, double tolerance) {
    if (!(std::abs(got - expected) <= tolerance) && failures++ < 20)
        printf("%s: %g %g\n", what, (double)std::abs(got), (double)std::abs(expected));
}

template <typename T>
static T *on_device(const std::vector<T> &values) {
    T *data;
    cudaMalloc(&data, values.size() * sizeof(T));
    cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return data;
}

template <typename T>
static std::vector<T> some(int n) {
    std::vector<T> x(n);
    for (int i = 0; i < n; i++) x[i] = T(std::sin(i * 0.9) + i % 3);
    return x;
}

template <typename T, typename C, typename F>
static void product(const char *what, F multiply, T unit, double tolerance) {
    const int m = 7, n = 5, k = 9, leading = 11;
    cublasXtHandle_t handle;
    int devices[] = {0, 1}, tile = 0;
    same("create", cublasXtCreate(&handle), 0);
    same("select", cublasXtDeviceSelect(handle, 1, devices), 0);
    same("two", cublasXtDeviceSelect(handle, 2, devices), CUBLAS_STATUS_INVALID_VALUE);
    same("tile", cublasXtSetBlockDim(handle, 4), 0);
    same("tile", cublasXtGetBlockDim(handle, &tile), 0);
    same("tile", tile, 4);
    std::vector<T> a = some<T>(leading * 9), b = some<T>(leading * 9), c = some<T>(leading * n);
    for (size_t i = 0; i < a.size(); i++) a[i] += unit * T((double)(i % 4)), b[i] -= unit * T((double)(i % 3));
    T alpha = T(2) + unit, beta = T(0.5), zero = T(0);
    auto element = [&](const std::vector<T> &of, int operation, int row, int column) {
        if (operation == 0) return of[column * leading + row];
        T value = of[row * leading + column];
        return operation == 1 || std::imag(unit) == 0 ? value : value + T(-2) * unit * T(std::imag(value));
    };
    for (int left : {0, 1, 2})
        for (int right : {0, 1, 2}) {
            std::vector<T> got = c, plain(leading * n, T(NAN));
            T *on_the_device = on_device(b);
            same(what, multiply(handle, (cublasOperation_t)left, (cublasOperation_t)right, m, n, k, (C *)&alpha, (C *)a.data(), leading,
                                (C *)on_the_device, leading, (C *)&beta, (C *)got.data(), leading), 0);
            same(what, multiply(handle, (cublasOperation_t)left, (cublasOperation_t)right, m, n, k, (C *)&alpha, (C *)a.data(), leading,
                                (C *)b.data(), leading, (C *)&zero, (C *)plain.data(), leading), 0);
            cudaFree(on_the_device);
            for (int r = 0; r < m; r++)
                for (int column = 0; column < n; column++) {
                    T sum = 0;
                    for (int i = 0; i < k; i++) sum += element(a, left, r, i) * element(b, right, i, column);
                    close(what, got[column * leading + r], alpha * sum + beta * c[column * leading + r], tolerance);
                    close(what, plain[column * leading + r], alpha * sum, tolerance);
                }
            for (int r = m; r < leading; r++) close("between", got[r], c[r], 0);
        }
    same("too small", multiply(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, (C *)&alpha, (C *)a.data(), m - 1, (C *)b.data(), leading, (C *)&zero, (C *)c.data(), leading), CUBLAS_STATUS_INVALID_VALUE);
    same("destroy", cublasXtDestroy(handle), 0);
}

int main() {
    product<float, float>("float", cublasXtSgemm, 0.0f, 1e-3);
    product<double, double>("double", cublasXtDgemm, 0.0, 1e-12);
    product<std::complex<float>, cuComplex>("complex floats", cublasXtCgemm, {0, 1}, 1e-3);
    product<std::complex<double>, cuDoubleComplex>("complex doubles", cublasXtZgemm, {0, 1}, 1e-12);
    printf(failures ? "FAIL\n" : "PASS\n");
    return failures != 0;
}
