// The chain of pointwise_chain.cu as one kernel, as one writes it by hand: each element is read once,
// stays in a register and is written once. What the compiler makes of the four is measured by it.
//
// usage: pointwise_chain [elements]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void chain(const float *x, float *y, float factor, float offset, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = factor * x[i] + offset;
    value = value < 0.0f ? -sqrtf(-value) : sqrtf(value);
    y[i] = value > 0.0f ? value : 0.0f;
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

    float *a, *d;
    cudaMalloc(&a, bytes);
    cudaMalloc(&d, bytes);
    cudaMemcpy(a, input.data(), bytes, cudaMemcpyHostToDevice);

    const int threads = 256;
    const int blocks = (n + threads - 1) / threads;
    chain<<<blocks, threads>>>(a, d, 0.25f, 3.0f, n);
    cudaMemcpy(output.data(), d, bytes, cudaMemcpyDeviceToHost);

    cudaFree(a);
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
