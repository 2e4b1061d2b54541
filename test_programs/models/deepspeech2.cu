// A recogniser of speech (a spectrogram of 171 × 300; two convolutions of 32 channels; seven layers of LSTM, hidden size
// 256, over the 75 steps that are left; 29 characters) as a code generator writes it: one kernel an operator.
//
// Shows: what follows a convolution element by element joins it, a transposition included; cells of one launch batch are one
// launch, but for the lowest, whose input is ten times as wide and whose code is other code: 4,735 launches become 84.
//
// usage: deepspeech2; with -DSMALL a spectrogram of 21 × 20, three layers of size 64
constexpr int ENOUGH_TILES = 1;       // windows are so large that small tiles would gather more than they multiply
#include "convolution.h"
#include "recurrent.h"

#ifdef SMALL
constexpr int BANDS = 21, FRAMES = 20, CHANNELS = 8, LAYERS = 3, HIDDEN = 64;
#else
constexpr int BANDS = 171, FRAMES = 300, CHANNELS = 32, LAYERS = 7, HIDDEN = 256;
#endif
constexpr int CHARACTERS = 29;

using First = Convolution<1, BANDS, FRAMES, CHANNELS, 11, 41, 5, 20, 2, 2>;
using Second = Convolution<CHANNELS, First::out_high, First::out_wide, CHANNELS, 11, 21, 5, 10, 1, 2>;
constexpr int STEPS = Second::out_wide, FEATURES = CHANNELS * Second::out_high;

// [channel][band][step] becomes [step][channel][band].
__global__ void __launch_bounds__(TILE_THREADS) by_steps(const float *in, float *out) {
    FOR_TILE(CHANNELS, Second::pixels)
        out[pixel % STEPS * FEATURES + channel * Second::out_high + pixel / STEPS] = in[channel * Second::pixels + pixel];
}

// A block a step, here and below.
__global__ void __launch_bounds__(HIDDEN) normalise_steps(const float *in, const float *statistics, float *out) {
    const int at = blockIdx.x * HIDDEN + threadIdx.x;
    const float *of = statistics + 4 * threadIdx.x;
    out[at] = (in[at] - of[0]) * rsqrtf(of[1] + 1e-5f) * of[2] + of[3];
}

