// Kernels by hand for what counted.tc says, at the same sizes: `SIRIUS_STATS` counts both on the CPU device.
#include "counted.tc.h"
#include "check.h"

// A product of a matrix and a transposed one: tiles of 64 x 64, 4 x 4 points a thread, strips of 16. Sizes are multiples.
static __global__ void __launch_bounds__(256) by_hand_tmm(int N, int K, const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float a[16][68], b[16][68];
    const int x = threadIdx.x % 16, y = threadIdx.x / 16, row = threadIdx.x / 4, four = threadIdx.x % 4 * 4;
    const float *fromA = A + (blockIdx.y * 64 + row) * K + four, *fromB = B + (blockIdx.x * 64 + row) * K + four;
    float sum[4][4] = {};
    for (int k = 0; k < K; k += 16) {
        const float4 nextA = *reinterpret_cast<const float4 *>(fromA + k);
        const float4 nextB = *reinterpret_cast<const float4 *>(fromB + k);
        a[four][row] = nextA.x, a[four + 1][row] = nextA.y, a[four + 2][row] = nextA.z, a[four + 3][row] = nextA.w;
        b[four][row] = nextB.x, b[four + 1][row] = nextB.y, b[four + 2][row] = nextB.z, b[four + 3][row] = nextB.w;
        __syncthreads();
#pragma unroll
        for (int step = 0; step < 16; ++step) {
            const float4 p = *reinterpret_cast<const float4 *>(&a[step][y * 4]);
            const float4 q = *reinterpret_cast<const float4 *>(&b[step][x * 4]);
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
        const size_t at = size_t(blockIdx.y * 64 + y * 4 + i) * N + blockIdx.x * 64 + x * 4;
        *reinterpret_cast<float4 *>(&C[at]) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    }
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

// A block a row, which lies in shared memory: one pass for the maximum, one for the sum, one for the result.
static __global__ void __launch_bounds__(256) by_hand_softmax(int D, const float *I, float *O)
{
    extern __shared__ float row[];
    I += size_t(blockIdx.x) * D;
    O += size_t(blockIdx.x) * D;
    float largest = -INFINITY;
    for (int d = threadIdx.x; d < D; d += 256)
        largest = fmaxf(largest, row[d] = I[d]);
    largest = over_block(largest, [](float a, float b) { return fmaxf(a, b); });
    float total = 0;
    for (int d = threadIdx.x; d < D; d += 256)
        total += row[d] = expf(row[d] - largest);
    total = sum_of(total);
    for (int d = threadIdx.x; d < D; d += 256)
        O[d] = row[d] / total;
}

// The same way: mean, variance, result.
static __global__ void __launch_bounds__(256)
    by_hand_layer_norm(int K, const float *I, const float *gamma, const float *beta, float *O)
{
    extern __shared__ float row[];
    I += size_t(blockIdx.x) * K;
    O += size_t(blockIdx.x) * K;
    float mean = 0;
    for (int k = threadIdx.x; k < K; k += 256)
        mean += row[k] = I[k];
    mean = sum_of(mean) / K;
    float variance = 0;
    for (int k = threadIdx.x; k < K; k += 256)
        variance += (row[k] - mean) * (row[k] - mean);
    const float factor = rsqrtf(sum_of(variance) / K + 1e-5f);
    for (int k = threadIdx.x; k < K; k += 256)
        O[k] = gamma[k] * (row[k] - mean) * factor + beta[k];
}

int main()
{
    const int M = 128, N = 64, K = 256, R = 16, D = 1024;
    Tensor<> A(M * K, 1), B(N * K, 2), C(M * N), C1(M * N), I(R * D, 3), gamma(D, 4), beta(D, 5), O(R * D), O1(R * D);
    counted_tmm(0, M, K, N, A, B, C);
    by_hand_tmm<<<dim3(N / 64, M / 64), 256>>>(N, K, A, B, C1);
    C1.compare("tmm by hand", [&](size_t at) {
        double sum = 0;
        for (int k = 0; k < K; ++k)
            sum += A[at / N * K + k] * B[at % N * K + k];
        return sum;
    });
    C.compare("tmm", [&](size_t at) { return C1[at]; });
    counted_softmax(0, R, D, I, O);
    by_hand_softmax<<<R, 256, D * sizeof(float)>>>(D, I, O1);
    O1.compare("softmax by hand", [&](size_t at) {
        double total = 0;
        for (int d = 0; d < D; ++d)
            total += std::exp(I[at / D * D + d]);
        return std::exp(I[at]) / total;
    });
    O.compare("softmax", [&](size_t at) { return O1[at]; });
    counted_layer_norm(0, R, D, I, gamma, beta, O);
    by_hand_layer_norm<<<R, 256, D * sizeof(float)>>>(D, I, gamma, beta, O1);
    O1.compare("layer norm by hand", [&](size_t at) {
        double mean = 0, variance = 0;
        for (int k = 0; k < D; ++k)
            mean += I[at / D * D + k] / D;
        for (int k = 0; k < D; ++k)
            variance += (I[at / D * D + k] - mean) * (I[at / D * D + k] - mean) / D;
        return gamma[at % D] * (I[at] - mean) / std::sqrt(variance + 1e-5) + beta[at % D];
    }, 1e-4);
    O.compare("layer norm", [&](size_t at) { return O1[at]; }, 1e-4);
    return verdict();
}
