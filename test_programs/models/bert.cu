// BERT's encoder (the base model: 12 layers, 12 heads of 64, sequence 384) in half precision on tensor cores, as a
// code generator writes it: one kernel an operator, 24 launches a layer.
//
// Shows: what follows a matrix product element by element joins it, in blocks of the product's tiles. Scores,
// softmax and layer norm need whole rows that other blocks made; their launches stay.
//
// usage: bert; with -DSMALL two layers of two heads on 64 tokens
#include "clock.h"
#include <cmath>
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <vector>

using namespace nvcuda;

#ifdef SMALL
constexpr int LAYERS = 2, HEADS = 2, TOKENS = 64, PARTS = 2;
#else
constexpr int LAYERS = 12, HEADS = 12, TOKENS = 384, PARTS = 3; // of the longest sum, each in blocks of its own
#endif
constexpr int DEPTH = 64;             // of a head
constexpr int HIDDEN = HEADS * DEPTH;
constexpr int INNER = 4 * HIDDEN;     // of the feed-forward network

constexpr int TILE = 64;              // rows and columns that a block computes
constexpr int STEP = 32;              // how far it goes along the sum at once
constexpr int THREADS = 128;          // four warps, each a quarter of the tile
constexpr int PAD = 8;                // keeps rows of a tile in different banks

// One tile of c = a · b, rows of `a` and `c` at their pitches; b by rows, or by columns where transposed. While a
// step is multiplied, the next ones are copied.
template <bool TRANSPOSED, int DEEP, typename Out>
__device__ void tile_product(const half *a, int a_pitch, const half *b, int b_pitch, Out *c, int c_pitch) {
    constexpr int B_ROWS = TRANSPOSED ? TILE : STEP, B_COLUMNS = TRANSPOSED ? STEP : TILE;
    constexpr int STAGES = DEEP / STEP < 3 ? DEEP / STEP : 3; // steps that there is room for
    __shared__ __align__(32) half a_tile[STAGES][TILE][STEP + PAD];
    __shared__ __align__(32) half b_tile[STAGES][B_ROWS][B_COLUMNS + PAD];
    __shared__ __align__(32) float sums[TILE][TILE + PAD];
    using BLayout = std::conditional_t<TRANSPOSED, wmma::col_major, wmma::row_major>;
    const int warp = threadIdx.x / 32, row = warp / 2 * 32, column = warp % 2 * 32;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);

    auto copy = [&](int k, int stage) {
#pragma unroll
        for (int i = 0; i < TILE * STEP / 8 / THREADS; ++i) {
            const int e = threadIdx.x + i * THREADS, r = e / (STEP / 8), x = e % (STEP / 8) * 8;
            __pipeline_memcpy_async(&a_tile[stage][r][x], a + r * a_pitch + k + x, 16);
        }
#pragma unroll
        for (int i = 0; i < TILE * STEP / 8 / THREADS; ++i) {
            const int e = threadIdx.x + i * THREADS, r = e / (B_COLUMNS / 8), x = e % (B_COLUMNS / 8) * 8;
            const half *from = TRANSPOSED ? b + r * b_pitch + k + x : b + (k + r) * b_pitch + x;
            __pipeline_memcpy_async(&b_tile[stage][r][x], from, 16);
        }
    };
    for (int stage = 0; stage < STAGES - 1; ++stage) {
        copy(stage * STEP, stage);
        __pipeline_commit();
    }
    for (int k = 0; k < DEEP; k += STEP) {
        const int stage = k / STEP % STAGES;
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        const int ahead = k + (STAGES - 1) * STEP;
        if (ahead < DEEP) copy(ahead, ahead / STEP % STAGES);
        __pipeline_commit();
        for (int x = 0; x < STEP; x += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, BLayout> right[2];
            for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(left[i], &a_tile[stage][row + 16 * i][x], STEP + PAD);
            for (int j = 0; j < 2; ++j) {
                const half *from = TRANSPOSED ? &b_tile[stage][column + 16 * j][x] : &b_tile[stage][x][column + 16 * j];
                wmma::load_matrix_sync(right[j], from, B_COLUMNS + PAD);
            }
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], left[i], right[j], sum[i][j]);
        }
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            wmma::store_matrix_sync(&sums[row + 16 * i][column + 16 * j], sum[i][j], TILE + PAD, wmma::mem_row_major);
    __syncthreads();
    for (int r = threadIdx.x / TILE; r < TILE; r += THREADS / TILE) {
        const int x = threadIdx.x % TILE;
        c[r * c_pitch + x] = Out(sums[r][x]);
    }
}

