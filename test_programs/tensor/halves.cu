// Products of short numbers against the host in double precision. Products of two are exact in float. Of n terms, the sum
// may differ by 3 n 2^-24 times the sum of their sizes, with any order and any rounding of additions; what is short again is
// rounded once.
#include "halves.tc.h"
#include "check.h"

template <typename T, typename Term>
static void sums(const char *what, Tensor<T> &made, int terms, double rounding, Term term)
{
    double largest = 0;
    for (size_t i = 0; i < made.host.size(); ++i) {
        double sizes = 0;
        for (int k = 0; k < terms; ++k)
            sizes += std::fabs(term(i, k));
        largest = std::fmax(largest, sizes);
    }
    const double bound = 3.0 * terms * largest / (1 << 24) + rounding;
    made.compare(what, [&](size_t i) {
        double sum = 0;
        for (int k = 0; k < terms; ++k)
            sum += term(i, k);
        return sum;
    }, bound);
}

static const double ROUNDED_HALF = 1.0 / (1 << 11), ROUNDED_BFLOAT16 = 1.0 / (1 << 8);

static void products(int M, int N, int K)
{
    Tensor<__half> A(M * K, 1, 97), B(K * N, 2, 89), C(M * N);
    hmm(0, M, K, N, A, B, C);
    sums("hmm", C, K, ROUNDED_HALF, [&](size_t i, int k) { return A[i / N * K + k] * B[k * N + i % N]; });

    Tensor<__half> AT(K * M, 3, 97), BT(N * K, 4, 89);
    Tensor<> D(M * N);
    hmm_transposed(0, K, M, N, AT, BT, D);
    sums("hmm_transposed", D, K, 0, [&](size_t i, int k) { return AT[k * M + i / N] * BT[i % N * K + k]; });

    Tensor<__nv_bfloat16> P(M * K, 5, 41), Q(N * K, 6, 43), R(M * N);
    Tensor<> bias(N, 7);
    bmm(0, M, K, N, P, Q, bias, R);
    const double bound = 3.0 * (K + 1) * (K + 1) / (1 << 24) + ROUNDED_BFLOAT16;
    R.compare("bmm", [&](size_t i) {
        double sum = bias[i % N];
        for (int k = 0; k < K; ++k)
            sum += P[i / N * K + k] * Q[i % N * K + k];
        return std::fmax(sum, 0) + static_cast<double>(i / N);
    }, bound);

    // Behind the terms that count stands what would spoil each sum.
    for (int m = 0; m < M; ++m)
        A.host[m * K] = A.host[m * K + K - 2] = INFINITY;
    for (int n = 0; n < N; ++n)
        B.host[n] = B.host[(K - 2) * N + n] = NAN;
    A.send();
    B.send();
    hpart(0, M, K, N, A, B, D);
    sums("hpart", D, K - 4, 0, [&](size_t i, int k) { return A[i / N * K + k + 1] * B[(k + 1) * N + i % N]; });
}

int main()
{
    products(37, 18, 21);
    products(64, 128, 64);
    products(150, 72, 104);
    products(33, 200, 7);

    const int batch = 3, n = 70, k = 66, m = 40;
    Tensor<__half> X(batch * n * m, 7), Y(batch * k * m, 8);
    Tensor<> Z(batch * n * k, 9);
    const std::vector<double> before = Z.host;
    hbatched(0, batch, n, m, k, X, Y, Z);
    sums("hbatched", Z, m + 1, 0, [&](size_t at, int i) {
        const size_t b = at / (n * k), row = at / k % n, column = at % k;
        return i == m ? before[at] : X[(b * n + row) * m + i] * Y[(b * k + column) * m + i];
    });

    Tensor<__half> S(26 * 72, 10), T(30 * 72, 11);
    Tensor<> U(26 * 30);
    hsmall(0, S, T, U);
    sums("hsmall", U, 72, 0, [&](size_t i, int k) { return S[i / 30 * 72 + k] * T[i % 30 * 72 + k]; });

    const int C = 20, H = 7, W = 23, F = 18, KH = 3, KW = 2, H1 = H - KH + 1, W1 = W - KW + 1;
    Tensor<__half> I(2 * C * H * W, 12), L(F * C * KH * KW, 13);
    Tensor<__half> O(2 * F * H1 * W1);
    hconvolution(0, 2, C, H, W, F, KH, KW, I, L, O);
    sums("hconvolution", O, C * KH * KW, ROUNDED_HALF, [&](size_t at, int i) {
        const size_t w = at % W1, h = at / W1 % H1, f = at / W1 / H1 % F, image = at / W1 / H1 / F;
        const size_t kw = i % KW, kh = i / KW % KH, c = i / KW / KH;
        return I[((image * C + c) * H + h + kh) * W + w + kw] * L[((f * C + c) * KH + kh) * KW + kw];
    });
    return verdict();
}
