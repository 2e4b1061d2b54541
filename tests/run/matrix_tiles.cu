// Kernels whose blocks work on the tiles of a matrix, beside kernels with a thread for each of its elements. Behind or in front of the
// tiles of a block, the same block runs the elements of its tile. Beside them stand consumers that need their neighbour's element,
// that go by columns, tiles that overlap, and matrices that the tiles do not cover. An argument is the number of the case.
//
// expect: 25 launches -> 17
// executes: 1 1 1 1 1 1 1 2 2 2 2 2
// arguments: 0
// arguments: 1
// arguments: 2
// arguments: 3
// arguments: 4
// arguments: 5
// arguments: 6
// arguments: 7
// arguments: 8
// arguments: 9
// arguments: 10
// arguments: 11
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

const int TILE = 32, SIDE = 16, DEPTH = 20, WIDTH = 96;

// out = in · weightᵀ, a tile of it by each block, four elements by each thread. Nothing is tested: there are whole tiles.
__global__ void product(float *out, const float *in, const float *weight, int depth, int width) {
    out += TILE * blockIdx.x * width + TILE * blockIdx.y;
    in += TILE * blockIdx.x * depth;
    weight += TILE * blockIdx.y * depth;
    float sums[2][2] = {};
    for (int k = 0; k < depth; ++k)
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) sums[i][j] += in[(2 * threadIdx.x + i) * depth + k] * weight[(2 * threadIdx.y + j) * depth + k];
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) out[(2 * threadIdx.x + i) * width + 2 * threadIdx.y + j] = sums[i][j];
}
// The same where tiles may reach beyond the matrix, rows along y.
__global__ void tested_product(float *out, const float *in, const float *weight, int rows, int depth, int width) {
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            int row = TILE * blockIdx.y + threadIdx.y + SIDE * i, column = TILE * blockIdx.x + threadIdx.x + SIDE * j;
            if (row < rows && column < width) {
                float sum = 0;
                for (int k = 0; k < depth; ++k) sum += in[row * depth + k] * weight[column * depth + k];
                out[row * width + column] = sum;
            }
        }
}
// The same for a width that the compiler knows.
__global__ void product_of_96(float *out, const float *in, const float *weight) {
    int row = TILE * blockIdx.x + 2 * threadIdx.x, column = TILE * blockIdx.y + 2 * threadIdx.y;
    float sums[2][2] = {};
    for (int k = 0; k < DEPTH; ++k)
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) sums[i][j] += in[(row + i) * DEPTH + k] * weight[(column + j) * DEPTH + k];
    out[row * WIDTH + column] = sums[0][0];
    out[row * WIDTH + column + 1] = sums[0][1];
    out[(row + 1) * WIDTH + column] = sums[1][0];
    out[(row + 1) * WIDTH + column + 1] = sums[1][1];
}
// Four elements at once.
__global__ void vector_product(float *out, const float *in, const float *weight, int depth, int width) {
    out += TILE * blockIdx.x * width + 2 * TILE * blockIdx.y;
    in += TILE * blockIdx.x * depth;
    weight += 2 * TILE * blockIdx.y * depth;
    for (int i = 0; i < 2; ++i) {
        float sums[4] = {};
        for (int k = 0; k < depth; ++k)
            for (int j = 0; j < 4; ++j) sums[j] += in[(2 * threadIdx.x + i) * depth + k] * weight[(4 * threadIdx.y + j) * depth + k];
        *reinterpret_cast<float4 *>(out + (2 * threadIdx.x + i) * width + 4 * threadIdx.y) = make_float4(sums[0], sums[1], sums[2], sums[3]);
    }
}
// Each tile is turned over, in place.
__global__ void turn_tiles(float *all, int width) {
    __shared__ float tile[TILE][TILE];
    all += TILE * blockIdx.x * width + TILE * blockIdx.y;
    for (int i = threadIdx.y; i < TILE; i += SIDE)
        for (int j = threadIdx.x; j < TILE; j += SIDE) tile[i][j] = all[i * width + j];
    __syncthreads();
    for (int i = threadIdx.y; i < TILE; i += SIDE)
        for (int j = threadIdx.x; j < TILE; j += SIDE) all[i * width + j] = tile[j][i] + 1;
}
// Tiles with a column of the next one.
__global__ void overlapping(float *out, const float *in, int width) {
    for (int i = threadIdx.x; i < TILE; i += SIDE)
        for (int j = threadIdx.y; j <= TILE; j += SIDE) {
            int column = TILE * blockIdx.y + j;
            if (column < width) out[(TILE * blockIdx.x + i) * width + column] = in[(TILE * blockIdx.x + i) * width + column] * 3;
        }
}
__global__ void gelu(float *out, const float *in, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 0.5f * in[i] * (1.0f + tanhf(0.8f * (in[i] + 0.045f * in[i] * in[i] * in[i])));
}
__global__ void add(float *all, const float *other, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) all[i] += other[i];
}
__global__ void scale(float *out, const float *in, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 1.5f * in[i];
}
__global__ void differences(float *out, const float *in, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < count) out[i] = in[i + 1] - in[i];
}
__global__ void transposed(float *out, const float *in, int rows, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * width) out[i] = in[i % rows * width + i / rows];
}

static float *out, *mid, *in, *weight, *other;
static const int THREADS = 128;

static int blocks(int count) { return (count + THREADS - 1) / THREADS; }

