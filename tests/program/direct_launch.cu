// test: program
// `cudaLaunchKernel` called by the program, with arguments behind an array of addresses.
#include <cuda_runtime.h>
__global__ void scale(float *x, float a, int n) { if (threadIdx.x < n) x[threadIdx.x] *= a; }
cudaError_t direct(float *x, int n) {
  float a = 2;
  void *arguments[] = {&x, &a, &n};
  return cudaLaunchKernel(scale, dim3(3), dim3(32), arguments, 0, nullptr);
}
cudaError_t array_unknown(void **arguments) {
  return cudaLaunchKernel((const void *)scale, dim3(3), dim3(32), arguments, 8, nullptr);
}
cudaError_t kernel_unknown(const void *kernel, void **arguments) {
  return cudaLaunchKernel(kernel, dim3(3), dim3(32), arguments, 0, nullptr);
}

//> kernel _Z5scalePffi as _Z5scalePffi stub _Z5scalePffi unit 0 present true
//> host-visible memory nothing
//> image sirius.placeholder.0 present true
//> _Z6directPfi: sirius.launch.0(i32 0, ptr nonnull @_Z5scalePffi, i64 4294967299, i32 1, i64 4294967328, i32 1, i64 0, ptr null, ptr %x, float 2.000000e+00, i32 %n)
//> _Z13array_unknownPPv: sirius.launch.0(i32 1, ptr nonnull @_Z5scalePffi, i64 4294967299, i32 1, i64 4294967328, i32 1, i64 8, ptr null, ptr %1, float %4, i32 %7)
//> _Z5scalePffi: fmul float
