// A network for images that was found by search (NASNet-A for CIFAR: 32 × 32, 32 filters, three stages of six cells, a
// cell that halves the image before the second and the third) as a code generator writes it: one kernel an operator.
//
// Shows: a cell has five separable convolutions and some pools that do not depend on each other; what is ready at one
// time is one launch. Within a separable convolution each step needs its neighbours' pixels or all channels.
//
// usage: nasnet; with -DSMALL an image of 16 × 16, 16 filters, one stage of two cells
constexpr int ENOUGH_TILES = 160;     // a block and a half for each multiprocessor of an A100
#include "convolution.h"
#include <algorithm>
#include <tuple>
#include <utility>

#ifdef SMALL
constexpr int SIZE = 16, FILTERS = 16, CELLS = 2, STAGES = 1;
#else
constexpr int SIZE = 32, FILTERS = 32, CELLS = 6, STAGES = 3;
#endif
constexpr int CLASSES = 10;

// Each channel by itself: window K × K, borders of zeroes.
template <int CHANNELS, int HIGH, int K, int STRIDE>
__global__ void __launch_bounds__(TILE_THREADS) depthwise(const float *in, const float *weight, float *out) {
    constexpr int OUT = HIGH / STRIDE;
    FOR_TILE(CHANNELS, OUT * OUT) {
        const float *image = in + channel * HIGH * HIGH, *window = weight + channel * K * K;
        const int top = pixel / OUT * STRIDE - K / 2, left = pixel % OUT * STRIDE - K / 2;
        float sum = 0.0f;
        for (int r = 0; r < K; ++r)
            for (int s = 0; s < K; ++s)
                if (top + r >= 0 && top + r < HIGH && left + s >= 0 && left + s < HIGH)
                    sum += window[r * K + s] * image[(top + r) * HIGH + left + s];
        out[channel * OUT * OUT + pixel] = sum;
    }
}

// The mean, or the largest, of the pixels of a window of 3 × 3.
template <int CHANNELS, int HIGH, int STRIDE, bool LARGEST>
__global__ void __launch_bounds__(TILE_THREADS) pool(const float *in, float *out) {
    constexpr int OUT = HIGH / STRIDE;
    FOR_TILE(CHANNELS, OUT * OUT) {
        const int top = pixel / OUT * STRIDE - 1, left = pixel % OUT * STRIDE - 1;
        float all = LARGEST ? -INFINITY : 0.0f;
        int count = 0;
        for (int y = max(top, 0); y < min(top + 3, HIGH); ++y)
            for (int x = max(left, 0); x < min(left + 3, HIGH); ++x, ++count) {
                const float value = in[(channel * HIGH + y) * HIGH + x];
                all = LARGEST ? fmaxf(all, value) : all + value;
            }
        out[channel * OUT * OUT + pixel] = LARGEST ? all : all / count;
    }
}

// A part of what stands one after the other.
template <int CHANNELS, int PIXELS>
__global__ void __launch_bounds__(TILE_THREADS) copy(const float *in, float *out) {
    FOR_TILE(CHANNELS, PIXELS) out[channel * PIXELS + pixel] = in[channel * PIXELS + pixel];
}

template <int CHANNELS, int HIGH, int K, int STRIDE>
static Image depthwise_on_host(const Image &in, const float *weight) {
    using One = Convolution<1, HIGH, HIGH, 1, K, K, K / 2, K / 2, STRIDE>;
    Image out;
    for (int c = 0; c < CHANNELS; ++c) {
        const Image plane(in.begin() + c * HIGH * HIGH, in.begin() + (c + 1) * HIGH * HIGH);
        // A window that begins at each other pixel ends before the last row of zeroes.
        const Image sums = convolve_on_host<One>(plane, weight + c * K * K);
        out.insert(out.end(), sums.begin(), sums.end());
    }
    return out;
}

static Image pool_on_host(const Image &in, int high, int stride, bool largest) {
    Image out;
    for (size_t c = 0; c < in.size() / high / high; ++c)
        for (int y = 0; y < high; y += stride)
            for (int x = 0; x < high; x += stride) {
                double all = largest ? -INFINITY : 0;
                int count = 0;
                for (int r = std::max(y - 1, 0); r <= std::min(y + 1, high - 1); ++r)
                    for (int s = std::max(x - 1, 0); s <= std::min(x + 1, high - 1); ++s, ++count) {
                        const double value = in[(c * high + r) * high + s];
                        all = largest ? std::fmax(all, value) : all + value;
                    }
                out.push_back(largest ? all : all / count);
            }
    return out;
}

