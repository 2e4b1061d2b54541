// Launches, copies to and from symbols and symbols' sizes before main and after it: in constructors and destructors
// of static objects and in functions that the loader calls. Kernels and variables are registered before all that.
//
// expect: 7 launches -> 3
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__device__ int total;
__constant__ int step;
__managed__ int shown = 40;

__global__ void add(int value) { total += value * step; }
__global__ void twice() { total *= 2; }
__global__ void show() { shown += total; }

static int value() {
    int host = -1;
    return cudaMemcpyFromSymbol(&host, total, sizeof host) == cudaSuccess ? host : -2;
}

static void check(int found, int expected, const char *where) {
    if (found == expected) return;
    printf("wrong: %d for %d %s\n", found, expected, where);
    fflush(stdout);
    _Exit(1);
}

// Before everything that has no priority.
__attribute__((constructor(1000))) static void first() {
    int one = 1;
    size_t bytes = 0;
    check(cudaGetSymbolSize(&bytes, step), cudaSuccess, "for a size");
    check(bytes, sizeof one, "bytes");
    cudaMemcpyToSymbol(step, &one, sizeof one);
    add<<<1, 1>>>(3);
    twice<<<1, 1>>>();
    check(value(), 6, "in a constructor with a priority");
}

struct Object {
    Object() {
        check(value(), 6, "at a static object");
        add<<<1, 1>>>(4);
        check(cudaGetLastError(), cudaSuccess, "of a launch");
        twice<<<1, 1>>>();
        show<<<1, 1>>>();
        cudaDeviceSynchronize();
        check(shown, 60, "of a managed variable");
    }
    ~Object() {
        add<<<1, 1>>>(1);
        twice<<<1, 1>>>();
        check(value(), 42, "at the end of a static object");
        check(cudaGetLastError(), cudaSuccess, "at the end");
    }
};
static Object object;

int main() {
    check(value(), 20, "in main");
    puts("PASS");
}
