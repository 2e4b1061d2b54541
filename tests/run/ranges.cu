// NVTX: ranges and names around launches, which nobody watches here, keep them apart as little as comments.
//
// expect: 2 launches -> 1
#include <cstdio>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <vector>

__global__ void twice(const float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = 2 * a[i];
}

__global__ void more(const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = b[i] + 1;
}

int main() {
  const int n = 300;
  std::vector<float> host(n);
  for (int i = 0; i < n; i++) host[i] = (float)i;
  float *a, *b, *c;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMalloc(&c, n * sizeof(float));
  cudaMemcpy(a, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  nvtxNameCudaStreamA(stream, "work");
  nvtxRangePushA("both");
  twice<<<3, 128, 0, stream>>>(a, b, n);
  nvtxMarkA("between");
  nvtxRangeId_t range = nvtxRangeStartA("more");
  more<<<3, 128, 0, stream>>>(b, c, n);
  nvtxRangeEnd(range);
  nvtxRangePop();
  cudaStreamSynchronize(stream);
  cudaMemcpy(host.data(), c, n * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += host[i] != 2.0f * i + 1;
  printf(wrong ? "FAIL: %d\n" : "PASS\n", wrong);
  return wrong != 0;
}
