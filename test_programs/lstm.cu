// A stack of LSTM cells over a sequence: eight matrix-vector products and one gate kernel for each
// cell and time step, in a loop over time and a loop over cells.
//
// Shows: all nine launches of a cell stay in their threads, so they run as one. A cell waits for the
// cell below at its own step and for itself at the step before, and for nothing else, so all cells
// (t, l) with the same t + l are one launch: steps + cells - 1 launch batches. With "inplace" a cell
// overwrites its hidden state, which other threads still read: each new state gets memory of its own for as
// long as launches wait, so that a cell stays one launch and the launch batches are as many.
//
// usage: lstm [steps] [cells] [inplace]
//
// expect: 18 launches -> 2
// arguments: 7 3
// arguments: 7 3 inplace
// arguments: 1 1
// executes: 9 9 1
#include "lstm_cell.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// One cell at one step: what is below it, its own state before, its own state after.
static inline void launch_cell(const float *w, const float *bias, const float *below, const float *before,
                               float *after, float *c, float *products) {
    const dim3 grid(HIDDEN / THREADS), block(THREADS);
    const size_t matrix = HIDDEN * HIDDEN;
    gemv<<<grid, block>>>(w, below, products);
    gemv<<<grid, block>>>(w + matrix, before, products + HIDDEN);
    gemv<<<grid, block>>>(w + 2 * matrix, below, products + 2 * HIDDEN);
    gemv<<<grid, block>>>(w + 3 * matrix, before, products + 3 * HIDDEN);
    gemv<<<grid, block>>>(w + 4 * matrix, below, products + 4 * HIDDEN);
    gemv<<<grid, block>>>(w + 5 * matrix, before, products + 5 * HIDDEN);
    gemv<<<grid, block>>>(w + 6 * matrix, below, products + 6 * HIDDEN);
    gemv<<<grid, block>>>(w + 7 * matrix, before, products + 7 * HIDDEN);
    solve<<<grid, block>>>(products, bias, c, after);
}

int main(int argc, char **argv) {
    const int steps = argc > 1 ? atoi(argv[1]) : 100, cells = argc > 2 ? atoi(argv[2]) : 10;
    const bool in_place = argc > 3 && !strcmp(argv[3], "inplace");
    if (steps < 1 || cells < 1) {
        fprintf(stderr, "usage: %s [steps] [cells] [inplace]\n", argv[0]);
        return 2;
    }
    const size_t matrix = HIDDEN * HIDDEN, row = HIDDEN * sizeof(float);
    std::vector<float> weights = pattern(cells * 2 * GATES * matrix, 1, 0.4f);
    std::vector<float> bias = pattern(cells * GATES * HIDDEN, 2, 0.5f);
    std::vector<float> input = pattern(steps * HIDDEN, 3, 2.0f), top(steps * HIDDEN);

    float *dw, *db, *c, *products;
    cudaMalloc(&dw, weights.size() * sizeof(float));
    cudaMalloc(&db, bias.size() * sizeof(float));
    cudaMalloc(&c, cells * row);
    cudaMalloc(&products, cells * 2 * GATES * row);
    cudaMemcpy(dw, weights.data(), weights.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(db, bias.data(), bias.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(c, 0, cells * row);

    if (!in_place) {
        // Layer 0 is the input, layer l + 1 what cell l leaves; row 0 is the state before all steps.
        float *h;
        cudaMalloc(&h, (cells + 1) * (steps + 1) * row);
        cudaMemset(h, 0, (cells + 1) * (steps + 1) * row);
        cudaMemcpy(h + HIDDEN, input.data(), steps * row, cudaMemcpyHostToDevice);
        for (int t = 1; t <= steps; ++t)
            for (int l = 0; l < cells; ++l)
                launch_cell(dw + l * 2 * GATES * matrix, db + l * GATES * HIDDEN,
                            h + (l * (steps + 1) + t) * HIDDEN, h + ((l + 1) * (steps + 1) + t - 1) * HIDDEN,
                            h + ((l + 1) * (steps + 1) + t) * HIDDEN, c + l * HIDDEN,
                            products + l * 2 * GATES * HIDDEN);
        cudaMemcpy(top.data(), h + (cells * (steps + 1) + 1) * HIDDEN, steps * row, cudaMemcpyDeviceToHost);
        cudaFree(h);
    } else {
        float *x, *h;
        cudaMalloc(&x, steps * row);
        cudaMalloc(&h, cells * row);
        cudaMemcpy(x, input.data(), steps * row, cudaMemcpyHostToDevice);
        cudaMemset(h, 0, cells * row);
        for (int t = 0; t < steps; ++t)
            for (int l = 0; l < cells; ++l)
                launch_cell(dw + l * 2 * GATES * matrix, db + l * GATES * HIDDEN,
                            l == 0 ? x + t * HIDDEN : h + (l - 1) * HIDDEN, h + l * HIDDEN, h + l * HIDDEN,
                            c + l * HIDDEN, products + l * 2 * GATES * HIDDEN);
        cudaMemcpy(&top[(steps - 1) * HIDDEN], h + (cells - 1) * HIDDEN, row, cudaMemcpyDeviceToHost);
        cudaFree(x);
        cudaFree(h);
    }
    cudaFree(dw);
    cudaFree(db);
    cudaFree(c);
    cudaFree(products);

    const std::vector<double> reference = on_host(weights, bias, input, steps, cells);
    double worst = 0;
    for (int i = in_place ? (steps - 1) * HIDDEN : 0; i < steps * HIDDEN; ++i)
        worst = fmax(worst, fabs(top[i] - reference[i]));
    double sum = 0;
    for (int i = (steps - 1) * HIDDEN; i < steps * HIDDEN; ++i) sum += top[i];
    printf("steps %d cells %d sum %.6f %s\n", steps, cells, sum, worst < 1e-4 ? "PASS" : "FAIL");
    return worst < 1e-4 ? 0 : 1;
}