// out[TOKENS][WIDTH] = in[TOKENS][DEEP] · weight[DEEP][WIDTH]
template <int WIDTH, int DEEP>
__global__ void __launch_bounds__(THREADS) dense(const half *in, const half *weight, half *out) {
    const int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    tile_product<false, DEEP>(in + row * DEEP, DEEP, weight + column, WIDTH, out + row * WIDTH + column, WIDTH);
}

// The same where there are few tiles and the sum is long: parts[PARTS][TOKENS][WIDTH], which the next operator adds.
template <int WIDTH, int DEEP, int PARTS>
__global__ void __launch_bounds__(THREADS) dense_in_parts(const half *in, const half *weight, float *parts) {
    const int row = blockIdx.y * TILE, column = blockIdx.x * TILE, first = blockIdx.z * (DEEP / PARTS);
    tile_product<false, DEEP / PARTS>(in + row * DEEP + first, DEEP, weight + first * WIDTH + column, WIDTH,
                                      parts + (blockIdx.z * TOKENS + row) * WIDTH + column, WIDTH);
}

// scores[head] = query[head] · key[head]ᵀ
__global__ void __launch_bounds__(THREADS) score(const half *query, const half *key, half *scores) {
    const int row = blockIdx.y * TILE, column = blockIdx.x * TILE, head = blockIdx.z * TOKENS;
    tile_product<true, DEPTH>(query + (head + row) * DEPTH, DEPTH, key + (head + column) * DEPTH, DEPTH,
                              scores + (head + row) * TOKENS + column, TOKENS);
}

// context[·][head] = scores[head] · value[head], heads side by side
__global__ void __launch_bounds__(THREADS) attend(const half *scores, const half *value, half *context) {
    const int row = blockIdx.y * TILE, head = blockIdx.z * TOKENS;
    tile_product<false, TOKENS>(scores + (head + row) * TOKENS, TOKENS, value + head * DEPTH, DEPTH,
                                context + row * HIDDEN + blockIdx.z * DEPTH, HIDDEN);
}

// Operators on elements, a tile a block. A thread takes every other row of a column.
#define FOR_TILE_ROWS                                                                  \
    const int column = blockIdx.x * TILE + threadIdx.x % TILE;                         \
    for (int row = blockIdx.y * TILE + threadIdx.x / TILE, end = blockIdx.y * TILE + TILE; row < end; row += THREADS / TILE)

template <int WIDTH>
__global__ void add_bias(half *x, const half *bias) {
    FOR_TILE_ROWS { x[row * WIDTH + column] = __hadd(x[row * WIDTH + column], bias[column]); }
}

// [token][head · DEPTH + d] becomes [head][token][d]: a tile is one head.
__global__ void split_heads(const half *x, half *heads) {
    FOR_TILE_ROWS { heads[(blockIdx.x * TOKENS + row) * DEPTH + threadIdx.x % TILE] = x[row * HIDDEN + column]; }
}

// What is padding in the input takes no part.
__global__ void scale_and_mask(half *scores, const half *mask) {
    FOR_TILE_ROWS {
        half &element = scores[(blockIdx.z * TOKENS + row) * TOKENS + column];
        element = __hfma(element, __float2half(0.125f), mask[column]);
    }
}

template <int WIDTH>
__global__ void add_residual(half *x, const half *residual) {
    FOR_TILE_ROWS { x[row * WIDTH + column] = __hadd(x[row * WIDTH + column], residual[row * WIDTH + column]); }
}

__global__ void gelu(half *x) {
    FOR_TILE_ROWS {
        const float v = __half2float(x[row * INNER + column]);
        x[row * INNER + column] = __float2half(0.5f * v * (1.0f + erff(v * 0.70710678f)));
    }
}

// What ends a product in parts has none of its tiles: a block a row, as what comes next.
template <int PARTS>
__global__ void add_parts_and_bias(const float *parts, const half *bias, half *out) {
    for (int i = threadIdx.x; i < HIDDEN; i += THREADS) {
        float sum = 0.0f;
        for (int part = 0; part < PARTS; ++part) sum += parts[(part * TOKENS + blockIdx.x) * HIDDEN + i];
        out[blockIdx.x * HIDDEN + i] = __hadd(__float2half(sum), bias[i]);
    }
}

