// Sums of halves and bfloat16 that many threads add to, by CUDA's functions and by inline PTX with an address in a
// number; few enough that they are exact.
//
// options: -arch=sm_90
// expect: 2 launches -> 1
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void functions(half *h, half2 *h2, __nv_bfloat16 *b, __nv_bfloat162 *b2) {
    atomicAdd(h, __float2half(1.0f));
    atomicAdd(h2, __floats2half2_rn(1.0f, 2.0f));
    atomicAdd(b, __float2bfloat16(1.0f));
    atomicAdd(b2, __floats2bfloat162_rn(1.0f, 0.5f));
}

__global__ void assembly(half *h, __nv_bfloat162 *b2) {
    __shared__ half2 sum;
    if (threadIdx.x == 0) sum = __floats2half2_rn(0.0f, 0.0f);
    __syncthreads();
    const unsigned one_and_two = 0x40003c00, one_and_half = 0x3f003f80;
    const unsigned at = (unsigned)__cvta_generic_to_shared(&sum);
    asm volatile("red.shared.add.noftz.f16x2 [%0], %1;" ::"r"(at), "r"(one_and_two) : "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned short before;
        const unsigned short low = __half_as_ushort(__low2half(sum));
        asm volatile("atom.global.add.noftz.f16 %0, [%1], %2;" : "=h"(before) : "l"((unsigned long long)h), "h"(low) : "memory");
    }
    asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" ::"l"((unsigned long long)b2), "r"(one_and_half) : "memory");
}

int main() {
    half *h;
    half2 *h2;
    __nv_bfloat16 *b;
    __nv_bfloat162 *b2;
    cudaMalloc(&h, 2 * sizeof *h);
    cudaMalloc(&h2, sizeof *h2);
    cudaMalloc(&b, sizeof *b);
    cudaMalloc(&b2, 2 * sizeof *b2);
    cudaMemset(h, 0, 2 * sizeof *h);
    cudaMemset(h2, 0, sizeof *h2);
    cudaMemset(b, 0, sizeof *b);
    cudaMemset(b2, 0, 2 * sizeof *b2);
    functions<<<4, 32>>>(h, h2, b, b2);
    assembly<<<4, 32>>>(h + 1, b2 + 1);
    half sums[2], of_pair[2];
    __nv_bfloat16 brain, pairs[4];
    cudaMemcpy(sums, h, sizeof sums, cudaMemcpyDeviceToHost);
    cudaMemcpy(of_pair, h2, sizeof of_pair, cudaMemcpyDeviceToHost);
    cudaMemcpy(&brain, b, sizeof brain, cudaMemcpyDeviceToHost);
    cudaMemcpy(pairs, b2, sizeof pairs, cudaMemcpyDeviceToHost);
    const float got[] = {__half2float(sums[0]), __half2float(sums[1]), __half2float(of_pair[0]), __half2float(of_pair[1]),
                         __bfloat162float(brain), __bfloat162float(pairs[0]), __bfloat162float(pairs[1]),
                         __bfloat162float(pairs[2]), __bfloat162float(pairs[3])};
    const float wanted[] = {128, 128, 128, 256, 128, 128, 64, 128, 64};
    int wrong = 0;
    for (int i = 0; i < 9; ++i)
        if (got[i] != wanted[i]) ++wrong, printf("%d: %g, not %g\n", i, got[i], wanted[i]);
    printf(wrong ? "FAIL: %d wrong\n" : "PASS\n", wrong);
    return wrong != 0;
}
