// The second unit of same_names.cu.
#include "same_names.h"
static __global__ void kernel(float *x) { *x = c[1] + 1; }
void second(float *x) { kernel<<<3, 3>>>(x); shared<<<4, 4>>>(x, 2.0f); shared<<<5, 5>>>(x, 3); }
