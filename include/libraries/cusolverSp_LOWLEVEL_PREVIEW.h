/*
 * Factors of sparse matrices that are made once and used again and again, for machines whose toolkit comes without this part of
 * cuSOLVER: NVIDIA's own header, where there is one, is found first. What stands here is what the CPU device implements.
 */
#ifndef SIRIUS_CUSOLVER_SP_LOWLEVEL_PREVIEW_H
#define SIRIUS_CUSOLVER_SP_LOWLEVEL_PREVIEW_H

/* By this, programs and other headers know that it is there. */
#define CUSOLVERSP_LOWLEVEL_PREVIEW_H_

#include <cusolverSp.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csrcholInfoHost *csrcholInfoHost_t;
typedef struct csrcholInfo *csrcholInfo_t;
typedef struct csrqrInfoHost *csrqrInfoHost_t;
typedef struct csrqrInfo *csrqrInfo_t;

cusolverStatus_t cusolverSpCreateCsrcholInfoHost(csrcholInfoHost_t *info);
cusolverStatus_t cusolverSpDestroyCsrcholInfoHost(csrcholInfoHost_t info);
cusolverStatus_t cusolverSpXcsrcholAnalysisHost(cusolverSpHandle_t handle, int n, int nnzA,
                                              const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                              const int *csrColIndA, csrcholInfoHost_t info);
cusolverStatus_t cusolverSpScsrcholBufferInfoHost(cusolverSpHandle_t handle, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const float *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, csrcholInfoHost_t info,
                                                size_t *internalDataInBytes, size_t *workspaceInBytes);
cusolverStatus_t cusolverSpScsrcholFactorHost(cusolverSpHandle_t handle, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const float *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, csrcholInfoHost_t info,
                                                void *pBuffer);
cusolverStatus_t cusolverSpScsrcholSolveHost(cusolverSpHandle_t handle, int n, const float *b, float *x, csrcholInfoHost_t info,
                                              void *pBuffer);
cusolverStatus_t cusolverSpScsrcholZeroPivotHost(cusolverSpHandle_t handle, csrcholInfoHost_t info, float tol, int *position);
cusolverStatus_t cusolverSpDcsrcholBufferInfoHost(cusolverSpHandle_t handle, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const double *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, csrcholInfoHost_t info,
                                                size_t *internalDataInBytes, size_t *workspaceInBytes);
cusolverStatus_t cusolverSpDcsrcholFactorHost(cusolverSpHandle_t handle, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const double *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, csrcholInfoHost_t info,
                                                void *pBuffer);
cusolverStatus_t cusolverSpDcsrcholSolveHost(cusolverSpHandle_t handle, int n, const double *b, double *x, csrcholInfoHost_t info,
                                              void *pBuffer);
cusolverStatus_t cusolverSpDcsrcholZeroPivotHost(cusolverSpHandle_t handle, csrcholInfoHost_t info, double tol, int *position);
cusolverStatus_t cusolverSpCreateCsrcholInfo(csrcholInfo_t *info);
cusolverStatus_t cusolverSpDestroyCsrcholInfo(csrcholInfo_t info);
cusolverStatus_t cusolverSpXcsrcholAnalysis(cusolverSpHandle_t handle, int n, int nnzA,
                                              const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                              const int *csrColIndA, csrcholInfo_t info);
cusolverStatus_t cusolverSpScsrcholBufferInfo(cusolverSpHandle_t handle, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const float *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, csrcholInfo_t info,
                                                size_t *internalDataInBytes, size_t *workspaceInBytes);
cusolverStatus_t cusolverSpScsrcholFactor(cusolverSpHandle_t handle, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const float *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, csrcholInfo_t info,
                                                void *pBuffer);
cusolverStatus_t cusolverSpScsrcholSolve(cusolverSpHandle_t handle, int n, const float *b, float *x, csrcholInfo_t info,
                                              void *pBuffer);
cusolverStatus_t cusolverSpScsrcholZeroPivot(cusolverSpHandle_t handle, csrcholInfo_t info, float tol, int *position);
cusolverStatus_t cusolverSpDcsrcholBufferInfo(cusolverSpHandle_t handle, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const double *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, csrcholInfo_t info,
                                                size_t *internalDataInBytes, size_t *workspaceInBytes);
