// One source, compiled to an object for each type.
#include <cstdio>

static __device__ int runs;

template <typename T> __global__ void halve(T *values) {
    values[threadIdx.x] = T(threadIdx.x) / 2;
    atomicAdd(&runs, 1);
}

#define JOIN(a, b) a##b
#define NAMED(a, b) JOIN(a, b)

void NAMED(halve_, TYPE)() {
    TYPE *values;
    int count;
    cudaMallocManaged(&values, 32 * sizeof(TYPE));
    halve<<<1, 32>>>(values);
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&count, runs, sizeof count);
    std::printf("%g %d\n", double(values[3]), count);
}

#ifdef MAIN
void halve_float();
int main() {
    halve_int();
    halve_float();
}
#endif
