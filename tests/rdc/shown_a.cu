// A texture and a surface that are this unit's own, by names that the other unit has as well.
#include "shown.h"

static texture<float, 1> shown;
static surface<void, cudaSurfaceType1D> drawn;

__global__ void read_a(float *out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = more(tex1Dfetch(shown, i)) + surf1Dread<float>(drawn, i * 4);
}

void run_a(float *out, const float *in, cudaArray_t line, int n) {
    cudaBindTexture(nullptr, shown, in, n * sizeof(float));
    cudaBindSurfaceToArray(drawn, line);
    read_a<<<1, 64>>>(out, n);
}
