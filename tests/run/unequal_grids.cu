// Launches of one block and different grids: the smaller ones leave out the blocks that they do not
// have.
//
// expect: 14 launches -> 5
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int count = 4096, threads = 128;

__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

// Reads its own grid.
__global__ void add_grid(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += gridDim.x;
}

__global__ void last_block(float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x == gridDim.x - 1) y[i] = -y[i];
}

// Whole blocks with barriers.
__global__ void block_sum(float *sums, const float *x) {
    __shared__ float part[threads];
    part[threadIdx.x] = x[blockIdx.x * threads + threadIdx.x];
    for (int step = threads / 2; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__global__ void spread(float *y, const float *sums) {
    y[blockIdx.x * threads + threadIdx.x] += sums[blockIdx.x];
}

__global__ void planes(float *y, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    y[(blockIdx.z * gridDim.y + blockIdx.y) * width + column] += 1.0f + blockIdx.y + 10 * blockIdx.z;
}

__global__ void rows(float *y, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    y[blockIdx.y * width + column] *= 3.0f;
}

static std::vector<float> expected(count);
static int wrong = 0;

static void expect(const char *what, const float *device) {
    std::vector<float> host(count);
    cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++)
        if (host[i] != expected[i] && wrong++ < 5)
            std::printf("%s: element %d is %f and not %f\n", what, i, host[i], expected[i]);
}

static float sum_of_block(const std::vector<float> &x, int block) {
    float sum = 0;
    for (int i = 0; i < threads; i++) sum += x[block * threads + i];
    return sum;
}

int main(int argc, char **) {
    std::vector<float> host(count);
    for (int i = 0; i < count; i++) host[i] = 0.25f * (i % 31);
    float *x, *y, *sums;
    cudaMalloc(&x, count * sizeof(float));
    cudaMalloc(&y, count * sizeof(float));
    cudaMalloc(&sums, count / threads * sizeof(float));
    cudaMemcpy(x, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    // Three constants, the largest in the middle, none of it told by the kernels' own conditions.
    add_grid<<<8, threads>>>(y, 8 * threads);
    scale<<<32, threads>>>(y, x, count);
    add_grid<<<4, threads>>>(y, count);
    for (int i = 0; i < count; i++) expected[i] = 2 * host[i] + (i < 4 * threads ? 4 : 0);
    expect("constants", y);

    // Numbers of blocks that only the run knows.
    int few = 3 + argc, many = 19 + argc;
    scale<<<few, threads>>>(y, x, few * threads - 5);
    add_grid<<<many, threads>>>(y, count);
    last_block<<<few, threads>>>(y);
    for (int i = 0; i < many * threads; i++) {
        if (i < few * threads - 5) expected[i] = 2 * host[i];
        expected[i] += many;
        if (i / threads == few - 1) expected[i] = -expected[i];
    }
    expect("run time", y);

    // Barriers inside of some blocks only, and between segments.
    block_sum<<<many, threads>>>(sums, x);
    spread<<<few, threads>>>(y, sums);
    block_sum<<<8, threads>>>(sums, y);
    spread<<<2, threads>>>(y, sums);
    for (int i = 0; i < few * threads; i++) expected[i] += sum_of_block(host, i / threads);
    for (int block = 0; block < 2; block++) {
        float sum = sum_of_block(expected, block);
        for (int i = 0; i < threads; i++) expected[block * threads + i] += sum;
    }
    expect("barriers", y);

    // More than one axis.
    planes<<<dim3(2, 4, 3), threads>>>(y, 2 * threads);
    rows<<<dim3(2, 3), threads>>>(y, 2 * threads);
    for (int i = 0; i < 12 * 2 * threads; i++) {
        int row = i / (2 * threads);
        expected[i] += 1.0f + row % 4 + 10 * (row / 4);
        if (row < 3) expected[i] *= 3.0f;
    }
    expect("planes", y);

    // Block 0 alone reads what another block wrote.
    scale<<<few, threads>>>(y, x, count);
    block_sum<<<1, threads>>>(sums, y + threads);
    for (int i = 0; i < few * threads; i++) expected[i] = 2 * host[i];
    expect("across", y);
    float sum;
    cudaMemcpy(&sum, sums, sizeof sum, cudaMemcpyDeviceToHost);
    wrong += sum != sum_of_block(expected, 1);

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
