#pragma once
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s\n", cudaGetErrorString(error));
  exit(1);
}
inline int blocks(int n) { return (n + 255) / 256; }
struct App {
  float *x, *y;
  int n;
  App(int n);
  void run();
};
