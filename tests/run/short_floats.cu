// Numbers as tensor cores read them, rounded by the function of mma.h.
//
// expect: 1 launches -> 1
#include <cmath>
#include <cstdio>
#include <cstring>
#include <mma.h>

__global__ void shorten(unsigned *bits, const float *numbers, int count) {
    if (threadIdx.x < count) {
        bits[threadIdx.x] = __float_as_uint(nvcuda::wmma::__float_to_tf32(numbers[threadIdx.x]));
    }
}

int main() {
    const float numbers[8] = {1.0f, 1.00048828125f, -1.00048828125f, 1.0004882f, 3.4028235e38f, INFINITY, NAN, -1e-40f};
    const unsigned expected[8] = {0x3f800000, 0x3f802000, 0xbf802000, 0x3f800000, 0x7f800000, 0x7f800000, 0x7fc00000, 0x80012000};
    float *device;
    unsigned *bits, host[8];
    cudaMalloc(&device, sizeof numbers);
    cudaMalloc(&bits, sizeof host);
    cudaMemcpy(device, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    shorten<<<1, 32>>>(bits, device, 8);
    cudaMemcpy(host, bits, sizeof host, cudaMemcpyDeviceToHost);
    const bool right = memcmp(host, expected, sizeof host) == 0;
    for (unsigned each : host) {
        printf("%08x ", each);
    }
    printf(right ? "PASS\n" : "FAIL\n");
    cudaFree(device);
    cudaFree(bits);
    return right ? 0 : 1;
}
