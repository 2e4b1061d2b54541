// Launches of other blocks and grids take over the threads of their neighbours.
//
// expect: 30 launches -> 13
#include <cstdio>
#include <vector>

constexpr int count = 4096;

__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

__global__ void shift(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1.0f;
}

// Its first instruction reads its place, which is given to it, and it uses a device variable.
__device__ float weights[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
__global__ void weigh(float *y, int n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += weights[i % 16];
}

// Reads all that a launch tells of a thread's place.
__global__ void add_place(float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] += 1000 * blockIdx.x + threadIdx.x + 0.5f * gridDim.x + 0.25f * blockDim.x;
}

__global__ void from_left(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (0 < i && i < n) y[i] = x[i - 1];
}

// Rows of a matrix, one thread an element of a tile.
__global__ void negate_tile(float *y, const float *x, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    y[row * width + column] = -x[row * width + column];
}

// Blocks of two axes in the order of one.
__global__ void double_square(float *y) {
    int thread = threadIdx.y * blockDim.x + threadIdx.x;
    y[blockIdx.x * (blockDim.x * blockDim.y) + thread] *= 2.0f;
}

__global__ void block_sum(float *sums, const float *x) {
    __shared__ float part[256];
    part[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    for (int step = 128; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

// Four small blocks for one large one.
__global__ void add_sum(float *y, const float *sums) {
    y[blockIdx.x * 64 + threadIdx.x] += sums[blockIdx.x / 4];
}

__global__ void warp_sum(float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = y[i];
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffff, sum, lanes);
    y[i] = sum;
}

__global__ void count_all(int *counts, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 1.0f) atomicAdd(counts, 1);
}

static std::vector<float> expected(count);
static int wrong = 0;

static void expect(const char *what, const float *device, int n = count) {
    std::vector<float> host(count);
    cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        if (host[i] != expected[i] && wrong++ < 5)
            std::printf("%s: element %d is %f and not %f\n", what, i, host[i], expected[i]);
}

int main(int argc, char **) {
    std::vector<float> host(count);
    for (int i = 0; i < count; i++) host[i] = 0.25f * (i % 31);
    float *x, *y, *z, *sums;
    int *counts;
    cudaMalloc(&x, count * sizeof(float));
    cudaMalloc(&y, count * sizeof(float));
    cudaMalloc(&z, count * sizeof(float));
    cudaMalloc(&sums, count * sizeof(float));
    cudaMalloc(&counts, sizeof(int));
    cudaMemcpy(x, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(counts, 0, sizeof(int));

    // Sizes that only the run knows, rounded up to blocks of 256, 128 and 512 threads; those of 512 lead.
    int n = 1499 + argc;
    scale<<<(n + 255) / 256, 256>>>(y, x, n);
    shift<<<(n + 127) / 128, 128>>>(z, y, n);
    shift<<<(n + 511) / 512, 512>>>(y, z, n);
    for (int i = 0; i < n; i++) expected[i] = 2 * host[i] + 2;
    expect("rounded up", y, n);

    // The launch that would lead has fewer threads: the originals run.
    int few = 2 + argc;
    scale<<<few, 256>>>(y, x, 256 * few);
    shift<<<8 * few, 64>>>(z, y, 256 * few);
    for (int i = 0; i < 256 * few; i++) expected[i] = 2 * host[i] + 1;
    expect("too few", z, 256 * few);

    // Constants: the largest launch leads, whatever its blocks, and others stand in some of its threads.
    scale<<<16, 256>>>(y, x, count);
    add_place<<<20, 96>>>(y);
    add_place<<<7, 192>>>(y);
    weigh<<<32, 128>>>(y, count);
    for (int i = 0; i < count; i++) {
        expected[i] = 2 * host[i];
        if (i < 1920) expected[i] += 1000 * (i / 96) + i % 96 + 10 + 24;
        if (i < 1344) expected[i] += 1000 * (i / 192) + i % 192 + 3.5f + 48;
        expected[i] += i % 16 + 1;
    }
    expect("places", y);

    // Barriers lead, also where the others have more threads, which then take turns.
    scale<<<32, 128>>>(y, x, count);
    block_sum<<<16, 256>>>(sums, y);
    add_sum<<<64, 64>>>(y, sums);
    for (int i = 0; i < count; i++) expected[i] = 2 * host[i];
    std::vector<float> sum(16);
    for (int block = 0; block < 16; block++) {
        std::vector<float> part(expected.begin() + 256 * block, expected.begin() + 256 * (block + 1));
        for (int step = 128; step > 0; step /= 2)
            for (int i = 0; i < step; i++) part[i] += part[i + step];
        sum[block] = part[0];
    }
    for (int i = 0; i < count; i++) expected[i] += sum[i / 256];
    expect("barriers", y);
    scale<<<64, 64>>>(y, x, count);
    block_sum<<<6, 256>>>(sums, y);
    shift<<<8, 512>>>(z, y, count);
    for (int i = 0; i < count; i++) expected[i] = 2 * host[i] + 1;
    expect("turns", z);

    // Tiles of a matrix, and blocks of two axes.
    scale<<<16, 256>>>(y, x, count);
    negate_tile<<<dim3(4, 4), dim3(16, 16)>>>(z, y, 64);
    shift<<<32, 128>>>(z, z, count);
    for (int i = 0; i < count; i++) expected[i] = 1 - 2 * host[i];
    expect("tiles", z);
    scale<<<32, 128>>>(y, x, count);
    double_square<<<16, dim3(16, 16)>>>(y);
    double_square<<<32, dim3(32, 4)>>>(y);
    for (int i = 0; i < count; i++) expected[i] = 8 * host[i];
    expect("squares", y);

    // What another thread wrote is no less another thread's; neighbours stay unfused.
    scale<<<16, 256>>>(y, x, count);
    from_left<<<32, 128>>>(z, y, count);
    for (int i = 1; i < count; i++) expected[i] = 2 * host[i - 1];
    expected[0] = 1 - 2 * host[0];
    expect("neighbours", z);

    // Warps stay whole, and lead.
    scale<<<32, 128>>>(y, x, count);
    warp_sum<<<16, 256>>>(y);
    shift<<<32, 128>>>(z, y, count);
    for (int i = 0; i < count; i += 32) {
        float all[32];
        for (int lane = 0; lane < 32; lane++) all[lane] = 2 * host[i + lane];
        for (int lanes = 16; lanes > 0; lanes /= 2) {
            float next[32];
            for (int lane = 0; lane < 32; lane++) next[lane] = all[lane] + all[lane ^ lanes];
            for (int lane = 0; lane < 32; lane++) all[lane] = next[lane];
        }
        for (int lane = 0; lane < 32; lane++) expected[i + lane] = all[lane] + 1;
    }
    expect("warps", z);
    // Two of them have blocks of their own.
    warp_sum<<<16, 256>>>(y);
    warp_sum<<<32, 128>>>(y);

    // Updates that need no order; a set takes part in the shape of its neighbour.
    cudaMemset(y, 0, n * sizeof(float));
    shift<<<(n + 255) / 256, 256>>>(y, x, n);
    count_all<<<(n + 127) / 128, 128>>>(counts, y, n);
    int counted, all = 0;
    cudaMemcpy(&counted, counts, sizeof counted, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) all += host[i] + 1 > 1;
    wrong += counted != all;

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
