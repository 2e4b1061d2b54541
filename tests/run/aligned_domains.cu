// Launches of other sizes that run as one over the threads of the largest, where an `if` leaves some out, or over
// those of the smallest, which do what the others do in turn: grids that are known, other blocks, sizes
// that a run tells, and loops inside.
//
// arguments: 5
// arguments: 1
// layouts: all
// layouts differ
// expect: 11 launches -> 5
#include <cstdio>
#include <cstdlib>

__global__ void scale(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = x[i] * 3 + 1;
}

__global__ void add(float *out, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i] + out[i] / 2;
}

// A loop for each thread, of which nobody knows how often it runs.
__global__ void polynomial(float *out, const float *x, const float *coefficients, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = out[i];
    for (int k = 0; k < n; ++k) sum = sum * x[i] / 64 + coefficients[k];
    out[i] = sum;
}

__global__ void plane(float *x) {
    int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    x[i] = x[i] - i % 7;
}

static float *floats(int n) {
    float *host = (float *)malloc(n * sizeof(float)), *device;
    for (int i = 0; i < n; ++i) host[i] = (float)(i % 37) / 4;
    cudaMalloc(&device, n * sizeof(float));
    cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice);
    free(host);
    return device;
}

static void show(const char *name, float *device, int n) {
    float *host = (float *)malloc(n * sizeof(float));
    cudaMemcpy(host, device, n * sizeof(float), cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += host[i] * (i % 5 + 1);
    printf("%s %.9g\n", name, sum);
    free(host);
}

int main(int argc, char **argv) {
    int blocks = argc > 1 ? atoi(argv[1]) : 5, terms = blocks + 2;
    float *x = floats(2048), *y = floats(2048), *z = floats(4096), *coefficients = floats(64);

    // Grids of 24, 6 and 6 blocks, in which what depends on each other has equal numbers.
    scale<<<24, 64>>>(x);
    add<<<6, 64>>>(y, x);
    polynomial<<<6, 64>>>(z, y, coefficients, terms);
    show("known", z, 4096);
    show("known", x, 2048);

    // Other blocks as well.
    scale<<<4, 128>>>(x);
    add<<<4, 32>>>(y, x);
    show("blocks", y, 2048);

    // A grid of two dimensions, behind one whose last block is whole.
    plane<<<dim3(4, 3), 64>>>(z);
    scale<<<7, 64>>>(z);
    show("plane", z, 4096);

    // The grids come from outside, the blocks tell which is smaller.
    scale<<<blocks, 128>>>(z);
    add<<<blocks, 64>>>(y, z);
    show("run", y, 2048);
    show("run", z, 4096);

    // Nothing depends on the other.
    scale<<<24, 64>>>(x);
    plane<<<6, 64>>>(y);
    show("apart", x, 2048);
    show("apart", y, 2048);
    printf("%s\nPASS\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
