// Rows of the first image alone, and then those of all images, of which only the run knows how many rows one has: a row
// of the first image lies before the first row of every other one.
//
// expect: 2 launches -> 1
// executes: 1 1 2
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

int main(int argc, char **argv) {
    unsigned width = argc > 1 ? atoi(argv[1]) : 37, height = argc > 2 ? atoi(argv[2]) : 5;
    unsigned told = argc > 3 ? atoi(argv[3]) : height;
    const unsigned images = 3, rows = images * 8;
    std::vector<float> start(rows * 64), expected(rows * 64), found(rows * 64);
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
    expected = start;
    std::vector<float> between = start;
    for (unsigned row = 0; row < height; row++)
        for (unsigned column = 0; column < width; column++) between[row * width + column] = start[column] + row;
    for (unsigned image = 0; image < images; image++)
        for (unsigned row = 0; row < height; row++)
            for (unsigned column = 0; column < width; column++)
                expected[(image * 8 + row) * 64 + column] = between[(image * told + row) * width + column];
    for (unsigned i = 0; i < rows * 64; i++) {
        if (found[i] != expected[i]) {
            printf("FAIL at %u: %g, not %g\n", i, found[i], expected[i]);
            return 1;
        }
    }
    puts("PASS");
}