static Image sum_of(Image one, const Image &other) {
    for (size_t i = 0; i < one.size(); ++i) one[i] += other[i];
    return one;
}

static Image rectified(Image image) {
    clip_on_host(image, INFINITY);
    return image;
}

// Rectifier, convolution of single pixels, batch norm.
template <class C>
struct Squeeze {
    static constexpr size_t WEIGHTS = Normalised<C>::WEIGHTS, INPUT = (size_t)C::in * C::high * C::wide;
    static constexpr size_t ROOM = INPUT + C::elements;

    static inline void launch(cudaStream_t stream, const float *weights, float *room, const float *in, float *out) {
        relu<C::in, C::high * C::wide><<<tiles<C::in, C::high * C::wide>(), TILE_THREADS, 0, stream>>>(in, room);
        Normalised<C>::launch(stream, weights, room + INPUT, room, out);
    }
    static Image on_host(const float *weights, const Image &in) { return Normalised<C>::on_host(weights, rectified(in)); }
};

// Twice: each channel by itself, all channels of a pixel, batch norm; the first time with a stride, and a rectifier in
// between. The one before comes from outside.
template <int F, int HIGH, int K, int STRIDE = 1>
struct Separable {
    static constexpr int OUT = HIGH / STRIDE, PIXELS = OUT * OUT, WINDOWS = F * K * K;
    using Points = Normalised<Convolution<F, OUT, OUT, F, 1, 1>>;
    static constexpr size_t HALF = WINDOWS + Points::WEIGHTS, WEIGHTS = 2 * HALF, IMAGE = F * PIXELS, ROOM = 6 * IMAGE;

    static void fill(Filler &filler) {
        for (int half = 0; half < 2; ++half) {
            filler.filter(WINDOWS, K * K);
            Points::fill(filler);
        }
    }
    static inline void launch(cudaStream_t stream, const float *weights, float *room, const float *in, float *out) {
        const dim3 grid = tiles<F, PIXELS>();
        float *plane = room, *sums = room + IMAGE, *normal = room + 2 * IMAGE, *positive = room + 3 * IMAGE;
        float *plane2 = room + 4 * IMAGE, *sums2 = room + 5 * IMAGE;
        depthwise<F, HIGH, K, STRIDE><<<grid, TILE_THREADS, 0, stream>>>(in, weights, plane);
        Points::launch(stream, weights + WINDOWS, sums, plane, normal);
        relu<F, PIXELS><<<grid, TILE_THREADS, 0, stream>>>(normal, positive);
        depthwise<F, OUT, K, 1><<<grid, TILE_THREADS, 0, stream>>>(positive, weights + HALF, plane2);
        Points::launch(stream, weights + HALF + WINDOWS, sums2, plane2, out);
    }
    static Image on_host(const float *weights, const Image &in) {
        Image image = depthwise_on_host<F, HIGH, K, STRIDE>(rectified(in), weights);
        image = rectified(Points::on_host(weights + WINDOWS, image));
        image = depthwise_on_host<F, OUT, K, 1>(image, weights + HALF);
        return Points::on_host(weights + HALF + WINDOWS, image);
    }
};

// The cells of a stage. The two images before the first have FIRST and SECOND channels, and the earlier of them is
// WIDER times as wide.
template <int F, int HIGH, int FIRST, int SECOND, int WIDER>
struct Stage {
    static constexpr size_t IMAGE = F * HIGH * HIGH, OUT = 6 * IMAGE;
    template <int IN, int STRIDE = 1>
    using To = Squeeze<Convolution<IN, HIGH * STRIDE, HIGH * STRIDE, F, 1, 1, 0, 0, STRIDE>>;
    using First = To<FIRST, WIDER>;
    using Second = To<SECOND>;
    using Later = To<6 * F>;
    using Three = Separable<F, HIGH, 3>;
    using Five = Separable<F, HIGH, 5>;

