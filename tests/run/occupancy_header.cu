// CUDA's own header of occupancies takes what the device says of itself and of a kernel.
//
// expect: 1 launches -> 1
#include <cstdio>
#include <cuda_occupancy.h>
#include <cuda_runtime.h>

__global__ void count(int *threads)
{
    __shared__ int of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    atomicAdd(&of_block, 1);
    __syncthreads();
    if (threadIdx.x == 0) threads[blockIdx.x] = of_block;
}

int main()
{
    cudaDeviceProp properties;
    cudaFuncAttributes attributes;
    cudaGetDeviceProperties(&properties, 0);
    cudaFuncGetAttributes(&attributes, count);
    cudaOccDeviceProp device(properties);
    cudaOccFuncAttributes function(attributes);
    cudaOccDeviceState state;
    cudaOccResult result;
    int grid = 0, block = 0, granularity = 0;
    bool good = cudaOccMaxPotentialOccupancyBlockSize(&grid, &block, &device, &function, &state, 0) == CUDA_OCC_SUCCESS;
    good = good && cudaOccSMemAllocationGranularity(&granularity, &device) == CUDA_OCC_SUCCESS && granularity > 0;
    for (size_t bytes : {size_t(0), properties.sharedMemPerBlock, properties.sharedMemPerBlockOptin / 2}) {
        good = good && cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, 128, bytes) == CUDA_OCC_SUCCESS;
        good = good && (bytes > 0 || result.activeBlocksPerMultiprocessor >= 1);
    }
    good = good && grid >= 1 && grid <= 4096 && block >= 1;
    int *threads, counted[4096] = {};
    cudaMalloc(&threads, sizeof counted);
    count<<<grid, block>>>(threads);
    cudaMemcpy(counted, threads, grid * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < grid; i++) good = good && counted[i] == block;
    printf("%s\n", good ? "PASS" : "FAIL");
    return good ? 0 : 1;
}
