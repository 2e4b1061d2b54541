// Cells of two kernels of other blocks, which run over the threads of one, or in part of the blocks of one; a
// cell waits for the one below and for itself a step before, and cells of a diagonal run together.
//
// expect: 4 launches -> 2
// arguments: 5 3
// arguments: 1 4 1
// arguments: 6 1
// executes: 14 8 12
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int width = 256;

__global__ void scale(float *sum, const float *below, const float *before) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float total = before[width - 1 - i];
    for (int k = 0; k < 4; ++k) total += below[(i + 61 * k) % width];
    sum[i] = 0.2f * total;
}

// The same elements by blocks of another size.
__global__ void shift(float *after, const float *sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    after[i] = sum[i] + 1.0f;
}

// The first blocks only.
__global__ void shift_some(float *after, const float *sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    after[i] = sum[i] - 1.0f;
}

// What the first `scaled` elements of each sum and the first `shifted` of each row come to.
static std::vector<float> on_host(std::vector<float> h, int steps, int cells, int scaled, int shifted, float shift) {
    auto row = [&](int cell, int step) { return h.data() + ((size_t)cell * (steps + 1) + step) * width; };
    for (int step = 1; step <= steps; ++step)
        for (int cell = 0; cell < cells; ++cell) {
            const float *below = row(cell, step), *before = row(cell + 1, step - 1);
            std::vector<float> sum(width);
            for (int i = 0; i < scaled; ++i) {
                float total = before[width - 1 - i];
                for (int k = 0; k < 4; ++k) total += below[(i + 61 * k) % width];
                sum[i] = 0.2f * total;
            }
            for (int i = 0; i < shifted; ++i) row(cell + 1, step)[i] = sum[i] + shift;
        }
    return h;
}

int main(int argc, char **argv) {
    const int steps = argc > 1 ? atoi(argv[1]) : 5, cells = argc > 2 ? atoi(argv[2]) : 3;
    const int blocks = argc > 3 ? atoi(argv[3]) : 2;
    const size_t rows = (size_t)(cells + 1) * (steps + 1), bytes = rows * width * sizeof(float);
    std::vector<float> start(rows * width), end(rows * width);
    for (size_t i = 0; i < start.size(); ++i) start[i] = (float)(i % 23) - 11;
    float *h, *t;
    cudaMalloc(&h, bytes);
    cudaMalloc(&t, cells * width * sizeof(float));
    auto row = [&](int cell, int step) { return h + ((size_t)cell * (steps + 1) + step) * width; };
    int wrong = 0;
    for (int part = 0; part < 2; ++part) {
        cudaMemcpy(h, start.data(), bytes, cudaMemcpyHostToDevice);
        cudaMemset(t, 0, cells * width * sizeof(float));
        if (part == 0) {
            for (int step = 1; step <= steps; ++step)
                for (int cell = 0; cell < cells; ++cell) {
                    scale<<<blocks, 128>>>(t + cell * width, row(cell, step), row(cell + 1, step - 1));
                    shift<<<4 * blocks, 32>>>(row(cell + 1, step), t + cell * width);
                }
        } else {
            for (int step = 1; step <= steps; ++step)
                for (int cell = 0; cell < cells; ++cell) {
                    scale<<<4, 64>>>(t + cell * width, row(cell, step), row(cell + 1, step - 1));
                    shift_some<<<3, 64>>>(row(cell + 1, step), t + cell * width);
                }
        }
        cudaMemcpy(end.data(), h, bytes, cudaMemcpyDeviceToHost);
        const int scaled = part == 0 ? 128 * blocks : width, shifted = part == 0 ? scaled : 192;
        const std::vector<float> expected = on_host(start, steps, cells, scaled, shifted, part == 0 ? 1.0f : -1.0f);
        double sum = 0;
        for (size_t i = 0; i < end.size(); ++i) {
            sum += end[i] * (double)(i % 7 + 1);
            wrong += !(fabs(end[i] - expected[i]) <= 1e-3 * (1 + fabs(expected[i])));
        }
        printf("%d: %.6f\n", part, sum);
    }
    cudaFree(h);
    cudaFree(t);
    printf("%s\n", wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
