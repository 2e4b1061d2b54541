#include "fields.h"

__global__ void scale(int by, float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = by * x[i] + 1;
}

__global__ void shift(int by, float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += by;
}

void Fields::both(const char *first, const char *second, bool wait) {
  scale<<<grids[1], 256>>>(numbers.at(first), one, n);
  if (wait) cudaDeviceSynchronize();
  shift<<<grids[2], 256>>>(numbers.at(second), other, n);
}

float Fields::look() {
  scale<<<grids[1], 256>>>(2, seen, n);
  cudaDeviceSynchronize();
  float found = seen[7];
  shift<<<grids[2], 256>>>(3, other, n);
  return found;
}
