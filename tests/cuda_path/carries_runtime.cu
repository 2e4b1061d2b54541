// Says whether the first call of the CUDA runtime works.
#include <cstdio>

int main() {
    void *memory;
    cudaError_t error = cudaMalloc(&memory, 64);
    printf("%s\n", error == cudaSuccess ? "works" : "does not work");
}
