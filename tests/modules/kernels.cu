// Kernels that a program loads from a file: with a barrier, a variable of the module, a warp's operations,
// mathematics and a call of the runtime.
__device__ int offset = 5;
__constant__ float factors[2] = {1, 2};
// By their plain names, as with nvcc; nothing here writes the one or reads the other.
static __constant__ int added;
static __device__ int last;

extern "C" __global__ void reverse(float *values, int n) {
    extern __shared__ float tile[];
    int i = threadIdx.x;
    tile[i] = values[i];
    __syncthreads();
    values[i] = tile[n - 1 - i] + offset + added;
    if (i == n - 1) last = n;
}

extern "C" __global__ void total(float *values, float *sum) {
    float part = sqrtf(values[threadIdx.x]) * factors[1];
    for (int lane = 16; lane > 0; lane /= 2) part += __shfl_down_sync(~0u, part, lane);
    if (threadIdx.x == 0) *sum = sinf(0) + part;
}
