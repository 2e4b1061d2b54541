// Subnormal numbers in kernels and libraries of a host program that is linked with -ffast-math, whose own become zero.
//
// expect: 2 launches -> 1
// options: -Xcompiler -ffast-math
#include <cstdio>
#include <cstring>
#include <cublas_v2.h>

__global__ void smaller(float *x) { x[threadIdx.x] *= 0.125f; }
__global__ void turned(float *x) { x[threadIdx.x] = -x[threadIdx.x]; }

int main() {
    float numbers[32], *x;
    for (int i = 0; i < 32; i++) numbers[i] = (i + 1) * 2e-38f;
    cudaMalloc(&x, sizeof numbers);
    cudaMemcpy(x, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    smaller<<<1, 32>>>(x);
    turned<<<1, 32>>>(x);
    cublasHandle_t handle;
    cublasCreate(&handle);
    const float half = 0.5f;
    cublasSscal(handle, 1, &half, x, 1);
    cudaMemcpy(numbers, x, sizeof numbers, cudaMemcpyDeviceToHost);
    unsigned first, second;
    memcpy(&first, &numbers[0], 4);
    memcpy(&second, &numbers[1], 4);
    // -2e-38 / 16 and -4e-38 / 8, in units of the smallest number.
    const bool right = first == (0x80000000u | 892030) && second == (0x80000000u | 3568119);
    printf("%s %08x %08x\n", right ? "PASS" : "FAIL", first, second);
    return !right;
}