    // Weights: what leads into the first two cells; then of each cell.
    static constexpr size_t SECOND_NOW = First::WEIGHTS, SECOND_PAST = SECOND_NOW + Second::WEIGHTS;
    static constexpr size_t CELL = SECOND_PAST + Second::WEIGHTS, PAST = Later::WEIGHTS, LEFT1 = 2 * Later::WEIGHTS;
    static constexpr size_t LEFT2 = LEFT1 + Three::WEIGHTS, RIGHT5 = LEFT2 + Three::WEIGHTS, RIGHT2 = RIGHT5 + Three::WEIGHTS;
    static constexpr size_t LEFT5 = RIGHT2 + Five::WEIGHTS, ONE_CELL = LEFT5 + Five::WEIGHTS;
    static constexpr size_t WEIGHTS = CELL + CELLS * ONE_CELL;

    static void fill(Filler &filler) {
        Normalised<Convolution<FIRST, HIGH * WIDER, HIGH * WIDER, F, 1, 1, 0, 0, WIDER>>::fill(filler);
        for (int n = 0; n < 2; ++n) Normalised<Convolution<SECOND, HIGH, HIGH, F, 1, 1>>::fill(filler);
        for (int cell = 0; cell < CELLS; ++cell) {
            for (int n = 0; n < 2; ++n) Normalised<Convolution<6 * F, HIGH, HIGH, F, 1, 1>>::fill(filler);
            for (int n = 0; n < 3; ++n) Three::fill(filler);
            for (int n = 0; n < 2; ++n) Five::fill(filler);
        }
    }

    // Room: twelve images, what the components give on the way, and the images of all cells.
    static constexpr size_t WAY_NOW = 12 * IMAGE, WAY_PAST = WAY_NOW + std::max(Second::ROOM, Later::ROOM);
    static constexpr size_t WAY1 = WAY_PAST + std::max({First::ROOM, Second::ROOM, Later::ROOM});
    static constexpr size_t ALL = WAY1 + 5 * Three::ROOM, ROOM = ALL + CELLS * OUT, LAST = ROOM - OUT, LAST_BUT_ONE = LAST - OUT;

