// One kernel reads the neighbour of an element, the next overwrites the vector in place.
//
// Shows: not only values that flow keep kernels apart. If a block ran both kernels before its
// neighbour had read, the neighbour would read the new value: an anti-dependence of global width.
//
// usage: anti_dependence [elements]
//
// expect: 2 launches -> 2
// expect-missed: global_dependence
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void difference(const int *x, int *d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d[i] = x[(i + 1 < n) ? i + 1 : i] - x[i];
}

__global__ void negate(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = -x[i];
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 5000;
    if (n < 1) {
        fprintf(stderr, "usage: %s [elements]\n", argv[0]);
        return 2;
    }
    const size_t bytes = n * sizeof(int);
    std::vector<int> input(n), negated(n), differences(n);
    for (int i = 0; i < n; ++i) input[i] = (i * 31) % 1000;

    int *x, *d;
    cudaMalloc(&x, bytes);
    cudaMalloc(&d, bytes);
    cudaMemcpy(x, input.data(), bytes, cudaMemcpyHostToDevice);

    const int threads = 128, blocks = (n + threads - 1) / threads;
    difference<<<blocks, threads>>>(x, d, n);
    negate<<<blocks, threads>>>(x, n);
    cudaMemcpy(negated.data(), x, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(differences.data(), d, bytes, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(d);

    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        int next = i + 1 < n ? input[i + 1] : input[i];
        wrong += negated[i] != -input[i] || differences[i] != next - input[i];
    }
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
