/*
 * In front of the toolkit's header of this name. clang's CUDA wrapper includes it before the program begins, only to
 * have its declarations of blockDim and threadIdx out of the way; nvcc does not, so that there the macros of a
 * program (-DX=1) never meet what the header calls by these names. It comes when the program asks for it, and
 * declares the two with clang's types.
 */
#pragma GCC system_header
#if !defined(__CUDA__)
#include_next <curand_mtgp32_kernel.h>
#elif defined(SIRIUS_COMPATIBILITY_H)
#pragma push_macro("dim3")
#pragma push_macro("uint3")
#define dim3 __cuda_builtin_blockDim_t
#define uint3 __cuda_builtin_threadIdx_t
#include_next <curand_mtgp32_kernel.h>
#pragma pop_macro("dim3")
#pragma pop_macro("uint3")
#else
#pragma pop_macro("N")
#endif
