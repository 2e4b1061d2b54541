#include "fields.h"
#include <cstdio>
#include <cstring>
#include <stdexcept>

Fields fields;

int main(int count, char **arguments) {
  const int n = 1000;
  float one[n], other[n];
  fields.n = n;
  fields.grids[1] = fields.grids[2] = dim3(4);
  fields.numbers["scale"] = 3;
  fields.numbers["shift"] = 4;
  cudaMalloc(reinterpret_cast<void **>(&fields.one), sizeof one);
  cudaMalloc(reinterpret_cast<void **>(&fields.other), sizeof other);
  cudaMemset(fields.one, 0, sizeof one);
  cudaMemset(fields.other, 0, sizeof other);
  const char *which = count > 1 ? arguments[1] : "";
  float found = 7;
  int caught = 0;
  if (!std::strcmp(which, "throw")) {
    try {
      fields.both("scale", "nothing of this name", false);
    } catch (const std::out_of_range &) {
      caught++;
    }
  } else if (!std::strcmp(which, "look")) {
    cudaMallocManaged(reinterpret_cast<void **>(&fields.seen), sizeof one);
    for (int i = 0; i < n; i++) fields.seen[i] = i;
    found = fields.look();
  } else {
    fields.both("scale", "shift", !std::strcmp(which, "wait"));
  }
  cudaMemcpy(one, fields.one, sizeof one, cudaMemcpyDeviceToHost);
  cudaMemcpy(other, fields.other, sizeof other, cudaMemcpyDeviceToHost);
  std::printf("%g %g %g %d\n", one[999], other[999], found, caught);
}
