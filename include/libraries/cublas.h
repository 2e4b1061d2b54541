/*
 * cuBLAS's first interface for machines whose toolkit comes without it: NVIDIA's own header, where there is
 * one, is found first. Names, values and types are those of NVIDIA's manual.
 */
#ifndef SIRIUS_CUBLAS_H
#define SIRIUS_CUBLAS_H

#ifdef CUBLAS_V2_H_
#error "cublas.h and cublas_v2.h give the same names to different functions: include one of them"
#endif

/* By this, programs and other headers know that it is there. */
#define CUBLAS_H_

#include <cuComplex.h>
#include <cuda_runtime_api.h>

#define CUBLASAPI
#define CUBLASWINAPI

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef cublasStatus_t cublasStatus;

cublasStatus cublasInit(void);
cublasStatus cublasShutdown(void);
cublasStatus cublasGetError(void);
cublasStatus cublasGetVersion(int *version);
cublasStatus cublasAlloc(int n, int elemSize, void **devicePtr);
cublasStatus cublasFree(void *devicePtr);
cublasStatus cublasSetKernelStream(cudaStream_t stream);
cublasStatus cublasSetVector(int n, int elemSize, const void *x, int incx, void *y, int incy);
cublasStatus cublasGetVector(int n, int elemSize, const void *x, int incx, void *y, int incy);
cublasStatus cublasSetMatrix(int rows, int cols, int elemSize, const void *A, int lda, void *B, int ldb);
cublasStatus cublasGetMatrix(int rows, int cols, int elemSize, const void *A, int lda, void *B, int ldb);

/* Functions of all four types: T stands for its letter. */
#define SIRIUS_CUBLAS_ANY(T, t) \
  void cublas##T##axpy(int n, t alpha, const t *x, int incx, t *y, int incy); \
  void cublas##T##scal(int n, t alpha, t *x, int incx); \
  void cublas##T##copy(int n, const t *x, int incx, t *y, int incy); \
  void cublas##T##swap(int n, t *x, int incx, t *y, int incy); \
  void cublas##T##gemv(char trans, int m, int n, t alpha, const t *A, int lda, const t *x, int incx, t beta, \
      t *y, int incy); \
  void cublas##T##gbmv(char trans, int m, int n, int kl, int ku, t alpha, const t *A, int lda, const t *x, \
      int incx, t beta, t *y, int incy); \
  void cublas##T##trmv(char uplo, char trans, char diag, int n, const t *A, int lda, t *x, int incx); \
  void cublas##T##trsv(char uplo, char trans, char diag, int n, const t *A, int lda, t *x, int incx); \
  void cublas##T##tbmv(char uplo, char trans, char diag, int n, int k, const t *A, int lda, t *x, int incx); \
  void cublas##T##tbsv(char uplo, char trans, char diag, int n, int k, const t *A, int lda, t *x, int incx); \
  void cublas##T##tpmv(char uplo, char trans, char diag, int n, const t *AP, t *x, int incx); \
  void cublas##T##tpsv(char uplo, char trans, char diag, int n, const t *AP, t *x, int incx); \
  void cublas##T##gemm(char transa, char transb, int m, int n, int k, t alpha, const t *A, int lda, const t *B, \
      int ldb, t beta, t *C, int ldc); \
  void cublas##T##symm(char side, char uplo, int m, int n, t alpha, const t *A, int lda, const t *B, int ldb, \
      t beta, t *C, int ldc); \
  void cublas##T##syrk(char uplo, char trans, int n, int k, t alpha, const t *A, int lda, t beta, t *C, int ldc); \
  void cublas##T##syr2k(char uplo, char trans, int n, int k, t alpha, const t *A, int lda, const t *B, int ldb, \
      t beta, t *C, int ldc); \
  void cublas##T##trmm(char side, char uplo, char trans, char diag, int m, int n, t alpha, const t *A, int lda, \
      t *B, int ldb); \
  void cublas##T##trsm(char side, char uplo, char trans, char diag, int m, int n, t alpha, const t *A, int lda, \
      t *B, int ldb);

SIRIUS_CUBLAS_ANY(S, float)
SIRIUS_CUBLAS_ANY(D, double)
SIRIUS_CUBLAS_ANY(C, cuComplex)
SIRIUS_CUBLAS_ANY(Z, cuDoubleComplex)
#undef SIRIUS_CUBLAS_ANY

#define SIRIUS_CUBLAS_RESULTS(nrm2, asum, amax, amin, t, real) \
  real cublas##nrm2(int n, const t *x, int incx); \
  real cublas##asum(int n, const t *x, int incx); \
  int cublas##amax(int n, const t *x, int incx); \
  int cublas##amin(int n, const t *x, int incx);