cusolverStatus_t cusolverSpDcsrcholFactor(cusolverSpHandle_t handle, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const double *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, csrcholInfo_t info,
                                                void *pBuffer);
cusolverStatus_t cusolverSpDcsrcholSolve(cusolverSpHandle_t handle, int n, const double *b, double *x, csrcholInfo_t info,
                                              void *pBuffer);
cusolverStatus_t cusolverSpDcsrcholZeroPivot(cusolverSpHandle_t handle, csrcholInfo_t info, double tol, int *position);
cusolverStatus_t cusolverSpCreateCsrqrInfoHost(csrqrInfoHost_t *info);
cusolverStatus_t cusolverSpDestroyCsrqrInfoHost(csrqrInfoHost_t info);
cusolverStatus_t cusolverSpXcsrqrAnalysisHost(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                              const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                              const int *csrColIndA, csrqrInfoHost_t info);
cusolverStatus_t cusolverSpScsrqrBufferInfoHost(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const float *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, csrqrInfoHost_t info,
                                                size_t *internalDataInBytes, size_t *workspaceInBytes);
cusolverStatus_t cusolverSpScsrqrSetupHost(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const float *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, float mu, csrqrInfoHost_t info);
cusolverStatus_t cusolverSpScsrqrFactorHost(cusolverSpHandle_t handle, int m, int n, int nnzA, float *b, float *x,
                                             csrqrInfoHost_t info, void *pBuffer);
cusolverStatus_t cusolverSpScsrqrSolveHost(cusolverSpHandle_t handle, int m, int n, float *b, float *x, csrqrInfoHost_t info,
                                            void *pBuffer);
cusolverStatus_t cusolverSpScsrqrZeroPivotHost(cusolverSpHandle_t handle, csrqrInfoHost_t info, float tol, int *position);
cusolverStatus_t cusolverSpDcsrqrBufferInfoHost(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const double *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, csrqrInfoHost_t info,
                                                size_t *internalDataInBytes, size_t *workspaceInBytes);
cusolverStatus_t cusolverSpDcsrqrSetupHost(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const double *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, double mu, csrqrInfoHost_t info);
cusolverStatus_t cusolverSpDcsrqrFactorHost(cusolverSpHandle_t handle, int m, int n, int nnzA, double *b, double *x,
                                             csrqrInfoHost_t info, void *pBuffer);
cusolverStatus_t cusolverSpDcsrqrSolveHost(cusolverSpHandle_t handle, int m, int n, double *b, double *x, csrqrInfoHost_t info,
                                            void *pBuffer);
cusolverStatus_t cusolverSpDcsrqrZeroPivotHost(cusolverSpHandle_t handle, csrqrInfoHost_t info, double tol, int *position);
cusolverStatus_t cusolverSpCreateCsrqrInfo(csrqrInfo_t *info);
cusolverStatus_t cusolverSpDestroyCsrqrInfo(csrqrInfo_t info);
cusolverStatus_t cusolverSpXcsrqrAnalysis(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                              const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                              const int *csrColIndA, csrqrInfo_t info);
cusolverStatus_t cusolverSpScsrqrBufferInfo(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const float *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, csrqrInfo_t info,
                                                size_t *internalDataInBytes, size_t *workspaceInBytes);
cusolverStatus_t cusolverSpScsrqrSetup(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const float *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, float mu, csrqrInfo_t info);
cusolverStatus_t cusolverSpScsrqrFactor(cusolverSpHandle_t handle, int m, int n, int nnzA, float *b, float *x,
                                             csrqrInfo_t info, void *pBuffer);
cusolverStatus_t cusolverSpScsrqrSolve(cusolverSpHandle_t handle, int m, int n, float *b, float *x, csrqrInfo_t info,
                                            void *pBuffer);
cusolverStatus_t cusolverSpScsrqrZeroPivot(cusolverSpHandle_t handle, csrqrInfo_t info, float tol, int *position);
cusolverStatus_t cusolverSpDcsrqrBufferInfo(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const double *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, csrqrInfo_t info,
                                                size_t *internalDataInBytes, size_t *workspaceInBytes);
