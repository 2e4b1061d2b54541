// A structure on the heap holds two pointers into one allocation, one element apart.
//
// Shows: that two kernels name different pointers says nothing. What the first writes at i the
// second reads at i - 1, often from another block. Only the host knows, through memory; what the
// compiler cannot tell must be tested where the launch is, and then the launches run as written.
//
// usage: offset_alias [elements]
//
// expect: 2 launches -> 2
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Window {
    int *whole;
    int *tail;
};

__global__ void increment(int *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += 1;
}

__global__ void twice(const int *values, int *result, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) result[i] = 2 * values[i];
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 5000;
    if (n < 1) {
        fprintf(stderr, "usage: %s [elements]\n", argv[0]);
        return 2;
    }
    std::vector<int> input(n + 1), output(n);
    for (int i = 0; i <= n; ++i) input[i] = (i * 29) % 777;

    Window *window = new Window;
    int *result;
    cudaMalloc(&window->whole, (n + 1) * sizeof(int));
    cudaMalloc(&result, n * sizeof(int));
    window->tail = window->whole + 1;
    cudaMemcpy(window->whole, input.data(), (n + 1) * sizeof(int), cudaMemcpyHostToDevice);

    const int threads = 128, blocks = (n + 1 + threads - 1) / threads;
    increment<<<blocks, threads>>>(window->whole, n + 1);
    twice<<<blocks, threads>>>(window->tail, result, n);
    cudaMemcpy(output.data(), result, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(window->whole);
    cudaFree(result);
    delete window;

    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += output[i] != 2 * (input[i + 1] + 1);
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
