// Whole blocks take over those of a neighbour: transposed, from the last on, counted along other axes;
// with barriers and shared memory inside.
//
// expect: 23 launches -> 10
#include <cstdio>
#include <vector>

constexpr int wide = 96, high = 64, count = wide * high;

// The transposed matrix, through a tile.
__global__ void transpose(float *y, const float *x, int width, int height) {
    __shared__ float tile[16][17];
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = x[row * width + column];
    __syncthreads();
    column = blockIdx.y * 16 + threadIdx.x;
    row = blockIdx.x * 16 + threadIdx.y;
    y[row * height + column] = tile[threadIdx.x][threadIdx.y];
}

__global__ void add_place(float *y, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    y[row * width + column] += 100 * blockIdx.x + 10 * blockIdx.y + gridDim.x + 0.5f * gridDim.y + 0.25f * threadIdx.x;
}

// Each element less the largest of its tile.
__global__ void below_largest(float *y, int width) {
    __shared__ float part[256];
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    int thread = threadIdx.y * 16 + threadIdx.x;
    part[thread] = y[row * width + column];
    for (int step = 128; step > 0; step /= 2) {
        __syncthreads();
        if (thread < step) part[thread] = fmaxf(part[thread], part[thread + step]);
    }
    __syncthreads();
    y[row * width + column] -= part[0];
}

// A transposed matrix without a tile: threads are exchanged as well.
__global__ void transpose_plainly(float *y, const float *x, int width, int height) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    y[column * height + row] = x[row * width + column];
}

__global__ void halve(float *y, const float *x, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    y[row * width + column] = 0.5f * x[row * width + column];
}

// Blocks of a vector in the opposite order.
__global__ void turn_blocks(float *y, const float *x) {
    int last = gridDim.x - 1;
    y[(last - blockIdx.x) * 256 + threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x] + blockIdx.x;
}

// Running sums of a block.
__global__ void running_sums(float *y) {
    __shared__ float part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = y[i];
    for (int step = 1; step < 256; step *= 2) {
        __syncthreads();
        float before = threadIdx.x >= step ? part[threadIdx.x - step] : 0.0f;
        __syncthreads();
        part[threadIdx.x] += before;
    }
    y[i] = part[threadIdx.x];
}

// The same, blocks counted along two axes and threads, too.
__global__ void running_sums_square(float *y) {
    __shared__ float part[256];
    int thread = threadIdx.y * 16 + threadIdx.x;
    int i = (blockIdx.y * gridDim.x + blockIdx.x) * 256 + thread;
    part[thread] = y[i];
    for (int step = 1; step < 256; step *= 2) {
        __syncthreads();
        float before = thread >= step ? part[thread - step] : 0.0f;
        __syncthreads();
        part[thread] += before;
    }
    y[i] = part[thread];
}

// Sums of warps, which are those of the same threads however a block's threads are counted.
__global__ void warp_sums(float *y) {
    int i = blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x;
    float sum = y[i];
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffff, sum, lanes);
    y[i] = sum;
}

__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

