// A set of many bytes before launches of few threads: it stays what it is, and the launches behind it run as one
// whatever happens. The set of few bytes joins them.
//
// expect: 3 launches -> 1
// executes: 1
#include <cstdio>

constexpr int MANY = 1 << 20, FEW = 1 << 10, THREADS = 256;

__global__ void scale(const int *x, int *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 3 * x[i] + 1;
}

__global__ void add(const int *x, int *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] += x[i];
}

int main() {
    int *many, *few, *result;
    cudaMalloc(&many, MANY);
    cudaMalloc(&few, FEW * sizeof(int));
    cudaMalloc(&result, FEW * sizeof(int));
    cudaMemset(many, 1, MANY);
    cudaMemset(result, 0, FEW * sizeof(int));
    scale<<<FEW / THREADS, THREADS>>>(many, few);
    add<<<FEW / THREADS, THREADS>>>(few, result);
    add<<<FEW / THREADS, THREADS>>>(many, result);

    static int host[FEW];
    cudaMemcpy(host, result, sizeof host, cudaMemcpyDeviceToHost);
    bool right = true;
    for (int value : host) right &= value == 4 * 0x01010101 + 1;
    puts(right ? "PASS" : "FAIL");
    cudaFree(many);
    cudaFree(few);
    cudaFree(result);
    return !right;
}
