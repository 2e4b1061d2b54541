#pragma once

// Of another source: only a device link finds it.
__device__ int distance(int left, int right);
