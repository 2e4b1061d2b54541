// Addresses that are reserved and memory that is mapped at them. One piece of memory is at several addresses here, so
// that neither unequal pointers lead to different memory nor unequal places behind one pointer.
//
// Shows: where memory may be mapped, no two launches become one, since no comparison of pointers could tell.
//
// expect: 6 launches -> 6
// expect-missed: opaque_kernel
// expect-missed: opaque_kernel
// expect-missed: opaque_kernel
// expect-missed: opaque_kernel
// expect-missed: opaque_kernel
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>
#include <unistd.h>

static int failures = 0;

static void same(const char *what, long long got, long long expected) {
    if (got != expected && failures++ < 20) printf("%s: %lld instead of %lld\n", what, got, expected);
}

const int N = 1000;

__global__ void doubled(int *out, const int *in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) out[i] = 2 * in[i];
}

static void launches(int *first, int *second, int *in, int *out, size_t half) {
    static int host[N];
    // The second launch reads, by other addresses, what the first writes.
    doubled<<<8, 128>>>(first, in);
    doubled<<<8, 128>>>(out, second + 1);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    same("by another pointer", host[126], 4 * 127);
    same("in another block", host[127], 4 * 128);
    // It writes what the first reads.
    doubled<<<8, 128>>>(out, first);
    doubled<<<8, 128>>>(second + 1, out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    same("before it is overwritten", host[128], 4 * 128);
    // The same memory again behind its end.
    doubled<<<8, 128>>>(first + half, in);
    doubled<<<8, 128>>>(out, first + 1);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    same("a ring", host[127], 4 * 128);
}

int main() {
    int supported = 0, by_file = 0;
    CUdevice device;
    CUcontext context;
    same("cuInit", cuInit(0), CUDA_SUCCESS);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device);
    cuDeviceGetAttribute(&by_file, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, device);
    same("supported", supported && by_file, 1);
    CUmemAllocationProp properties = {}, found;
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    size_t size = 0;
    same("granularity", cuMemGetAllocationGranularity(&size, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM), CUDA_SUCCESS);
    same("a multiple of pages", size != 0 && size % 4096 == 0, 1);

    // Two addresses for the first piece in one reservation, one in another.
    CUdeviceptr ring, other, third;
    CUmemGenericAllocationHandle memory, again, imported;
    same("reserve", cuMemAddressReserve(&ring, 2 * size, 0, 0, 0), CUDA_SUCCESS);
    same("reserve", cuMemAddressReserve(&other, size, 4 * size, 0, 0), CUDA_SUCCESS);
    same("aligned", other % (4 * size), 0);
    same("odd size", cuMemAddressReserve(&third, size + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    same("create", cuMemCreate(&memory, size, &properties, 0), CUDA_SUCCESS);
    same("map", cuMemMap(ring, size, 0, memory, 0), CUDA_SUCCESS);
    same("map twice", cuMemMap(ring, size, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
    same("behind the end", cuMemMap(ring + size, 2 * size, 0, memory, 0), CUDA_ERROR_NOT_SUPPORTED);
    same("map", cuMemMap(ring + size, size, 0, memory, 0), CUDA_SUCCESS);
    same("map", cuMemMap(other, size, 0, memory, 0), CUDA_SUCCESS);
    same("properties", cuMemGetAllocationPropertiesFromHandle(&found, memory), CUDA_SUCCESS);
    same("as made", found.type == CU_MEM_ALLOCATION_TYPE_PINNED && found.requestedHandleTypes == properties.requestedHandleTypes, 1);
    same("compressed", found.allocFlags.compressionType, CU_MEM_ALLOCATION_COMP_NONE);

    CUmemAccessDesc access = {};
    unsigned long long flags = 7;
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    int host = 0;
    same("no access yet", cuMemcpyDtoH(&host, ring, sizeof host), CUDA_ERROR_INVALID_VALUE);
    same("its access", cuMemGetAccess(&flags, &access.location, ring + size), CUDA_SUCCESS);
    same("none", flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    same("part of a piece", cuMemSetAccess(ring, size / 2, &access, 1), CUDA_ERROR_INVALID_VALUE);
    same("access", cuMemSetAccess(ring, 2 * size, &access, 1), CUDA_SUCCESS);
    same("access", cuMemSetAccess(other, size, &access, 1), CUDA_SUCCESS);
    same("its access", cuMemGetAccess(&flags, &access.location, ring + size), CUDA_SUCCESS);
    same("both", flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    same("zero at first", cuMemcpyDtoH(&host, other + size - 4, sizeof host), CUDA_SUCCESS);
    same("zero", host, 0);
    // A copy runs from one piece into the next.
    static int numbers[N];
    for (int i = 0; i < N; i++) numbers[i] = i + 1;
    same("across", cuMemcpyHtoD(ring + size - 2000, numbers, sizeof numbers), CUDA_SUCCESS);
    same("first again", cuMemcpyDtoH(&host, other, sizeof host), CUDA_SUCCESS);
    same("the 501st", host, 501);
    same("too far", cuMemcpyHtoD(ring + 2 * size - 4, numbers, 8), CUDA_ERROR_INVALID_VALUE);

    int *in, *out;
    cudaMalloc(&in, N * sizeof(int));
    cudaMalloc(&out, N * sizeof(int));
    for (int i = 0; i < N; i++) numbers[i] = i;
    cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    launches((int *)ring, (int *)other, in, out, size / sizeof(int));
    same("launches", cudaDeviceSynchronize(), cudaSuccess);
    cudaPointerAttributes attributes;
    same("attributes", cudaPointerGetAttributes(&attributes, (void *)ring), cudaSuccess);
    same("of the device", attributes.type, cudaMemoryTypeDevice);
    same("no allocation", cudaFree((void *)ring), cudaErrorInvalidValue);
    cudaGetLastError();

    // Handles, and a way over a file.
    int file = -1;
    same("retain", cuMemRetainAllocationHandle(&again, (void *)(other + 8)), CUDA_SUCCESS);
    same("export", cuMemExportToShareableHandle(&file, again, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), CUDA_SUCCESS);
    same("import", cuMemImportFromShareableHandle(&imported, (void *)(size_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), CUDA_SUCCESS);
    close(file);
    same("reserve", cuMemAddressReserve(&third, size, 0, 0, 0), CUDA_SUCCESS);
    same("map", cuMemMap(third, size, 0, imported, 0), CUDA_SUCCESS);
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    same("access", cuMemSetAccess(third, size, &access, 1), CUDA_SUCCESS);
    same("of the same file", cuMemcpyDtoH(&host, third, sizeof host), CUDA_SUCCESS);
    int expected = -1;
    cuMemcpyDtoH(&expected, ring, sizeof expected);
    same("the same", host, expected);
    same("release", cuMemRelease(imported), CUDA_SUCCESS);
    same("release", cuMemRelease(again), CUDA_SUCCESS);
    same("release", cuMemRelease(memory), CUDA_SUCCESS);
    same("one too many", cuMemRelease(memory), CUDA_ERROR_INVALID_VALUE);
    same("still there", cuMemcpyDtoH(&host, third, sizeof host), CUDA_SUCCESS);

    same("in use", cuMemAddressFree(ring, 2 * size), CUDA_ERROR_INVALID_VALUE);
    same("unmap", cuMemUnmap(ring + size, size), CUDA_SUCCESS);
    same("gone", cuMemcpyDtoH(&host, ring + size, sizeof host), CUDA_ERROR_INVALID_VALUE);
    same("the rest", cuMemcpyDtoH(&host, ring, sizeof host), CUDA_SUCCESS);
    same("unmap", cuMemUnmap(ring, size), CUDA_SUCCESS);
    same("unmap", cuMemUnmap(other, size), CUDA_SUCCESS);
    same("unmap", cuMemUnmap(third, size), CUDA_SUCCESS);
    same("twice", cuMemUnmap(third, size), CUDA_SUCCESS);
    same("free", cuMemAddressFree(ring, 2 * size), CUDA_SUCCESS);
    same("free", cuMemAddressFree(other, size), CUDA_SUCCESS);
    same("free", cuMemAddressFree(third, size), CUDA_SUCCESS);
    same("twice", cuMemAddressFree(third, size), CUDA_ERROR_INVALID_VALUE);
    cudaFree(in), cudaFree(out);
    printf(failures ? "FAIL\n" : "PASS\n");
    return failures != 0;
}
