// Kernels by templates, each against the host in double precision.
#include "stitched.tc.h"
#include "check.h"

static void softmax_of(int N, int D, bool is_short)
{
    Tensor<> I(N * D, 1), O(N * D);
    if (is_short)
        short_softmax(0, N, I, O);
    else
        odd_softmax(0, N, D, I, O);
    O.compare("softmax", [&](size_t at) {
        const size_t row = at / D * D;
        double total = 0;
        for (int k = 0; k < D; ++k)
            total += std::exp(I[row + k]);
        return std::exp(I[is_short ? at : row + D - 1 - at % D]) / total;
    });
}

// Mean and standard deviation of a column.
static void column_of(const Tensor<> &I, int N, int D, int d, double &mean, double &deviation)
{
    double square = 0;
    mean = 0;
    for (int n = 0; n < N; ++n)
        mean += I[n * D + d] / N;
    for (int n = 0; n < N; ++n)
        square += (I[n * D + d] - mean) * (I[n * D + d] - mean);
    deviation = std::sqrt(square / N + 1e-5);
}

static void columns_of(int N, int D, bool is_short)
{
    Tensor<> I(N * D, 2), O(N * D), mean(D);
    double m, s;
    if (is_short)
        short_columns(0, D, I, O);
    else
        columns(0, N, D, I, O, mean);
    O.compare("columns", [&](size_t at) {
        column_of(I, N, D, at % D, m, s);
        return (I[at] - m) / s;
    }, 1e-4);
    if (!is_short)
        mean.compare("mean", [&](size_t d) { return column_of(I, N, D, d, m, s), m; });
}

int main()
{
    // The last block has fewer rows than others, and one alone.
    for (const int rows : {1, 16, 37})
        softmax_of(rows, 64, true);
    for (const int width : {1, 7, 33, 100})
        softmax_of(19, width, false);
    // Too long for shared memory.
    softmax_of(9, 2000, false);
    for (const int width : {1, 32, 70})
        columns_of(50, width, false), columns_of(40, width, true);
    columns_of(3, 40, false);

    const int N = 700, M = 45, K = 30, L = 70;
    Tensor<> A(N, 1), B(M * 64, 2), C(K * L, 3), D(N), E(M), F(L);
    side_by_side(0, N, M, K, L, A, B, C, D, E, F);
    D.compare("packed elements", [&](size_t i) { return A[i] * 2 + 1; });
    E.compare("packed rows", [&](size_t i) {
        double sum = 0;
        for (int k = 0; k < 64; ++k)
            sum += B[i * 64 + k];
        return sum;
    });
    F.compare("packed columns", [&](size_t l) {
        double sum = 0;
        for (int k = 0; k < K; ++k)
            sum += C[k * L + l];
        return sum;
    });

    Tensor<> wide(K * L, 4), factors(L, 5), turned(K * L), sums(K);
    again(0, K, L, wide, factors, turned, sums);
    turned.compare("transposed", [&](size_t at) {
        const size_t l = at / K, k = at % K;
        return wide[k * L + l] * factors[l] + 1;
    });
    sums.compare("sums", [&](size_t k) {
        double sum = 0;
        for (int l = 0; l < L; ++l)
            sum += wide[k * L + l] * factors[l];
        return sum;
    });

    const int H = 5, R = 12, W = 16;
    Tensor<> Q(H * R * W, 6), Keys(H * R * W, 7), V(H * R * W, 8), O(H * R * W);
    heads(0, H, Q, Keys, V, O);
    O.compare("heads", [&](size_t at) {
        const size_t head = at / (R * W) * R, row = at / W;
        double total = 0, sum = 0;
        for (int j = 0; j < R; ++j) {
            double score = 0;
            for (int k = 0; k < W; ++k)
                score += Q[row * W + k] * Keys[(head + j) * W + k];
            total += std::exp(score * 0.25);
            sum += std::exp(score * 0.25) * V[(head + j) * W + at % W];
        }
        return sum / total;
    });
    return verdict();
}
