// Two launches that both print.
//
// Shows: what kernels print is an effect that the user sees, in the order of the launches. Fused, a
// later block of the first kernel would print after an early block of the second.
//
// usage: printf_both
//
// expect: 2 launches -> 2
// expect-missed: host_access
#include <cstdio>
#include <vector>

constexpr int BLOCKS = 4, THREADS = 32, N = BLOCKS * THREADS;

__global__ void square(int *x) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    x[i] = x[i] * x[i];
    if (i == N - 1) printf("square: the last element is %d\n", x[i]);
}

__global__ void increment(int *x) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    x[i] = x[i] + 1;
    if (i == 0) printf("increment: the first element is %d\n", x[i]);
}

int main() {
    std::vector<int> values(N);
    for (int i = 0; i < N; ++i) values[i] = i;
    int *x;
    cudaMalloc(&x, N * sizeof(int));
    cudaMemcpy(x, values.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    square<<<BLOCKS, THREADS>>>(x);
    increment<<<BLOCKS, THREADS>>>(x);
    cudaMemcpy(values.data(), x, N * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(x);

    int wrong = 0;
    for (int i = 0; i < N; ++i) wrong += values[i] != i * i + 1;
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