    static inline void launch(cudaStream_t stream, const float *weights, float *room, const float *before, const float *now) {
        const dim3 grid = tiles<F, HIGH * HIGH>();
        float *here = room, *past = room + IMAGE, *here_positive = room + 2 * IMAGE, *past_positive = room + 3 * IMAGE;
        float *mean_here = room + 4 * IMAGE, *mean_past = room + 5 * IMAGE, *left1 = room + 6 * IMAGE, *left2 = room + 7 * IMAGE;
        float *right2 = room + 8 * IMAGE, *left5 = room + 9 * IMAGE, *right5 = room + 10 * IMAGE;
        for (int cell = 0; cell < CELLS; ++cell) {
            float *out = room + ALL + cell * OUT;
            const float *own = weights + CELL + cell * ONE_CELL;
            if (cell == 0) {
                Second::launch(stream, weights + SECOND_NOW, room + WAY_NOW, now, here);
                First::launch(stream, weights, room + WAY_PAST, before, past);
            } else if (cell == 1) {
                Later::launch(stream, own, room + WAY_NOW, out - OUT, here);
                Second::launch(stream, weights + SECOND_PAST, room + WAY_PAST, now, past);
            } else {
                Later::launch(stream, own, room + WAY_NOW, out - OUT, here);
                Later::launch(stream, own + PAST, room + WAY_PAST, out - 2 * OUT, past);
            }
            relu<F, HIGH * HIGH><<<grid, TILE_THREADS, 0, stream>>>(here, here_positive);
            relu<F, HIGH * HIGH><<<grid, TILE_THREADS, 0, stream>>>(past, past_positive);
            Three::launch(stream, own + LEFT1, room + WAY1, here_positive, left1);
            Three::launch(stream, own + LEFT2, room + WAY1 + Three::ROOM, past_positive, left2);
            Five::launch(stream, own + RIGHT2, room + WAY1 + 2 * Three::ROOM, here_positive, right2);
            pool<F, HIGH, 1, false><<<grid, TILE_THREADS, 0, stream>>>(here, mean_here);
            pool<F, HIGH, 1, false><<<grid, TILE_THREADS, 0, stream>>>(past, mean_past);
            Five::launch(stream, own + LEFT5, room + WAY1 + 3 * Three::ROOM, past_positive, left5);
            Three::launch(stream, own + RIGHT5, room + WAY1 + 4 * Three::ROOM, past_positive, right5);
            copy<F, HIGH * HIGH><<<grid, TILE_THREADS, 0, stream>>>(past, out);
            add<F, HIGH * HIGH><<<grid, TILE_THREADS, 0, stream>>>(left1, here, out + IMAGE);
            add<F, HIGH * HIGH><<<grid, TILE_THREADS, 0, stream>>>(left2, right2, out + 2 * IMAGE);
            add<F, HIGH * HIGH><<<grid, TILE_THREADS, 0, stream>>>(mean_here, past, out + 3 * IMAGE);
            add<F, HIGH * HIGH><<<grid, TILE_THREADS, 0, stream>>>(mean_past, mean_past, out + 4 * IMAGE);
            add<F, HIGH * HIGH><<<grid, TILE_THREADS, 0, stream>>>(left5, right5, out + 5 * IMAGE);
        }
    }
    // The last two images.
    static std::pair<Image, Image> on_host(const float *weights, const Image &before, const Image &now) {
        Image one = before, two = now;
        for (int cell = 0; cell < CELLS; ++cell) {
            const float *own = weights + CELL + cell * ONE_CELL;
            const Image here = cell == 0 ? Second::on_host(weights + SECOND_NOW, two) : Later::on_host(own, two);
            const Image past = cell == 0   ? First::on_host(weights, one)
                               : cell == 1 ? Second::on_host(weights + SECOND_PAST, one)
                                           : Later::on_host(own + PAST, one);
            const Image mean = pool_on_host(past, HIGH, 1, false);
            Image all = past;
            for (const Image &part : {sum_of(Three::on_host(own + LEFT1, here), here),
                                      sum_of(Three::on_host(own + LEFT2, past), Five::on_host(own + RIGHT2, here)),
                                      sum_of(pool_on_host(here, HIGH, 1, false), past), sum_of(mean, mean),
                                      sum_of(Five::on_host(own + LEFT5, past), Three::on_host(own + RIGHT5, past))})
                all.insert(all.end(), part.begin(), part.end());
            one = two;
            two = all;
        }
        return {one, two};
    }
};

// The cell that halves the image and doubles the channels, from two images of a stage.
template <int F, int HIGH, int IN>
struct Reduction {
    static constexpr int HALF = HIGH / 2;
    static constexpr size_t IMAGE = F * HIGH * HIGH, SMALLER = F * HALF * HALF;
    using To = Squeeze<Convolution<IN, HIGH, HIGH, F, 1, 1>>;
    using Seven = Separable<F, HIGH, 7, 2>;
    using Five = Separable<F, HIGH, 5, 2>;
    using Three = Separable<F, HALF, 3>;
    static constexpr size_t LEFT1 = 2 * To::WEIGHTS, RIGHT2 = LEFT1 + Seven::WEIGHTS, RIGHT1 = RIGHT2 + Seven::WEIGHTS;
    static constexpr size_t RIGHT3 = RIGHT1 + Five::WEIGHTS, LEFT5 = RIGHT3 + Five::WEIGHTS, WEIGHTS = LEFT5 + Three::WEIGHTS;

    static void fill(Filler &filler) {
        for (int n = 0; n < 2; ++n) Normalised<Convolution<IN, HIGH, HIGH, F, 1, 1>>::fill(filler);
        for (int n = 0; n < 2; ++n) Seven::fill(filler);
        for (int n = 0; n < 2; ++n) Five::fill(filler);
        Three::fill(filler);
    }

    // Room: four large images, ten small ones, and the components' own; the result last.
    static constexpr size_t SMALL_ONES = 4 * IMAGE, WAY_NOW = SMALL_ONES + 10 * SMALLER, WAY_PAST = WAY_NOW + To::ROOM;
    static constexpr size_t WAY1 = WAY_PAST + To::ROOM, OUT = WAY1 + 5 * Seven::ROOM, ROOM = OUT + 4 * SMALLER;

