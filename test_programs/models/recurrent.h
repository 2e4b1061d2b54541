// What the recurrent models share: the kernels of an LSTM cell, and a cell computed on the host.
#pragma once
#include "network.h"

constexpr int GATES = 4;              // input, forget, output and candidate
constexpr int COLUMNS = 32;           // of a weight matrix, those that a block takes
constexpr int WARPS = 8;              // each takes a part of the rows
constexpr int THREADS = WARPS * 32;

// out[WIDTH] = x[DEEP] · weight[DEEP][WIDTH]: lanes read neighbouring columns, warps add up different rows.
template <int DEEP, int WIDTH>
__global__ void __launch_bounds__(THREADS) gemv(const float *weight, const float *x, float *out) {
    static_assert(DEEP % WARPS == 0 && WIDTH % COLUMNS == 0, "whole parts");
    __shared__ float partial[WARPS][COLUMNS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = blockIdx.x * COLUMNS + lane;
    const int first = warp * (DEEP / WARPS);
    float sum = 0.0f;
    for (int k = 0; k < DEEP / WARPS; ++k) sum += weight[(first + k) * WIDTH + column] * x[first + k];
    partial[warp][lane] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = 0.0f;
        for (int w = 0; w < WARPS; ++w) sum += partial[w][lane];
        out[column] = sum;
    }
}

__device__ inline float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

// The gates from their products with input and state, then the new cell and hidden state.
template <int WIDTH>
__global__ void __launch_bounds__(THREADS) solve(const float *products, const float *bias, float *cell, float *hidden) {
    const int lane = threadIdx.x % 32, column = blockIdx.x * COLUMNS + lane;
    if (threadIdx.x >= 32) return;
    float sums[GATES];
    for (int g = 0; g < GATES; ++g)
        sums[g] = products[2 * g * WIDTH + column] + products[(2 * g + 1) * WIDTH + column] + bias[g * WIDTH + column];
    const float state = sigmoid(sums[1]) * cell[column] + sigmoid(sums[0]) * tanhf(sums[3]);
    cell[column] = state;
    hidden[column] = sigmoid(sums[2]) * tanhf(state);
}

// Weights of a cell: for each gate a matrix for its input, DEEP × WIDTH, and one for its state, WIDTH × WIDTH.
constexpr size_t cell_weights(size_t deep, size_t width) { return GATES * (deep + width) * width; }

// One cell at one step: eight products and what becomes of them.
template <int DEEP, int WIDTH>
static inline void launch_cell(cudaStream_t stream, const float *weights, const float *bias, const float *below,
                               const float *before, float *after, float *cell, float *products) {
    constexpr size_t DOWN = (size_t)DEEP * WIDTH, BACK = (size_t)WIDTH * WIDTH, GATE = DOWN + BACK;
    constexpr int BLOCKS = WIDTH / COLUMNS;
    gemv<DEEP, WIDTH><<<BLOCKS, THREADS, 0, stream>>>(weights, below, products);
    gemv<WIDTH, WIDTH><<<BLOCKS, THREADS, 0, stream>>>(weights + DOWN, before, products + WIDTH);
    gemv<DEEP, WIDTH><<<BLOCKS, THREADS, 0, stream>>>(weights + GATE, below, products + 2 * WIDTH);
    gemv<WIDTH, WIDTH><<<BLOCKS, THREADS, 0, stream>>>(weights + GATE + DOWN, before, products + 3 * WIDTH);
    gemv<DEEP, WIDTH><<<BLOCKS, THREADS, 0, stream>>>(weights + 2 * GATE, below, products + 4 * WIDTH);
    gemv<WIDTH, WIDTH><<<BLOCKS, THREADS, 0, stream>>>(weights + 2 * GATE + DOWN, before, products + 5 * WIDTH);
    gemv<DEEP, WIDTH><<<BLOCKS, THREADS, 0, stream>>>(weights + 3 * GATE, below, products + 6 * WIDTH);
    gemv<WIDTH, WIDTH><<<BLOCKS, THREADS, 0, stream>>>(weights + 3 * GATE + DOWN, before, products + 7 * WIDTH);
    solve<WIDTH><<<BLOCKS, THREADS, 0, stream>>>(products, bias, cell, after);
}

// A cell on the host, in double precision.
struct HostCell {
    int deep, width;
    const float *weights, *bias;
    std::vector<double> hidden, cell;

    HostCell(int deep, int width, const float *weights, const float *bias)
        : deep(deep), width(width), weights(weights), bias(bias), hidden(width), cell(width) {}

    const std::vector<double> &step(const std::vector<double> &below) {
        std::vector<double> sums(bias, bias + GATES * width);
        const float *weight = weights;
        for (int g = 0; g < GATES; ++g) {
            double *sum = &sums[g * width];
            for (int k = 0; k < deep; ++k, weight += width)
                for (int i = 0; i < width; ++i) sum[i] += weight[i] * below[k];
            for (int k = 0; k < width; ++k, weight += width)
                for (int i = 0; i < width; ++i) sum[i] += weight[i] * hidden[k];
        }
        auto gate = [&](int g, int i) { return 1.0 / (1.0 + std::exp(-sums[g * width + i])); };
        for (int i = 0; i < width; ++i) {
            cell[i] = gate(1, i) * cell[i] + gate(0, i) * std::tanh(sums[3 * width + i]);
            hidden[i] = gate(2, i) * std::tanh(cell[i]);
        }
        return hidden;
    }
};
