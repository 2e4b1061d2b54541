// What the convolutional models share: kernels, one an operator, for one image with its channels one after the other,
// and the same on the host in double precision.
//
// All kernels of a layer deal its output alike: a block has 32 channels of 64 pixels, a thread four of each. So what
// follows a convolution element by element finds its operands in its own thread.
#pragma once
#include "network.h"

constexpr int TILE_CHANNELS = 32, TILE_PIXELS = 64, SIDE = 4;
constexpr int LANES = TILE_PIXELS / SIDE, TILE_THREADS = TILE_CHANNELS / SIDE * LANES;
constexpr int STEP = 16;              // how far a tile goes along the sum at once

// A convolution: channels and size of the input, channels of the output, window, padding, stride, groups.
template <int IN, int HIGH, int WIDE, int OUT, int ROWS, int COLUMNS_, int UP = ROWS / 2, int LEFT = COLUMNS_ / 2,
          int DOWN_STEP = 1, int RIGHT_STEP = DOWN_STEP, int GROUPS_ = 1>
struct Convolution {
    static constexpr int in = IN, high = HIGH, wide = WIDE, out = OUT, rows = ROWS, columns = COLUMNS_;
    static constexpr int up = UP, left = LEFT, down_step = DOWN_STEP, right_step = RIGHT_STEP, groups = GROUPS_;
    static constexpr int out_high = (HIGH + 2 * UP - ROWS) / DOWN_STEP + 1;
    static constexpr int out_wide = (WIDE + 2 * LEFT - COLUMNS_) / RIGHT_STEP + 1;
    static constexpr int pixels = out_high * out_wide;
    static constexpr int depth = IN / GROUPS_ * ROWS * COLUMNS_; // of the sum for an element
    static constexpr size_t weights = (size_t)OUT * depth, elements = (size_t)OUT * pixels;
};

// A thread's elements of a layer of so many channels and pixels.
#define FOR_TILE(channels, pixels)                                                                                  \
    for (int i = 0, channel = blockIdx.y * TILE_CHANNELS + threadIdx.x / LANES * SIDE; i < SIDE; ++i, ++channel)     \
        for (int j = 0, pixel = blockIdx.x * TILE_PIXELS + threadIdx.x % LANES; j < SIDE; ++j, pixel += LANES)      \
            if (channel < (channels) && pixel < (pixels))

template <int CHANNELS, int PIXELS>
static dim3 tiles() {
    return dim3((PIXELS + TILE_PIXELS - 1) / TILE_PIXELS, (CHANNELS + TILE_CHANNELS - 1) / TILE_CHANNELS);
}

// As a product of matrices, weight[out][depth] · window[depth][pixels]; the windows are gathered tile by tile.
template <class C>
__global__ void __launch_bounds__(TILE_THREADS) convolve(const float *in, const float *weight, float *out) {
    static_assert(C::groups == 1, "all channels of the input");
    __shared__ float weights[STEP][TILE_CHANNELS + 1], windows[STEP][TILE_PIXELS];
    const int lane = threadIdx.x % LANES, row = threadIdx.x / LANES * SIDE;
    const int first_channel = blockIdx.y * TILE_CHANNELS, first_pixel = blockIdx.x * TILE_PIXELS;
    float sum[SIDE][SIDE] = {};
    for (int k = 0; k < C::depth; k += STEP) {
        for (int e = threadIdx.x; e < STEP * TILE_CHANNELS; e += TILE_THREADS) {
            const int x = e % STEP, c = e / STEP;
            weights[x][c] = first_channel + c < C::out && k + x < C::depth ? weight[(first_channel + c) * C::depth + k + x] : 0.0f;
        }
        for (int e = threadIdx.x; e < STEP * TILE_PIXELS; e += TILE_THREADS) {
            const int at = k + e / TILE_PIXELS, pixel = first_pixel + e % TILE_PIXELS;
            const int channel = at / (C::rows * C::columns), place = at % (C::rows * C::columns);
            const int y = pixel / C::out_wide * C::down_step + place / C::columns - C::up;
            const int x = pixel % C::out_wide * C::right_step + place % C::columns - C::left;
            const bool inside = at < C::depth && pixel < C::pixels && y >= 0 && y < C::high && x >= 0 && x < C::wide;
            windows[e / TILE_PIXELS][e % TILE_PIXELS] = inside ? in[(channel * C::high + y) * C::wide + x] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int s = 0; s < STEP; ++s) {
            float left[SIDE], right[SIDE];
            for (int i = 0; i < SIDE; ++i) left[i] = weights[s][row + i];
            for (int j = 0; j < SIDE; ++j) right[j] = windows[s][lane + j * LANES];
            for (int i = 0; i < SIDE; ++i)
                for (int j = 0; j < SIDE; ++j) sum[i][j] += left[i] * right[j];
        }
        __syncthreads();
    }
    FOR_TILE(C::out, C::pixels) out[channel * C::pixels + pixel] = sum[i][j];
}

// Each channel has its own mean, deviation, gain and shift, learnt before.
template <int CHANNELS, int PIXELS>
__global__ void __launch_bounds__(TILE_THREADS) batch_norm(const float *in, const float *statistics, float *out) {
    FOR_TILE(CHANNELS, PIXELS) {
        const float *of = statistics + 4 * channel;
        out[channel * PIXELS + pixel] = (in[channel * PIXELS + pixel] - of[0]) * rsqrtf(of[1] + 1e-5f) * of[2] + of[3];
    }
}

template <int CHANNELS, int PIXELS>
__global__ void __launch_bounds__(TILE_THREADS) clip(const float *in, float most, float *out) {
    FOR_TILE(CHANNELS, PIXELS) out[channel * PIXELS + pixel] = fminf(fmaxf(in[channel * PIXELS + pixel], 0.0f), most);
}

using Image = std::vector<double>;

template <class C>
static Image convolve_on_host(const Image &in, const float *weight) {
    Image out(C::elements);
    constexpr int OUT = C::out / C::groups, IN = C::in / C::groups;
    for (int o = 0; o < C::out; ++o)
        for (int c = 0; c < IN; ++c) {
            const double *image = &in[(size_t)(o / OUT * IN + c) * C::high * C::wide];
            for (int r = 0; r < C::rows; ++r)
                for (int s = 0; s < C::columns; ++s) {
                    const double factor = weight[((size_t)o * IN + c) * C::rows * C::columns + r * C::columns + s];
                    for (int y = 0; y < C::out_high; ++y) {
                        const int from = y * C::down_step + r - C::up;
                        if (from < 0 || from >= C::high) continue;
                        double *row = &out[(size_t)o * C::pixels + y * C::out_wide];
                        for (int x = 0; x < C::out_wide; ++x) {
                            const int at = x * C::right_step + s - C::left;
                            if (at >= 0 && at < C::wide) row[x] += factor * image[from * C::wide + at];
                        }
                    }
                }
        }
    return out;
}

static void batch_norm_on_host(Image &image, int channels, const float *statistics) {
    const size_t pixels = image.size() / channels;
    for (size_t i = 0; i < image.size(); ++i) {
        const float *of = statistics + 4 * (i / pixels);
        image[i] = (image[i] - of[0]) / std::sqrt(of[1] + 1e-5) * of[2] + of[3];
    }
}

static void clip_on_host(Image &image, double most) {
    for (double &value : image) value = std::fmin(std::fmax(value, 0.0), most);
}
