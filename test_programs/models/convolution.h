// What the convolutional models share: kernels, one an operator, for one image with its channels one after the other,
// and the same on the host in double precision.
//
// All kernels of a layer share its output out alike, in tiles (`Tile`), so that what follows a convolution element by element
// finds its operands in its own thread.
#pragma once
#include "network.h"

constexpr int TILE_THREADS = 128, SIDE = 4;

// What a block has of a layer: a thread has four channels of four pixels or, where such tiles would be too few for a
// GPU, of one. Of these smaller tiles one is as wide as an image of 64 pixels. How many tiles are enough, a network says
// before (ENOUGH_TILES).
template <int CHANNELS, int PIXELS>
struct Tile {
    static constexpr bool large = (CHANNELS + 31) / 32 * ((PIXELS + 63) / 64) >= ENOUGH_TILES;
    static constexpr int across = large ? SIDE : 1;                 // pixels of a thread
    static constexpr int lanes = !large && PIXELS == 64 ? 64 : 16;  // threads beside each other, each with pixels `lanes` apart
    static constexpr int channels = TILE_THREADS / lanes * SIDE, pixels = lanes * across;
};

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
#define FOR_TILE(all_channels, all_pixels)                                                                            \
    for (int i = 0, channel = blockIdx.y * Tile<all_channels, all_pixels>::channels +                                 \
                              threadIdx.x / Tile<all_channels, all_pixels>::lanes * SIDE;                             \
         i < SIDE; ++i, ++channel)                                                                                    \
        for (int j = 0, pixel = blockIdx.x * Tile<all_channels, all_pixels>::pixels +                                 \
                                threadIdx.x % Tile<all_channels, all_pixels>::lanes;                                  \
             j < Tile<all_channels, all_pixels>::across; ++j, pixel += Tile<all_channels, all_pixels>::lanes)         \
            if (channel < (all_channels) && pixel < (all_pixels))

template <int CHANNELS, int PIXELS>
static dim3 tiles() {
    using T = Tile<CHANNELS, PIXELS>;
    return dim3((PIXELS + T::pixels - 1) / T::pixels, (CHANNELS + T::channels - 1) / T::channels);
}

// As a product of matrices, weight[out][depth] · window[depth][pixels]; the windows are gathered tile by tile. In a large
// tile a thread sums up its own elements. In a small one each warp sums up the whole tile, 4 × 4 elements a thread, for
// its part of a step; then threads add up for their own elements what the warps have.
template <class C>
__global__ void __launch_bounds__(TILE_THREADS) convolve(const float *in, const float *weight, float *out) {
    static_assert(C::groups == 1, "all channels of the input");
    using T = Tile<C::out, C::pixels>;
    constexpr int STEP = T::large ? 16 : 32;                      // how far a tile goes along the sum at once
    constexpr int WARPS = TILE_THREADS / 32, PART = T::large ? STEP : STEP / WARPS;
    constexpr int APART = T::large ? T::lanes : 1;                // how far a thread's four pixels are from each other
    __shared__ float weights[STEP][T::channels + 1], windows[STEP][T::pixels];
    const int first_channel = blockIdx.y * T::channels, first_pixel = blockIdx.x * T::pixels;
    const int warp = threadIdx.x / 32, thread = T::large ? threadIdx.x : threadIdx.x % 32, begin = T::large ? 0 : warp * PART;
    const int row = thread / (T::pixels / SIDE) * SIDE, column = thread % (T::pixels / SIDE) * (T::large ? 1 : SIDE);
    float sum[SIDE][SIDE] = {};
    for (int k = 0; k < C::depth; k += STEP) {
        for (int e = threadIdx.x; e < STEP * T::channels; e += TILE_THREADS) {
            const int x = e % STEP, c = e / STEP;
            weights[x][c] = first_channel + c < C::out && k + x < C::depth ? weight[(first_channel + c) * C::depth + k + x] : 0.0f;
        }
        for (int e = threadIdx.x; e < STEP * T::pixels; e += TILE_THREADS) {
            const int at = k + e / T::pixels, pixel = first_pixel + e % T::pixels;
            const int channel = at / (C::rows * C::columns), place = at % (C::rows * C::columns);
            const int y = pixel / C::out_wide * C::down_step + place / C::columns - C::up;
            const int x = pixel % C::out_wide * C::right_step + place % C::columns - C::left;
            const bool inside = at < C::depth && pixel < C::pixels && y >= 0 && y < C::high && x >= 0 && x < C::wide;
            windows[e / T::pixels][e % T::pixels] = inside ? in[(channel * C::high + y) * C::wide + x] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int s = 0; s < PART; ++s) {
            float left[SIDE], right[SIDE];
            for (int i = 0; i < SIDE; ++i) left[i] = weights[begin + s][row + i];
            for (int j = 0; j < SIDE; ++j) right[j] = windows[begin + s][column + j * APART];
            for (int i = 0; i < SIDE; ++i)
                for (int j = 0; j < SIDE; ++j) sum[i][j] += left[i] * right[j];
        }
        __syncthreads();
    }
    if constexpr (T::large) {
        FOR_TILE(C::out, C::pixels) out[channel * C::pixels + pixel] = sum[i][j];
    } else {
        __shared__ float parts[WARPS][T::channels][T::pixels];
        for (int i = 0; i < SIDE; ++i)
            for (int j = 0; j < SIDE; ++j) parts[warp][row + i][column + j] = sum[i][j];
        __syncthreads();
        FOR_TILE(C::out, C::pixels) {
            float all = 0.0f;
            for (int w = 0; w < WARPS; ++w) all += parts[w][channel - first_channel][pixel - first_pixel];
            out[channel * C::pixels + pixel] = all;
        }
    }
}

