/* In place of CUDA's runtime: writes down what is called. */
#include <stddef.h>
#include <stdio.h>

typedef struct { unsigned x, y, z; } Extent;

#define LOGGED(type, name, parameters, result) \
    type name parameters { puts(#name); return result; }

LOGGED(void **, __cudaRegisterFatBinary, (void *image), (void **)image)
LOGGED(void, __cudaRegisterFatBinaryEnd, (void **handle), (void)handle)
LOGGED(void, __cudaUnregisterFatBinary, (void **handle), (void)handle)
LOGGED(void, __cudaRegisterFunction, (void **handle), (void)handle)
LOGGED(void, __cudaRegisterVar, (void **handle), (void)handle)
LOGGED(int, cudaGetSymbolSize, (size_t * size, const void *symbol), (*size = 256, symbol == NULL))
LOGGED(int, cudaLaunchKernel, (const void *stub), stub == NULL)
LOGGED(int, cudaGetLastError, (void), 0)
int __cudaPushCallConfiguration(Extent grid, Extent block, size_t bytes, void *stream) { return 0; }
int __cudaPopCallConfiguration(Extent *grid, Extent *block, size_t *bytes, void **stream) { return 0; }
