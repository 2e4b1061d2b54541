// A chain of four kernels whose threads take every so many elements.
#include <cstdio>

constexpr int kCount = 1000;

template <int kStep> __global__ void step(const float *x, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 0.5f * x[i] + kStep;
}

int main() {
    static float host[kCount];
    for (int i = 0; i < kCount; ++i) host[i] = (float)(i % 37) / 8;
    float *a, *b, *c, *d, *e;
    cudaMalloc(&a, sizeof(host));
    cudaMalloc(&b, sizeof(host));
    cudaMalloc(&c, sizeof(host));
    cudaMalloc(&d, sizeof(host));
    cudaMalloc(&e, sizeof(host));
    cudaMemcpy(a, host, sizeof(host), cudaMemcpyHostToDevice);
    step<1><<<4, 64>>>(a, b, kCount);
    step<2><<<4, 64>>>(b, c, kCount);
    step<3><<<4, 64>>>(c, d, kCount);
    step<4><<<4, 64>>>(d, e, kCount);
    cudaMemcpy(host, e, sizeof(host), cudaMemcpyDeviceToHost);
    float sum = 0;
    for (float value : host) sum += value;
    printf("%a\n", sum);
}
