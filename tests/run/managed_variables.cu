// Managed variables: host and device read and write one variable, by name, by address, as elements,
// as symbols; a launch stays on its side of what the host does to them.
//
// expect: 9 launches -> 8
#include <cstdio>
#include <cuda_runtime.h>

struct Pair {
    int first;
    double second;
};

__device__ __managed__ int total = 5;
__managed__ float table[4] = {1, 2, 3};
static __device__ __managed__ double hidden = 1.5;
__device__ __managed__ Pair pair = {3, 0.25};
__managed__ int *chosen;

__global__ void add(int n) { atomicAdd(&total, n); }
__global__ void multiply() { table[threadIdx.x] *= (float)hidden; }
__global__ void follow() { *chosen += pair.first; }
__global__ void from_host(int *at) { at[threadIdx.x] += threadIdx.x; }
__global__ void square(float *x) { x[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x]; }
__global__ void halve(float *x) { x[threadIdx.x] = x[threadIdx.x] / 2; }

static int wrong = 0;
static void check(bool holds, const char *what) {
    if (!holds) {
        wrong++;
        printf("wrong: %s\n", what);
    }
}

static int *either(bool left, int *other) { return left ? &total : other; }

int main() {
    total += 2;
    check(total == 7, "the host reads the initial value and what it wrote");
    add<<<1, 4>>>(3);
    cudaDeviceSynchronize();
    check(total == 19, "the host reads what the device wrote");

    hidden = 2;
    multiply<<<1, 4>>>();
    cudaDeviceSynchronize();
    check(table[0] == 2 && table[2] == 6 && table[3] == 0, "elements of an array");

    int *by_address = &total;
    *by_address = 100;
    add<<<1, 1>>>(1);
    cudaDeviceSynchronize();
    int none = 0;
    check(*either(true, &none) == 101, "one address");

    cudaMallocManaged(&chosen, sizeof(int));
    *chosen = 4;
    pair.first = 38;
    follow<<<1, 1>>>();
    cudaDeviceSynchronize();
    check(*chosen == 42, "a pointer and a structure");
    cudaFree(chosen);
    chosen = nullptr;

    from_host<<<1, 1>>>(&pair.first);
    cudaDeviceSynchronize();
    check(pair.first == 38 && pair.second == 0.25, "the address as an argument");

    int copied = 0;
    void *address = nullptr;
    size_t bytes = 0;
    check(cudaMemcpyFromSymbol(&copied, total, sizeof copied) == cudaSuccess && copied == 101, "copied from");
    check(cudaGetSymbolAddress(&address, total) == cudaSuccess && address == &total, "its address");
    check(cudaGetSymbolSize(&bytes, table) == cudaSuccess && bytes == sizeof table, "its size");

    // These two can be one.
    square<<<1, 4>>>(table);
    halve<<<1, 4>>>(table);
    cudaDeviceSynchronize();
    check(table[0] == 2 && table[1] == 8 && table[2] == 18, "through a pointer");

    // The host's write lies between.
    halve<<<1, 4>>>(table);
    cudaDeviceSynchronize();
    table[0] += 1;
    square<<<1, 4>>>(table);
    cudaDeviceSynchronize();
    check(table[0] == 4 && table[1] == 16, "the host's write between two launches");

    printf(wrong ? "FAILED: %d\n" : "PASS\n", wrong);
    return wrong != 0;
}
