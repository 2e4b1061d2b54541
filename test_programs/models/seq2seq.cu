// A translator of sequences (an encoder of 8 LSTM cells over 100 steps, a decoder of 4 over 30, hidden size 128) as a
// code generator writes it: nine launches for each cell and step. The decoder begins with the last memory of the
// encoder's top cell and goes on with what it said itself.
//
// Shows: the encoder's cells run in launch batches along its diagonals, 107 of them; each step of the decoder needs the one
// before it whole, and the first the last of the encoder, so that its 120 cells are a launch each: 8,280 launches
// become 227.
//
// usage: seq2seq; with -DSMALL 3 and 2 cells of size 64 over 5 and 3 steps
#include "recurrent.h"

#ifdef SMALL
constexpr int ENCODERS = 3, DECODERS = 2, STEPS = 5, WORDS = 3, HIDDEN = 64;
#else
constexpr int ENCODERS = 8, DECODERS = 4, STEPS = 100, WORDS = 30, HIDDEN = 128;
#endif

int main() {
    constexpr size_t WEIGHTS = cell_weights(HIDDEN, HIDDEN), BIAS = GATES * HIDDEN, ROW = (STEPS + 1) * HIDDEN;
    constexpr int CELLS = ENCODERS + DECODERS;
    Parameters weights(CELLS * WEIGHTS, 1, 6.0f / std::sqrt((float)HIDDEN)), bias(CELLS * BIAS, 2, 0.5f);
    Parameters input(STEPS * HIDDEN, 3, 2.0f);
    float *hidden = room((ENCODERS + 1) * ROW), *said = room((WORDS + 1) * DECODERS * HIDDEN);
    float *cell = room(CELLS * HIDDEN), *products = room(CELLS * 2 * BIAS);
    cudaMemcpy(hidden + HIDDEN, input.device, STEPS * HIDDEN * sizeof(float), cudaMemcpyDeviceToDevice);

    const cudaStream_t stream = stream_of_launches();
    const auto launches = [&] {
        for (int t = 1; t <= STEPS; ++t)
            for (int l = 0; l < ENCODERS; ++l)
                launch_cell<HIDDEN, HIDDEN>(stream, weights.device + l * WEIGHTS, bias.device + l * BIAS,
                                            hidden + l * ROW + t * HIDDEN, hidden + (l + 1) * ROW + (t - 1) * HIDDEN,
                                            hidden + (l + 1) * ROW + t * HIDDEN, cell + l * HIDDEN, products + l * 2 * BIAS);
        for (int t = 1; t <= WORDS; ++t)
            for (int l = 0; l < DECODERS; ++l) {
                const int c = ENCODERS + l;
                // Below the first cell is the last one at the step before: the row before in memory.
                const float *below = t == 1 && l == 0 ? cell + (ENCODERS - 1) * HIDDEN : said + (t * DECODERS + l - 1) * HIDDEN;
                launch_cell<HIDDEN, HIDDEN>(stream, weights.device + c * WEIGHTS, bias.device + c * BIAS, below,
                                            said + ((t - 1) * DECODERS + l) * HIDDEN, said + (t * DECODERS + l) * HIDDEN,
                                            cell + c * HIDDEN, products + c * 2 * BIAS);
            }
    };
    launches();
    std::vector<float> all((WORDS + 1) * DECODERS * HIDDEN), result;
    cudaMemcpy(all.data(), said, all.size() * sizeof(float), cudaMemcpyDeviceToHost);
    measure(stream, launches);

    std::vector<HostCell> cells;
    for (int c = 0; c < CELLS; ++c) cells.emplace_back(HIDDEN, HIDDEN, &weights.host[c * WEIGHTS], &bias.host[c * BIAS]);
    for (int t = 0; t < STEPS; ++t) {
        std::vector<double> state(&input.host[t * HIDDEN], &input.host[t * HIDDEN] + HIDDEN);
        for (int l = 0; l < ENCODERS; ++l) state = cells[l].step(state);
    }
    std::vector<double> state = cells[ENCODERS - 1].cell, expected;
    for (int t = 1; t <= WORDS; ++t) {
        for (int l = ENCODERS; l < CELLS; ++l) state = cells[l].step(state);
        expected.insert(expected.end(), state.begin(), state.end());
        const float *top = &all[(t * DECODERS + DECODERS - 1) * HIDDEN];
        result.insert(result.end(), top, top + HIDDEN);
    }
    return judge("seq2seq", result, expected, 1e-4);
}
