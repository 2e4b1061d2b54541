// test: program
// Without managed memory, nothing that the host can read changes while it waits for the device.
#include <cuda_runtime.h>
__global__ void scale(float *x, float a, int n) { if (threadIdx.x < n) x[threadIdx.x] *= a; }
int nothing_can_change(int *q) {
  *q = 1;
  scale<<<1, 1>>>(nullptr, 1.0f, 1);
  cudaDeviceSynchronize();
  return *q;
}

//> kernel _Z5scalePffi as _Z5scalePffi stub _Z5scalePffi unit 0 present true
//> host-visible memory nothing
//> image sirius.placeholder.0 present true
//> _Z18nothing_can_changePi: sirius.launch.0(i32 0, ptr nonnull @_Z5scalePffi, i64 4294967297, i32 1, i64 4294967297, i32 1, i64 0, ptr null, ptr null, float 1.000000e+00, i32 1)
//> _Z18nothing_can_changePi:  ret i32 1
//> _Z5scalePffi: fmul float
