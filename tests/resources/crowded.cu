// Three kernels of small blocks that exchange values through shared memory. One kernel of all three
// would hold 45 KiB a block, so that few blocks run at once; two of them together still do well, and so do
// all three where the last one has the shared memory of the first.
#include <cstdio>

constexpr int kThreads = 64;
constexpr int kSlots = 15 * 1024 / sizeof(float);

template <int kStep>
__global__ void exchange(const float* in, float* out) {
    __shared__ float tile[kSlots];
    int base = blockIdx.x * kThreads;
    for (int slot = threadIdx.x; slot < kSlots; slot += kThreads) {
        tile[slot] = in[base + threadIdx.x] * (slot + kStep);
    }
    __syncthreads();
    float sum = 0;
    for (int slot = 0; slot < kSlots; slot += kStep) {
        sum += tile[slot];
    }
    out[base + threadIdx.x] = sum;
}

int main() {
    constexpr int kBlocks = 16;
    constexpr int kCount = kBlocks * kThreads;
    float *a, *b, *c, *d;
    cudaMalloc(&a, kCount * sizeof(float));
    cudaMalloc(&b, kCount * sizeof(float));
    cudaMalloc(&c, kCount * sizeof(float));
    cudaMalloc(&d, kCount * sizeof(float));
    static float host[kCount];
    for (int i = 0; i < kCount; ++i) {
        host[i] = 1.0f / (1 + i);
    }
    cudaMemcpy(a, host, sizeof(host), cudaMemcpyHostToDevice);
    exchange<1><<<kBlocks, kThreads>>>(a, b);
    exchange<2><<<kBlocks, kThreads>>>(b, c);
    exchange<3><<<kBlocks, kThreads>>>(c, d);
    cudaMemcpy(host, d, sizeof(host), cudaMemcpyDeviceToHost);
    std::printf("%g %g\n", host[0], host[kCount - 1]);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFree(d);
    return 0;
}
