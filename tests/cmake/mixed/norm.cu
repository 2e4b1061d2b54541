#include "norm.cuh"

__device__ int distance(int left, int right) { return left < right ? right - left : left - right; }
