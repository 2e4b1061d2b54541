// Statements that share kernels, and such that may not, against the host in double precision.
#include "fusion.tc.h"
#include "check.h"

const int N = 37, M = 70, B = 2, H = 3, W = 5, C = 9, L = 41;

static void rows()
{
    Tensor<> I(N * M, 1), O(N * M);
    std::vector<double> total(N);
    for (int n = 0; n < N; ++n)
        for (int d = 0; d < M; ++d)
            total[n] += std::exp(I[n * M + d]);
    row_softmax(0, N, M, I, O);
    O.compare("softmax", [&](size_t i) { return std::exp(I[i]) / total[i / M]; });

    Tensor<> m(N), R(N * M), transposed_m(N), T(M * N);
    std::vector<double> sum(N);
    for (int i = 0; i < N * M; ++i)
        sum[i / M] += I[i];
    reversed(0, N, M, I, m, R);
    m.compare("sums", [&](size_t n) { return sum[n]; });
    R.compare("reversed", [&](size_t i) { return I[i] + sum[N - 1 - i / M]; });
    transposed(0, N, M, I, transposed_m, T);
    T.compare("transposed", [&](size_t i) {
        const double row = sum[i % N];
        return I[i % N * M + i / N] / (2 + row * row);
    });

    Tensor<> e(N * M), s(N, 3), f(N * M), p(N), short_row(L, 4);
    std::vector<double> squares(N), part(N);
    for (int n = 0; n < N; ++n)
        for (int k = 0; k < M; ++k) {
            squares[n] += I[n * M + k] * I[n * M + k];
            if (k < L)
                part[n] += (I[n * M + k] + 1) * short_row[k];
        }
    const std::vector<double> first = s.host;
    running(0, N, M, I, s, e);
    e.compare("squares", [&](size_t i) { return I[i] * I[i]; });
    s.compare("running sums", [&](size_t n) { return first[n] + squares[n]; });
    partly(0, N, M, L, I, short_row, f, p);
    f.compare("terms", [&](size_t i) { return I[i] + 1; });
    p.compare("sums of a part", [&](size_t n) { return part[n]; });
}

static void others()
{
    Tensor<> A(B * N * M, 5), S(B * N * M), T(B * (N - 1) * M);
    shifted(0, B, N, M, A, S, T);
    S.compare("doubled", [&](size_t i) { return A[i] * 2; });
    T.compare("shifted", [&](size_t i) {
        const size_t b = i / M / (N - 1), r = i / M % (N - 1), at = (b * N + r) * M + i % M;
        return A[at + M] * 2 + A[at];
    });

    Tensor<> D(B * H * W * C, 6), m(B * H * W), O(B * H * W * C);
    std::vector<double> sum(B * H * W);
    for (int i = 0; i < B * H * W * C; ++i)
        sum[i / C] += D[i];
    channels(0, B, H, W, C, D, m, O);
    m.compare("channels", [&](size_t i) { return sum[i]; });
    O.compare("without the sum", [&](size_t i) { return D[i] - sum[i / C]; });

    Tensor<> V(M, 7), U(M);
    double total = 0;
    for (int i = 0; i < M; ++i)
        total += V[i] * V[i];
    whole(0, M, V, U);
    U.compare("whole", [&](size_t i) { return V[i] / total; });

    Tensor<half> G(N * M, 8), g(N), h(N * M);
    std::vector<double> halved(N);
    for (int i = 0; i < N * M; ++i)
        halved[i / M] += 2 * G[i];
    halves(0, N, M, G, g, h);
    g.compare("halves", [&](size_t n) { return halved[n]; }, 2e-3);

    Tensor<> Q(N * N, 9), q(N), P(N);
    std::vector<double> below(N);
    for (int n = 0; n < N; ++n)
        for (int k = 0; k < n; ++k)
            below[n] += Q[n * N + k];
    triangle(0, N, Q, q, P);
    q.compare("triangle", [&](size_t n) { return below[n]; });
    P.compare("its first row", [&](size_t n) { return below[0] + below[N - 1] + Q[n * N + n]; });
}

static void layered()
{
    Tensor<> I(N * M, 1), V(L * M, 2), U(C * L, 3), R(N * C);
    std::vector<double> h(N * L), expected(N * C);
    for (int n = 0; n < N; ++n) {
        for (int o = 0; o < L; ++o)
            for (int m = 0; m < M; ++m)
                h[n * L + o] += I[n * M + m] * V[o * M + m];
        for (int o = 0; o < C; ++o)
            for (int m = 0; m < L; ++m)
                expected[n * C + o] += h[n * L + m] * U[o * L + m];
    }
    layers(0, N, M, L, C, I, V, U, R);
    R.compare("layers", [&](size_t i) { return expected[i]; }, 1e-4);

    Tensor<> Q(4 * C * M, 4), S(N * C);
    const auto gate = [&](size_t i, int s) {
        double sum = 0;
        for (int m = 0; m < M; ++m)
            sum += I[i / C * M + m] * Q[(s * C + i % C) * M + m];
        return sum;
    };
    slices(0, N, M, C, I, Q, S);
    S.compare("slices", [&](size_t i) { return gate(i, 0) * gate(i, 1) + gate(i, 2) * gate(i, 3); }, 1e-4);
}

int main()
{
    rows();
    layered();
    others();
    return verdict();
}
