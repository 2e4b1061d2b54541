// Ragged rows, scatters and parts of tensors, each against the host in double precision.
#include "irregular.tc.h"
#include "check.h"

int main()
{
    const int rows = 9, N = 12;
    Tensor<int> P(rows + 1);
    int entries = 0;
    for (int i = 0; i <= rows; ++i) {
        P.host[i] = entries;
        entries += i * 5 % 4;
    }
    P.send();
    entries = static_cast<int>(P[rows]);
    Tensor<> V(entries, 1), x(N, 2), y(rows);
    Tensor<int> J = Tensor<int>::indices(entries, N, 3);
    csr(0, entries, rows + 1, N, V, J, P, x, rows, y);
    y.compare("csr", [&](size_t i) {
        double sum = 0;
        for (int k = static_cast<int>(P[i]); k < P[i + 1]; ++k)
            sum += V[k] * x[static_cast<size_t>(J[k])];
        return sum;
    });

    const int B = 30, D = 5;
    Tensor<> G(B * D, 4), O(rows * D);
    Tensor<int> I = Tensor<int>::indices(B, rows + 1, 5);
    scatter(0, B, D, G, I, rows, O);
    O.compare("scatter", [&](size_t at) {
        double sum = 0;
        for (int b = 0; b < B; ++b)
            if (I[b] == static_cast<double>(at / D))
                sum += G[b * D + at % D];
        return sum;
    });

    Tensor<unsigned char> bytes = Tensor<unsigned char>::indices(1000, 200, 6);
    Tensor<int> H(256);
    histogram(0, 1000, bytes, H);
    H.compare("histogram", [&](size_t value) {
        int count = 0;
        for (double byte : bytes.host)
            count += byte == static_cast<double>(value);
        return static_cast<double>(count);
    });

    const int E = 3;
    Tensor<> A(N * D, 7), C(N * E, 8), AC(N * (D + E));
    joined(0, N, D, E, A, C, AC);
    AC.compare("joined", [&](size_t at) {
        const size_t row = at / (D + E), column = at % (D + E);
        return column < D ? A[row * D + column] : C[row * E + column - D];
    });

    Tensor<> border(N + 2);
    bordered(0, N, x, border);
    border.compare("bordered", [&](size_t i) { return i == 0 ? -1 : i == N + 1 ? 1 : x[i - 1]; });

    Tensor<double> a(N, 9), s(N);
    prefix(0, N, a, s);
    s.compare("prefix", [&](size_t i) {
        double sum = 0;
        for (size_t k = 0; k <= i; ++k)
            sum += a[k];
        return sum;
    }, 1e-14);

    Tensor<__nv_bfloat16> b16(4 * 33, 10, 16), sums(4);
    bsum(0, 4, 33, b16, sums);
    sums.compare("bsum", [&](size_t i) {
        double sum = 0;
        for (int j = 0; j < 33; ++j)
            sum += b16[i * 33 + j];
        return sum;
    }, 8e-3);
    return verdict();
}
