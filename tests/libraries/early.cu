// One launch and one question in each place that runs without main.
#include <cuda_runtime.h>
#include <stdio.h>

__device__ int bank[64];
__global__ void fill(int value) { bank[threadIdx.x] = value; }

struct Object {
    Object() {
        puts("constructor");
        size_t bytes;
        cudaGetSymbolSize(&bytes, bank);
        fill<<<1, 64>>>(7);
    }
    ~Object() {
        puts("destructor");
        fill<<<1, 64>>>(8);
    }
};
static Object object;
__attribute__((constructor)) static void loaded() {
    puts("loaded");
    fill<<<1, 64>>>(9);
}

int main() { puts("main"); }
