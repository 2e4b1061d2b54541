// What a program learns of the device fits what its kernels were compiled for: of several architectures the
// newest that the device has, which is one of compute capability 8.0 unless all are newer.
//
// expect: 2 launches -> 1
// options: -arch=sm_75
// options: -arch=sm_90
// options: -DLISTED=2 -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code=sm_90
// options: -DLISTED=2 -gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=[sm_80,compute_80]
#include <cstdio>

__global__ void compiled_for(int *number) {
#ifdef __CUDA_ARCH__
    number[threadIdx.x] = __CUDA_ARCH__ / 10;
#endif
}

__global__ void doubled(int *number) { number[threadIdx.x + 32] = 2 * number[threadIdx.x]; }

#ifndef __CUDA_ARCH_LIST__
#error "the host side does not know the architectures"
#endif

constexpr int listed[] = {__CUDA_ARCH_LIST__};

// All that are asked for, of whichever the code is.
#ifndef LISTED
#define LISTED 1
#endif
static_assert(sizeof listed / sizeof *listed == LISTED, "not all architectures are listed");

int main() {
    int number[64], *device_number;
    cudaMalloc(&device_number, sizeof number);
    compiled_for<<<1, 32>>>(device_number);
    doubled<<<1, 32>>>(device_number);
    cudaMemcpy(number, device_number, sizeof number, cudaMemcpyDeviceToHost);
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    int capability = 10 * device.major + device.minor, major, minor;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
    bool right = 10 * major + minor == capability && capability >= 80 && number[63] == 2 * number[0];
    for (auto kernel : {compiled_for, doubled}) {
        cudaFuncAttributes attributes;
        right &= cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess;
        right &= attributes.ptxVersion == number[0] && attributes.binaryVersion == capability;
    }
    bool is_listed = false;
    for (int each : listed) is_listed |= each == 10 * number[0];
    right &= is_listed && number[0] <= capability && (number[0] == capability || capability == 80);
    printf("%s: code for %d on a device of %d\n", right ? "PASS" : "FAIL", number[0], capability);
    return !right;
}
