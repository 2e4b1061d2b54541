// test: program
// with: host_values_main.cpp
// A grid, a pointer member and a count are one value at all launches, through error checks, a
// synchronisation, a class and another unit's call.
#include "host_values.h"
__global__ void scale(float *x, float a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= a; }
__global__ void add(float *y, const float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += x[i]; }
App::App(int count) : n(count) {
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMalloc(&y, n * sizeof(float)));
}
void App::run() {
  scale<<<blocks(n), 256>>>(x, 2.0f, n);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  add<<<blocks(n), 256>>>(y, x, n);
  check(cudaGetLastError());
}

//> kernel _Z5scalePffi as _Z5scalePffi stub _Z5scalePffi unit 0 present true
//> kernel _Z3addPfPKfi as _Z3addPfPKfi stub _Z3addPfPKfi unit 0 present true
//> kernel sirius.copy.8 of an operation
//> kernel sirius.copy.4 of an operation
//> kernel sirius.copy.2 of an operation
//> kernel sirius.copy.1 of an operation
//> host-visible memory nothing
//> image sirius.placeholder.0 present true
//> main: sirius.launch.1(i32 0, ptr nonnull @_Z5scalePffi, i64 %agg.tmp.i.sroa.0.4.insert.insert, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %5, float 2.000000e+00, i32 %4)
//> main: sirius.launch.0(i32 1, ptr nonnull @_Z3addPfPKfi, i64 %agg.tmp.i.sroa.0.4.insert.insert, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %9, ptr %5, i32 %4)
//> _Z5scalePffi: fmul float
//> _Z3addPfPKfi: fadd float
