// expect: 6 launches -> 2
// executes: 3
// Between the launches of each pair the host looks into containers, and the pointers stand behind containers, too. So the
// program asks what memory they lead to. In the last pair it is memory that the host reads in between.
#include <cstdio>
#include <map>
#include <string>
#include <cuda_runtime.h>

struct Fields {
  std::map<int, dim3> grids;
  std::map<std::string, int> numbers;
  float *one;
  float *other;
  float *seen;
  int n;
};

static Fields fields;

__global__ void scale(int by, float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = by * x[i] + 1;
}

__global__ void shift(int by, float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += by;
}

__global__ void fill(int with, float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = with + i;
}

int main() {
  fields.n = 1000;
  fields.grids[1] = dim3(4);
  fields.grids[2] = dim3(4);
  fields.numbers["scale"] = 3;
  fields.numbers["shift"] = 4;
  cudaMalloc(&fields.one, 4000);
  cudaMalloc(&fields.other, 4000);
  cudaMallocManaged(&fields.seen, 4000);
  cudaMemset(fields.one, 0, 4000);
  cudaMemset(fields.other, 0, 4000);

  scale<<<fields.grids[1], 256>>>(fields.numbers.at("scale"), fields.one, fields.n);
  shift<<<fields.grids[2], 256>>>(fields.numbers.at("shift"), fields.other, fields.n);

  // The same, with a wait.
  scale<<<fields.grids[1], 256>>>(fields.numbers.at("scale"), fields.one, fields.n);
  cudaDeviceSynchronize();
  shift<<<fields.grids[2], 256>>>(fields.numbers.at("shift"), fields.other, fields.n);
  cudaDeviceSynchronize();

  float one[1000], other[1000];
  cudaMemcpy(one, fields.one, 4000, cudaMemcpyDeviceToHost);
  cudaMemcpy(other, fields.other, 4000, cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < 1000; i++) right = right && one[i] == 4 && other[i] == 8;

  fill<<<fields.grids[1], 256>>>(fields.numbers.at("scale"), fields.seen, fields.n);
  cudaDeviceSynchronize();
  float seen = fields.seen[7];
  shift<<<fields.grids[2], 256>>>(fields.numbers.at("shift"), fields.other, fields.n);

  cudaMemcpy(other, fields.other, 4000, cudaMemcpyDeviceToHost);
  right = right && seen == 10 && other[999] == 12;
  puts(right ? "PASS" : "FAIL");
}
