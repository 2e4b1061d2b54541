// Elementwise launches before and after one whose blocks work on whole rows: each block runs them for its rows.
//
// Rows of 4000 elements are more than a block takes; their four launches become three.
// expect: 33 launches -> 11
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int rows = 90, width = 48;

__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

__global__ void add_column(float *y, const float *bias, int n, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += bias[i % columns];
}

// Reads all that a launch tells of a thread's place.
__global__ void add_place(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += 100 * blockIdx.x + threadIdx.x + 0.5f * gridDim.x + 0.25f * blockDim.x;
}

// Four warps, each with a row of its own.
__global__ void subtract_row_sum(float *y, int count) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= count) return;
    float sum = 0;
    for (int j = lane; j < width; j += 32) sum += y[row * width + j];
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffff, sum, lanes);
    for (int j = lane; j < width; j += 32) y[row * width + j] -= sum;
}

// A block a row, whose length only the run knows.
__global__ void subtract_first(float *y, int columns) {
    __shared__ float first;
    float *row = y + blockIdx.x * columns;
    if (threadIdx.x == 0) first = row[0];
    __syncthreads();
    for (int j = threadIdx.x; j < columns; j += blockDim.x) row[j] -= first;
}

// Four rows a block.
__global__ void subtract_firsts(float *y, int count, int columns) {
    __shared__ float first[4];
    int row = blockIdx.x * 4 + threadIdx.y;
    if (threadIdx.x == 0) first[threadIdx.y] = row < count ? y[row * columns] : 0;
    __syncthreads();
    if (row < count)
        for (int j = threadIdx.x; j < columns; j += blockDim.x) y[row * columns + j] -= first[threadIdx.y];
}

__global__ void mean_of_eight(float *means, const float *x) {
    float sum = 0;
    for (int row = 0; row < 8; row++) sum += x[(blockIdx.x * 8 + row) * 32 + threadIdx.x];
    means[blockIdx.x * 32 + threadIdx.x] = sum / 8;
}

static std::vector<float> expected;
static int wrong = 0;

static void expect(const char *what, const float *device) {
    std::vector<float> host(expected.size());
    cudaMemcpy(host.data(), device, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < host.size(); i++)
        if (host[i] != expected[i] && wrong++ < 5)
            std::printf("%s: element %zu is %f and not %f\n", what, i, host[i], expected[i]);
}

static float of(int i) { return 0.25f * (i % 31); }

// `n` elements of rows of so many; launched with what another number of columns would take.
static void of_rows(const char *what, const float *x, const float *bias, float *y, int n, int columns, int told) {
    int count = n / columns;
    scale<<<(n + 255) / 256, 256>>>(y, x, n);
    add_column<<<(n + 63) / 64, 64>>>(y, bias, n, columns);
    subtract_first<<<count, 96>>>(y, told);
    scale<<<(n + 255) / 256, 256>>>(y, y, n);
    expected.resize(n);
    for (int i = 0; i < n; i++) expected[i] = 2 * of(i) + of(i % columns);
    for (int row = 0; row < count; row++) {
        float first = expected[row * told];
        for (int j = 0; j < told; j++) expected[row * told + j] -= first;
    }
    for (int i = 0; i < n; i++) expected[i] *= 2;
    expect(what, y);
}

