// test: launch
// Launches by handles: the kernel is known where the handle is what the call for one kernel wrote, and
// the arguments are those at the time of the launch.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdlib>
__global__ void scale(float *x, float a, int n) { if (threadIdx.x < n) x[threadIdx.x] *= a; }
__global__ void shift(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }
struct Parameters { CUdeviceptr x; int n; };
struct Functions { CUfunction scale, shift; };

int main(int argc, char **argv) {
  Functions *functions = new Functions;
  CUdeviceptr x, y;
  cuInit(0);
  if (cudaGetFuncBySymbol(&functions->scale, (const void *)scale) != cudaSuccess) return 1;
  if (cudaGetFuncBySymbol(&functions->shift, (const void *)shift) != cudaSuccess) return 1;
  if (cuMemAlloc(&x, 4096) != CUDA_SUCCESS) return 2;
  y = x + 1024;
  float a = 2;
  int n = argc;

  // L0: an array of addresses, on the stack.
  void *on_stack[] = {&x, &a, &n};
  cuLaunchKernel(functions->scale, 1, 1, 1, 32, 1, 1, 0, nullptr, on_stack, nullptr);

  // L1: the same on the heap.
  void **on_heap = (void **)malloc(3 * sizeof(void *));
  on_heap[0] = &y;
  on_heap[1] = &a;
  on_heap[2] = &n;
  cuLaunchKernel(functions->scale, 1, 1, 1, 32, 1, 1, 0, nullptr, on_heap, nullptr);
  free(on_heap);

  // L2: a buffer that changes between its list and the launch.
  Parameters parameters{x, n};
  size_t size = sizeof parameters.x + sizeof parameters.n;
  void *list[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_BUFFER_POINTER, &parameters,
                  CU_LAUNCH_PARAM_END};
  parameters.x = y;
  cuLaunchKernel(functions->shift, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, list);

  // Unknown: the buffer is too small for the kernel's parameters.
  size = 8;
  cuLaunchKernel(functions->shift, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, list);

  // Unknown: neither an array nor a list.
  cuLaunchKernel(functions->shift, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);

  // L3: a structure of the configuration.
  CUlaunchConfig configuration{};
  configuration.gridDimX = 3;
  configuration.gridDimY = configuration.gridDimZ = 1;
  configuration.blockDimX = 64;
  configuration.blockDimY = configuration.blockDimZ = 1;
  cuLaunchKernelEx(&configuration, functions->scale, on_stack, nullptr);

  // Unknown: one of two kernels.
  if (argc > 2) functions->scale = functions->shift;
  cuLaunchKernel(functions->scale, 1, 1, 1, 32, 1, 1, 0, nullptr, on_stack, nullptr);

  // L4: the other kernel, since the handle was replaced.
  functions->scale = functions->shift;
  void *two[] = {&x, &n};
  cuLaunchKernel(functions->scale, 1, 1, 1, 32, 1, 1, 0, nullptr, two, nullptr);
  cuMemsetD32(y, 0, 256);
  cuMemFree(x);
  return 0;
}

//> buffer b0 x Device bytes=4096 unique
//> value v0 = 1 from L0.grid0
//> value v1 = 32 from L0.block0
//> value v2 = 0 from L0.shared
//> value v3 from L0.argument0+0:s64
//> value v4 = 1073741824 from L0.argument1+0:s32
//> value v5 from L0.argument2+0:s32
//> value v6 from L1.argument0+0:s64
//> value v7 = 3 from L3.grid0
//> value v8 = 64 from L3.block0
//> function main
//> block0 -> block1 block6
//>   n0 check @15
//>   n1 check @16
//> block1 -> block2 block6
//>   n2 check @17
//> block2 -> block3 block6
//>   n3 allocation b0 @18
//> block3 -> block4 block5
//>   n4 launch L0 kernel0 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v3=b0, v4, v5) @25
//>   n5 launch L1 kernel0 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v6=b0+1024, v4, v5) @32
//>   n6 launch L2 kernel1 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v6=b0+1024, v5) @41
//>   n7 opaque cuLaunchKernel @45
//>   n8 opaque cuLaunchKernel @48
//>   n9 launch L3 kernel0 <<<(v7,v0,v0),(v8,v0,v0),v2,stream=default>>>(v3=b0, v4, v5) @56
//> block4 -> block5
//> block5 -> block6
//>   n10 opaque cuLaunchKernel @60
//>   n11 launch L4 kernel1 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v3=b0, v5) @65
//>   n12 set stream=default writes b0+1024 bytes=1024 @66
//>   n13 free b0 @67
//> block6 -> 
