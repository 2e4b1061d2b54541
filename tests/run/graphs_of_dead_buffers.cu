// Launches in a host loop that wait for graphs. The first two are one launch in front of the third, and nobody but them touches
// what the first one writes. Where what waits runs as it is written, that is touched, so that its memory has to be there.
//
// built with: --sirius-boundaries=graph
// expect: 3 launches -> 2
#include <cstdio>

const int COUNT = 256, STEPS = 12;

__global__ void scale(const float *a, float *t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    t[i] = 2 * a[i];
}
__global__ void shift(const float *t, float *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = t[i] + 1;
}
__global__ void turn(const float *b, float *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = b[(i + 1) % COUNT] * 0.5f;
}

int main() {
    float *a, *t, *b, host[COUNT] = {1};
    cudaMalloc(&a, sizeof host);
    cudaMalloc(&t, sizeof host);
    cudaMalloc(&b, sizeof host);
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    for (int step = 0; step < STEPS; ++step) {
        scale<<<4, 64>>>(a, t);
        shift<<<4, 64>>>(t, b);
        turn<<<4, 64>>>(b, a);
    }
    cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost);
    bool right = true;
    for (int i = 0; i < COUNT; ++i) right &= host[i] == (i == COUNT - STEPS ? 1.0f : 0.0f) + STEPS * 0.5f;
    printf("%s\n", right ? "PASS" : "FAIL");
    cudaFree(a);
    cudaFree(t);
    cudaFree(b);
    return !right;
}
