// Host entry points of cub and thrust between kernels of the program's own: their launches are launches
// like any other, so that neighbours fuse before and after them.
//
// expect: 7 launches -> 3
#include <cstdio>
#include <cub/device/device_reduce.cuh>

constexpr int count = 1000, threads = 128, blocks = (count + threads - 1) / threads;

__global__ void scale(float *y, const float *x, float by) {
    int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) y[i] = x[i] * by;
}

__global__ void add(float *y, const float *x, float by) {
    int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) y[i] += x[i] * by;
}

__global__ void divide(float *y, const float *by) {
    int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) y[i] /= *by;
}

int main() {
    static float x[count], y[count];
    float *d_x, *d_y, *sum;
    for (int i = 0; i < count; ++i) x[i] = float(i % 7);
    cudaMalloc(&d_x, sizeof x);
    cudaMalloc(&d_y, sizeof x);
    cudaMalloc(&sum, 4);
    cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
    void *room = nullptr;
    size_t bytes = 0;
    cub::DeviceReduce::Sum(room, bytes, d_y, sum, count);
    cudaMalloc(&room, bytes);
    scale<<<blocks, threads>>>(d_y, d_x, 2.0f);
    add<<<blocks, threads>>>(d_y, d_x, 1.0f);
    cub::DeviceReduce::Sum(room, bytes, d_y, sum, count);
    divide<<<blocks, threads>>>(d_y, sum);
    add<<<blocks, threads>>>(d_y, d_x, 1.0f);
    cudaMemcpy(y, d_y, sizeof y, cudaMemcpyDeviceToHost);
    double expected = 0;
    for (int i = 0; i < count; ++i) expected += 3.0 * x[i];
    int wrong = 0;
    for (int i = 0; i < count; ++i) wrong += y[i] != 3.0f * x[i] / float(expected) + x[i];
    printf("%s, %d wrong\n", wrong ? "FAIL" : "PASS", wrong);
    return wrong != 0;
}
