/*
 * In front of the toolkit's header of this name, which clang's CUDA wrapper includes before the program begins to know
 * the toolkit's version. nvcc does not, so that there the macros of a program (-DN=64) never meet what the header
 * calls by these names. It comes when the program asks for it; a program's own cuda.h, in a folder that it names, is
 * for the program alone, as with nvcc.
 */
#pragma GCC system_header
#if defined(__CUDA__) && !defined(SIRIUS_COMPATIBILITY_H)
#define CUDA_VERSION SIRIUS_DRIVER_VERSION
#define SIRIUS_VERSION_STANDS
/* What the wrapper has of the toolkit's header besides. */
#include <stdint.h>
typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
/* A template parameter of clang's own headers; given back in curand_mtgp32_kernel.h, the wrapper's last. */
#pragma push_macro("N")
#undef N
#else
#ifdef SIRIUS_VERSION_STANDS
#undef CUDA_VERSION
#undef SIRIUS_VERSION_STANDS
#endif
#include_next <cuda.h>
#if defined(SIRIUS_DRIVER_VERSION) && !defined(CUDA_VERSION)
#define CUDA_VERSION SIRIUS_DRIVER_VERSION
#define SIRIUS_VERSION_STANDS
#endif
#endif
