#include "chain.h"

static __global__ void squares(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
}

void square(float *out, const float *in, int n) { squares<<<blocks_for(n), 128>>>(out, in, n); }
