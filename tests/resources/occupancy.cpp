// Reads rows of a device's limits and a kernel's needs and prints, for each, how many blocks
// the toolkit's own calculator lets run at once on a multiprocessor.
#include <cstddef>
#include <cstdio>
#include <cuda_occupancy.h>

int main() {
    int number, threads, block_registers, registers, block, barriers;
    size_t shared, shared_of_block, fixed, dynamic;
    while (std::scanf("%d %d %d %zu %zu %d %zu %zu %d %d", &number, &threads, &block_registers, &shared,
                      &shared_of_block, &registers, &fixed, &dynamic, &block, &barriers) == 10) {
        cudaOccDeviceProp device;
        device.computeMajor = number / 10;
        device.computeMinor = number % 10;
        device.maxThreadsPerBlock = 1024;
        device.maxThreadsPerMultiprocessor = threads;
        device.regsPerBlock = block_registers;
        device.regsPerMultiprocessor = 64 << 10;
        device.warpSize = 32;
        device.sharedMemPerBlock = 48 << 10;
        device.sharedMemPerMultiprocessor = shared;
        device.numSms = 1;
        device.sharedMemPerBlockOptin = shared_of_block;
        device.reservedSharedMemPerBlock = number >= 80 ? 1024 : 0;
        cudaOccFuncAttributes kernel;
        kernel.maxThreadsPerBlock = 1024;
        kernel.numRegs = registers;
        kernel.sharedSizeBytes = fixed;
        kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = shared_of_block - fixed;
        kernel.numBlockBarriers = barriers;
        cudaOccDeviceState state;
        state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
        cudaOccResult result;
        cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, block, dynamic);
        std::printf("%d\n", error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1);
    }
    return 0;
}