// Rows and columns of the result.
static void run(int which, int &rows, int &width) {
    dim3 threads(SIDE, SIDE);
    auto tiles = [&] { return dim3(rows / TILE, width / TILE); };
    int count = rows * width;
    switch (which) {
    case 0:
        product<<<tiles(), threads>>>(mid, in, weight, DEPTH, width);
        gelu<<<blocks(count), THREADS>>>(out, mid, count);
        break;
    case 1:
        // What is rounded up lies below the last tile: 33 · 32 elements are 1,152 threads.
        rows = 32, width = 33, count = rows * width;
        tested_product<<<dim3((width + TILE - 1) / TILE, (rows + TILE - 1) / TILE), threads>>>(mid, in, weight, rows, DEPTH, width);
        gelu<<<blocks(count), THREADS>>>(out, mid, count);
        break;
    case 2:
        rows = 75, width = 109, count = rows * width;
        tested_product<<<dim3((width + TILE - 1) / TILE, (rows + TILE - 1) / TILE), threads>>>(mid, in, weight, rows, DEPTH, width);
        gelu<<<blocks(count), THREADS>>>(out, mid, count);
        break;
    case 3:
        width = WIDTH, count = rows * width;
        product_of_96<<<dim3(4, 3), threads>>>(mid, in, weight);
        gelu<<<blocks(count), THREADS>>>(out, mid, count);
        break;
    case 4:
        vector_product<<<dim3(rows / TILE, width / TILE / 2), threads>>>(mid, in, weight, DEPTH, width);
        gelu<<<blocks(count), THREADS>>>(out, mid, count);
        break;
    case 5:
        // In front of the tiles.
        scale<<<blocks(count), THREADS>>>(out, in, count);
        turn_tiles<<<tiles(), threads>>>(out, width);
        break;
    case 6:
        // Two behind them.
        product<<<tiles(), threads>>>(mid, in, weight, DEPTH, width);
        add<<<blocks(count), THREADS>>>(mid, other, count);
        gelu<<<blocks(count), THREADS>>>(out, mid, count);
        break;
    case 7:
        // The neighbour's element may be in another tile.
        product<<<tiles(), threads>>>(mid, in, weight, DEPTH, width);
        differences<<<blocks(count), THREADS>>>(out, mid, count);
        break;
    case 8:
        product<<<tiles(), threads>>>(mid, in, weight, DEPTH, width);
        transposed<<<blocks(count), THREADS>>>(out, mid, rows, width);
        break;
    case 9:
        // Columns where tiles meet are written by two blocks.
        overlapping<<<tiles(), threads>>>(mid, in, width);
        gelu<<<blocks(count), THREADS>>>(out, mid, count);
        break;
    case 10:
        // The last columns are in no tile, as a test says.
        product<<<dim3(rows / TILE, width / TILE - 1), threads>>>(mid, in, weight, DEPTH, width);
        gelu<<<blocks(count), THREADS>>>(out, mid, count);
        break;
    default:
        // Elements from the second on.
        product<<<tiles(), threads>>>(mid, in, weight, DEPTH, width);
        gelu<<<blocks(count - 1), THREADS>>>(out, mid + 1, count - 1);
        break;
    }
}

static float gelu(float x) { return 0.5f * x * (1.0f + tanhf(0.8f * (x + 0.045f * x * x * x))); }

int main(int argc, char **argv) {
    int which = argc > 1 ? std::atoi(argv[1]) : 0;
    int rows = 128, width = 128;
    const int most = 128 * 128;
    std::vector<float> first(most), second(most), third(most), result(most);
    for (int i = 0; i < most; ++i) first[i] = (i * 7 % 13) / 13.f - 0.5f, second[i] = (i * 5 % 11) / 11.f - 0.5f, third[i] = i % 17 / 17.f;
    for (float **buffer : {&out, &mid, &in, &weight, &other}) {
        cudaMalloc(buffer, most * sizeof(float));
        cudaMemset(*buffer, 0, most * sizeof(float));
    }
    cudaMemcpy(in, first.data(), most * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(weight, second.data(), most * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(other, third.data(), most * sizeof(float), cudaMemcpyHostToDevice);
    run(which, rows, width);
    int count = rows * width;
    cudaMemcpy(result.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost);
    std::vector<float> products(count), expected(count);
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < width; ++column) {
            float sum = 0;
            for (int k = 0; k < DEPTH; ++k) sum += first[row * DEPTH + k] * second[column * DEPTH + k];
            products[row * width + column] = which == 10 && column >= width - TILE ? 0 : sum;
        }
    for (int i = 0; i < count; ++i) {
        int row = i / width, column = i % width;
        if (which < 5 || which == 10) expected[i] = gelu(products[i]);
        else if (which == 5) expected[i] = 1.5f * first[(row / TILE * TILE + column % TILE) * width + column / TILE * TILE + row % TILE] + 1;
        else if (which == 6) expected[i] = gelu(products[i] + third[i]);
        else if (which == 7) expected[i] = i + 1 < count ? products[i + 1] - products[i] : 0;
        else if (which == 8) expected[i] = products[i % rows * width + i / rows];
        else if (which == 9) expected[i] = gelu(first[i] * 3);
        else expected[i] = i + 1 < count ? gelu(products[i + 1]) : 0;
    }
    int wrong = 0;
    for (int i = 0; i < count; ++i) wrong += !(std::fabs(result[i] - expected[i]) <= 1e-5f);
    printf("case %d: %s\n", which, wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
