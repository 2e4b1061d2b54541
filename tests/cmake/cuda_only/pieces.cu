#include "pieces.cuh"

__global__ void scale(float *values, float factor, int count) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count) values[index] *= factor;
}

__global__ void shift(float *values, float offset, int count) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count) values[index] += offset;
}
