// A stack of LSTM cells over a sequence (10 cells, 100 steps, hidden size 256) as a code generator writes it: eight
// matrix-vector products and one kernel for the gates for each cell and step.
//
// Shows: the nine launches of a cell stay in their blocks and run as one; cells on a diagonal, at steps and heights of
// one sum, do not depend on each other and are one launch: 9,000 launches become 109.
//
// usage: lstm; with -DSMALL three cells of size 64 over five steps
#include "recurrent.h"

#ifdef SMALL
constexpr int CELLS = 3, STEPS = 5, HIDDEN = 64;
#else
constexpr int CELLS = 10, STEPS = 100, HIDDEN = 256;
#endif

int main() {
    constexpr size_t WEIGHTS = cell_weights(HIDDEN, HIDDEN), BIAS = GATES * HIDDEN, ROW = (STEPS + 1) * HIDDEN;
    Parameters weights(CELLS * WEIGHTS, 1, 6.0f / std::sqrt((float)HIDDEN)), bias(CELLS * BIAS, 2, 0.5f);
    Parameters input(STEPS * HIDDEN, 3, 2.0f);
    // Row 0 is the input, row l + 1 what cell l leaves after each step, and before the first.
    float *hidden = room((CELLS + 1) * ROW), *cell = room(CELLS * HIDDEN), *products = room(CELLS * 2 * BIAS);
    cudaMemcpy(hidden + HIDDEN, input.device, STEPS * HIDDEN * sizeof(float), cudaMemcpyDeviceToDevice);

    const cudaStream_t stream = stream_of_launches();
    const auto launches = [&] {
        for (int t = 1; t <= STEPS; ++t)
            for (int l = 0; l < CELLS; ++l)
                launch_cell<HIDDEN, HIDDEN>(stream, weights.device + l * WEIGHTS, bias.device + l * BIAS,
                                            hidden + l * ROW + t * HIDDEN, hidden + (l + 1) * ROW + (t - 1) * HIDDEN,
                                            hidden + (l + 1) * ROW + t * HIDDEN, cell + l * HIDDEN, products + l * 2 * BIAS);
    };
    launches();
    std::vector<float> result(STEPS * HIDDEN);
    cudaMemcpy(result.data(), hidden + CELLS * ROW + HIDDEN, result.size() * sizeof(float), cudaMemcpyDeviceToHost);
    measure(stream, launches);

    std::vector<HostCell> cells;
    for (int l = 0; l < CELLS; ++l) cells.emplace_back(HIDDEN, HIDDEN, &weights.host[l * WEIGHTS], &bias.host[l * BIAS]);
    std::vector<double> expected;
    for (int t = 0; t < STEPS; ++t) {
        std::vector<double> state(&input.host[t * HIDDEN], &input.host[t * HIDDEN] + HIDDEN);
        for (HostCell &cell : cells) state = cell.step(state);
        expected.insert(expected.end(), state.begin(), state.end());
    }
    return judge("lstm", result, expected, 1e-4);
}