    static inline void launch(cudaStream_t stream, const float *weights, float *room, const float *before, const float *now) {
        const dim3 grid = tiles<F, HIGH * HIGH>(), half = tiles<F, HALF * HALF>();
        float *here = room, *past = room + IMAGE, *here_positive = room + 2 * IMAGE, *past_positive = room + 3 * IMAGE;
        float *most = room + SMALL_ONES, *mean = most + SMALLER, *sum = most + 2 * SMALLER, *sum_positive = most + 3 * SMALLER;
        float *sum_mean = most + 4 * SMALLER, *left1 = most + 5 * SMALLER, *right1 = most + 6 * SMALLER;
        float *right2 = most + 7 * SMALLER, *right3 = most + 8 * SMALLER, *left5 = most + 9 * SMALLER, *out = room + OUT;
        To::launch(stream, weights, room + WAY_NOW, now, here);
        To::launch(stream, weights + To::WEIGHTS, room + WAY_PAST, before, past);
        relu<F, HIGH * HIGH><<<grid, TILE_THREADS, 0, stream>>>(here, here_positive);
        relu<F, HIGH * HIGH><<<grid, TILE_THREADS, 0, stream>>>(past, past_positive);
        Seven::launch(stream, weights + LEFT1, room + WAY1, past_positive, left1);
        Five::launch(stream, weights + RIGHT1, room + WAY1 + Seven::ROOM, here_positive, right1);
        Seven::launch(stream, weights + RIGHT2, room + WAY1 + 2 * Seven::ROOM, past_positive, right2);
        Five::launch(stream, weights + RIGHT3, room + WAY1 + 3 * Seven::ROOM, past_positive, right3);
        pool<F, HIGH, 2, true><<<half, TILE_THREADS, 0, stream>>>(here, most);
        pool<F, HIGH, 2, false><<<half, TILE_THREADS, 0, stream>>>(here, mean);
        add<F, HALF * HALF><<<half, TILE_THREADS, 0, stream>>>(left1, right1, sum);
        add<F, HALF * HALF><<<half, TILE_THREADS, 0, stream>>>(most, right2, out);
        add<F, HALF * HALF><<<half, TILE_THREADS, 0, stream>>>(mean, right3, out + SMALLER);
        relu<F, HALF * HALF><<<half, TILE_THREADS, 0, stream>>>(sum, sum_positive);
        pool<F, HALF, 1, false><<<half, TILE_THREADS, 0, stream>>>(sum, sum_mean);
        Three::launch(stream, weights + LEFT5, room + WAY1 + 4 * Seven::ROOM, sum_positive, left5);
        add<F, HALF * HALF><<<half, TILE_THREADS, 0, stream>>>(sum_mean, out, out + 2 * SMALLER);
        add<F, HALF * HALF><<<half, TILE_THREADS, 0, stream>>>(left5, most, out + 3 * SMALLER);
    }
    static Image on_host(const float *weights, const Image &before, const Image &now) {
        const Image here = To::on_host(weights, now), past = To::on_host(weights + To::WEIGHTS, before);
        const Image most = pool_on_host(here, HIGH, 2, true), mean = pool_on_host(here, HIGH, 2, false);
        const Image sum = sum_of(Seven::on_host(weights + LEFT1, past), Five::on_host(weights + RIGHT1, here));
        Image all = sum_of(most, Seven::on_host(weights + RIGHT2, past));
        for (const Image &part : {sum_of(mean, Five::on_host(weights + RIGHT3, past)), sum_of(pool_on_host(sum, HALF, 1, false), all),
                                  sum_of(Three::on_host(weights + LEFT5, sum), most)})
            all.insert(all.end(), part.begin(), part.end());
        return all;
    }
};

