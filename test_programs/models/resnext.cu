// A network for images (ResNeXt-50: 224 × 224, 32 groups of 4 channels, 16 blocks in four stages, 1,000 classes) as a code
// generator writes it: one kernel an operator. A block has three convolutions, each with batch norm, and what is added.
//
// Shows: batch norm, addition and rectifier join the convolution before them. Each convolution needs its whole input,
// and a block's way around its convolutions joins the last of these: 174 launches become 52.
//
// usage: resnext; with -DSMALL an image of 32 × 32, two stages, three blocks
#ifdef SMALL
constexpr int ENOUGH_TILES = 1;       // blocks of large tiles make all that the next convolution reads
#else
constexpr int ENOUGH_TILES = 160;     // a block and a half for each multiprocessor of an A100
#endif
#include "convolution.h"
#include <algorithm>

#ifdef SMALL
constexpr int SIZE = 32, BASE = 16, GROUPS = 8, CLASSES = 10;
#else
constexpr int SIZE = 224, BASE = 64, GROUPS = 32, CLASSES = 1000;
#endif
constexpr int HIGH = SIZE / 4;        // what the first stage sees

// The largest of each window of 3 × 3, every other pixel.
template <int CHANNELS, int HIGH>
__global__ void __launch_bounds__(TILE_THREADS) pool(const float *in, float *out) {
    constexpr int HALF = HIGH / 2;
    FOR_TILE(CHANNELS, HALF * HALF) {
        float most = -INFINITY;
        for (int r = -1; r <= 1; ++r)
            for (int s = -1; s <= 1; ++s) {
                const int y = pixel / HALF * 2 + r, x = pixel % HALF * 2 + s;
                if (y >= 0 && y < HIGH && x >= 0 && x < HIGH) most = fmaxf(most, in[(channel * HIGH + y) * HIGH + x]);
            }
        out[channel * HALF * HALF + pixel] = most;
    }
}

static Image rectified(Image image) {
    clip_on_host(image, INFINITY);
    return image;
}

// A convolution, batch norm, rectifier.
template <class C>
struct Layer : Normalised<C> {
    using Linear = Normalised<C>;
    static constexpr size_t NORMAL = C::elements, OUT = 2 * C::elements, ROOM = 3 * C::elements;

    static inline void launch(cudaStream_t stream, const float *weights, float *room, const float *in) {
        Linear::launch(stream, weights, room, in, room + NORMAL);
        relu<C::out, C::pixels><<<tiles<C::out, C::pixels>(), TILE_THREADS, 0, stream>>>(room + NORMAL, room + OUT);
    }
    static Image on_host(const float *weights, const Image &in) { return rectified(Linear::on_host(weights, in)); }
};

// A stage of blocks, the first of which changes channels and size, and has a convolution on the way around, too.
template <int IN, int IN_HIGH, int INNER, int STRIDE, int BLOCKS>
struct Stage {
    static constexpr int CHANNELS = 2 * INNER, HIGH = IN_HIGH / STRIDE, PIXELS = HIGH * HIGH;
    using FirstNarrow = Layer<Convolution<IN, IN_HIGH, IN_HIGH, INNER, 1, 1>>;
    using FirstGrouped = Layer<Convolution<INNER, IN_HIGH, IN_HIGH, INNER, 3, 3, 1, 1, STRIDE, STRIDE, GROUPS>>;
    using Around = Normalised<Convolution<IN, IN_HIGH, IN_HIGH, CHANNELS, 1, 1, 0, 0, STRIDE>>;
    using Narrow = Layer<Convolution<CHANNELS, HIGH, HIGH, INNER, 1, 1>>;
    using Grouped = Layer<Convolution<INNER, HIGH, HIGH, INNER, 3, 3, 1, 1, 1, 1, GROUPS>>;
    using Wide = Normalised<Convolution<INNER, HIGH, HIGH, CHANNELS, 1, 1>>;

