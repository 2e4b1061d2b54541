// A warp a row where warps are counted through all blocks of a line, beside launches of each element: a block of these
// runs the elements of as many rows as it has warps. Rows have an end of their own, so that where they are longer than
// they are apart, or fewer than the elements need, launches stay unfused.
//
// expect: 10 launches -> 7
// executes: 7 7 10
// arguments:
// arguments: 50 33
// arguments: 50 2000
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void scale(float *x, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}

// Adds the sum of a row to its elements, a warp a row.
__global__ void add_sums(float *x, int rows, int columns) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int c = lane; c < columns; c += 32) sum += x[row * columns + c];
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
    for (int c = lane; c < columns; c += 32) x[row * columns + c] += sum;
}

// Warps that are half as long as the hardware's: a row for every 16 threads.
__global__ void add_first(float *x, int rows, int columns) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
    if (row >= rows) return;
    for (int c = lane + 1; c < columns; c += 16) x[row * columns + c] += x[row * columns];
}

// The row after its own, of which another block may have the elements.
__global__ void add_next(const float *x, float *y, int rows, int columns) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row + 1 >= rows) return;
    for (int c = lane; c < columns; c += 32) y[row * columns + c] = x[(row + 1) * columns + c];
}

// Rows of 24 threads, which begin inside of blocks and end in others.
__global__ void add_ragged(float *x, int rows, int columns) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 24, lane = (blockIdx.x * blockDim.x + threadIdx.x) % 24;
    if (row >= rows) return;
    for (int c = lane; c < columns; c += 24) x[row * columns + c] += 1;
}

int main(int count, char **arguments) {
    const int rows = count > 1 ? atoi(arguments[1]) : 50, columns = count > 2 ? atoi(arguments[2]) : 96;
    const int n = rows * columns, grid = (n + 255) / 256;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    std::vector<float> expected(n), other(n), found(n);
    for (int i = 0; i < n; i++) expected[i] = i % 7;
    cudaMemcpy(x, expected.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(y, other.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    int failures = 0;
    const auto check = [&](const char *name) {
        for (const auto &[device, host] : {std::pair{x, &expected}, std::pair{y, &other}}) {
            cudaMemcpy(found.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost);
            for (int i = 0; i < n && failures < 5; i++)
                if (found[i] != (*host)[i]) {
                    printf("%s: %d is %g, not %g\n", name, i, found[i], (*host)[i]);
                    failures++;
                }
        }
        // Small numbers, of which all sums are exact.
        for (int i = 0; i < n; i++) expected[i] = (int)expected[i] % 11;
        cudaMemcpy(x, expected.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    };
    const auto each = [&](auto &&change) {
        for (int row = 0; row < rows; row++) change(&expected[row * columns], row);
    };
    const auto sums = [&](float *row, int) {
        float sum = 0;
        for (int c = 0; c < columns; c++) sum += row[c];
        for (int c = 0; c < columns; c++) row[c] += sum;
    };

    scale<<<grid, 256>>>(x, n, 3.0f);
    add_sums<<<(rows + 3) / 4, 128>>>(x, rows, columns);
    for (float &number : expected) number *= 3;
    each(sums);
    check("scale, add_sums");

    add_sums<<<(rows + 3) / 4, 128>>>(x, rows, columns);
    scale<<<grid, 256>>>(x, n, 2.0f);
    each(sums);
    for (float &number : expected) number *= 2;
    check("add_sums, scale");

    scale<<<grid, 256>>>(x, n, 3.0f);
    add_first<<<(rows + 7) / 8, 128>>>(x, rows, columns);
    for (float &number : expected) number *= 3;
    each([&](float *row, int) { for (int c = 1; c < columns; c++) row[c] += row[0]; });
    check("scale, add_first");

    scale<<<grid, 256>>>(x, n, 3.0f);
    add_next<<<(rows + 3) / 4, 128>>>(x, y, rows, columns);
    for (float &number : expected) number *= 3;
    for (int i = 0; i + columns < n; i++) other[i] = expected[i + columns];
    check("scale, add_next");

    add_ragged<<<(rows * 24 + 127) / 128, 128>>>(x, rows, columns);
    scale<<<grid, 256>>>(x, n, 2.0f);
    for (float &number : expected) number = 2 * (number + 1);
    check("add_ragged, scale");
    if (failures == 0) printf("PASS\n");
    return failures != 0;
}
