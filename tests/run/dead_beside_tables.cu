// An allocation that only a fused kernel would touch, in a program with a kernel that reads a table of its own: the
// table is no allocation.
//
// expect: 3 launches -> 2
// expect-missed: copy_between
#include <cstdio>
#include <vector>

static const __device__ float powers[4] = {1.0f, 2.0f, 4.0f, 8.0f};

__global__ void begin(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1.0f;
}

__global__ void finish(float *z, const float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = 3.0f * y[i];
}

__global__ void raise(float *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] *= powers[i % 4];
}

int main() {
    const int n = 1000, threads = 128, blocks = (n + threads - 1) / threads;
    float *x, *y, *z;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&z, n * sizeof(float));
    std::vector<float> host(n, 1.0f);
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    begin<<<blocks, threads>>>(y, x, n);
    finish<<<blocks, threads>>>(z, y, n);
    cudaMemcpy(host.data(), z, n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += host[i] != 6.0f;
    raise<<<blocks, threads>>>(z, n);
    cudaMemcpy(host.data(), z, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) wrong += host[i] != 6.0f * (1 << i % 4);
    cudaFree(x);
    cudaFree(y);
    cudaFree(z);
    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
