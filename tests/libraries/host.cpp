// A host compiler's object that launches kernels by the addresses of their host functions.
#include <cstdio>
#include <cuda_runtime_api.h>

struct Pair { int first, second; };
namespace scope { void pair(Pair values, int *to); }
extern "C" void plain(int *to);
void add(int *to, int value);
template <void (*kernel)(int *)> void launch(int *to);

static int launched(const void *kernel, void **arguments, int *memory) {
    int host = -1;
    cudaError_t error = cudaLaunchKernel(kernel, 1, 1, arguments, 0, 0);
    cudaMemcpy(&host, memory, sizeof host, cudaMemcpyDeviceToHost);
    return error ? -(int)error : host;
}

int main() {
    int *memory, value = 30;
    cudaMalloc((void **)&memory, sizeof(int));
    Pair pair = {5, 3};
    void *of_pair[] = {&pair, &memory}, *of_plain[] = {&memory}, *of_add[] = {&memory, &value};
    printf("%d ", launched((const void *)scope::pair, of_pair, memory));
    printf("%d ", launched((const void *)plain, of_plain, memory));
    printf("%d ", launched((const void *)add, of_add, memory));
    launch<plain>(memory);
    cudaFuncAttributes attributes;
    printf("%d\n", (int)cudaFuncGetAttributes(&attributes, (const void *)add));
}