// Reads the block before.
__global__ void from_block_before(float *y, const float *x, int width) {
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    int other = column < 16 ? column : column - 16;
    y[row * width + column] = x[row * width + other];
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

static void sum_blocks() {
    for (int i = 0; i < count; i++)
        if (i % 256) expected[i] += expected[i - 1];
}

int main(int argc, char **) {
    std::vector<float> host(count);
    for (int i = 0; i < count; i++) host[i] = i * 7 % 31;
    float *x, *y, *z;
    cudaMalloc(&x, count * sizeof(float));
    cudaMalloc(&y, count * sizeof(float));
    cudaMalloc(&z, count * sizeof(float));
    cudaMemcpy(x, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    const dim3 tile(16, 16), grid(wide / 16, high / 16), turned(high / 16, wide / 16);

    // Transposed blocks; the tile's kernel leads or follows.
    transpose<<<grid, tile>>>(y, x, wide, high);
    add_place<<<turned, tile>>>(y, high);
    auto turn = [&] {
        for (int i = 0; i < count; i++) expected[i] = host[i % high * wide + i / high];
    };
    turn();
    for (int i = 0; i < count; i++) {
        int row = i / high, column = i % high;
        expected[i] += 100 * (column / 16) + 10 * (row / 16) + high / 16 + 0.5f * (wide / 16) + 0.25f * (column % 16);
    }
    expect("transposed", y);
    transpose<<<grid, tile>>>(y, x, wide, high);
    below_largest<<<turned, tile>>>(y, high);
    transpose<<<turned, tile>>>(z, y, high, wide);
    for (int i = 0; i < count; i++) expected[i] = host[i];
    for (int row = 0; row < high; row += 16)
        for (int column = 0; column < wide; column += 16) {
            float largest = 0;
            for (int i = 0; i < 256; i++)
                largest = fmaxf(largest, host[(row + i / 16) * wide + column + i % 16]);
            for (int i = 0; i < 256; i++) expected[(row + i / 16) * wide + column + i % 16] -= largest;
        }
    expect("there and back", z);

    // Sizes that only the run knows.
    int across = wide - 1 + argc, down = high - 1 + argc;
    transpose<<<dim3(across / 16, down / 16), tile>>>(y, x, across, down);
    below_largest<<<dim3(down / 16, across / 16), tile>>>(y, down);
    turn();
    for (int row = 0; row < wide; row += 16)
        for (int column = 0; column < high; column += 16) {
            float largest = 0;
            for (int i = 0; i < 256; i++)
                largest = fmaxf(largest, expected[(row + i / 16) * high + column + i % 16]);
            for (int i = 0; i < 256; i++) expected[(row + i / 16) * high + column + i % 16] -= largest;
        }
    expect("known at run time", y);

    // Threads are exchanged with the blocks, also where blocks are no squares.
    transpose_plainly<<<dim3(wide / 32, high / 8), dim3(32, 8)>>>(y, x, wide, high);
    halve<<<dim3(high / 8, wide / 32), dim3(8, 32)>>>(z, y, high);
    turn();
    for (float &value : expected) value *= 0.5f;
    expect("threads exchanged", z);
    transpose_plainly<<<grid, tile>>>(y, x, wide, high);
    below_largest<<<turned, tile>>>(y, high);
    halve<<<turned, tile>>>(z, y, high);
    turn();
    for (int row = 0; row < wide; row += 16)
        for (int column = 0; column < high; column += 16) {
            float largest = 0;
            for (int i = 0; i < 256; i++)
                largest = fmaxf(largest, expected[(row + i / 16) * high + column + i % 16]);
            for (int i = 0; i < 256; i++) expected[(row + i / 16) * high + column + i % 16] -= largest;
        }
    for (float &value : expected) value *= 0.5f;
    expect("led by barriers", z);

    // From the last block on.
    turn_blocks<<<count / 256, 256>>>(y, x);
    running_sums<<<count / 256, 256>>>(y);
    for (int i = 0; i < count; i++) {
        int block = count / 256 - 1 - i / 256;
        expected[i] = host[block * 256 + i % 256] + block;
    }
    sum_blocks();
    expect("turned", y);

    // Blocks, and threads in them, along other axes.
    scale<<<count / 256, 256>>>(y, x, count);
    running_sums_square<<<dim3(6, 4), tile>>>(y);
    running_sums<<<count / 256, 256>>>(y);
    for (int i = 0; i < count; i++) expected[i] = 2 * host[i];
    sum_blocks();
    sum_blocks();
    expect("counted", y);
    running_sums_square<<<dim3(4, 6), tile>>>(x);
    running_sums_square<<<dim3(2, 12), tile>>>(x);
    warp_sums<<<count / 256, dim3(32, 8)>>>(x);
    scale<<<count / 256, 256>>>(y, x, count);
    for (int i = 0; i < count; i++) expected[i] = host[i];
    sum_blocks();
    sum_blocks();
    for (int i = 0; i < count; i += 32) {
        float sum = 0;
        for (int lane = 0; lane < 32; lane++) sum += expected[i + lane];
        for (int lane = 0; lane < 32; lane++) expected[i + lane] = 2 * sum;
    }
    expect("warps", y);
    cudaMemcpy(x, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    // A neighbour of the transposed block is another block.
    transpose<<<grid, tile>>>(y, x, wide, high);
    from_block_before<<<turned, tile>>>(z, y, high);
    turn();
    std::vector<float> before = expected;
    for (int i = 0; i < count; i++)
        if (i % high >= 16) expected[i] = before[i - 16];
    expect("the block before", z);

    std::printf(wrong ? "FAIL\n" : "PASS\n");
    cudaFree(x);
    cudaFree(y);
    cudaFree(z);
    return wrong != 0;
}
