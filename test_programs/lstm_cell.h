// The kernels of an LSTM cell, weights for it, and what a stack of cells gives, computed on the host.
#pragma once
#include <cmath>
#include <vector>

constexpr int HIDDEN = 64;
constexpr int THREADS = 32;
constexpr int GATES = 4;

// out = weight^T x: thread i has element i, neighbours read neighbouring weights.
__global__ void gemv(const float *weight, const float *x, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < HIDDEN; ++k) sum += weight[k * HIDDEN + i] * x[k];
    out[i] = sum;
}

__device__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

// The gates from their products with input and state, then the new cell and hidden state.
__global__ void solve(const float *products, const float *bias, float *c, float *h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sums[GATES];
    for (int g = 0; g < GATES; ++g)
        sums[g] = products[2 * g * HIDDEN + i] + products[(2 * g + 1) * HIDDEN + i] + bias[g * HIDDEN + i];
    float input = sigmoid(sums[0]), forget = sigmoid(sums[1]), output = sigmoid(sums[2]);
    float cell = forget * c[i] + input * tanhf(sums[3]);
    c[i] = cell;
    h[i] = output * tanhf(cell);
}

static std::vector<float> pattern(size_t count, unsigned seed, float scale) {
    std::vector<float> values(count);
    for (float &value : values) {
        seed = seed * 1664525u + 1013904223u;
        value = ((float)(seed >> 8) / (1 << 24) - 0.5f) * scale;
    }
    return values;
}

// Hidden states of the top cell for every step, in double precision.
static std::vector<double> on_host(const std::vector<float> &weights, const std::vector<float> &bias,
                                   const std::vector<float> &input, int steps, int cells) {
    std::vector<double> h(cells * HIDDEN), c(cells * HIDDEN), top;
    for (int t = 0; t < steps; ++t) {
        std::vector<double> below(input.begin() + t * HIDDEN, input.begin() + (t + 1) * HIDDEN);
        for (int l = 0; l < cells; ++l) {
            std::vector<double> sums(GATES * HIDDEN);
            for (int g = 0; g < GATES; ++g) {
                const float *wx = &weights[(size_t)(l * 2 * GATES + 2 * g) * HIDDEN * HIDDEN];
                const float *wh = wx + HIDDEN * HIDDEN;
                double *sum = &sums[g * HIDDEN];
                for (int i = 0; i < HIDDEN; ++i) sum[i] = bias[(l * GATES + g) * HIDDEN + i];
                for (int k = 0; k < HIDDEN; ++k)
                    for (int i = 0; i < HIDDEN; ++i)
                        sum[i] += wx[k * HIDDEN + i] * below[k] + wh[k * HIDDEN + i] * h[l * HIDDEN + k];
            }
            for (int i = 0; i < HIDDEN; ++i) {
                auto gate = [&](int g) { return 1.0 / (1.0 + exp(-sums[g * HIDDEN + i])); };
                double &cell = c[l * HIDDEN + i];
                cell = gate(1) * cell + gate(0) * tanh(sums[3 * HIDDEN + i]);
                h[l * HIDDEN + i] = below[i] = gate(2) * tanh(cell);
            }
        }
        top.insert(top.end(), below.begin(), below.end());
    }
    return top;
}