constexpr int F = FILTERS, STEM = 3 * F;
using Stem = Normalised<Convolution<3, SIZE, SIZE, STEM, 3, 3>>;
using Stage1 = Stage<F, SIZE, STEM, STEM, 1>;
constexpr size_t STAGE1 = Stem::WEIGHTS, STAGE1_ROOM = 2 * Stem::ROOM;
#ifdef SMALL
using Last = Stage1;
constexpr size_t LAST = STAGE1, LAST_ROOM = STAGE1_ROOM;
#else
using Half1 = Reduction<2 * F, SIZE, 6 * F>;
using Stage2 = Stage<2 * F, SIZE / 2, 6 * F, 8 * F, 2>;
using Half2 = Reduction<4 * F, SIZE / 2, 12 * F>;
using Last = Stage<4 * F, SIZE / 4, 12 * F, 16 * F, 2>;
constexpr size_t HALF1 = STAGE1 + Stage1::WEIGHTS, STAGE2 = HALF1 + Half1::WEIGHTS, HALF2 = STAGE2 + Stage2::WEIGHTS;
constexpr size_t LAST = HALF2 + Half2::WEIGHTS;
constexpr size_t HALF1_ROOM = STAGE1_ROOM + Stage1::ROOM, STAGE2_ROOM = HALF1_ROOM + Half1::ROOM;
constexpr size_t HALF2_ROOM = STAGE2_ROOM + Stage2::ROOM, LAST_ROOM = HALF2_ROOM + Half2::ROOM;
#endif

int main() {
    constexpr int CHANNELS = 6 * F << (STAGES - 1), HIGH = SIZE >> (STAGES - 1), PIXELS = HIGH * HIGH;
    Parameters input(3 * SIZE * SIZE, 1, 2.0f), network(LAST + Last::WEIGHTS, 2, 1.0f);
    Parameters scorer(CLASSES * CHANNELS, 4, 4.0f / std::sqrt((float)CHANNELS)), bias(CLASSES, 5, 0.5f);
    Filler filler{network.host.data(), 6};
    Stem::fill(filler);
    Stage1::fill(filler);
#ifndef SMALL
    Half1::fill(filler);
    Stage2::fill(filler);
    Half2::fill(filler);
    Last::fill(filler);
#endif
    cudaMemcpy(network.device, network.host.data(), network.host.size() * sizeof(float), cudaMemcpyHostToDevice);
    float *all = room(LAST_ROOM + Last::ROOM), *means = room(CHANNELS), *scores = room(CLASSES);
    float *positive = room(CHANNELS * PIXELS);

    const cudaStream_t stream = stream_of_launches();
    const float *weights = network.device;
    const auto launches = [&] {
        float *stem = all + Stem::ROOM;
        Stem::launch(stream, weights, all, input.device, stem);
        Stage1::launch(stream, weights + STAGE1, all + STAGE1_ROOM, stem, stem);
#ifndef SMALL
        float *last1 = all + STAGE1_ROOM + Stage1::LAST, *last2 = all + STAGE2_ROOM + Stage2::LAST;
        Half1::launch(stream, weights + HALF1, all + HALF1_ROOM, last1 - Stage1::OUT, last1);
        Stage2::launch(stream, weights + STAGE2, all + STAGE2_ROOM, last1, all + HALF1_ROOM + Half1::OUT);
        Half2::launch(stream, weights + HALF2, all + HALF2_ROOM, last2 - Stage2::OUT, last2);
        Last::launch(stream, weights + LAST, all + LAST_ROOM, last2, all + HALF2_ROOM + Half2::OUT);
#endif
        relu<CHANNELS, PIXELS><<<tiles<CHANNELS, PIXELS>(), TILE_THREADS, 0, stream>>>(all + LAST_ROOM + Last::LAST, positive);
        average<CHANNELS, PIXELS><<<(CHANNELS + 3) / 4, 128, 0, stream>>>(positive, means);
        classify<CHANNELS, CLASSES><<<(CLASSES + 3) / 4, 128, 0, stream>>>(means, scorer.device, bias.device, scores);
    };
    launches();
    std::vector<float> result(CLASSES);
    cudaMemcpy(result.data(), scores, result.size() * sizeof(float), cudaMemcpyDeviceToHost);
    measure(stream, launches);

    const float *host = network.host.data();
    const Image begin = Stem::on_host(host, Image(input.host.begin(), input.host.end()));
    auto [before, now] = Stage1::on_host(host + STAGE1, begin, begin);
#ifndef SMALL
    before = Half1::on_host(host + HALF1, before, now);
    std::tie(before, now) = Stage2::on_host(host + STAGE2, now, before);
    before = Half2::on_host(host + HALF2, before, now);
    std::tie(before, now) = Last::on_host(host + LAST, now, before);
#endif
    return judge("nasnet", result, classify_on_host(rectified(now), CHANNELS, scorer, bias), 1e-3);
}
