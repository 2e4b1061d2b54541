// What the programs about intermediates that nobody reads have in common.
#pragma once
#include <cstdio>
#include <cstring>
#include <vector>

__global__ void twice(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

__global__ void plus(const float *x, float *y, int n, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + a;
}

constexpr int n = 300;
constexpr size_t bytes = n * sizeof(float);
int failures = 0;

void expect(const char *what, const std::vector<float> &found, float at, float step) {
    for (int i = 0; i < n; i++) {
        if (found[i] != at + step * i) {
            printf("%s: %d is %f\n", what, i, found[i]);
            failures++;
            return;
        }
    }
}

std::vector<float> read(const float *device) {
    std::vector<float> host(n);
    cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost);
    return host;
}

float *from(float at, float step) {
    std::vector<float> host(n);
    for (int i = 0; i < n; i++) host[i] = at + step * i;
    float *device;
    cudaMalloc(&device, bytes);
    cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice);
    return device;
}

float *room() {
    float *device;
    cudaMalloc(&device, bytes);
    return device;
}
