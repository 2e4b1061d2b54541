// Launches that write parts of one allocation, at offsets of the run: side by side where a test tells that the parts lead
// apart, one after the other where they do not. Arguments: where the second part begins, whether the first launch is there.
//
// executes: 4 8 8 4 4 4
// arguments: 512 1
// arguments: 100 1
// arguments: 0 1
// arguments: 512 0
// arguments: 256 1
// arguments: -128 1
#include <cstdio>
#include <cstdlib>
#include <vector>

const int PART = 256, LAYER = 1024, LAYERS = 4, N = LAYER * LAYERS + 2 * LAYER;

__global__ void sums(float *out, const float *in, int n) {
    int i = threadIdx.x;
    out[i] = out[i] * 0.5f + in[i] * n;
}

__global__ void scaled(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * 2 + out[i] * 0.25f;
}

int main(int argc, char **argv) {
    int offset = argc > 1 ? std::atoi(argv[1]) : 512, both = argc > 2 ? std::atoi(argv[2]) : 1;
    int count = offset < 0 ? -offset : 300;
    std::vector<float> host(N);
    for (int i = 0; i < N; ++i) host[i] = float(i % 13);
    float *all, *in;
    cudaMalloc(&all, N * sizeof(float));
    cudaMalloc(&in, N * sizeof(float));
    cudaMemcpy(all, host.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(in, host.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    double seen = 0;
    for (int layer = 0; layer < LAYERS; ++layer) {
        float *first = all + LAYER + layer * LAYER;
        float *second = first + offset;
        if (both) sums<<<1, PART>>>(first, in, layer);
        scaled<<<(count + 63) / 64, 64>>>(second, in, count);
        cudaMemcpy(host.data(), all, N * sizeof(float), cudaMemcpyDeviceToHost);
        for (int i = 0; i < N; ++i) seen += host[i] * double(i % 7 + layer + 1);
    }
    std::printf("%.9g %s\n", seen, cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
}
