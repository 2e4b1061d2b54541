// A shared library with device memory of its own, and a kernel whose name another one has, too. LIBRARY is 1 or 2.
#include <cstdio>

__device__ int total;

__global__ void add(int *to, int value) {
    *to += value * LIBRARY;
    total += value;
}

#define JOINED(a, b) a##b
#define NAME(a, b) JOINED(a, b)

// Launched while the library is loaded.
struct AtLoad {
    int *memory = nullptr;
    AtLoad() {
        cudaMalloc(&memory, sizeof(int));
        cudaMemset(memory, 0, sizeof(int));
        add<<<1, 1>>>(memory, 1);
    }
};
static AtLoad at_load;

extern "C" int *NAME(memory_of_, LIBRARY)() { return at_load.memory; }

// Adds to memory of whoever allocated it; how much this library has added in all, or the error.
extern "C" int NAME(add_, LIBRARY)(int *to, int value) {
    add<<<1, 1>>>(to, value);
    int host = 0;
    cudaError_t error = cudaMemcpyFromSymbol(&host, total, sizeof host);
    return error ? -(int)error : host;
}
