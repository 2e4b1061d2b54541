// A stack of LSTM cells over a sequence, as a code generator writes it: no loops on the host, every
// launch of every cell and step written out.
//
// Shows: all nine launches of a cell stay in their threads, so they run as one. The cells are
// equal but for their arguments: they share one kernel, and all cells (t, l) with the same t + l are one
// launch, as in a loop nest: steps + cells - 1 launch batches. Where a cell overwrites its hidden state,
// which other threads still read, each new state gets memory of its own meanwhile.
//
// expect: 216 launches -> 24
// executes: 12
#include "lstm_cell.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int STEPS = 4;
constexpr int CELLS = 3;

// One cell at one step: weights and buffers of cell `l`, what is below it, its own state before and after.
#define GEMV(l, k, x)                                                                                    \
    gemv<<<HIDDEN / THREADS, THREADS>>>(weights + (l * 2 * GATES + k) * HIDDEN * HIDDEN, x,              \
                                        products + (l * 2 * GATES + k) * HIDDEN);
#define CELL(l, below, before, after)                                                                    \
    GEMV(l, 0, below) GEMV(l, 1, before) GEMV(l, 2, below) GEMV(l, 3, before)                            \
    GEMV(l, 4, below) GEMV(l, 5, before) GEMV(l, 6, below) GEMV(l, 7, before)                            \
    solve<<<HIDDEN / THREADS, THREADS>>>(products + l * 2 * GATES * HIDDEN, bias + l * GATES * HIDDEN,   \
                                         c + l * HIDDEN, after);

// Row t of layer l: layer 0 is the input, layer l + 1 what cell l leaves; row 0 is the state before.
#define ROW(l, t) (h + ((l) * (STEPS + 1) + (t)) * HIDDEN)
#define KEPT_STEP(t)                                                                                     \
    CELL(0, ROW(0, t), ROW(1, t - 1), ROW(1, t))                                                         \
    CELL(1, ROW(1, t), ROW(2, t - 1), ROW(2, t))                                                         \
    CELL(2, ROW(2, t), ROW(3, t - 1), ROW(3, t))

static void run_kept(const float *weights, const float *bias, float *products, float *c, float *h) {
    KEPT_STEP(1) KEPT_STEP(2) KEPT_STEP(3) KEPT_STEP(4)
}

#define STATE(l) (h + (l) * HIDDEN)
#define IN_PLACE_STEP(t)                                                                                 \
    CELL(0, x + t * HIDDEN, STATE(0), STATE(0))                                                          \
    CELL(1, STATE(0), STATE(1), STATE(1))                                                                \
    CELL(2, STATE(1), STATE(2), STATE(2))

static void run_in_place(const float *weights, const float *bias, float *products, float *c, const float *x,
                         float *h) {
    IN_PLACE_STEP(0) IN_PLACE_STEP(1) IN_PLACE_STEP(2) IN_PLACE_STEP(3)
}

int main() {
    const size_t row = HIDDEN * sizeof(float);
    std::vector<float> weights = pattern(CELLS * 2 * GATES * HIDDEN * HIDDEN, 1, 0.4f);
    std::vector<float> bias = pattern(CELLS * GATES * HIDDEN, 2, 0.5f);
    std::vector<float> input = pattern(STEPS * HIDDEN, 3, 2.0f), kept(STEPS * HIDDEN), last(HIDDEN);

    float *dw, *db, *c, *products, *h, *x, *state;
    cudaMalloc(&dw, weights.size() * sizeof(float));
    cudaMalloc(&db, bias.size() * sizeof(float));
    cudaMalloc(&c, CELLS * row);
    cudaMalloc(&products, CELLS * 2 * GATES * row);
    cudaMalloc(&h, (CELLS + 1) * (STEPS + 1) * row);
    cudaMalloc(&x, STEPS * row);
    cudaMalloc(&state, CELLS * row);
    cudaMemcpy(dw, weights.data(), weights.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(db, bias.data(), bias.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(x, input.data(), STEPS * row, cudaMemcpyHostToDevice);

    cudaMemset(c, 0, CELLS * row);
    cudaMemset(h, 0, (CELLS + 1) * (STEPS + 1) * row);
    cudaMemcpy(h + HIDDEN, input.data(), STEPS * row, cudaMemcpyHostToDevice);
    run_kept(dw, db, products, c, h);
    cudaMemcpy(kept.data(), h + (CELLS * (STEPS + 1) + 1) * HIDDEN, STEPS * row, cudaMemcpyDeviceToHost);

    cudaMemset(c, 0, CELLS * row);
    cudaMemset(state, 0, CELLS * row);
    run_in_place(dw, db, products, c, x, state);
    cudaMemcpy(last.data(), state + (CELLS - 1) * HIDDEN, row, cudaMemcpyDeviceToHost);
    for (float *memory : {dw, db, c, products, h, x, state}) cudaFree(memory);

    const std::vector<double> reference = on_host(weights, bias, input, STEPS, CELLS);
    double worst = 0, sum = 0;
    for (int i = 0; i < STEPS * HIDDEN; ++i) worst = fmax(worst, fabs(kept[i] - reference[i]));
    for (int i = 0; i < HIDDEN; ++i) {
        worst = fmax(worst, fabs(last[i] - reference[(STEPS - 1) * HIDDEN + i]));
        sum += last[i];
    }
    printf("sum %.6f %s\n", sum, worst < 1e-4 ? "PASS" : "FAIL");
    return worst < 1e-4 ? 0 : 1;
}
