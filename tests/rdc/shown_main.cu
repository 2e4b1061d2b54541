#include "shown.h"
#include <cstdio>

__device__ float more(float x) { return x + 1; }

int main() {
    const int n = 64;
    float *in[2], *out[2];
    cudaArray_t lines[2];
    cudaChannelFormatDesc number = cudaCreateChannelDesc<float>();
    for (int unit = 0; unit < 2; unit++) {
        cudaMallocManaged(&in[unit], n * sizeof(float));
        cudaMallocManaged(&out[unit], n * sizeof(float));
        for (int i = 0; i < n; i++) in[unit][i] = 1000 * unit + i;
        cudaMallocArray(&lines[unit], &number, n, 0, cudaArraySurfaceLoadStore);
        cudaMemcpy2DToArray(lines[unit], 0, 0, in[unit], n * 4, n * 4, 1, cudaMemcpyHostToDevice);
    }
    run_a(out[0], in[0], lines[0], n);
    run_b(out[1], in[1], lines[1], n);
    cudaDeviceSynchronize();
    printf("%g %g %s\n", out[0][5], out[1][6], cudaGetErrorString(cudaGetLastError()));
}
