// Rows of the first image alone, and then those of all images, of which only the run knows how many rows one has: a row
// of the first image lies before the first row of every other one.
//
// expect: 4 launches -> 2
// executes: 2 2 3
// arguments:
// arguments: 40 3 4
// arguments: 40 7 6
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void first(float *a, const float *x, unsigned width, unsigned height) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, image = blockIdx.z;
    if (column < width && row < height && image == 0)
        a[(image * height + row) * width + column] = x[column] + row;
}

__global__ void all(float *y, const float *a, unsigned width, unsigned height, unsigned told) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, image = blockIdx.z;
    if (column < width && row < height)
        y[(image * 8 + row) * 64 + column] = a[(image * told + row) * width + column];
}

// The same by images and rows.
__global__ void all_by_images(float *y, const float *a, unsigned width, unsigned height) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, image = blockIdx.z;
    if (column < width && row < height)
        y[(image * 8 + row) * 64 + column] = a[(size_t)image * (height * width) + (row * width + column)];
}

int main(int argc, char **argv) {
    unsigned width = argc > 1 ? atoi(argv[1]) : 37, height = argc > 2 ? atoi(argv[2]) : 5;
    unsigned told = argc > 3 ? atoi(argv[3]) : height;
    const unsigned images = 3, rows = images * 8;
    std::vector<float> start(rows * 64), found(rows * 64);
    for (unsigned i = 0; i < rows * 64; i++) start[i] = i % 89;
    float *x, *a, *y;
    for (float **each : {&x, &a, &y}) {
        cudaMalloc(each, rows * 64 * sizeof(float));
        cudaMemcpy(*each, start.data(), rows * 64 * sizeof(float), cudaMemcpyHostToDevice);
    }
    dim3 grid(2, 8, images);
    first<<<grid, 32>>>(a, x, width, height);
    all<<<grid, 32>>>(y, a, width, height, told);
    cudaMemcpy(found.data(), y, rows * 64 * sizeof(float), cudaMemcpyDeviceToHost);
    std::vector<float> again(rows * 64);
    cudaMemcpy(y, start.data(), rows * 64 * sizeof(float), cudaMemcpyHostToDevice);
    first<<<grid, 32>>>(a, x, width, height);
    all_by_images<<<grid, 32>>>(y, a, width, height);
    cudaMemcpy(again.data(), y, rows * 64 * sizeof(float), cudaMemcpyDeviceToHost);
    std::vector<float> between = start;
    for (unsigned row = 0; row < height; row++)
        for (unsigned column = 0; column < width; column++) between[row * width + column] = start[column] + row;
    for (unsigned i = 0; i < rows * 64; i++) {
        unsigned column = i % 64, row = i / 64 % 8, image = i / 512;
        bool inside = column < width && row < height;
        float expected = inside ? between[(image * told + row) * width + column] : start[i];
        float once_more = inside ? between[(image * height + row) * width + column] : start[i];
        if (found[i] != expected || again[i] != once_more) {
            printf("FAIL at %u: %g and %g, not %g and %g\n", i, found[i], again[i], expected, once_more);
            return 1;
        }
    }
    puts("PASS");
}
