// test: program
// Products contract into sums within a kernel and its callees; no flag is left.
#include <cuda_runtime.h>
__device__ float square(float a) { return a * a; }
__global__ void sum(float *y, float a, float b, float c) { y[0] = a * b + c; }
__global__ void difference(float *y, float a, float b, float c) { y[0] = a * b - c; y[1] = c - a * b; }
__global__ void negated(float *y, float a, float b, float c) { y[0] = -(a * b) - c; y[1] = c + -(a * b); }
__global__ void both(double *y, double a, double b, double c) { y[0] = a * b + c * a; }
__global__ void shared_product(float *y, float a, float b) { float p = a * b; y[0] = p + a; y[1] = p; }
__global__ void callee(float *y, float a, float b) { y[0] = square(a) + b; }
__global__ void quotient(float *y, float a, float b) { y[0] = a / b; y[1] = sqrtf(a); y[2] = sinf(b); }
__global__ void intrinsics(float *y, float a, float b, float c) { y[0] = __fadd_rn(__fmul_rn(a, b), c); }
void all(float *y) { sum<<<1, 1>>>(y, 1, 2, 3); }

//> kernel _Z3sumPffff as _Z3sumPffff stub _Z3sumPffff unit 0 present true
//> kernel _Z10differencePffff as _Z10differencePffff stub _Z10differencePffff unit 0 present true
//> kernel _Z7negatedPffff as _Z7negatedPffff stub _Z7negatedPffff unit 0 present true
//> kernel _Z4bothPdddd as _Z4bothPdddd stub _Z4bothPdddd unit 0 present true
//> kernel _Z14shared_productPfff as _Z14shared_productPfff stub _Z14shared_productPfff unit 0 present true
//> kernel _Z6calleePfff as _Z6calleePfff stub _Z6calleePfff unit 0 present true
//> kernel _Z8quotientPfff as _Z8quotientPfff stub _Z8quotientPfff unit 0 present true
//> kernel _Z10intrinsicsPffff as _Z10intrinsicsPffff stub _Z10intrinsicsPffff unit 0 present true
//> host-visible memory nothing
//> image sirius.placeholder.0 present true
//> _Z3allPf: sirius.launch.0(i32 0, ptr nonnull @_Z3sumPffff, i64 4294967297, i32 1, i64 4294967297, i32 1, i64 0, ptr null, ptr %y, float 1.000000e+00, float 2.000000e+00, float 3.000000e+00)
//> _Z6squaref: fmul float
//> _Z3sumPffff: llvm.fma.f32
//> _Z10differencePffff: fneg float, llvm.fma.f32, fneg float, llvm.fma.f32
//> _Z7negatedPffff: fneg float, fneg float, llvm.fma.f32, fneg float, llvm.fma.f32
//> _Z4bothPdddd: fmul double, llvm.fma.f64
//> _Z14shared_productPfff: fmul float, llvm.fma.f32
//> _Z6calleePfff: llvm.fma.f32
//> _Z8quotientPfff: fdiv float, llvm.sqrt.f32, __nv_sinf
//> _Z10intrinsicsPffff: __nv_fmul_rn, __nv_fadd_rn