    // Weights: the first block's, then those of each later one.
    static constexpr size_t GROUPED1 = FirstNarrow::WEIGHTS, WIDE1 = GROUPED1 + FirstGrouped::WEIGHTS;
    static constexpr size_t AROUND = WIDE1 + Wide::WEIGHTS, LATER = AROUND + Around::WEIGHTS;
    static constexpr size_t GROUPED = Narrow::WEIGHTS, WIDE = GROUPED + Grouped::WEIGHTS, BLOCK = WIDE + Wide::WEIGHTS;
    static constexpr size_t WEIGHTS = LATER + (BLOCKS - 1) * BLOCK;
    // Room: two layers, what goes around them, the sum, and the stage's result.
    static constexpr size_t IMAGE = CHANNELS * PIXELS, SECOND = std::max(FirstNarrow::ROOM, Narrow::ROOM);
    static constexpr size_t SUMS = SECOND + std::max(FirstGrouped::ROOM, Grouped::ROOM), NORMAL = SUMS + IMAGE;
    static constexpr size_t AROUND_SUMS = NORMAL + IMAGE, PAST = AROUND_SUMS + IMAGE, TOTAL = PAST + IMAGE;
    static constexpr size_t OUT = TOTAL + IMAGE, ROOM = OUT + IMAGE;

    static void fill(Filler &filler) {
        FirstNarrow::fill(filler);
        FirstGrouped::fill(filler);
        Wide::fill(filler);
        Around::fill(filler);
        for (int block = 1; block < BLOCKS; ++block) {
            Narrow::fill(filler);
            Grouped::fill(filler);
            Wide::fill(filler);
        }
    }
    static inline void launch(cudaStream_t stream, const float *weights, float *room, const float *in) {
        const dim3 grid = tiles<CHANNELS, PIXELS>();
        FirstNarrow::launch(stream, weights, room, in);
        FirstGrouped::launch(stream, weights + GROUPED1, room + SECOND, room + FirstNarrow::OUT);
        Wide::launch(stream, weights + WIDE1, room + SUMS, room + SECOND + FirstGrouped::OUT, room + NORMAL);
        Around::launch(stream, weights + AROUND, room + AROUND_SUMS, in, room + PAST);
        add<CHANNELS, PIXELS><<<grid, TILE_THREADS, 0, stream>>>(room + NORMAL, room + PAST, room + TOTAL);
        relu<CHANNELS, PIXELS><<<grid, TILE_THREADS, 0, stream>>>(room + TOTAL, room + OUT);
        for (int block = 1; block < BLOCKS; ++block) {
            const float *own = weights + LATER + (block - 1) * BLOCK;
            Narrow::launch(stream, own, room, room + OUT);
            Grouped::launch(stream, own + GROUPED, room + SECOND, room + Narrow::OUT);
            Wide::launch(stream, own + WIDE, room + SUMS, room + SECOND + Grouped::OUT, room + NORMAL);
            add<CHANNELS, PIXELS><<<grid, TILE_THREADS, 0, stream>>>(room + NORMAL, room + OUT, room + TOTAL);
            relu<CHANNELS, PIXELS><<<grid, TILE_THREADS, 0, stream>>>(room + TOTAL, room + OUT);
        }
    }
    static Image on_host(const float *weights, const Image &in) {
        Image image = in;
        for (int block = 0; block < BLOCKS; ++block) {
            const float *own = weights + LATER + (block - 1) * BLOCK;
            const Image past = block ? image : Around::on_host(weights + AROUND, in);
            image = block ? Narrow::on_host(own, image) : FirstNarrow::on_host(weights, in);
            image = block ? Grouped::on_host(own + GROUPED, image) : FirstGrouped::on_host(weights + GROUPED1, image);
            image = Wide::on_host(block ? own + WIDE : weights + WIDE1, image);
            for (size_t i = 0; i < image.size(); ++i) image[i] += past[i];
            clip_on_host(image, INFINITY);
        }
        return image;
    }
};

static Image pool_on_host(const Image &in, int channels, int high) {
    Image out;
    for (int c = 0; c < channels; ++c)
        for (int y = 0; y < high; y += 2)
            for (int x = 0; x < high; x += 2) {
                double most = -INFINITY;
                for (int r = std::max(y - 1, 0); r <= std::min(y + 1, high - 1); ++r)
                    for (int s = std::max(x - 1, 0); s <= std::min(x + 1, high - 1); ++s)
                        most = std::fmax(most, in[((size_t)c * high + r) * high + s]);
                out.push_back(most);
            }
    return out;
}

