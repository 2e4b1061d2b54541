// Scale, blur, clamp: the blur reads both neighbours of an element.
//
// Shows: a neighbour may lie across the edge of the block, so the blur cannot run with the kernel
// that makes its input: the dependence has global width. It can run with the kernel that follows.
//
// usage: stencil_edge [elements]
//
// expect: 3 launches -> 2
// expect-missed: global_dependence
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void scale(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

__global__ void blur(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = i > 0 ? x[i - 1] : 0.0f;
    float right = i + 1 < n ? x[i + 1] : 0.0f;
    y[i] = 0.25f * left + 0.5f * x[i] + 0.25f * right;
}

__global__ void clamp(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fminf(fmaxf(y[i], -10.0f), 10.0f);
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 10001;
    if (n < 1) {
        fprintf(stderr, "usage: %s [elements]\n", argv[0]);
        return 2;
    }
    const size_t bytes = n * sizeof(float);
    std::vector<float> input(n), output(n);
    for (int i = 0; i < n; ++i) input[i] = (float)((i * 37) % 64) - 32.0f;

    float *x, *scaled, *y;
    cudaMalloc(&x, bytes);
    cudaMalloc(&scaled, bytes);
    cudaMalloc(&y, bytes);
    cudaMemcpy(x, input.data(), bytes, cudaMemcpyHostToDevice);

    const int threads = 128, blocks = (n + threads - 1) / threads;
    scale<<<blocks, threads>>>(x, scaled, n);
    blur<<<blocks, threads>>>(scaled, y, n);
    clamp<<<blocks, threads>>>(y, n);
    cudaMemcpy(output.data(), y, bytes, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(scaled);
    cudaFree(y);

    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        float left = i > 0 ? 2.0f * input[i - 1] : 0.0f;
        float right = i + 1 < n ? 2.0f * input[i + 1] : 0.0f;
        float blurred = 0.25f * left + 0.5f * (2.0f * input[i]) + 0.25f * right;  // exact in binary
        wrong += output[i] != std::fmin(std::fmax(blurred, -10.0f), 10.0f);
    }
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