cusolverStatus_t cusolverSpDcsrqrSetup(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const double *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, double mu, csrqrInfo_t info);
cusolverStatus_t cusolverSpDcsrqrFactor(cusolverSpHandle_t handle, int m, int n, int nnzA, double *b, double *x,
                                             csrqrInfo_t info, void *pBuffer);
cusolverStatus_t cusolverSpDcsrqrSolve(cusolverSpHandle_t handle, int m, int n, double *b, double *x, csrqrInfo_t info,
                                            void *pBuffer);
cusolverStatus_t cusolverSpDcsrqrZeroPivot(cusolverSpHandle_t handle, csrqrInfo_t info, double tol, int *position);

typedef struct csrluInfoHost *csrluInfoHost_t;

cusolverStatus_t cusolverSpCreateCsrluInfoHost(csrluInfoHost_t *info);
cusolverStatus_t cusolverSpDestroyCsrluInfoHost(csrluInfoHost_t info);
cusolverStatus_t cusolverSpXcsrluAnalysisHost(cusolverSpHandle_t handle, int n, int nnzA,
                                              const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                              const int *csrColIndA, csrluInfoHost_t info);
cusolverStatus_t cusolverSpXcsrluNnzHost(cusolverSpHandle_t handle, int *nnzLRef, int *nnzURef, csrluInfoHost_t info);
cusolverStatus_t cusolverSpScsrluBufferInfoHost(cusolverSpHandle_t handle, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const float *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, csrluInfoHost_t info,
                                                size_t *internalDataInBytes, size_t *workspaceInBytes);
cusolverStatus_t cusolverSpScsrluFactorHost(cusolverSpHandle_t handle, int n, int nnzA,
                                             const cusparseMatDescr_t descrA, const float *csrValA,
                                             const int *csrRowPtrA, const int *csrColIndA, csrluInfoHost_t info,
                                             float pivot_threshold, void *pBuffer);
cusolverStatus_t cusolverSpScsrluZeroPivotHost(cusolverSpHandle_t handle, csrluInfoHost_t info, float tol,
                                                int *position);
cusolverStatus_t cusolverSpScsrluSolveHost(cusolverSpHandle_t handle, int n, const float *b, float *x,
                                            csrluInfoHost_t info, void *pBuffer);
cusolverStatus_t cusolverSpScsrluExtractHost(cusolverSpHandle_t handle, int *P, int *Q,
                                              const cusparseMatDescr_t descrL, float *csrValL, int *csrRowPtrL,
                                              int *csrColIndL, const cusparseMatDescr_t descrU, float *csrValU,
                                              int *csrRowPtrU, int *csrColIndU, csrluInfoHost_t info, void *pBuffer);
cusolverStatus_t cusolverSpDcsrluBufferInfoHost(cusolverSpHandle_t handle, int n, int nnzA,
                                                const cusparseMatDescr_t descrA, const double *csrValA,
                                                const int *csrRowPtrA, const int *csrColIndA, csrluInfoHost_t info,
                                                size_t *internalDataInBytes, size_t *workspaceInBytes);
cusolverStatus_t cusolverSpDcsrluFactorHost(cusolverSpHandle_t handle, int n, int nnzA,
                                             const cusparseMatDescr_t descrA, const double *csrValA,
                                             const int *csrRowPtrA, const int *csrColIndA, csrluInfoHost_t info,
                                             double pivot_threshold, void *pBuffer);
cusolverStatus_t cusolverSpDcsrluZeroPivotHost(cusolverSpHandle_t handle, csrluInfoHost_t info, double tol,
                                                int *position);
cusolverStatus_t cusolverSpDcsrluSolveHost(cusolverSpHandle_t handle, int n, const double *b, double *x,
                                            csrluInfoHost_t info, void *pBuffer);
cusolverStatus_t cusolverSpDcsrluExtractHost(cusolverSpHandle_t handle, int *P, int *Q,
                                              const cusparseMatDescr_t descrL, double *csrValL, int *csrRowPtrL,
                                              int *csrColIndL, const cusparseMatDescr_t descrU, double *csrValU,
                                              int *csrRowPtrU, int *csrColIndU, csrluInfoHost_t info, void *pBuffer);

#ifdef __cplusplus
}
#endif

#endif