using Stem = Layer<Convolution<3, SIZE, SIZE, BASE, 7, 7, 3, 3, 2>>;
#ifdef SMALL
using Stage1 = Stage<BASE, HIGH, 2 * BASE, 1, 2>;
using Last = Stage<4 * BASE, HIGH, 4 * BASE, 2, 1>;
constexpr size_t STAGE1 = Stem::WEIGHTS, LAST = STAGE1 + Stage1::WEIGHTS;
constexpr size_t STAGE1_ROOM = Stem::ROOM + BASE * HIGH * HIGH, LAST_ROOM = STAGE1_ROOM + Stage1::ROOM;
#else
using Stage1 = Stage<BASE, HIGH, 2 * BASE, 1, 3>;
using Stage2 = Stage<4 * BASE, HIGH, 4 * BASE, 2, 4>;
using Stage3 = Stage<8 * BASE, HIGH / 2, 8 * BASE, 2, 6>;
using Last = Stage<16 * BASE, HIGH / 4, 16 * BASE, 2, 3>;
constexpr size_t STAGE1 = Stem::WEIGHTS, STAGE2 = STAGE1 + Stage1::WEIGHTS, STAGE3 = STAGE2 + Stage2::WEIGHTS;
constexpr size_t LAST = STAGE3 + Stage3::WEIGHTS;
constexpr size_t STAGE1_ROOM = Stem::ROOM + BASE * HIGH * HIGH, STAGE2_ROOM = STAGE1_ROOM + Stage1::ROOM;
constexpr size_t STAGE3_ROOM = STAGE2_ROOM + Stage2::ROOM, LAST_ROOM = STAGE3_ROOM + Stage3::ROOM;
#endif

int main() {
    constexpr int CHANNELS = Last::CHANNELS, PIXELS = Last::PIXELS;
    Parameters input(3 * SIZE * SIZE, 1, 2.0f), network(LAST + Last::WEIGHTS, 2, 1.0f);
    Parameters scorer(CLASSES * CHANNELS, 3, 4.0f / std::sqrt((float)CHANNELS)), bias(CLASSES, 4, 0.5f);
    Filler filler{network.host.data(), 5};
    Stem::fill(filler);
    Stage1::fill(filler);
#ifndef SMALL
    Stage2::fill(filler);
    Stage3::fill(filler);
#endif
    Last::fill(filler);
    cudaMemcpy(network.device, network.host.data(), network.host.size() * sizeof(float), cudaMemcpyHostToDevice);
    float *all = room(LAST_ROOM + Last::ROOM), *means = room(CHANNELS), *scores = room(CLASSES);

    const cudaStream_t stream = stream_of_launches();
    const float *weights = network.device;
    const auto launches = [&] {
        float *small = all + Stem::ROOM;
        Stem::launch(stream, weights, all, input.device);
        pool<BASE, SIZE / 2><<<tiles<BASE, HIGH * HIGH>(), TILE_THREADS, 0, stream>>>(all + Stem::OUT, small);
        Stage1::launch(stream, weights + STAGE1, all + STAGE1_ROOM, small);
#ifdef SMALL
        Last::launch(stream, weights + LAST, all + LAST_ROOM, all + STAGE1_ROOM + Stage1::OUT);
#else
        Stage2::launch(stream, weights + STAGE2, all + STAGE2_ROOM, all + STAGE1_ROOM + Stage1::OUT);
        Stage3::launch(stream, weights + STAGE3, all + STAGE3_ROOM, all + STAGE2_ROOM + Stage2::OUT);
        Last::launch(stream, weights + LAST, all + LAST_ROOM, all + STAGE3_ROOM + Stage3::OUT);
#endif
        average<CHANNELS, PIXELS><<<(CHANNELS + 3) / 4, 128, 0, stream>>>(all + LAST_ROOM + Last::OUT, means);
        classify<CHANNELS, CLASSES><<<(CLASSES + 3) / 4, 128, 0, stream>>>(means, scorer.device, bias.device, scores);
    };
    launches();
    std::vector<float> result(CLASSES);
    cudaMemcpy(result.data(), scores, result.size() * sizeof(float), cudaMemcpyDeviceToHost);
    measure(stream, launches);

    const float *host = network.host.data();
    Image image = pool_on_host(Stem::on_host(host, Image(input.host.begin(), input.host.end())), BASE, SIZE / 2);
    image = Stage1::on_host(host + STAGE1, image);
#ifndef SMALL
    image = Stage3::on_host(host + STAGE3, Stage2::on_host(host + STAGE2, image));
#endif
    const std::vector<double> expected = classify_on_host(Last::on_host(host + LAST, image), CHANNELS, scorer, bias);
    return judge("resnext", result, expected, 1e-3);
}
