// A gather through an index vector that only the run knows.
//
// Shows: a subscript that is itself loaded may point anywhere in the buffer, so what an earlier
// launch wrote may come from any block. Nothing is assumed; the two launches stay unfused.
//
// usage: indirect [elements]
//
// expect: 2 launches -> 2
// expect-missed: unproven_index
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void square(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * x[i];
}

__global__ void gather(const int *x, const int *index, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[index[i]];
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 4000;
    if (n < 1) {
        fprintf(stderr, "usage: %s [elements]\n", argv[0]);
        return 2;
    }
    const size_t bytes = n * sizeof(int);
    std::vector<int> values(n), indices(n), output(n);
    for (int i = 0; i < n; ++i) values[i] = i % 100, indices[i] = n - 1 - i;
    int *x, *index, *y;
    cudaMalloc(&x, bytes);
    cudaMalloc(&index, bytes);
    cudaMalloc(&y, bytes);
    cudaMemcpy(x, values.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(index, indices.data(), bytes, cudaMemcpyHostToDevice);

    const int threads = 128, blocks = (n + threads - 1) / threads;
    square<<<blocks, threads>>>(x, n);
    gather<<<blocks, threads>>>(x, index, y, n);
    cudaMemcpy(output.data(), y, bytes, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(index);
    cudaFree(y);

    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += output[i] != values[indices[i]] * values[indices[i]];
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
