// cuBLAS's first interface: letters, scalars and results by value, one handle, an error that waits. Every
// function of the header is linked.
//
// expect: 0 launches -> 0
// options: -O0
#include <cstdio>
#include <cublas.h>
#include <vector>

static int failures = 0;
static void check(const char *what, double got, double wanted) {
    if (got - wanted > 1e-5 || wanted - got > 1e-5) {
        printf("%s: %g instead of %g\n", what, got, wanted);
        failures++;
    }
}

template <class T> struct Array {
    T *device;
    int n;
    Array(std::vector<T> values) : n((int)values.size()) {
        cublasAlloc(n, sizeof(T), (void **)&device);
        cublasSetVector(n, sizeof(T), values.data(), 1, device, 1);
    }
    ~Array() { cublasFree(device); }
    std::vector<T> host() const {
        std::vector<T> values(n);
        cublasGetVector(n, sizeof(T), device, 1, values.data(), 1);
        return values;
    }
};

#define OF_ANY(T)                                                                                              \
    (void *)cublas##T##axpy, (void *)cublas##T##scal, (void *)cublas##T##copy, (void *)cublas##T##swap,        \
        (void *)cublas##T##gemv, (void *)cublas##T##gbmv, (void *)cublas##T##trmv, (void *)cublas##T##trsv,    \
        (void *)cublas##T##tbmv, (void *)cublas##T##tbsv, (void *)cublas##T##tpmv, (void *)cublas##T##tpsv,    \
        (void *)cublas##T##gemm, (void *)cublas##T##symm, (void *)cublas##T##syrk, (void *)cublas##T##syr2k,   \
        (void *)cublas##T##trmm, (void *)cublas##T##trsm,
#define OF_SYMMETRIC(T, whole, band, packed)                                                                   \
    (void *)cublas##T##whole##mv, (void *)cublas##T##whole##r, (void *)cublas##T##whole##r2,                   \
        (void *)cublas##T##band##mv, (void *)cublas##T##packed##mv, (void *)cublas##T##packed##r,              \
        (void *)cublas##T##packed##r2,
#define OF_REAL(T)                                                                                             \
    (void *)cublas##T##dot, (void *)cublas##T##ger, (void *)cublas##T##rot, (void *)cublas##T##rotg,           \
        (void *)cublas##T##rotm, (void *)cublas##T##rotmg,
#define OF_COMPLEX(T)                                                                                          \
    (void *)cublas##T##dotu, (void *)cublas##T##dotc, (void *)cublas##T##geru, (void *)cublas##T##gerc,        \
        (void *)cublas##T##rot, (void *)cublas##T##hemm, (void *)cublas##T##herk, (void *)cublas##T##her2k,

static void *const everything[] = {OF_ANY(S) OF_ANY(D) OF_ANY(C) OF_ANY(Z) OF_SYMMETRIC(S, sy, sb, sp)
    OF_SYMMETRIC(D, sy, sb, sp) OF_SYMMETRIC(C, he, hb, hp) OF_SYMMETRIC(Z, he, hb, hp) OF_REAL(S) OF_REAL(D)
    OF_COMPLEX(C) OF_COMPLEX(Z)
    (void *)cublasSnrm2, (void *)cublasDnrm2, (void *)cublasScnrm2, (void *)cublasDznrm2,
    (void *)cublasSasum, (void *)cublasDasum, (void *)cublasScasum, (void *)cublasDzasum,
    (void *)cublasIsamax, (void *)cublasIdamax, (void *)cublasIcamax, (void *)cublasIzamax,
    (void *)cublasIsamin, (void *)cublasIdamin, (void *)cublasIcamin, (void *)cublasIzamin,
    (void *)cublasCsscal, (void *)cublasZdscal, (void *)cublasCsrot, (void *)cublasZdrot};

int main() {
    for (void *function : everything) failures += !function;
    // The library begins by itself since CUDA 13, so that cublasInit is not needed.
    void *place = 0;
    check("before cublasInit", cublasAlloc(1, 4, &place), CUBLAS_STATUS_SUCCESS);
    check("freed", cublasFree(place), CUBLAS_STATUS_SUCCESS);
    check("no error yet", cublasGetError(), CUBLAS_STATUS_SUCCESS);
    check("cublasInit", cublasInit(), CUBLAS_STATUS_SUCCESS);
    check("cublasInit again", cublasInit(), CUBLAS_STATUS_SUCCESS);
    {
        // Columns: (1 2), (3 4) and (5 6), (7 8).
        Array<double> a({1, 2, 3, 4}), b({5, 6, 7, 8}), c({1, 1, 1, 1});
        cublasDgemm('n', 'T', 2, 2, 2, 2.0, a.device, 2, b.device, 2, 3.0, c.device, 2);
        std::vector<double> product = c.host();
        double wanted[] = {2 * 26 + 3, 2 * 38 + 3, 2 * 30 + 3, 2 * 44 + 3};
        for (int i = 0; i < 4; i++) check("gemm", product[i], wanted[i]);
        // The upper triangle of a is (1 3; 0 4).
        cublasDtrmm('L', 'U', 'N', 'N', 2, 2, 1.0, a.device, 2, b.device, 2);
        std::vector<double> in_place = b.host();
        double triangle[] = {5 + 18, 24, 7 + 24, 32};
        for (int i = 0; i < 4; i++) check("trmm", in_place[i], triangle[i]);
        cublasDtrsm('l', 'u', 'n', 'n', 2, 2, 1.0, a.device, 2, b.device, 2);
        std::vector<double> solved = b.host();
        for (int i = 0; i < 4; i++) check("trsm", solved[i], 5 + i);
        cublasDgemm('X', 'N', 2, 2, 2, 1.0, a.device, 2, b.device, 2, 0.0, c.device, 2);
        check("a letter that is none", cublasGetError(), CUBLAS_STATUS_INVALID_VALUE);
        check("dot", cublasDdot(4, a.device, 1, b.device, 1), 5 + 12 + 21 + 32);
        check("amax", cublasIdamax(4, a.device, 1), 4);
    }
    {
        Array<float> x({3, -4}), y({1, 2});
        check("nrm2", cublasSnrm2(2, x.device, 1), 5);
        check("asum", cublasSasum(2, x.device, 1), 7);
        cublasSaxpy(2, 0.5f, x.device, 1, y.device, 1);
        cublasSrot(2, x.device, 1, y.device, 1, 0.0f, 1.0f);
        std::vector<float> turned = x.host();
        check("axpy and rot", turned[0], 2.5);
        check("axpy and rot", turned[1], 0);
        Array<cuComplex> z({make_cuComplex(1, 2), make_cuComplex(0, 1)});
        cublasCscal(2, make_cuComplex(0, 1), z.device, 1);
        cuComplex sum = cublasCdotc(2, z.device, 1, z.device, 1), plain = cublasCdotu(2, z.device, 1, z.device, 1);
        check("dotc", sum.x, 6);
        check("dotc", sum.y, 0);
        // (-2 + i)^2 + (-1)^2.
        check("dotu", plain.x, 4);
        check("dotu", plain.y, -4);
        Array<cuDoubleComplex> w({make_cuDoubleComplex(3, 4)});
        check("dznrm2", cublasDznrm2(1, w.device, 1), 5);
    }
    check("no error since", cublasGetError(), CUBLAS_STATUS_SUCCESS);
    check("cublasShutdown", cublasShutdown(), CUBLAS_STATUS_SUCCESS);
    printf(failures ? "FAIL\n" : "PASS\n");
    return failures != 0;
}