int main(int argc, char **argv) {
    constexpr int n = rows * width;
    std::vector<float> host(8192);
    for (size_t i = 0; i < host.size(); i++) host[i] = of(i);
    float *x, *y, *means;
    cudaMalloc(&x, host.size() * sizeof(float));
    cudaMalloc(&y, host.size() * sizeof(float));
    cudaMalloc(&means, 8192 * sizeof(float));
    cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(y, 0, host.size() * sizeof(float));

    // 192 elements a block of 128 threads; the last one has two rows.
    scale<<<(n + 255) / 256, 256>>>(y, x, n);
    add_place<<<(n + 63) / 64, 64>>>(y, n);
    subtract_row_sum<<<(rows + 3) / 4, 128>>>(y, rows);
    add_place<<<(n + 95) / 96, 96>>>(y, n);
    expected.assign(n, 0);
    for (int i = 0; i < n; i++) expected[i] = 2 * of(i) + 100 * (i / 64) + i % 64 + 0.5f * ((n + 63) / 64) + 16;
    for (int row = 0; row < rows; row++) {
        float *of_row = &expected[row * width], sums[32], next[32];
        for (int lane = 0; lane < 32; lane++) sums[lane] = of_row[lane] + (lane < 16 ? of_row[lane + 32] : 0);
        for (int lanes = 16; lanes > 0; lanes /= 2) {
            for (int lane = 0; lane < 32; lane++) next[lane] = sums[lane] + sums[lane ^ lanes];
            for (int lane = 0; lane < 32; lane++) sums[lane] = next[lane];
        }
        for (int j = 0; j < width; j++) of_row[j] -= sums[j % 32];
    }
    for (int i = 0; i < n; i++) expected[i] += 100 * (i / 96) + i % 96 + 0.5f * ((n + 95) / 96) + 24;
    expect("warps", y);

    // The rows do not cover all elements, which the last block has left to do.
    scale<<<20, 256>>>(y, x, 5000);
    subtract_row_sum<<<26, 128>>>(y, 104);
    scale<<<20, 256>>>(means, y, 5000);
    expected.assign(5000, 0);
    for (int i = 0; i < 5000; i++) expected[i] = 2 * of(i);
    for (int row = 0; row < 104; row++) {
        float *of_row = &expected[row * width], sums[32], next[32];
        for (int lane = 0; lane < 32; lane++) sums[lane] = of_row[lane] + (lane < 16 ? of_row[lane + 32] : 0);
        for (int lanes = 16; lanes > 0; lanes /= 2) {
            for (int lane = 0; lane < 32; lane++) next[lane] = sums[lane] + sums[lane ^ lanes];
            for (int lane = 0; lane < 32; lane++) sums[lane] = next[lane];
        }
        for (int j = 0; j < width; j++) of_row[j] -= sums[j % 32];
    }
    for (float &value : expected) value *= 2;
    expect("more elements", means);

    // Eight small blocks for one that reads them all.
    scale<<<256, 32>>>(y, x, 8192);
    add_column<<<256, 32>>>(y, x, 8192, 32);
    mean_of_eight<<<32, 32>>>(means, y);
    expected.assign(32 * 32, 0);
    for (int i = 0; i < 32 * 32; i++) {
        float sum = 0;
        for (int row = 0; row < 8; row++) {
            int at = (i / 32 * 8 + row) * 32 + i % 32;
            sum += 2 * of(at) + of(at % 32);
        }
        expected[i] = sum / 8;
    }
    expect("means", means);

    // The same before a row kernel of the few blocks.
    scale<<<256, 32>>>(y, x, 8192);
    add_column<<<256, 32>>>(y, x, 8192, 32);
    mean_of_eight<<<32, 32>>>(means, y);
    subtract_first<<<32, 32>>>(means, 32);
    for (int row = 0; row < 32; row++)
        for (int j = 31; j >= 0; j--) expected[row * 32 + j] -= expected[row * 32];
    expect("means of rows", means);

    // Lengths that only the run knows: as they should be, and of fewer or more than are touched.
    int columns = 47 + argc;
    of_rows("rows", x, x, y, n, columns, columns);
    of_rows("short rows", x, x, y, n, columns, columns - 5);
    of_rows("no columns", x, x, y, n, columns, argc - 1);
    of_rows("long rows", x, x, y, 8000, 4000, 4000 * argc);
    int count = 89 + argc, all = count * columns;
    scale<<<(all + 255) / 256, 256>>>(y, x, all);
    subtract_firsts<<<(count + 3) / 4, dim3(32, 4)>>>(y, count, columns);
    add_column<<<(all + 127) / 128, 128>>>(y, x, all, columns);
    expected.assign(all, 0);
    for (int i = 0; i < all; i++) expected[i] = 2 * of(i) - 2 * of(i / columns * columns) + of(i % columns);
    expect("rows of four", y);

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
