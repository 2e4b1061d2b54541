/*
 * Included by sirius-rs before every CUDA source, after clang's own CUDA wrapper: what nvcc gives to
 * every program and clang with a current toolkit does not.
 */
#ifndef SIRIUS_COMPATIBILITY_H
#define SIRIUS_COMPATIBILITY_H

#if defined(__cplusplus) && defined(__CUDACC__)

#include <cmath>
#include <cstdlib>
#include <cuda_runtime.h>

#if CUDART_VERSION >= 13000
/* Removed in CUDA 13 after a decade of deprecation; many programs still call them. */
static inline __host__ cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
static inline __host__ cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }
#endif

#endif
#endif
