// Blocks of 16 rows of 32 columns, a thread two of each, in a matrix whose rows are no whole number of blocks long.
// Which element is whose takes two digits: a row, and a column that is bounded by the row's end.
//
// expect: 3 launches -> 1
// expect-missed: none
#include <cstdio>
#include <vector>

constexpr int ROWS = 32, COLUMNS = 196, SIDE = 2, LANES = 16, LINES = 8;

#define FOR_TILE                                                                                                \
    for (int i = 0, row = (blockIdx.y * LINES + threadIdx.x / LANES) * SIDE; i < SIDE; ++i, ++row)               \
        for (int j = 0, column = blockIdx.x * SIDE * LANES + threadIdx.x % LANES; j < SIDE; ++j, column += LANES) \
            if (row < ROWS && column < COLUMNS)

__global__ void twice(const float *in, float *out) { FOR_TILE out[row * COLUMNS + column] = 2 * in[row * COLUMNS + column]; }
__global__ void shifted(const float *in, const float *by, float *out) {
    FOR_TILE out[row * COLUMNS + column] = in[row * COLUMNS + column] + by[row];
}
__global__ void squared(const float *in, float *out) {
    FOR_TILE out[row * COLUMNS + column] = in[row * COLUMNS + column] * in[row * COLUMNS + column];
}

int main() {
    std::vector<float> host(ROWS * COLUMNS), rows(ROWS);
    for (int i = 0; i < ROWS * COLUMNS; ++i) host[i] = i % 31;
    for (int i = 0; i < ROWS; ++i) rows[i] = i - 7;
    float *in, *by, *one, *two, *three;
    cudaMalloc(&in, host.size() * sizeof(float));
    cudaMalloc(&by, rows.size() * sizeof(float));
    cudaMalloc(&one, host.size() * sizeof(float));
    cudaMalloc(&two, host.size() * sizeof(float));
    cudaMalloc(&three, host.size() * sizeof(float));
    cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(by, rows.data(), rows.size() * sizeof(float), cudaMemcpyHostToDevice);
    const dim3 grid((COLUMNS + SIDE * LANES - 1) / (SIDE * LANES), ROWS / (SIDE * LINES));
    twice<<<grid, LINES * LANES>>>(in, one);
    shifted<<<grid, LINES * LANES>>>(one, by, two);
    squared<<<grid, LINES * LANES>>>(two, three);
    std::vector<float> found(host.size());
    cudaMemcpy(found.data(), three, found.size() * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < ROWS * COLUMNS; ++i) {
        const float sum = 2 * host[i] + rows[i / COLUMNS];
        wrong += found[i] != sum * sum;
    }
    printf(wrong ? "FAIL: %d\n" : "PASS\n", wrong);
    return wrong != 0;
}
