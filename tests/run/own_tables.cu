// Device variables of one source that the host cannot name: constant tables, tables that nothing writes, and ones
// that a kernel writes. A load from one reads no allocation, so that others may still be called unread.
//
// expect: 5 launches -> 3
// expect-missed: opaque_kernel opaque_kernel
#include <cstdio>
#include <vector>

static const __device__ float powers[4] = {1.0f, 2.0f, 4.0f, 8.0f};
static __device__ float weights[2][4] = {{1.0f, 3.0f, 5.0f, 7.0f}, {2.0f, 4.0f, 6.0f, 8.0f}};
static __device__ float written[4] = {1.0f, 1.0f, 1.0f, 1.0f};

__global__ void begin(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1.0f;
}

__global__ void weigh(float *z, const float *y, int row, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = y[i] * weights[row][i % 4];
}

__global__ void raise(float *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] *= powers[i % 4];
}

__global__ void change(const float *z) { written[threadIdx.x] = z[threadIdx.x]; }

__global__ void use(float *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] += written[i % 4];
}

int main(int argc, char **) {
    const int n = 1000, threads = 128, blocks = (n + threads - 1) / threads;
    float *x, *y, *z;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&z, n * sizeof(float));
    std::vector<float> host(n, 1.0f);
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    begin<<<blocks, threads>>>(y, x, n);
    weigh<<<blocks, threads>>>(z, y, argc, n);
    raise<<<blocks, threads>>>(z, n);
    change<<<1, 4>>>(z);
    use<<<blocks, threads>>>(z, n);
    cudaMemcpy(host.data(), z, n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        float changed = 2.0f * (2 + 2 * (i % 4)) * (1 << i % 4);
        wrong += host[i] != changed + changed;
    }
    cudaFree(x);
    cudaFree(y);
    cudaFree(z);
    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
