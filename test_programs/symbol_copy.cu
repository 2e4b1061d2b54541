// The host changes a __constant__ variable between two launches that both read it.
//
// Shows: the first launch must see the old value, so it cannot move below the symbol copy, and no
// pointer argument tells so: the variable is reached by name.
//
// usage: symbol_copy [elements]
//
// expect: 2 launches -> 2
// expect-missed: copy_between
#include <cstdio>
#include <cstdlib>
#include <vector>

__constant__ int factor;

__global__ void multiply(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}

__global__ void add(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += factor;
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 4000;
    if (n < 1) {
        fprintf(stderr, "usage: %s [elements]\n", argv[0]);
        return 2;
    }
    const size_t bytes = n * sizeof(int);
    std::vector<int> values(n);
    for (int i = 0; i < n; ++i) values[i] = i % 100;
    int *x;
    cudaMalloc(&x, bytes);
    cudaMemcpy(x, values.data(), bytes, cudaMemcpyHostToDevice);

    const int threads = 128, blocks = (n + threads - 1) / threads;
    int first = 3, second = 1000;
    cudaMemcpyToSymbol(factor, &first, sizeof(int));
    multiply<<<blocks, threads>>>(x, n);
    cudaMemcpyToSymbol(factor, &second, sizeof(int));
    add<<<blocks, threads>>>(x, n);
    cudaMemcpy(values.data(), x, bytes, cudaMemcpyDeviceToHost);
    cudaFree(x);

    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += values[i] != 3 * (i % 100) + 1000;
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
