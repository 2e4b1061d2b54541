// One launch, in a function that another source calls. It has a kernel of the same name as its neighbour.
#include "chain.h"

static __global__ void step(float *out, const float *in, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * factor;
}

void scale(float *out, const float *in, float factor, int n) {
    step<<<blocks_for(n), 128>>>(out, in, factor, n);
}