// out[step] = x[step] · weight[HIDDEN][CHARACTERS]
__global__ void __launch_bounds__(HIDDEN) characters(const float *x, const float *weight, float *out) {
    __shared__ float partial[HIDDEN / 32][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum = 0.0f;
    if (lane < CHARACTERS)
        for (int k = warp * 32; k < warp * 32 + 32; ++k) sum += x[blockIdx.x * HIDDEN + k] * weight[k * CHARACTERS + lane];
    partial[warp][lane] = sum;
    __syncthreads();
    if (threadIdx.x < CHARACTERS) {
        sum = 0.0f;
        for (int w = 0; w < HIDDEN / 32; ++w) sum += partial[w][lane];
        out[blockIdx.x * CHARACTERS + lane] = sum;
    }
}

__global__ void __launch_bounds__(HIDDEN) add_bias(float *x, const float *bias) {
    if (threadIdx.x < CHARACTERS) x[blockIdx.x * CHARACTERS + threadIdx.x] += bias[threadIdx.x];
}

int main() {
    constexpr size_t LOWEST = cell_weights(FEATURES, HIDDEN), WEIGHTS = cell_weights(HIDDEN, HIDDEN);
    constexpr size_t BIAS = GATES * HIDDEN, ROW = (STEPS + 1) * HIDDEN;
    Parameters input(BANDS * FRAMES, 1, 2.0f);
    Parameters filter1(First::weights, 2, 0.4f), filter2(Second::weights, 3, 0.1f);
    Parameters statistics1(4 * CHANNELS, 4, 0.2f, 1.0f), statistics2(4 * CHANNELS, 5, 0.2f, 1.0f);
    Parameters lowest(LOWEST, 6, 3.0f / std::sqrt((float)FEATURES));
    Parameters weights((LAYERS - 1) * WEIGHTS, 7, 6.0f / std::sqrt((float)HIDDEN)), bias(LAYERS * BIAS, 8, 0.5f);
    Parameters statistics3(4 * HIDDEN, 9, 0.2f, 1.0f), alphabet(HIDDEN * CHARACTERS, 10, 0.5f), offset(CHARACTERS, 11, 0.5f);

    float *sums1 = room(First::elements), *clipped1 = room(First::elements), *image1 = room(First::elements);
    float *sums2 = room(Second::elements), *clipped2 = room(Second::elements), *image2 = room(Second::elements);
    float *sequence = room(STEPS * FEATURES), *hidden = room(LAYERS * ROW), *cell = room(LAYERS * HIDDEN);
    float *products = room(LAYERS * 2 * BIAS), *top = room(STEPS * HIDDEN), *scores = room(STEPS * CHARACTERS);

    const dim3 tiles1 = tiles<CHANNELS, First::pixels>(), tiles2 = tiles<CHANNELS, Second::pixels>();
    const cudaStream_t stream = stream_of_launches();
    const auto launches = [&] {
        convolve<First><<<tiles1, TILE_THREADS, 0, stream>>>(input.device, filter1.device, sums1);
        clip<CHANNELS, First::pixels><<<tiles1, TILE_THREADS, 0, stream>>>(sums1, 6.0f, clipped1);
        batch_norm<CHANNELS, First::pixels><<<tiles1, TILE_THREADS, 0, stream>>>(clipped1, statistics1.device, image1);
        convolve<Second><<<tiles2, TILE_THREADS, 0, stream>>>(image1, filter2.device, sums2);
        clip<CHANNELS, Second::pixels><<<tiles2, TILE_THREADS, 0, stream>>>(sums2, 6.0f, clipped2);
        batch_norm<CHANNELS, Second::pixels><<<tiles2, TILE_THREADS, 0, stream>>>(clipped2, statistics2.device, image2);
        by_steps<<<tiles2, TILE_THREADS, 0, stream>>>(image2, sequence);
        // Row l has what layer l leaves after each step, and before the first.
        for (int t = 1; t <= STEPS; ++t) {
            launch_cell<FEATURES, HIDDEN>(stream, lowest.device, bias.device, sequence + (t - 1) * FEATURES, hidden + (t - 1) * HIDDEN,
                                          hidden + t * HIDDEN, cell, products);
            for (int l = 1; l < LAYERS; ++l)
                launch_cell<HIDDEN, HIDDEN>(stream, weights.device + (l - 1) * WEIGHTS, bias.device + l * BIAS,
                                            hidden + (l - 1) * ROW + t * HIDDEN, hidden + l * ROW + (t - 1) * HIDDEN,
                                            hidden + l * ROW + t * HIDDEN, cell + l * HIDDEN, products + l * 2 * BIAS);
        }
        normalise_steps<<<STEPS, HIDDEN, 0, stream>>>(hidden + (LAYERS - 1) * ROW + HIDDEN, statistics3.device, top);
        characters<<<STEPS, HIDDEN, 0, stream>>>(top, alphabet.device, scores);
        add_bias<<<STEPS, HIDDEN, 0, stream>>>(scores, offset.device);
    };
    launches();
    std::vector<float> result(STEPS * CHARACTERS);
    cudaMemcpy(result.data(), scores, result.size() * sizeof(float), cudaMemcpyDeviceToHost);
    measure(stream, launches);

    Image image = convolve_on_host<First>(Image(input.host.begin(), input.host.end()), filter1.host.data());
    clip_on_host(image, 6);
    batch_norm_on_host(image, CHANNELS, statistics1.host.data());
    image = convolve_on_host<Second>(image, filter2.host.data());
    clip_on_host(image, 6);
    batch_norm_on_host(image, CHANNELS, statistics2.host.data());
    std::vector<HostCell> cells(1, HostCell(FEATURES, HIDDEN, lowest.host.data(), bias.host.data()));
    for (int l = 1; l < LAYERS; ++l)
        cells.emplace_back(HIDDEN, HIDDEN, &weights.host[(l - 1) * WEIGHTS], &bias.host[l * BIAS]);
    std::vector<double> expected;
    for (int t = 0; t < STEPS; ++t) {
        Image state(FEATURES);
        for (int f = 0; f < FEATURES; ++f) state[f] = image[(size_t)f * STEPS + t];
        for (HostCell &cell : cells) state = cell.step(state);
        batch_norm_on_host(state, HIDDEN, statistics3.host.data());
        for (int c = 0; c < CHARACTERS; ++c) {
            double sum = offset.host[c];
            for (int k = 0; k < HIDDEN; ++k) sum += state[k] * alphabet.host[k * CHARACTERS + c];
            expected.push_back(sum);
        }
    }
    return judge("deepspeech2", result, expected, 1e-3);
}
