// Launches of the driver's first interface: block, shared memory and parameters are set for a function, one by one,
// and stay so for further launches, between launches of the runtime.
//
// expect: 2 launches -> 2
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

__global__ void fill(float *x, int n, float first) {
    extern __shared__ float kept[];
    const int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    kept[threadIdx.x] = first + i;
    __syncthreads();
    if (i < n) x[i] = kept[threadIdx.x];
}
__global__ void twice(float *x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

int main() {
    const int n = 200;
    float *x, got[n], first = 0.5f;
    cudaMalloc(&x, n * sizeof(float));
    CUfunction function;
    cudaGetFuncBySymbol(&function, (const void *)fill);
    int failures = 0;
    auto expect = [&](int result, int wanted) { failures += result != wanted; };
    expect(cuParamSetSize(function, 16), CUDA_SUCCESS);
    expect(cuParamSetv(function, 0, &x, sizeof x), CUDA_SUCCESS);
    expect(cuParamSeti(function, 8, n), CUDA_SUCCESS);
    expect(cuParamSetf(function, 12, first), CUDA_SUCCESS);
    expect(cuFuncSetBlockShape(function, 32, 1, 1), CUDA_SUCCESS);
    expect(cuFuncSetBlockShape(function, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
    expect(cuFuncSetSharedSize(function, 32 * sizeof(float)), CUDA_SUCCESS);
    expect(cuLaunchGrid(function, 4, 2), CUDA_SUCCESS);
    twice<<<2, 128>>>(x, n);
    // What was set stays; one number changes.
    expect(cuParamSeti(function, 8, 32), CUDA_SUCCESS);
    expect(cuLaunch(function), CUDA_SUCCESS);
    expect(cuLaunchGridAsync(function, 1, 1, nullptr), CUDA_SUCCESS);
    expect(cuLaunchGrid(function, 0, 1), CUDA_ERROR_INVALID_VALUE);
    twice<<<2, 128>>>(x, n);
    cudaMemcpy(got, x, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) failures += got[i] != (i < 32 ? 2 : 4) * (0.5f + i);
    printf(failures ? "FAIL: %d\n" : "PASS\n", failures);
    return failures != 0;
}
