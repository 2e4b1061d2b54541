// A row that is overwritten in each step is elsewhere while launches wait for what was there, and pointers lead to it
// there. A struct with the same address leads to the row behind it, which has not moved: what one kernel is given for
// its pointer is not what another one gets for its struct.
//
// arguments:
// arguments: 60
// expect: 3 launches -> 2
// executes: 2
// executes: 2
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int columns = 64;

struct Matrix {
    float *data;
    int rows, columns, stride;
};

__global__ void fill_row(float *row, float base) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    row[i] = base + i;
}

__global__ void take_row(float *out, const float *row) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < columns; k++) sum += row[k] * ((k ^ i) & 7);
    out[i] = sum;
}

__global__ void add_behind(float *out, const float *row, Matrix matrix) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = row[i] + matrix.data[columns + i] + matrix.rows;
}

int main(int count, char **arguments) {
    const int steps = count > 1 ? atoi(arguments[1]) : 6;
    float *scratch, *out, *sums;
    std::vector<float> start(2 * columns), found(steps * columns);
    for (int i = 0; i < 2 * columns; i++) start[i] = 1000 + i;
    cudaMalloc(&scratch, start.size() * sizeof(float));
    cudaMalloc(&out, found.size() * sizeof(float));
    cudaMalloc(&sums, found.size() * sizeof(float));
    cudaMemcpy(scratch, start.data(), start.size() * sizeof(float), cudaMemcpyHostToDevice);
    for (int step = 0; step < steps; step++) {
        fill_row<<<2, columns / 2>>>(scratch, 100.0f * step);
        take_row<<<2, columns / 2>>>(out + step * columns, scratch);
        Matrix behind{scratch, step, columns, columns};
        add_behind<<<2, columns / 2>>>(sums + step * columns, out + step * columns, behind);
    }
    cudaMemcpy(found.data(), sums, found.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < steps * columns; i++) {
        int step = i / columns, c = i % columns;
        float sum = 0;
        for (int k = 0; k < columns; k++) sum += (100.0f * step + k) * ((k ^ c) & 7);
        sum = sum + start[columns + c] + step;
        if (found[i] != sum) {
            printf("element %d is %g, not %g\n", i, found[i], sum);
            return 1;
        }
    }
    printf("PASS\n");
}
