// Kernels by hand for what counted.tc says: what somebody writes who knows the sizes and the machine.
#pragma once
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>

static __device__ float4 load_four(const float *from) { return *reinterpret_cast<const float4 *>(from); }

static __device__ void store_four(float *to, float4 value) { *reinterpret_cast<float4 *>(to) = value; }

// A product of a matrix and a transposed one: tiles of SIDE x SIDE, 4 x 4 points a thread, strips of 16. Sizes are multiples.
template <int SIDE>
static __device__ __forceinline__ void product_of_tile(int N, int K, const float *A, const float *B, float *C)
{
    constexpr int THREADS = SIDE / 4 * (SIDE / 4);
    __shared__ __align__(16) float a[16][SIDE + 4], b[16][SIDE + 4];
    const int x = threadIdx.x % (SIDE / 4), y = threadIdx.x / (SIDE / 4), row = threadIdx.x / 4, four = threadIdx.x % 4 * 4;
    const float *fromA = A + (blockIdx.y * SIDE + row) * K + four, *fromB = B + (blockIdx.x * SIDE + row) * K + four;
    float sum[4][4] = {};
    for (int k = 0; k < K; k += 16) {
#pragma unroll
        for (int behind = 0; behind < SIDE; behind += THREADS / 4) {
            const float4 nextA = load_four(fromA + behind * K + k), nextB = load_four(fromB + behind * K + k);
            const int at = row + behind;
            a[four][at] = nextA.x, a[four + 1][at] = nextA.y, a[four + 2][at] = nextA.z, a[four + 3][at] = nextA.w;
            b[four][at] = nextB.x, b[four + 1][at] = nextB.y, b[four + 2][at] = nextB.z, b[four + 3][at] = nextB.w;
        }
        __syncthreads();
#pragma unroll
        for (int step = 0; step < 16; ++step) {
            const float4 p = load_four(&a[step][y * 4]), q = load_four(&b[step][x * 4]);
            const float ps[4] = {p.x, p.y, p.z, p.w}, qs[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    sum[i][j] += ps[i] * qs[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
        store_four(&C[size_t(blockIdx.y * SIDE + y * 4 + i) * N + blockIdx.x * SIDE + x * 4],
                   make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]));
}

static __global__ void __launch_bounds__(256) by_hand_tmm(int N, int K, const float *A, const float *B, float *C)
{
    product_of_tile<64>(N, K, A, B, C);
}

// A matrix of few columns: small tiles, so that there are some blocks.
static __global__ void __launch_bounds__(64) by_hand_small_tmm(int N, int K, const float *A, const float *B, float *C)
{
    product_of_tile<32>(N, K, A, B, C);
}

// C = b C + a A B: the same tiles, but strips of the second matrix lie in memory as they do in the tile. The factor of the product
// is multiplied once a point.
static __global__ void __launch_bounds__(256)
    by_hand_sgemm(int N, int K, float factor, float old, const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float a[16][68], b[16][64];
    const int x = threadIdx.x % 16, y = threadIdx.x / 16, row = threadIdx.x / 4, four = threadIdx.x % 4 * 4;
    const float *fromA = A + (blockIdx.y * 64 + row) * K + four, *fromB = B + y * N + blockIdx.x * 64 + x * 4;
    float sum[4][4] = {};
    for (int k = 0; k < K; k += 16) {
        const float4 next = load_four(fromA + k);
        a[four][row] = next.x, a[four + 1][row] = next.y, a[four + 2][row] = next.z, a[four + 3][row] = next.w;
        store_four(&b[y][x * 4], load_four(fromB + k * N));
        __syncthreads();
#pragma unroll
        for (int step = 0; step < 16; ++step) {
            const float4 p = load_four(&a[step][y * 4]), q = load_four(&b[step][x * 4]);
            const float ps[4] = {p.x, p.y, p.z, p.w}, qs[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    sum[i][j] += ps[i] * qs[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        float *to = &C[size_t(blockIdx.y * 64 + y * 4 + i) * N + blockIdx.x * 64 + x * 4];
        const float4 was = load_four(to);
        store_four(to, make_float4(old * was.x + factor * sum[i][0], old * was.y + factor * sum[i][1],
                                   old * was.z + factor * sum[i][2], old * was.w + factor * sum[i][3]));
    }
}

// The large one of halves by tensor cores: tiles of 64 x 64 points and 32 terms, two of them on their way while four warps of
// 2 x 2 fragments compute a third one. Rows have eight halves more, so that they begin in different banks.
static __global__ void __launch_bounds__(128) by_hand_htmm(int N, int K, const __half *A, const __half *B, __half *C)
{
    using namespace nvcuda;
    __shared__ __align__(32) union {
        __half strips[3][2][64][40];
        float sums[64][68];
    } s;
    const int warp = threadIdx.x / 32, row = warp / 2 * 32, column = warp % 2 * 32;
    const int from = threadIdx.x / 4, eight = threadIdx.x % 4 * 8;
    A += (blockIdx.y * 64 + from) * K + eight;
    B += (blockIdx.x * 64 + from) * K + eight;
    const auto fetch = [&](int stage, int k) {
        if (k < K) {
            __half(&to)[2][64][40] = s.strips[stage];
#pragma unroll
            for (int half = 0; half < 64; half += 32) {
                __pipeline_memcpy_async(&to[0][from + half][eight], A + half * K + k, 16);
                __pipeline_memcpy_async(&to[1][from + half][eight], B + half * K + k, 16);
            }
        }
        __pipeline_commit();
    };
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
#pragma unroll
    for (int i = 0; i < 4; ++i)
        wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
    fetch(0, 0);
    fetch(1, 32);
    for (int k = 0, stage = 0; k < K; k += 32) {
        __pipeline_wait_prior(1);
        __syncthreads();
        fetch(stage == 0 ? 2 : stage - 1, k + 64);
#pragma unroll
        for (int step = 0; step < 32; step += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b[2];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                wmma::load_matrix_sync(a[i], &s.strips[stage][0][row + i * 16][step], 40);
                wmma::load_matrix_sync(b[i], &s.strips[stage][1][column + i * 16][step], 40);
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
                wmma::mma_sync(sum[i / 2][i % 2], a[i / 2], b[i % 2], sum[i / 2][i % 2]);
        }
        stage = stage == 2 ? 0 : stage + 1;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; ++i)
        wmma::store_matrix_sync(&s.sums[row + i / 2 * 16][column + i % 2 * 16], sum[i / 2][i % 2], 68, wmma::mem_row_major);
    __syncthreads();
    C += blockIdx.y * 64 * N + blockIdx.x * 64;
#pragma unroll
    for (int i = threadIdx.x; i < 64 * 32; i += 128) {
        const float2 two = *reinterpret_cast<const float2 *>(&s.sums[i / 32][i % 32 * 2]);
        *reinterpret_cast<__half2 *>(C + i / 32 * N + i % 32 * 2) = __float22half2_rn(two);
    }
}

// A product of a batch is one block's: both matrices lie in shared memory, transposed, with two rows of zeros. 49 of 64
// threads compute 4 x 4 points each.
static __global__ void __launch_bounds__(64) by_hand_tbmm(const float *X, const float *Y, float *Z)
{
    __shared__ __align__(16) float xs[72][28], ys[72][28];
    X += blockIdx.x * 26 * 72;
    Y += blockIdx.x * 26 * 72;
    Z += blockIdx.x * 26 * 26;
    for (int at = threadIdx.x; at < 26 * 18; at += 64) {
        const int row = at / 18, four = at % 18 * 4;
        const float4 x = load_four(X + at * 4), y = load_four(Y + at * 4);
        xs[four][row] = x.x, xs[four + 1][row] = x.y, xs[four + 2][row] = x.z, xs[four + 3][row] = x.w;
        ys[four][row] = y.x, ys[four + 1][row] = y.y, ys[four + 2][row] = y.z, ys[four + 3][row] = y.w;
    }
    for (int at = threadIdx.x; at < 2 * 72; at += 64)
        xs[at / 2][26 + at % 2] = ys[at / 2][26 + at % 2] = 0;
    __syncthreads();
    if (threadIdx.x >= 49)
        return;
    const int n = threadIdx.x / 7 * 4, k = threadIdx.x % 7 * 4;
    float sum[4][4] = {};
#pragma unroll 24
    for (int m = 0; m < 72; ++m) {
        const float4 p = load_four(&xs[m][n]), q = load_four(&ys[m][k]);
        const float ps[4] = {p.x, p.y, p.z, p.w}, qs[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
                sum[i][j] += ps[i] * qs[j];
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
            if (n + i < 26 && k + j < 26)
                Z[(n + i) * 26 + k + j] = sum[i][j];
}

// A convolution of a group of an image is one block's: its 16 channels and all weights lie in shared memory. 144 threads
// compute 4 filters at 4 places of a line each, and keep the line's six elements in registers.
static __global__ void __launch_bounds__(144) by_hand_gconv(const float *I, const float *K, const float *bias, float *O)
{
    __shared__ __align__(16) float image[16][14][14], weights[16][3][3][16];
    const int group = blockIdx.x % 32;
    I += blockIdx.x * 16 * 14 * 14;
    K += group * 16 * 16 * 9;
    for (int at = threadIdx.x; at < 16 * 14 * 14 / 4; at += 144)
        store_four(&image[0][0][0] + at * 4, load_four(I + at * 4));
#pragma unroll
    for (int at = threadIdx.x; at < 16 * 16 * 9 / 4; at += 144) {
        const float4 four = load_four(K + at * 4);
        const int filter = at / 36, behind = at % 36 * 4;
        float *to = &weights[0][0][0][0] + behind * 16 + filter;
        to[0] = four.x, to[16] = four.y, to[32] = four.z, to[48] = four.w;
    }
    __syncthreads();
    const int w = threadIdx.x % 3 * 4, h = threadIdx.x / 3 % 12, f = threadIdx.x / 36 * 4;
    float sum[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
            sum[i][j] = bias[group * 16 + f + i];
    for (int c = 0; c < 16; ++c)
#pragma unroll
        for (int kh = 0; kh < 3; ++kh) {
            float line[6];
#pragma unroll
            for (int i = 0; i < 6; i += 2)
                *reinterpret_cast<float2 *>(&line[i]) = *reinterpret_cast<const float2 *>(&image[c][h + kh][w + i]);
#pragma unroll
            for (int kw = 0; kw < 3; ++kw) {
                const float4 q = load_four(&weights[c][kh][kw][f]);
                const float qs[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
                for (int i = 0; i < 4; ++i)
#pragma unroll
                    for (int j = 0; j < 4; ++j)
                        sum[i][j] += qs[i] * line[j + kw];
            }
        }
#pragma unroll
    for (int i = 0; i < 4; ++i)
        store_four(&O[((size_t(blockIdx.x) * 16 + f + i) * 12 + h) * 12 + w],
                   make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]));
}

// What all threads of a block of eight warps have, joined.
template <typename Join> static __device__ float over_block(float value, Join join)
{
    __shared__ float warps[8];
    for (int distance = 16; distance > 0; distance /= 2)
        value = join(value, __shfl_xor_sync(0xffffffffu, value, distance));
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = warps[0];
    for (int warp = 1; warp < 8; ++warp)
        value = join(value, warps[warp]);
    __syncthreads();
    return value;
}

static __device__ float sum_of(float value)
{
    return over_block(value, [](float a, float b) { return a + b; });
}

// A block a row, which lies in shared memory: one pass for the maximum, one for the sum, one for the result; by four floats.
static __global__ void __launch_bounds__(256) by_hand_softmax(int D, const float *I, float *O)
{
    extern __shared__ __align__(16) float row[];
    I += size_t(blockIdx.x) * D;
    O += size_t(blockIdx.x) * D;
    float largest = -INFINITY;
    for (int d = threadIdx.x * 4; d < D; d += 1024) {
        const float4 x = load_four(I + d);
        store_four(row + d, x);
        largest = fmaxf(fmaxf(fmaxf(fmaxf(largest, x.x), x.y), x.z), x.w);
    }
    largest = over_block(largest, [](float a, float b) { return fmaxf(a, b); });
    float total = 0;
    for (int d = threadIdx.x * 4; d < D; d += 1024) {
        float4 x = load_four(row + d);
        x = make_float4(expf(x.x - largest), expf(x.y - largest), expf(x.z - largest), expf(x.w - largest));
        store_four(row + d, x);
        total += x.x + x.y + x.z + x.w;
    }
    total = sum_of(total);
    for (int d = threadIdx.x * 4; d < D; d += 1024) {
        const float4 x = load_four(row + d);
        store_four(O + d, make_float4(x.x / total, x.y / total, x.z / total, x.w / total));
    }
}

// The same way: mean, variance, result.
static __global__ void __launch_bounds__(256)
    by_hand_layer_norm(int K, const float *I, const float *gamma, const float *beta, float *O)
{
    extern __shared__ __align__(16) float row[];
    I += size_t(blockIdx.x) * K;
    O += size_t(blockIdx.x) * K;
    float mean = 0;
    for (int k = threadIdx.x * 4; k < K; k += 1024) {
        const float4 x = load_four(I + k);
        store_four(row + k, x);
        mean += x.x + x.y + x.z + x.w;
    }
    mean = sum_of(mean) / K;
    float variance = 0;
    for (int k = threadIdx.x * 4; k < K; k += 1024) {
        const float4 x = load_four(row + k);
        variance += (x.x - mean) * (x.x - mean) + (x.y - mean) * (x.y - mean) + (x.z - mean) * (x.z - mean) +
                    (x.w - mean) * (x.w - mean);
    }
    const float factor = rsqrtf(sum_of(variance) / K + 1e-5f);
    for (int k = threadIdx.x * 4; k < K; k += 1024) {
        const float4 x = load_four(row + k), g = load_four(gamma + k), b = load_four(beta + k);
        store_four(O + k, make_float4(g.x * (x.x - mean) * factor + b.x, g.y * (x.y - mean) * factor + b.y,
                                      g.z * (x.z - mean) * factor + b.z, g.w * (x.w - mean) * factor + b.w));
    }
}

// Sums of rows of two tables, 64 wide: 16 threads a sample and table, four floats each; indices lie in shared memory. What is
// outside of a table counts nothing.
static __global__ void __launch_bounds__(128)
    by_hand_2lut(int E1, const float *T1, const int *I1, int E2, const float *T2, const int *I2, float *O1, float *O2)
{
    __shared__ int rows[2][4][50];
    const int x = threadIdx.x % 16 * 4, sample = threadIdx.x / 16 % 4, table = threadIdx.x / 64;
    for (int at = threadIdx.x; at < 2 * 4 * 50; at += 128)
        (&rows[0][0][0])[at] = at < 200 ? I1[blockIdx.x * 200 + at] : I2[blockIdx.x * 200 + at - 200];
    __syncthreads();
    const float *const T = table ? T2 : T1;
    const unsigned E = table ? E2 : E1;
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 2
    for (int l = 0; l < 50; ++l) {
        const unsigned row = rows[table][sample][l];
        if (row < E) {
            const float4 four = load_four(T + size_t(row) * 64 + x);
            sum.x += four.x, sum.y += four.y, sum.z += four.z, sum.w += four.w;
        }
    }
    store_four((table ? O2 : O1) + (blockIdx.x * 4 + sample) * 64 + x, sum);
}

// A layer for 16 rows that lie in shared memory, transposed: COLUMNS outputs, 2 x POINTS of each thread, weights in strips of 32.
template <int INNER, int COLUMNS, int POINTS>
static __device__ __forceinline__ void layer_of_rows(const float (*in)[20], const float *W, const float *bias, float (*out)[20])
{
    __shared__ __align__(16) float weights[32][COLUMNS + 4];
    constexpr int ACROSS = COLUMNS / POINTS;
    const int x = threadIdx.x % ACROSS * POINTS, y = threadIdx.x / ACROSS * 2;
    float sum[2][POINTS] = {};
    for (int first = 0; first < INNER; first += 32) {
#pragma unroll
        for (int at = threadIdx.x; at < COLUMNS * 8; at += 128) {
            const int row = at / 8, four = at % 8 * 4;
            const float4 w = load_four(W + row * INNER + first + four);
            weights[four][row] = w.x, weights[four + 1][row] = w.y;
            weights[four + 2][row] = w.z, weights[four + 3][row] = w.w;
        }
        __syncthreads();
        if (y < 16)
#pragma unroll
            for (int step = 0; step < 32; ++step) {
                const float2 p = *reinterpret_cast<const float2 *>(&in[first + step][y]);
#pragma unroll
                for (int j = 0; j < POINTS; ++j) {
                    const float w = weights[step][x + j];
                    sum[0][j] += p.x * w;
                    sum[1][j] += p.y * w;
                }
            }
        __syncthreads();
    }
    if (y < 16)
#pragma unroll
        for (int j = 0; j < POINTS; ++j)
#pragma unroll
            for (int i = 0; i < 2; ++i)
                out[x + j][y + i] = fmaxf(sum[i][j] + bias[x + j], 0);
    __syncthreads();
}

// Three layers of 16 rows of the batch are one block's; what lies between layers stays in shared memory.
static __global__ void __launch_bounds__(128)
    by_hand_mlp3(const float *I, const float *W2, const float *B2, const float *W3, const float *B3, const float *W4,
                 const float *B4, float *O4)
{
    __shared__ __align__(16) float first[128][20], second[64][20], third[32][20], last[2][20];
    for (int at = threadIdx.x; at < 16 * 32; at += 128) {
        const int row = at / 32, four = at % 32 * 4;
        const float4 x = load_four(I + (blockIdx.x * 16 + row) * 128 + four);
        first[four][row] = x.x, first[four + 1][row] = x.y, first[four + 2][row] = x.z, first[four + 3][row] = x.w;
    }
    layer_of_rows<128, 64, 4>(first, W2, B2, second);
    layer_of_rows<64, 32, 2>(second, W3, B3, third);
    layer_of_rows<32, 2, 1>(third, W4, B4, last);
    if (threadIdx.x < 32)
        O4[blockIdx.x * 32 + threadIdx.x] = last[threadIdx.x % 2][threadIdx.x / 2];
}