__global__ void add_residual_to_rows(half *x, const half *residual) {
    for (int i = threadIdx.x; i < HIDDEN; i += THREADS)
        x[blockIdx.x * HIDDEN + i] = __hadd(x[blockIdx.x * HIDDEN + i], residual[blockIdx.x * HIDDEN + i]);
}

// The sum over a block, in each thread.
__device__ float block_sum(float value, float *partial) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
    __syncthreads();
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0.0f;
    for (int w = 0; w < THREADS / 32; ++w) sum += partial[w];
    return sum;
}

// A block a row of one head's scores.
__global__ void softmax(half *scores) {
    __shared__ float partial[THREADS / 32];
    half *row = scores + (blockIdx.y * TOKENS + blockIdx.x) * TOKENS;
    float most = -INFINITY;
    for (int i = threadIdx.x % 32; i < TOKENS; i += 32) most = fmaxf(most, __half2float(row[i]));
    for (int distance = 16; distance > 0; distance /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, distance));
    float sum = 0.0f;
    for (int i = threadIdx.x; i < TOKENS; i += THREADS) sum += expf(__half2float(row[i]) - most);
    sum = block_sum(sum, partial);
    for (int i = threadIdx.x; i < TOKENS; i += THREADS) row[i] = __float2half(expf(__half2float(row[i]) - most) / sum);
}

// A block a row.
__global__ void layer_norm(const half *x, const half *gain, const half *bias, half *out) {
    __shared__ float partial[THREADS / 32];
    const half *row = x + blockIdx.x * HIDDEN;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < HIDDEN; i += THREADS) sum += __half2float(row[i]);
    const float mean = block_sum(sum, partial) / HIDDEN;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < HIDDEN; i += THREADS) {
        const float d = __half2float(row[i]) - mean;
        squares += d * d;
    }
    const float scale = rsqrtf(block_sum(squares, partial) / HIDDEN + 1e-5f);
    for (int i = threadIdx.x; i < HIDDEN; i += THREADS)
        out[blockIdx.x * HIDDEN + i] =
            __float2half((__half2float(row[i]) - mean) * scale * __half2float(gain[i]) + __half2float(bias[i]));
}

// Weights of all layers, one after the other, on host and device.
struct Parameters {
    std::vector<float> host;
    half *device;

    Parameters(size_t count, unsigned seed, float scale, float centre = 0.0f) : host(count) {
        std::vector<half> rounded(count);
        for (size_t i = 0; i < count; ++i) {
            seed = seed * 1664525u + 1013904223u;
            rounded[i] = __float2half(((float)(seed >> 8) / (1 << 24) - 0.5f) * scale + centre);
            host[i] = __half2float(rounded[i]);
        }
        cudaMalloc(&device, count * sizeof(half));
        cudaMemcpy(device, rounded.data(), count * sizeof(half), cudaMemcpyHostToDevice);
    }
};

static half *room(size_t elements) {
    half *device;
    cudaMalloc(&device, elements * sizeof(half));
    return device;
}

static std::vector<double> product(const std::vector<double> &x, const float *weight, const float *bias, int deep, int width) {
    std::vector<double> out((size_t)TOKENS * width);
    for (int t = 0; t < TOKENS; ++t) {
        double *row = &out[(size_t)t * width];
        for (int i = 0; i < width; ++i) row[i] = bias[i];
        for (int k = 0; k < deep; ++k)
            for (int i = 0; i < width; ++i) row[i] += x[(size_t)t * deep + k] * weight[(size_t)k * width + i];
    }
    return out;
}

static void normalise(std::vector<double> &x, const std::vector<double> &residual, const float *gain, const float *bias) {
    for (int t = 0; t < TOKENS; ++t) {
        double *row = &x[(size_t)t * HIDDEN], mean = 0, variance = 0;
        for (int i = 0; i < HIDDEN; ++i) row[i] += residual[(size_t)t * HIDDEN + i], mean += row[i] / HIDDEN;
        for (int i = 0; i < HIDDEN; ++i) variance += (row[i] - mean) * (row[i] - mean) / HIDDEN;
        for (int i = 0; i < HIDDEN; ++i) row[i] = (row[i] - mean) / std::sqrt(variance + 1e-5) * gain[i] + bias[i];
    }
}

