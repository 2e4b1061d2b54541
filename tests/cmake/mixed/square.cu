#include "square.h"

__global__ void square_each(int *values, int count) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count) values[index] *= values[index];
}

int square(int count) {
  int *values;
  if (cudaMallocManaged(&values, count * sizeof(int)) != cudaSuccess) return -1;
  for (int index = 0; index < count; ++index) values[index] = index;
  square_each<<<(count + 63) / 64, 64>>>(values, count);
  if (cudaDeviceSynchronize() != cudaSuccess) return -1;
  int wrong = 0;
  for (int index = 0; index < count; ++index) wrong += values[index] != index * index;
  cudaFree(values);
  return wrong;
}
