// Kernels that a program loads from a file: with a barrier, a variable of the module, a warp's operations,
// mathematics and a call of the runtime.
__device__ int offset = 5;
__constant__ float factors[2] = {1, 2};

extern "C" __global__ void reverse(float *values, int n) {
    extern __shared__ float tile[];
    int i = threadIdx.x;
    tile[i] = values[i];
    __syncthreads();
    values[i] = tile[n - 1 - i] + offset;
}

extern "C" __global__ void total(float *values, float *sum) {
    float part = sqrtf(values[threadIdx.x]) * factors[1];
    for (int lane = 16; lane > 0; lane /= 2) part += __shfl_down_sync(~0u, part, lane);
    if (threadIdx.x == 0) *sum = sinf(0) + part;
}