// Channels in groups that see a few channels of the input only: weights of the tile in shared memory, pixels from
// memory, which neighbours share. A thread's four channels are of one group.
template <class C>
__global__ void __launch_bounds__(TILE_THREADS) convolve_groups(const float *in, const float *weight, float *out) {
    using T = Tile<C::out, C::pixels>;
    constexpr int WIDTH = C::out / C::groups, WINDOW = C::rows * C::columns;
    static_assert(WIDTH % SIDE == 0 && C::out % T::channels == 0 && C::in == C::out, "tiles of whole groups");
    __shared__ float weights[T::channels][C::depth];
    const int first_channel = blockIdx.y * T::channels, lane = threadIdx.x % T::lanes, row = threadIdx.x / T::lanes * SIDE;
    for (int e = threadIdx.x; e < T::channels * C::depth; e += TILE_THREADS)
        weights[e / C::depth][e % C::depth] = weight[first_channel * C::depth + e];
    __syncthreads();
    const float *group = in + (first_channel + row) / WIDTH * WIDTH * C::high * C::wide;
    float sum[SIDE][T::across] = {};
    for (int c = 0; c < WIDTH; ++c)
        for (int place = 0; place < WINDOW; ++place)
            for (int j = 0; j < T::across; ++j) {
                const int pixel = (blockIdx.x * T::across + j) * T::lanes + lane;
                const int y = pixel / C::out_wide * C::down_step + place / C::columns - C::up;
                const int x = pixel % C::out_wide * C::right_step + place % C::columns - C::left;
                const bool inside = pixel < C::pixels && y >= 0 && y < C::high && x >= 0 && x < C::wide;
                const float value = inside ? group[(c * C::high + y) * C::wide + x] : 0.0f;
                for (int i = 0; i < SIDE; ++i) sum[i][j] += weights[row + i][c * WINDOW + place] * value;
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

template <int CHANNELS, int PIXELS>
__global__ void __launch_bounds__(TILE_THREADS) add(const float *one, const float *other, float *out) {
    FOR_TILE(CHANNELS, PIXELS)
        out[channel * PIXELS + pixel] = one[channel * PIXELS + pixel] + other[channel * PIXELS + pixel];
}

template <int CHANNELS, int PIXELS>
__global__ void __launch_bounds__(TILE_THREADS) relu(const float *in, float *out) {
    FOR_TILE(CHANNELS, PIXELS) out[channel * PIXELS + pixel] = fmaxf(in[channel * PIXELS + pixel], 0.0f);
}

// The mean of each channel, a warp a channel.
template <int CHANNELS, int PIXELS>
__global__ void average(const float *in, float *out) {
    const int channel = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (channel >= CHANNELS) return;
    float sum = 0.0f;
    for (int pixel = lane; pixel < PIXELS; pixel += 32) sum += in[channel * PIXELS + pixel];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (lane == 0) out[channel] = sum / PIXELS;
}

// out[class] = weight[class] · x + bias[class], a warp a class.
template <int CHANNELS, int CLASSES>
__global__ void classify(const float *x, const float *weight, const float *bias, float *out) {
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= CLASSES) return;
    float sum = 0.0f;
    for (int c = lane; c < CHANNELS; c += 32) sum += weight[row * CHANNELS + c] * x[c];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (lane == 0) out[row] = sum + bias[row];
}

// Components of a network are types. Weights of all stand one after the other in one allocation, and so does what they
// give in another; where, is known when the program is generated: WEIGHTS and ROOM are what a component takes of each.

// Fills in weights from a seed.
struct Filler {
    float *at;
    unsigned seed;

    void fill(size_t count, float scale, float centre) {
        for (size_t i = 0; i < count; ++i) {
            seed = seed * 1664525u + 1013904223u;
            *at++ = ((float)(seed >> 8) / (1 << 24) - 0.5f) * scale + centre;
        }
    }
    void filter(size_t count, int depth) { fill(count, 3.4f / std::sqrt((float)depth), 0.0f); }
    void statistics(int channels) { fill(4 * channels, 0.2f, 1.0f); }
};

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

static Image classify_on_host(const Image &image, int channels, const Parameters &weight, const Parameters &bias) {
    const size_t pixels = image.size() / channels;
    Image scores(bias.host.begin(), bias.host.end());
    for (size_t row = 0; row < scores.size(); ++row)
        for (int c = 0; c < channels; ++c) {
            double mean = 0;
            for (size_t i = 0; i < pixels; ++i) mean += image[c * pixels + i] / pixels;
            scores[row] += weight.host[row * channels + c] * mean;
        }
    return scores;
}

// A convolution and its batch norm.
template <class C>
struct Normalised {
    static constexpr size_t WEIGHTS = C::weights + 4 * C::out, ROOM = C::elements;

    static void fill(Filler &filler) {
        filler.filter(C::weights, C::depth);
        filler.statistics(C::out);
    }
    static inline void launch(cudaStream_t stream, const float *weights, float *sums, const float *in, float *out) {
        const dim3 grid = tiles<C::out, C::pixels>();
        if constexpr (C::groups > 1)
            convolve_groups<C><<<grid, TILE_THREADS, 0, stream>>>(in, weights, sums);
        else
            convolve<C><<<grid, TILE_THREADS, 0, stream>>>(in, weights, sums);
        batch_norm<C::out, C::pixels><<<grid, TILE_THREADS, 0, stream>>>(sums, weights + C::weights, out);
    }
    static Image on_host(const float *weights, const Image &in) {
        Image image = convolve_on_host<C>(in, weights);
        batch_norm_on_host(image, C::out, weights + C::weights);
        return image;
    }
};
