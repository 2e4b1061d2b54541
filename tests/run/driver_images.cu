// The driver's arrays, textures and surfaces, and what it says of peers and of other processes.
//
// expect: 2 launches -> 2
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

static int failures = 0;
#define EXPECT(call, wanted)                                                             \
    do {                                                                                 \
        int got = (int)(call);                                                           \
        if (got != (int)(wanted)) ++failures, printf("%d: %s is %d\n", __LINE__, #call, got); \
    } while (0)

__global__ void read_texture(float *out, cudaTextureObject_t texture) {
    out[threadIdx.x] = tex2D<float>(texture, threadIdx.x % 8 + 0.5f, threadIdx.x / 8 + 0.5f);
}
__global__ void write_surface(cudaSurfaceObject_t surface) {
    surf2Dwrite((unsigned char)(3 * threadIdx.x), surface, threadIdx.x % 8, threadIdx.x / 8);
}

int main() {
    CUcontext context;
    EXPECT(cudaFree(0), cudaSuccess);
    EXPECT(cuCtxGetCurrent(&context), CUDA_SUCCESS);
    const int width = 8, height = 4;
    unsigned char texels[height][width], back[height][width];
    for (int i = 0; i < width * height; i++) texels[i / width][i % width] = i;

    // An array of bytes, filled row by row, and read as floats from 0 to 1: the driver's default.
    CUDA_ARRAY3D_DESCRIPTOR description;
    memset(&description, 0, sizeof description);
    description.Width = width;
    description.Height = height;
    description.Format = CU_AD_FORMAT_UNSIGNED_INT8;
    description.NumChannels = 1;
    description.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    CUarray array;
    EXPECT(cuArray3DCreate(&array, &description), CUDA_SUCCESS);
    CUDA_ARRAY_DESCRIPTOR found;
    EXPECT(cuArrayGetDescriptor(&found, array), CUDA_SUCCESS);
    EXPECT(found.Width * 100 + found.Height * 10 + found.NumChannels, 841);
    EXPECT(found.Format, CU_AD_FORMAT_UNSIGNED_INT8);
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = texels;
    copy.srcPitch = width;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = width;
    copy.Height = height;
    EXPECT(cuMemcpy2D(&copy), CUDA_SUCCESS);
    copy.dstXInBytes = 1;
    EXPECT(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
    CUDA_RESOURCE_DESC resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    CUDA_TEXTURE_DESC sampling;
    memset(&sampling, 0, sizeof sampling);
    for (CUaddress_mode &mode : sampling.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
    CUtexObject texture;
    EXPECT(cuTexObjectCreate(&texture, &resource, &sampling, nullptr), CUDA_SUCCESS);
    float *out, values[32];
    EXPECT(cudaMalloc(&out, sizeof values), cudaSuccess);
    read_texture<<<1, 32>>>(out, texture);
    EXPECT(cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int i = 0; i < 32; i++) failures += values[i] != i / 255.0f;
    EXPECT(cuTexObjectDestroy(texture), CUDA_SUCCESS);

    CUsurfObject surface;
    EXPECT(cuSurfObjectCreate(&surface, &resource), CUDA_SUCCESS);
    write_surface<<<1, 32>>>(surface);
    CUDA_MEMCPY3D volume;
    memset(&volume, 0, sizeof volume);
    volume.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    volume.srcArray = array;
    volume.dstMemoryType = CU_MEMORYTYPE_HOST;
    volume.dstHost = back;
    volume.WidthInBytes = width;
    volume.Height = height;
    volume.Depth = 1;
    EXPECT(cuMemcpy3D(&volume), CUDA_SUCCESS);
    for (int i = 0; i < 32; i++) failures += back[i / width][i % width] != 3 * i;
    EXPECT(cuSurfObjectDestroy(surface), CUDA_SUCCESS);
    EXPECT(cuArrayDestroy(array), CUDA_SUCCESS);

    // One device is no peer of itself, and memory belongs to one process.
    int answer = 7;
    EXPECT(cudaDeviceCanAccessPeer(&answer, 0, 0), cudaSuccess);
    EXPECT(answer, 0);
    EXPECT(cudaDeviceCanAccessPeer(&answer, 0, 1), cudaErrorInvalidDevice);
    EXPECT(cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice);
    EXPECT(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
    EXPECT(cudaDeviceGetP2PAttribute(&answer, cudaDevP2PAttrAccessSupported, 0, 0), cudaErrorInvalidDevice);
    EXPECT(cuCtxEnablePeerAccess(context, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    EXPECT(cuCtxDisablePeerAccess(context), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    CUdeviceptr first = (CUdeviceptr)out, second = first + 64;
    EXPECT(cuMemcpyPeer(second, context, first, context, 64), CUDA_SUCCESS);
    EXPECT(cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int i = 0; i < 16; i++) failures += values[16 + i] != values[i];
    CUipcMemHandle handle;
    EXPECT(cuIpcGetMemHandle(&handle, first), CUDA_ERROR_NOT_SUPPORTED);
    cudaIpcMemHandle_t other;
    EXPECT(cudaIpcGetMemHandle(&other, out), cudaErrorNotSupported);
    cudaGetLastError();
    printf(failures == 0 ? "PASS\n" : "FAIL\n");
    return failures != 0;
}
