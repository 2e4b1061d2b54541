// Each thread takes four elements of its block's chunk, a block's threads apart, with a block that only the run knows:
// the elements of a block are its own since its counter of four stays below four.
//
// expect: 2 launches -> 1
// executes: 1 1
// arguments: 1000 64
// arguments: 777 96
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void twice(double *x, int n) {
    for (int k = 0; k < 4; k++) {
        const int i = blockIdx.x * blockDim.x * 4 + k * blockDim.x + threadIdx.x;
        if (i < n)
            x[i] = x[i] * 2;
    }
}

__global__ void next(double *x, int n) {
    for (int k = 0; k < 4; k++) {
        const int i = blockIdx.x * blockDim.x * 4 + k * blockDim.x + threadIdx.x;
        if (i < n)
            x[i] = x[i] + 1;
    }
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 1000, threads = argc > 2 ? atoi(argv[2]) : 64;
    std::vector<double> host(n);
    for (int i = 0; i < n; i++)
        host[i] = i;
    double *x;
    cudaMalloc(&x, n * sizeof(double));
    cudaMemcpy(x, host.data(), n * sizeof(double), cudaMemcpyHostToDevice);
    const int blocks = (n + 4 * threads - 1) / (4 * threads);
    twice<<<blocks, threads>>>(x, n);
    next<<<blocks, threads>>>(x, n);
    cudaMemcpy(host.data(), x, n * sizeof(double), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        if (host[i] != 2 * i + 1)
            return printf("FAIL at %d\n", i), 1;
    printf("PASS\n");
}
