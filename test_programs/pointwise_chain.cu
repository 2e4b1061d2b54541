// A chain of pointwise kernels over one vector: scale, shift, square root of the magnitude, relu.
//
// Shows: every element stays in its thread from the first kernel to the last, whatever the size, so
// that the four launches run as one and the values between them never need to touch memory. The
// size comes from the command line: the compiler cannot know it, the guard of the fused launch
// compares the launch shapes as they are at run time.
//
// usage: pointwise_chain [elements]
//
// expect: 4 launches -> 1
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void scale(const float *x, float *y, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

__global__ void shift(const float *x, float *y, float offset, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + offset;
}

__global__ void root(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = y[i] < 0.0f ? -sqrtf(-y[i]) : sqrtf(y[i]);
}

__global__ void relu(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 100003;
    if (n < 1) {
        fprintf(stderr, "usage: %s [elements]\n", argv[0]);
        return 2;
    }
    const size_t bytes = n * sizeof(float);
    std::vector<float> input(n), output(n);
    for (int i = 0; i < n; ++i) input[i] = (float)(i % 1009) - 504.0f;

    float *a, *b, *c, *d;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&c, bytes);
    cudaMalloc(&d, bytes);
    cudaMemcpy(a, input.data(), bytes, cudaMemcpyHostToDevice);

    const int threads = 256;
    const int blocks = (n + threads - 1) / threads;
    scale<<<blocks, threads>>>(a, b, 0.25f, n);
    shift<<<blocks, threads>>>(b, c, 3.0f, n);
    root<<<blocks, threads>>>(c, n);
    relu<<<blocks, threads>>>(c, d, n);
    cudaMemcpy(output.data(), d, bytes, cudaMemcpyDeviceToHost);

    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFree(d);

    unsigned hash = 2166136261u;
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        float shifted = 0.25f * input[i] + 3.0f;  // exact in binary, contracted or not
        float expected = shifted > 0.0f ? sqrtf(shifted) : 0.0f;
        wrong += std::fabs(output[i] - expected) > 1e-5f * expected;
        const unsigned char *byte = (const unsigned char *)&output[i];
        for (size_t k = 0; k < sizeof(float); ++k) hash = (hash ^ byte[k]) * 16777619u;
    }
    printf("pointwise_chain: %d elements, checksum %08x\n", n, hash);
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
