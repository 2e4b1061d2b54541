// Kernels by hand beside what counted.tc says, at the same sizes: `SIRIUS_STATS` counts both on the CPU device.
#include "counted.tc.h"
#include "by_hand.h"
#include "check.h"

static void products()
{
    const int K = 256, M = 128, N = 32;
    Tensor<> A(M * K, 1), B(N * K, 2), C(M * N), C1(M * N);
    counted_small_tmm(0, A, B, C);
    by_hand_small_tmm<<<dim3(N / 32, M / 32), 64>>>(N, K, A, B, C1);
    C1.compare("small tmm by hand", [&](size_t at) {
        double sum = 0;
        for (int k = 0; k < K; ++k)
            sum += A[at / N * K + k] * B[at % N * K + k];
        return sum;
    });
    C.compare("small tmm", [&](size_t at) { return C1[at]; });
}

static void large_products()
{
    const int M = 128, N = 1024, K = 1024;
    Tensor<> A(M * K, 1), B(N * K, 2), C(M * N), C1(M * N);
    counted_tmm(0, M, K, N, A, B, C);
    by_hand_tmm<<<dim3(N / 64, M / 64), 256>>>(N, K, A, B, C1);
    std::vector<float> a(A.host.begin(), A.host.end()), b(B.host.begin(), B.host.end());
    C1.compare("tmm by hand", [&](size_t at) {
        double sum = 0;
        const float *row = &a[at / N * K], *column = &b[at % N * K];
        for (int k = 0; k < K; ++k)
            sum += double(row[k]) * column[k];
        return sum;
    }, 1e-4);
    C.compare("tmm", [&](size_t at) { return C1[at]; }, 1e-4);
}

static void products_with_factors()
{
    const int M = 128, N = 256, K = 128;
    const float a = 1.5f, b = 0.25f;
    Tensor<> A(M * K, 1), B(K * N, 2), C(M * N, 3), C1(M * N, 3);
    const std::vector<double> old = C.host;
    counted_sgemm(0, M, K, N, a, b, A, B, C);
    by_hand_sgemm<<<dim3(N / 64, M / 64), 256>>>(N, K, a, b, A, B, C1);
    C1.compare("sgemm by hand", [&](size_t at) {
        double sum = 0;
        for (int k = 0; k < K; ++k)
            sum += A[at / N * K + k] * B[k * N + at % N];
        return b * old[at] + a * sum;
    }, 1e-4);
    C.compare("sgemm", [&](size_t at) { return C1[at]; }, 1e-4);
}

static void products_of_halves()
{
    const int M = 128, N = 1024, K = 1024;
    Tensor<__half> A(M * K, 1), B(N * K, 2), C(M * N), C1(M * N);
    counted_htmm(0, M, K, N, A, B, C);
    by_hand_htmm<<<dim3(N / 64, M / 64), 128>>>(N, K, A, B, C1);
    std::vector<float> a(A.host.begin(), A.host.end()), b(B.host.begin(), B.host.end());
    C1.compare("htmm by hand", [&](size_t at) {
        double sum = 0;
        const float *row = &a[at / N * K], *column = &b[at % N * K];
        for (int k = 0; k < K; ++k)
            sum += double(row[k]) * column[k];
        return sum;
    }, 1e-3);
    C.compare("htmm", [&](size_t at) { return C1[at]; }, 1e-3);
}

static void batches()
{
    // The paper's batch has 500; each does the same.
    const int B = 20, N = 26, K = 72;
    Tensor<> X(B * N * K, 1), Y(B * N * K, 2), Z(B * N * N), Z1(B * N * N);
    counted_tbmm(0, B, X, Y, Z);
    by_hand_tbmm<<<B, 64>>>(X, Y, Z1);
    Z1.compare("tbmm by hand", [&](size_t at) {
        double sum = 0;
        const size_t x = at / N * K, y = (at / N / N * N + at % N) * K;
        for (int k = 0; k < K; ++k)
            sum += X[x + k] * Y[y + k];
        return sum;
    });
    Z.compare("tbmm", [&](size_t at) { return Z1[at]; });
}

