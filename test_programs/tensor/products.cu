// Products of matrices and tensors, each against the host in double precision.
#include "products.tc.h"
#include "check.h"

int main()
{
    const int M = 37, K = 21, N = 18;
    Tensor<> A(M * K, 1), x(K, 2), C(M), B(K * N, 3), D(M * N, 4), BT(N * K, 5), E(M * N);
    mv(0, M, K, A, x, C);
    C.compare("mv", [&](size_t i) {
        double sum = 0;
        for (int k = 0; k < K; ++k)
            sum += A[i * K + k] * x[k];
        return sum;
    });

    const std::vector<double> before = D.host;
    sgemm(0, M, K, N, 1.5f, 0.25f, A, B, D);
    D.compare("sgemm", [&](size_t at) {
        double sum = 0.25 * before[at];
        for (int k = 0; k < K; ++k)
            sum += 1.5 * A[at / N * K + k] * B[k * N + at % N];
        return sum;
    });

    Tensor<> bias(N, 6);
    fcrelu(0, M, K, N, A, BT, bias, E);
    E.compare("fcrelu", [&](size_t at) {
        double sum = bias[at % N];
        for (int k = 0; k < K; ++k)
            sum += A[at / N * K + k] * BT[at % N * K + k];
        return sum > 0 ? sum : 0;
    });

    tmm(0, M, K, N, A, BT, E);
    E.compare("tmm", [&](size_t at) {
        double sum = 0;
        for (int k = 0; k < K; ++k)
            sum += A[at / N * K + k] * BT[at % N * K + k];
        return sum;
    });

    const int batch = 5, n = 7, k = 6, m = 9;
    Tensor<> X(batch * n * m, 7), Y(batch * k * m, 8), Z(batch * n * k);
    tbmm(0, batch, n, m, k, X, Y, Z);
    Z.compare("tbmm", [&](size_t at) {
        const size_t b = at / (n * k), row = at / k % n, column = at % k;
        double sum = 0;
        for (int i = 0; i < m; ++i)
            sum += X[(b * n + row) * m + i] * Y[(b * k + column) * m + i];
        return sum;
    });

    const int C1 = 3, C2 = 4, C3 = 2, H = 5, W = 6, S = H * W;
    Tensor<> I0(2 * C1 * C2 * S, 9), I1(2 * C2 * C3 * S, 10), O(2 * C1 * C3 * S);
    tensordot(0, 2, C1, C2, H, W, C3, I0, I1, O);
    O.compare("tensordot", [&](size_t at) {
        const size_t s = at % S, c3 = at / S % C3, c1 = at / S / C3 % C1, b = at / S / C3 / C1;
        double sum = 0;
        for (int c2 = 0; c2 < C2; ++c2)
            sum += I0[((b * C1 + c1) * C2 + c2) * S + s] * I1[((b * C2 + c2) * C3 + c3) * S + s];
        return sum;
    });

    const int D0 = 3, N0 = 4, D1 = 2, N1 = 5, D2 = 4, N2 = 3, R = 6;
    Tensor<> W0(D0 * N0, 11), W1(D1 * N1, 12), W2(D2 * N2, 13), V(R * N0 * N1 * N2, 14), U(R * D0 * D1 * D2);
    kronecker3(0, D0, N0, D1, N1, D2, N2, R, W0, W1, W2, V, U);
    U.compare("kronecker3", [&](size_t at) {
        const size_t d2 = at % D2, d1 = at / D2 % D1, d0 = at / D2 / D1 % D0, row = at / D2 / D1 / D0;
        double sum = 0;
        for (int a = 0; a < N0; ++a)
            for (int b = 0; b < N1; ++b)
                for (int c = 0; c < N2; ++c)
                    sum += W0[d0 * N0 + a] * W1[d1 * N1 + b] * W2[d2 * N2 + c] * V[((row * N0 + a) * N1 + b) * N2 + c];
        return sum;
    });

    Tensor<__half> HA(M * K, 15, 16), hx(K, 16, 16), hc(M);
    hmv(0, M, K, HA, hx, hc);
    hc.compare("hmv", [&](size_t i) {
        double sum = 0;
        for (int j = 0; j < K; ++j)
            sum += HA[i * K + j] * hx[j];
        return sum;
    }, 1e-3);
    return verdict();
}
