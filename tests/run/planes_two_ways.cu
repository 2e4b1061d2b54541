// Images of which one kernel counts all rows, and the other one rows of an image and images: places that are the same, of
// products in products. They run as one where blocks are told to be no more than rows by the extents alone.
//
// expect: 2 launches -> 1
// executes: 1 1 2
// arguments:
// arguments: 64 8
// arguments: 40 5
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void by_rows(float *a, const float *x, unsigned width, unsigned height) {
    unsigned column = threadIdx.x, row = blockIdx.y, image = blockIdx.z;
    if (row < height) a[(size_t)(image * height + row) * width + column] = x[column] + row;
}

__global__ void by_images(float *y, const float *a, unsigned width, unsigned height) {
    unsigned column = threadIdx.x, row = blockIdx.y, image = blockIdx.z;
    if (row < height && column < width)
        y[(image * 8 + row) * 64 + column] = a[(size_t)image * height * width + row * width + column];
}

int main(int argc, char **argv) {
    unsigned width = argc > 1 ? atoi(argv[1]) : 37, height = argc > 2 ? atoi(argv[2]) : 8;
    const unsigned images = 3, rows = images * 8;
    std::vector<float> start(rows * 64), found(rows * 64);
    for (unsigned i = 0; i < rows * 64; i++) start[i] = i % 89;
    float *x, *a, *y;
    for (float **each : {&x, &a, &y}) {
        cudaMalloc(each, rows * 64 * sizeof(float));
        cudaMemcpy(*each, start.data(), rows * 64 * sizeof(float), cudaMemcpyHostToDevice);
    }
    dim3 grid(1, 8, images);
    by_rows<<<grid, 32>>>(a, x, width, height);
    by_images<<<grid, 32>>>(y, a, width, height);
    cudaMemcpy(found.data(), y, rows * 64 * sizeof(float), cudaMemcpyDeviceToHost);
    for (unsigned i = 0; i < rows * 64; i++) {
        unsigned column = i % 64, row = i / 64 % 8;
        float expected = row < height && column < 32 ? start[column] + row : start[i];
        if (found[i] != expected) {
            printf("FAIL at %u: %g, not %g\n", i, found[i], expected);
            return 1;
        }
    }
    puts("PASS");
}
