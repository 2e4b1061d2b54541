// What both units have: a kernel of a template.
#pragma once

template <int Value> __global__ void add(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += Value;
}

void add_more(float *x, int n);
int count_of_others();
