// test: program
// With managed memory in the program, what waits for the device may change what the host reads.
#include <cuda_runtime.h>
__global__ void fill(int *q) { *q = 7; }
int *allocate() { int *q; cudaMallocManaged(&q, sizeof *q); return q; }
int must_be_read_again(int *q) {
  *q = 1;
  fill<<<1, 1>>>(q);
  cudaDeviceSynchronize();
  return *q;
}

//> kernel _Z4fillPi as _Z4fillPi stub _Z4fillPi unit 0 present true
//> host-visible memory allocations
//> image sirius.placeholder.0 present true
//> _Z18must_be_read_againPi: sirius.launch.0(i32 0, ptr nonnull @_Z4fillPi, i64 4294967297, i32 1, i64 4294967297, i32 1, i64 0, ptr null, ptr nonnull %q)
//> _Z18must_be_read_againPi:  ret i32 %1
