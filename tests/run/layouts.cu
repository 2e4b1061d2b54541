// Three launches that do not depend on each other, of one shape, of which the first and the last load the
// same: every split of them is a layout with a name. In one block the barriers of launches are those of the
// block; side by side each block has its own launch's only.
//
// arguments: 6
// layouts: all
// layouts differ
// expect: 5 launches -> 2
#include <cstdio>
#include <cstdlib>

// Two barriers a block.
__global__ void turn(float *out, const float *in) {
    __shared__ float part[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    part[t] = in[i];
    __syncthreads();
    float turned = part[63 - t];
    __syncthreads();
    part[t] = turned + 1;
    out[i] = part[t];
}

// One barrier a block.
__global__ void total(float *out, const float *in) {
    __shared__ float part[64];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 64; ++i) sum += part[i];
    out[blockIdx.x * 64 + t] = sum;
}

// None.
__global__ void halve(float *out, const float *in) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = in[i] * 0.5f;
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
    printf("%s %g\n", name, sum);
    free(host);
}

int main(int argc, char **argv) {
    int blocks = argc > 1 ? atoi(argv[1]) : 6, n = blocks * 64;
    float *in = floats(n), *other = floats(n), *x = floats(n), *y = floats(n), *z = floats(n);
    turn<<<blocks, 64>>>(x, in);
    total<<<blocks, 64>>>(y, other);
    halve<<<blocks, 64>>>(z, in);
    show("turned", x, n);
    show("totals", y, n);
    show("halves", z, n);
    // A group that has no mixed layout.
    halve<<<blocks, 64>>>(x, y);
    turn<<<blocks, 64>>>(z, x);
    show("turned", z, n);
    printf("%s\nPASS\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
