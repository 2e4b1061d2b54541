// The layer of tile_layers.cu as one kernel, as one writes it by hand: an element is finished where its sum is.
//
// usage: tile_layers [rows]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int SIDE = 4, LANES = 16, TILE = SIDE * LANES; // a block has 64 rows and 64 columns
constexpr int columns = 150, depth = 24;

// The elements of a thread: four rows next to each other, four columns 16 apart.
#define FOR_TILE(rows)                                                                             \
    for (int i = 0, row = blockIdx.y * TILE + threadIdx.x / LANES * SIDE; i < SIDE; ++i, ++row)              \
        for (int j = 0, column = blockIdx.x * TILE + threadIdx.x % LANES; j < SIDE; ++j, column += LANES)    \
            if (row < (rows) && column < (columns))

__global__ void layer(const float *weight, const float *x, const float *gain, const float *shift, const float *residual, float *out, int rows) {
    float sum[SIDE][SIDE] = {};
    for (int k = 0; k < depth; ++k)
        FOR_TILE(rows) sum[i][j] += weight[row * depth + k] * x[k * columns + column];
    FOR_TILE(rows) out[row * columns + column] = fmaxf(sum[i][j] * gain[row] + shift[row] + residual[row * columns + column], 0.0f);
}

int main(int argc, char **argv) {
    const int rows = argc > 1 ? atoi(argv[1]) : 100;
    if (rows < 1) {
        fprintf(stderr, "usage: %s [rows]\n", argv[0]);
        return 2;
    }
    const size_t elements = (size_t)rows * columns;
    std::vector<float> weight((size_t)rows * depth), x((size_t)depth * columns), residual(elements), gain(rows), shift(rows), output(elements);
    for (size_t i = 0; i < weight.size(); ++i) weight[i] = (float)(i * 7 % 5) - 2.0f;
    for (size_t i = 0; i < x.size(); ++i) x[i] = (float)(i * 11 % 9) - 4.0f;
    for (size_t i = 0; i < elements; ++i) residual[i] = (float)(i * 13 % 41) - 20.0f;
    for (int i = 0; i < rows; ++i) gain[i] = (float)(i % 3) + 0.5f, shift[i] = (float)(i % 7) - 3.0f;

    auto made = [](const std::vector<float> &from) {
        float *device;
        cudaMalloc(&device, from.size() * sizeof(float));
        cudaMemcpy(device, from.data(), from.size() * sizeof(float), cudaMemcpyHostToDevice);
        return device;
    };
    float *dw = made(weight), *dx = made(x), *dr = made(residual), *dg = made(gain), *ds = made(shift), *out;
    cudaMalloc(&out, elements * sizeof(float));
    const dim3 grid((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE), block(LANES * LANES);
    layer<<<grid, block>>>(dw, dx, dg, ds, dr, out, rows);
    cudaMemcpy(output.data(), out, elements * sizeof(float), cudaMemcpyDeviceToHost);
    for (float *device : {dw, dx, dr, dg, ds, out}) cudaFree(device);

    unsigned hash = 2166136261u;
    int wrong = 0;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) {
            float sum = 0.0f; // exact in binary, contracted or not
            for (int k = 0; k < depth; ++k) sum += weight[r * depth + k] * x[k * columns + c];
            const float expected = fmaxf(sum * gain[r] + shift[r] + residual[r * columns + c], 0.0f), got = output[r * columns + c];
            wrong += expected != got;
            hash = (hash ^ (unsigned)(int)(got * 2.0f)) * 16777619u;
        }
    printf("tile_layers: %d x %d, checksum %08x\n", rows, columns, hash);
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