SIRIUS_CUBLAS_RESULTS(Snrm2, Sasum, Isamax, Isamin, float, float)
SIRIUS_CUBLAS_RESULTS(Dnrm2, Dasum, Idamax, Idamin, double, double)
SIRIUS_CUBLAS_RESULTS(Scnrm2, Scasum, Icamax, Icamin, cuComplex, float)
SIRIUS_CUBLAS_RESULTS(Dznrm2, Dzasum, Izamax, Izamin, cuDoubleComplex, double)
#undef SIRIUS_CUBLAS_RESULTS

/* Symmetric matrices of real numbers (sy, sb, sp) and Hermitian ones of complex numbers (he, hb, hp). */
#define SIRIUS_CUBLAS_SYMMETRIC(T, whole, band, packed, t, real) \
  void cublas##T##whole##mv(char uplo, int n, t alpha, const t *A, int lda, const t *x, int incx, t beta, t *y, \
      int incy); \
  void cublas##T##whole##r(char uplo, int n, real alpha, const t *x, int incx, t *A, int lda); \
  void cublas##T##whole##r2(char uplo, int n, t alpha, const t *x, int incx, const t *y, int incy, t *A, int lda); \
  void cublas##T##band##mv(char uplo, int n, int k, t alpha, const t *A, int lda, const t *x, int incx, t beta, \
      t *y, int incy); \
  void cublas##T##packed##mv(char uplo, int n, t alpha, const t *AP, const t *x, int incx, t beta, t *y, int incy); \
  void cublas##T##packed##r(char uplo, int n, real alpha, const t *x, int incx, t *AP); \
  void cublas##T##packed##r2(char uplo, int n, t alpha, const t *x, int incx, const t *y, int incy, t *AP);

SIRIUS_CUBLAS_SYMMETRIC(S, sy, sb, sp, float, float)
SIRIUS_CUBLAS_SYMMETRIC(D, sy, sb, sp, double, double)
SIRIUS_CUBLAS_SYMMETRIC(C, he, hb, hp, cuComplex, float)
SIRIUS_CUBLAS_SYMMETRIC(Z, he, hb, hp, cuDoubleComplex, double)
#undef SIRIUS_CUBLAS_SYMMETRIC

#define SIRIUS_CUBLAS_REAL(T, t) \
  t cublas##T##dot(int n, const t *x, int incx, const t *y, int incy); \
  void cublas##T##ger(int m, int n, t alpha, const t *x, int incx, const t *y, int incy, t *A, int lda); \
  void cublas##T##rot(int n, t *x, int incx, t *y, int incy, t c, t s); \
  void cublas##T##rotg(t *a, t *b, t *c, t *s); \
  void cublas##T##rotm(int n, t *x, int incx, t *y, int incy, const t *param); \
  void cublas##T##rotmg(t *d1, t *d2, t *x1, const t *y1, t *param);

SIRIUS_CUBLAS_REAL(S, float)
SIRIUS_CUBLAS_REAL(D, double)
#undef SIRIUS_CUBLAS_REAL

#define SIRIUS_CUBLAS_COMPLEX(T, real_scal, real_rot, t, real) \
  t cublas##T##dotu(int n, const t *x, int incx, const t *y, int incy); \
  t cublas##T##dotc(int n, const t *x, int incx, const t *y, int incy); \
  void cublas##real_scal(int n, real alpha, t *x, int incx); \
  void cublas##T##geru(int m, int n, t alpha, const t *x, int incx, const t *y, int incy, t *A, int lda); \
  void cublas##T##gerc(int m, int n, t alpha, const t *x, int incx, const t *y, int incy, t *A, int lda); \
  void cublas##T##rot(int n, t *x, int incx, t *y, int incy, real c, t s); \
  void cublas##real_rot(int n, t *x, int incx, t *y, int incy, real c, real s); \
  void cublas##T##hemm(char side, char uplo, int m, int n, t alpha, const t *A, int lda, const t *B, int ldb, \
      t beta, t *C, int ldc); \
  void cublas##T##herk(char uplo, char trans, int n, int k, real alpha, const t *A, int lda, real beta, t *C, \
      int ldc); \
  void cublas##T##her2k(char uplo, char trans, int n, int k, t alpha, const t *A, int lda, const t *B, int ldb, \
      real beta, t *C, int ldc);

SIRIUS_CUBLAS_COMPLEX(C, Csscal, Csrot, cuComplex, float)
SIRIUS_CUBLAS_COMPLEX(Z, Zdscal, Zdrot, cuDoubleComplex, double)
#undef SIRIUS_CUBLAS_COMPLEX

#ifdef __cplusplus
}
#endif

#endif
