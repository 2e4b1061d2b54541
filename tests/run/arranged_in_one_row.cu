// A row of blocks is its own rearrangement: counted along another axis it has the same extents, so that only
// where a member's threads go tells that it may not wait interleaved with another.
//
// expect: 3 launches -> 1
#include <cstdio>
#include <vector>

constexpr int blocks = 4, count = blocks * 256;

__global__ void reversed_in_tall_blocks(float *y, const float *x) {
    __shared__ float part[256];
    int thread = threadIdx.y * blockDim.x + threadIdx.x;
    int i = (blockIdx.y * gridDim.x + blockIdx.x) * 256 + thread;
    part[thread] = x[i];
    __syncthreads();
    y[i] = 3 * part[thread ^ 5] + part[thread];
}

__global__ void turn_tiles(float *y, const float *x, int wide, int high) {
    __shared__ float tile[16][17];
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = x[row * wide + column] + 1;
    __syncthreads();
    column = blockIdx.y * 16 + threadIdx.x;
    row = blockIdx.x * 16 + threadIdx.y;
    y[row * high + column] = tile[threadIdx.x][threadIdx.y];
}

__global__ void reversed_in_lines(float *y, const float *x) {
    __shared__ float part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = 3 * part[255 - threadIdx.x] + part[threadIdx.x];
}

int main() {
    std::vector<float> a(count), b(count), c(count), found(count);
    for (int i = 0; i < count; i++) a[i] = i * 7 % 31, b[i] = i * 5 % 37, c[i] = i * 3 % 41;
    float *device[4];
    const std::vector<float> *start[4] = {&a, &b, &c, &a};
    for (int i = 0; i < 4; i++) {
        cudaMalloc(&device[i], count * sizeof(float));
        cudaMemcpy(device[i], start[i]->data(), count * sizeof(float), cudaMemcpyHostToDevice);
    }
    reversed_in_tall_blocks<<<dim3(blocks, 1), dim3(32, 8)>>>(device[3], device[0]);
    turn_tiles<<<dim3(blocks, 1), dim3(16, 16)>>>(device[3], device[1], 16 * blocks, 16);
    reversed_in_lines<<<blocks, 256>>>(device[0], device[2]);
    int wrong = 0;
    cudaMemcpy(found.data(), device[3], count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int row = 0; row < 16 * blocks; row++)
        for (int column = 0; column < 16; column++)
            wrong += found[row * 16 + column] != b[column * 16 * blocks + row] + 1;
    cudaMemcpy(found.data(), device[0], count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) wrong += found[i] != 3 * c[i / 256 * 256 + 255 - i % 256] + c[i];
    for (float *each : device) cudaFree(each);
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
