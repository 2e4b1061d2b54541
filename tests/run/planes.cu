// Planes of images whose extents only the run knows: rows of rows, of which a whole plane is the distance. They run as one
// where there are no more planes than one image has, and one after the other where images overlap.
//
// expect: 5 launches -> 2
// executes: 3 2 5
// arguments:
// arguments: 8 16 3 3
// arguments: 12 13 3 5
#include <cstdio>
#include <cstdlib>
#include <vector>

// Each element is a function of its place, so that it does not matter who of two writes it.
__global__ void number(float *a, int height, int width, int planes) {
    const int inside = blockIdx.x * blockDim.x + threadIdx.x, plane = blockIdx.y, image = blockIdx.z;
    if (inside >= height * width)
        return;
    const int place = (image * planes + plane) * height * width + inside;
    a[place] = place % 101;
}

__global__ void twice(const float *a, float *b, int height, int width, int planes) {
    const int inside = blockIdx.x * blockDim.x + threadIdx.x, plane = blockIdx.y, image = blockIdx.z;
    if (inside >= height * width)
        return;
    const int place = (image * planes + plane) * height * width + inside;
    b[place] = 2 * a[place];
}

__global__ void next(const float *b, float *c, int height, int width, int planes) {
    const int inside = blockIdx.x * blockDim.x + threadIdx.x, plane = blockIdx.y, image = blockIdx.z;
    if (inside >= height * width)
        return;
    const int place = (image * planes + plane) * height * width + inside;
    c[place] = b[place] + 1;
}

// The same in blocks that count planes first.
__global__ void next_by_planes(const float *b, float *c, int height, int width, int planes) {
    const int inside = blockIdx.y * blockDim.x + threadIdx.x, plane = blockIdx.x, image = blockIdx.z;
    if (inside >= height * width)
        return;
    const int place = (image * planes + plane) * height * width + inside;
    c[place] = b[place] + 1;
}

int main(int argc, char **argv) {
    const int height = argc > 1 ? atoi(argv[1]) : 12, width = argc > 2 ? atoi(argv[2]) : 13;
    const int planes = argc > 3 ? atoi(argv[3]) : 3, told = argc > 4 ? atoi(argv[4]) : planes;
    const int images = 4;
    const size_t count = size_t((images - 1) * planes + told) * height * width;
    float *memory[5];
    for (float *&each : memory) {
        cudaMalloc(&each, count * sizeof(float));
        cudaMemset(each, 0, count * sizeof(float));
    }
    auto [a, b, c, d, e] = memory;
    const unsigned blocks = (height * width + 63) / 64;
    const dim3 grid(blocks, told, images);
    number<<<grid, 64>>>(a, height, width, planes);
    twice<<<grid, 64>>>(a, b, height, width, planes);
    next<<<grid, 64>>>(b, c, height, width, planes);
    cudaDeviceSynchronize();
    std::vector<float> first(count), second(count);
    cudaMemcpy(first.data(), c, count * sizeof(float), cudaMemcpyDeviceToHost);

    number<<<grid, 64>>>(d, height, width, planes);
    next_by_planes<<<dim3(told, blocks, images), 64>>>(d, e, height, width, planes);
    cudaDeviceSynchronize();
    cudaMemcpy(second.data(), e, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < count; i++) {
        const float value = i % 101;
        if (first[i] != 2 * value + 1 || second[i] != value + 1) {
            printf("FAIL at %zu: %g and %g\n", i, first[i], second[i]);
            return 1;
        }
    }
    printf("planes: %d x %d x %d\nPASS\n", planes, height, width);
}