int main() {
    const size_t square = (size_t)HIDDEN * HIDDEN, wide = (size_t)HIDDEN * INNER;
    const float scale = 2.0f / std::sqrt((float)HIDDEN);
    Parameters input((size_t)TOKENS * HIDDEN, 1, 2.0f), mask(TOKENS, 2, 0.1f);
    Parameters wq(LAYERS * square, 3, scale), wk(LAYERS * square, 4, scale), wv(LAYERS * square, 5, scale);
    Parameters bq(LAYERS * HIDDEN, 6, 0.1f), bk(LAYERS * HIDDEN, 7, 0.1f), bv(LAYERS * HIDDEN, 8, 0.1f);
    Parameters wo(LAYERS * square, 9, scale), bo(LAYERS * HIDDEN, 10, 0.1f);
    Parameters w1(LAYERS * wide, 11, scale), b1(LAYERS * INNER, 12, 0.1f);
    Parameters w2(LAYERS * wide, 13, scale / 2), b2(LAYERS * HIDDEN, 14, 0.1f);
    Parameters gain1(LAYERS * HIDDEN, 15, 0.1f, 1.0f), shift1(LAYERS * HIDDEN, 16, 0.1f);
    Parameters gain2(LAYERS * HIDDEN, 17, 0.1f, 1.0f), shift2(LAYERS * HIDDEN, 18, 0.1f);

    const size_t elements = (size_t)TOKENS * HIDDEN, bytes = elements * sizeof(half);
    half *q = room(elements), *k = room(elements), *v = room(elements);
    half *query = room(elements), *key = room(elements), *value = room(elements);
    half *scores = room((size_t)HEADS * TOKENS * TOKENS), *context = room(elements);
    half *attended = room(elements), *x = room(elements), *inner = room((size_t)TOKENS * INNER), *fed = room(elements);

    float *parts;
    cudaMalloc(&parts, PARTS * elements * sizeof(float));

    const dim3 tiles(HIDDEN / TILE, TOKENS / TILE), inner_tiles(INNER / TILE, TOKENS / TILE);
    const dim3 part_tiles(HIDDEN / TILE, TOKENS / TILE, PARTS);
    const dim3 score_tiles(TOKENS / TILE, TOKENS / TILE, HEADS), head_tiles(1, TOKENS / TILE, HEADS);
    half *state = input.device;
    const cudaStream_t stream = stream_of_launches();
    const auto launches = [&] {
        for (int l = 0; l < LAYERS; ++l) {
            dense<HIDDEN, HIDDEN><<<tiles, THREADS, 0, stream>>>(state, wq.device + l * square, q);
            add_bias<HIDDEN><<<tiles, THREADS, 0, stream>>>(q, bq.device + l * HIDDEN);
            split_heads<<<tiles, THREADS, 0, stream>>>(q, query);
            dense<HIDDEN, HIDDEN><<<tiles, THREADS, 0, stream>>>(state, wk.device + l * square, k);
            add_bias<HIDDEN><<<tiles, THREADS, 0, stream>>>(k, bk.device + l * HIDDEN);
            split_heads<<<tiles, THREADS, 0, stream>>>(k, key);
            dense<HIDDEN, HIDDEN><<<tiles, THREADS, 0, stream>>>(state, wv.device + l * square, v);
            add_bias<HIDDEN><<<tiles, THREADS, 0, stream>>>(v, bv.device + l * HIDDEN);
            split_heads<<<tiles, THREADS, 0, stream>>>(v, value);
            score<<<score_tiles, THREADS, 0, stream>>>(query, key, scores);
            scale_and_mask<<<score_tiles, THREADS, 0, stream>>>(scores, mask.device);
            softmax<<<dim3(TOKENS, HEADS), THREADS, 0, stream>>>(scores);
            attend<<<head_tiles, THREADS, 0, stream>>>(scores, value, context);
            dense<HIDDEN, HIDDEN><<<tiles, THREADS, 0, stream>>>(context, wo.device + l * square, attended);
            add_bias<HIDDEN><<<tiles, THREADS, 0, stream>>>(attended, bo.device + l * HIDDEN);
            add_residual<HIDDEN><<<tiles, THREADS, 0, stream>>>(attended, state);
            layer_norm<<<TOKENS, THREADS, 0, stream>>>(attended, gain1.device + l * HIDDEN, shift1.device + l * HIDDEN, x);
            dense<INNER, HIDDEN><<<inner_tiles, THREADS, 0, stream>>>(x, w1.device + l * wide, inner);
            add_bias<INNER><<<inner_tiles, THREADS, 0, stream>>>(inner, b1.device + l * INNER);
            gelu<<<inner_tiles, THREADS, 0, stream>>>(inner);
            dense_in_parts<HIDDEN, INNER, PARTS><<<part_tiles, THREADS, 0, stream>>>(inner, w2.device + l * wide, parts);
            add_parts_and_bias<PARTS><<<TOKENS, THREADS, 0, stream>>>(parts, b2.device + l * HIDDEN, fed);
            add_residual_to_rows<<<TOKENS, THREADS, 0, stream>>>(fed, x);
            layer_norm<<<TOKENS, THREADS, 0, stream>>>(fed, gain2.device + l * HIDDEN, shift2.device + l * HIDDEN, state);
        }
    };
    launches();
    std::vector<half> result((size_t)TOKENS * HIDDEN);
    cudaMemcpy(result.data(), state, bytes, cudaMemcpyDeviceToHost);
    measure(stream, launches);
    if (cudaGetLastError() != cudaSuccess) return printf("FAIL: a call failed\n"), 1;

    std::vector<double> host(input.host.begin(), input.host.end());
    for (int l = 0; l < LAYERS; ++l) {
        const std::vector<double> q = product(host, &wq.host[l * square], &bq.host[l * HIDDEN], HIDDEN, HIDDEN);
        const std::vector<double> k = product(host, &wk.host[l * square], &bk.host[l * HIDDEN], HIDDEN, HIDDEN);
        const std::vector<double> v = product(host, &wv.host[l * square], &bv.host[l * HIDDEN], HIDDEN, HIDDEN);
        std::vector<double> merged((size_t)TOKENS * HIDDEN), row(TOKENS);
        for (int head = 0; head < HEADS; ++head)
            for (int i = 0; i < TOKENS; ++i) {
                double most = -INFINITY, sum = 0;
                for (int j = 0; j < TOKENS; ++j) {
                    double dot = 0;
                    for (int d = head * DEPTH; d < (head + 1) * DEPTH; ++d) dot += q[(size_t)i * HIDDEN + d] * k[(size_t)j * HIDDEN + d];
                    row[j] = dot / 8 + mask.host[j];
                    most = std::fmax(most, row[j]);
                }
                for (double &e : row) sum += e = std::exp(e - most);
                for (int j = 0; j < TOKENS; ++j)
                    for (int d = head * DEPTH; d < (head + 1) * DEPTH; ++d)
                        merged[(size_t)i * HIDDEN + d] += row[j] / sum * v[(size_t)j * HIDDEN + d];
            }
        std::vector<double> x = product(merged, &wo.host[l * square], &bo.host[l * HIDDEN], HIDDEN, HIDDEN);
        normalise(x, host, &gain1.host[l * HIDDEN], &shift1.host[l * HIDDEN]);
        std::vector<double> inner = product(x, &w1.host[l * wide], &b1.host[l * INNER], HIDDEN, INNER);
        for (double &e : inner) e = 0.5 * e * (1 + std::erf(e * std::sqrt(0.5)));
        host = product(inner, &w2.host[l * wide], &b2.host[l * HIDDEN], INNER, HIDDEN);
        normalise(host, x, &gain2.host[l * HIDDEN], &shift2.host[l * HIDDEN]);
    }
    double worst = 0;
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < result.size(); ++i) {
        const float got = __half2float(result[i]);
        worst = std::fmax(worst, got == got ? std::fabs(got - host[i]) : INFINITY);
        const unsigned char *byte = (const unsigned char *)&result[i];
        for (size_t b = 0; b < sizeof(half); ++b) hash = (hash ^ byte[b]) * 16777619u;
    }
    // Values of size one, rounded to eleven bits some twenty times a layer.
    const bool right = worst <= 0.02 * LAYERS;
    printf("bert: %d layers, checksum %08x, off by at most %.4f\n", LAYERS, hash, worst);
    printf(right ? "PASS\n" : "FAIL\n");
    return !right;
}