static void convolutions()
{
    // The paper's batch has 32 images.
    const int N = 1, G = 32, C = 16, F = 16, H = 14, W = 14, h = 12, w = 12;
    Tensor<> I(N * G * C * H * W, 1), K(G * F * C * 9, 2), bias(G * F, 3), O(N * G * F * h * w), O1(N * G * F * h * w);
    counted_gconv(0, N, I, K, bias, O);
    by_hand_gconv<<<N * G, 144>>>(I, K, bias, O1);
    O1.compare("gconv by hand", [&](size_t at) {
        const size_t x = at % w, y = at / w % h, f = at / w / h % F, g = at / w / h / F % G, n = at / w / h / F / G;
        double sum = bias[g * F + f];
        for (int c = 0; c < C; ++c)
            for (int k = 0; k < 9; ++k)
                sum += I[(((n * G + g) * C + c) * H + y + k / 3) * W + x + k % 3] * K[((g * F + f) * C + c) * 9 + k];
        return sum;
    });
    O.compare("gconv", [&](size_t at) { return O1[at]; });
}

static void rows()
{
    const int R = 16, D = 1024;
    Tensor<> I(R * D, 3), gamma(D, 4), beta(D, 5), O(R * D), O1(R * D);
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
}

static void tables()
{
    const int B = 128, D = 64, L = 50, E1 = 1000, E2 = 700;
    Tensor<> T1(E1 * D, 1), T2(E2 * D, 2), O1(B * D), O2(B * D), P1(B * D), P2(B * D);
    auto I1 = Tensor<int>::indices(B * L, E1, 1), I2 = Tensor<int>::indices(B * L, E2, 2);
    counted_2lut(0, E1, B, E2, T1, I1, T2, I2, O1, O2);
    by_hand_2lut<<<B / 4, 128>>>(E1, T1, I1, E2, T2, I2, P1, P2);
    const auto sum_of_rows = [&](const Tensor<> &table, const Tensor<int> &rows, size_t at) {
        double sum = 0;
        for (int l = 0; l < L; ++l)
            sum += table[size_t(rows[at / D * L + l]) * D + at % D];
        return sum;
    };
    P1.compare("2lut by hand", [&](size_t at) { return sum_of_rows(T1, I1, at); });
    P2.compare("2lut by hand", [&](size_t at) { return sum_of_rows(T2, I2, at); });
    O1.compare("2lut", [&](size_t at) { return P1[at]; });
    O2.compare("2lut", [&](size_t at) { return P2[at]; });
}

static std::vector<double> layer(const std::vector<double> &in, const Tensor<> &weights, const Tensor<> &bias)
{
    const size_t columns = bias.host.size(), inner = weights.host.size() / columns, rows = in.size() / inner;
    std::vector<double> out(rows * columns);
    for (size_t at = 0; at < out.size(); ++at) {
        double sum = bias[at % columns];
        for (size_t k = 0; k < inner; ++k)
            sum += in[at / columns * inner + k] * weights[at % columns * inner + k];
        out[at] = sum > 0 ? sum : 0;
    }
    return out;
}

static void layers()
{
    const int B = 128, N = 128, O = 64, P = 32, Q = 2;
    Tensor<> I(B * N, 1), W2(O * N, 2), B2(O, 3), W3(P * O, 4), B3(P, 5), W4(Q * P, 6), B4(Q, 7), R(B * Q), R1(B * Q);
    counted_mlp3(0, B, I, W2, B2, W3, B3, W4, B4, R);
    by_hand_mlp3<<<B / 16, 128>>>(I, W2, B2, W3, B3, W4, B4, R1);
    const std::vector<double> expected = layer(layer(layer(I.host, W2, B2), W3, B3), W4, B4);
    R1.compare("mlp3 by hand", [&](size_t at) { return expected[at]; }, 1e-4);
    R.compare("mlp3", [&](size_t at) { return R1[at]; }, 1e-4);
}

int main()
{
    products();
    large_products();
    products_with_factors();
    products_of_halves();
    batches();
    convolutions();
    rows();
    tables();
    layers();
    return verdict();
}
