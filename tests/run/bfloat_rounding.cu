// expect: 1 launches -> 1
// Conversions to bfloat round to nearest, ties to even, also on processors without them.
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>

__global__ void round_all(__nv_bfloat16 *out, const float *in, __nv_bfloat16 *sums)
{
    int i = threadIdx.x;
    out[i] = (__nv_bfloat16)in[i];
    sums[i] = (__nv_bfloat16)((float)out[i] + 1.0f);
}

int main()
{
    constexpr int count = 8;
    const unsigned in[count] = {0x3f800000, 0x3f808000, 0x3f818000, 0x3f808001,
                                0x7f7fffff, 0x7fc00000, 0x80000001, 0xff800000};
    const unsigned short wanted[count] = {0x3f80, 0x3f80, 0x3f82, 0x3f81, 0x7f80, 0x7fc0, 0x8000, 0xff80};
    float *device_in;
    __nv_bfloat16 *device_out, *device_sums;
    cudaMalloc(&device_in, sizeof in);
    cudaMalloc(&device_out, sizeof wanted);
    cudaMalloc(&device_sums, sizeof wanted);
    cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
    round_all<<<1, count>>>(device_out, device_in, device_sums);
    unsigned short out[count], sums[count];
    cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaMemcpy(sums, device_sums, sizeof sums, cudaMemcpyDeviceToHost);
    bool good = sums[0] == 0x4000;
    for (int i = 0; i < count; i++) {
        // Any quiet NaN will do.
        good = good && (i == 5 ? (out[i] & 0x7fc0) == 0x7fc0 : out[i] == wanted[i]);
    }
    puts(good ? "PASS" : "FAIL");
    return !good;
}
