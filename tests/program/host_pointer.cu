// test: program
// A kernel that is handed host memory can only work where the device sees it.
#include <cuda_runtime.h>
__global__ void fill(int *q) { *q = 7; }
int must_be_read_again() {
  int *q = new int(1);
  fill<<<1, 1>>>(q);
  cudaDeviceSynchronize();
  return *q;
}

//> kernel _Z4fillPi as _Z4fillPi stub _Z4fillPi unit 0 present true
//> host-visible memory anything
//> image sirius.placeholder.0 present true
//> _Z18must_be_read_againv: sirius.launch.0(i32 0, ptr nonnull @_Z4fillPi, i64 4294967297, i32 1, i64 4294967297, i32 1, i64 0, ptr null, ptr nonnull %call)
//> _Z18must_be_read_againv:  ret i32 %1
