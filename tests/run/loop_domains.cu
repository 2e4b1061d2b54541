// test: run
// expect: 4 launches -> 2
// arguments: 1000
// arguments: 70000
// Rows of a matrix that only the bounds of a host loop keep apart, and parts of one allocation that
// only the size of the run keeps apart (and with the second argument does not).
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int rows = 8, columns = 512;
constexpr int half = 65536;

// The last row, from its end.
__global__ void mirror(float *m, float *y, int row) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < columns) {
        m[(rows - 1) * columns + columns - 1 - x] += x;
        y[x] = row + x;
    }
}

__global__ void update(float *m, const float *y, int row) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < columns) m[row * columns + x] += 2 * y[x];
}

__global__ void first_part(float *whole, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = i % 100;
        whole[i] += 1;
    }
}

__global__ void second_part(float *part, const float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) part[i] = 3 * part[i] + y[i];
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    if (n < 1 || n > 2 * half) return 2;
    float *m, *y, *whole;
    cudaMalloc(&m, rows * columns * sizeof(float));
    cudaMalloc(&y, 2 * half * sizeof(float));
    cudaMalloc(&whole, 3 * half * sizeof(float));
    std::vector<float> zeros(rows * columns), ones(3 * half, 1.0f);
    cudaMemcpy(m, zeros.data(), zeros.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(whole, ones.data(), ones.size() * sizeof(float), cudaMemcpyHostToDevice);

    for (int row = 0; row < rows - 1; row++) {
        mirror<<<columns / 256, 256>>>(m, y, row);
        update<<<columns / 256, 256>>>(m, y, row);
    }
    int blocks = (n + 255) / 256;
    first_part<<<blocks, 256>>>(whole, y, n);
    second_part<<<blocks, 256>>>(whole + half, y, n);

    std::vector<float> found(zeros.size()), parts(ones.size());
    cudaMemcpy(found.data(), m, found.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(parts.data(), whole, parts.size() * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int row = 0; row < rows; row++)
        for (int x = 0; x < columns; x++) {
            float expected = row < rows - 1 ? 2 * (row + x) : (rows - 1) * (columns - 1 - x);
            if (found[row * columns + x] != expected) wrong++;
        }
    for (int i = 0; i < n; i++) ones[i] += 1;
    for (int i = 0; i < n; i++) ones[half + i] = 3 * ones[half + i] + i % 100;
    for (size_t i = 0; i < ones.size(); i++)
        if (parts[i] != ones[i]) wrong++;
    printf("%s: %d elements differ\n", wrong ? "FAIL" : "PASS", wrong);
    return wrong != 0;
}
