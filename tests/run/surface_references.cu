// Surface references, which CUDA 12 dropped: kernels read and write the array that is bound when they are launched.
//
// expect: 6 launches -> 6
#include <cstdio>

surface<void, 2> plane;
static surface<void, cudaSurfaceType1D> row;
surface<void, cudaSurfaceType3D> space;

__global__ void fill(int width, float more) {
    int x = threadIdx.x, y = blockIdx.x;
    surf2Dwrite(x + 10 * y + more, plane, x * static_cast<int>(sizeof(float)), y, cudaBoundaryModeTrap);
}

// Each thread reads what another one of its block wrote before.
__global__ void mirror(int width) {
    int x = threadIdx.x, y = blockIdx.x;
    float value;
    surf2Dread(&value, plane, (width - 1 - x) * 4, y);
    __syncthreads();
    surf2Dwrite(value + surf2Dread<float>(plane, 400, 0, cudaBoundaryModeZero), plane, x * 4, y);
}

template <class Surface> __device__ int2 pair_of(const Surface &from, int x) {
    return surf1Dread<int2>(from, x * static_cast<int>(sizeof(int2)));
}

__global__ void pairs() {
    int2 pair = pair_of(row, threadIdx.x);
    surf1Dwrite(make_int2(pair.y, pair.x + 1), row, threadIdx.x * 8, sizeof(int2), cudaBoundaryModeTrap);
}

__global__ void deep() { surf3Dwrite(static_cast<short>(100 * threadIdx.z + 10 * threadIdx.y + threadIdx.x), space, threadIdx.x * 2, threadIdx.y, threadIdx.z); }

int main() {
    const int width = 8, height = 4;
    cudaChannelFormatDesc number = cudaCreateChannelDesc<float>();
    cudaArray_t first, second, line, cube;
    cudaMallocArray(&first, &number, width, height, cudaArraySurfaceLoadStore);
    cudaMallocArray(&second, &number, width, height, cudaArraySurfaceLoadStore);
    cudaBindSurfaceToArray(plane, first);
    fill<<<height, width>>>(width, 0);
    mirror<<<height, width>>>(width);
    // The launches above go on with the first array.
    cudaBindSurfaceToArray(plane, second, number);
    fill<<<height, width>>>(width, 0.5f);

    cudaChannelFormatDesc two = cudaCreateChannelDesc<int2>();
    cudaMallocArray(&line, &two, width, 0, cudaArraySurfaceLoadStore);
    int2 numbers[width];
    for (int i = 0; i < width; i++) numbers[i] = make_int2(i, -i);
    cudaMemcpy2DToArray(line, 0, 0, numbers, sizeof numbers, sizeof numbers, 1, cudaMemcpyHostToDevice);
    const surfaceReference *reference;
    cudaGetSurfaceReference(&reference, &row);
    cudaBindSurfaceToArray(reference, line, &two);
    pairs<<<1, width>>>();
    pairs<<<1, width>>>();

    cudaChannelFormatDesc small = cudaCreateChannelDesc<short>();
    cudaMalloc3DArray(&cube, &small, make_cudaExtent(4, 3, 2), cudaArraySurfaceLoadStore);
    cudaBindSurfaceToArray(space, cube);
    deep<<<1, dim3(4, 3, 2)>>>();

    float a[height][width], b[height][width];
    short c[2][3][4];
    cudaMemcpy2DFromArray(a, sizeof a[0], first, 0, 0, sizeof a[0], height, cudaMemcpyDeviceToHost);
    cudaMemcpy2DFromArray(b, sizeof b[0], second, 0, 0, sizeof b[0], height, cudaMemcpyDeviceToHost);
    cudaMemcpy2DFromArray(numbers, sizeof numbers, line, 0, 0, sizeof numbers, 1, cudaMemcpyDeviceToHost);
    cudaMemcpy3DParms copy = {};
    copy.srcArray = cube;
    copy.dstPtr = make_cudaPitchedPtr(c, 8, 4, 3);
    copy.extent = make_cudaExtent(4, 3, 2);
    copy.kind = cudaMemcpyDeviceToHost;
    cudaMemcpy3D(&copy);
    int wrong = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) wrong += a[y][x] != width - 1 - x + 10 * y || b[y][x] != x + 10 * y + 0.5f;
    for (int i = 0; i < width; i++) wrong += numbers[i].x != i + 1 || numbers[i].y != 1 - i;
    for (int i = 0; i < 24; i++) wrong += (&c[0][0][0])[i] != 100 * (i / 12) + 10 * (i / 4 % 3) + i % 4;
    wrong += cudaBindSurfaceToArray(static_cast<const surfaceReference *>(nullptr), first, &number) != cudaErrorInvalidSurface;
    printf("%g %g %d %d: %s\n", a[1][2], b[3][4], numbers[2].x, c[1][2][3], wrong == 0 && cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
    return wrong;
}
