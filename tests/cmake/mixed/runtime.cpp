#include <cuda_runtime.h>
#include <iostream>

int main() {
  int devices = 0;
  cudaError_t error = cudaGetDeviceCount(&devices);
  std::cout << (error == cudaSuccess && devices > 0 ? "0 wrong\n" : "1 wrong\n");
  return error != cudaSuccess;
}
