// Kernels whose host functions others use.
__device__ int helper(int x);

struct Pair { int first, second; };
namespace scope {
__global__ void pair(Pair values, int *to) { *to = values.first - values.second; }
}
extern "C" __global__ void plain(int *to) { *to = 7; }
static __global__ void own(int *to) { *to = 8; }
template <class T> __global__ void instance(T *to) { *to = 9; }
__global__ void add(int *to, int value) { *to += value; }

template <void (*kernel)(int *)> void launch(int *to) { kernel<<<1, 1>>>(to); }

void launch_all(int *to) {
    launch<plain>(to);
    own<<<1, 1>>>(to);
    instance<<<1, 1>>>(to);
}
