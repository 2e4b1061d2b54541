#include "pieces.cuh"
#include <cstdio>

#ifndef __NVCC__
#error "the compiler is nvcc to programs"
#endif

int main() {
  const int count = 1000;
  static float host[count];
  for (int index = 0; index < count; ++index) host[index] = index;
  float *values;
  cudaMalloc(&values, sizeof(host));
  cudaMemcpy(values, host, sizeof(host), cudaMemcpyHostToDevice);
  scale<<<(count + 127) / 128, 128>>>(values, 2.0f, count);
  shift<<<(count + 127) / 128, 128>>>(values, 1.0f, count);
  cudaMemcpy(host, values, sizeof(host), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int index = 0; index < count; ++index) wrong += host[index] != 2.0f * index + 1.0f;
  std::printf("%d wrong\n", wrong);
  return wrong != 0 || cudaGetLastError() != cudaSuccess;
}
