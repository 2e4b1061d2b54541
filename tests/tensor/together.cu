// Rows by each mapping, one after the other, a product and a scatter, against the host; and what all results are, bit by bit.
#include "together.tc.h"
#include "check.h"
#include <cstring>

static unsigned long long bits = 0;

static void take(const Tensor<> &tensor)
{
    for (double value : tensor.host) {
        const float element = static_cast<float>(value);
        unsigned word;
        std::memcpy(&word, &element, sizeof word);
        bits = bits * 1000003 + word;
    }
}

int main()
{
    const int M = 69, N = 66, K = 33, R = 6, D = 40, L = 50;
    const float a = 0.75f;
    Tensor<> A(M * K, 1), B(K * N, 2), I(R * D, 3), X(D, 4);
    Tensor<int> at = Tensor<int>::indices(L, D + 3, 5);
    Tensor<> C(M * N), O(D);
    automatic_factors(0, M, K, N, a, A, B, C);
    automatic_counts(0, L, D, at, X, O);
#define OF(space)                                                                                                                  \
    Tensor<> P##space(R * D), S##space(R * D);                                                                                    \
    space##_softmax(0, R, D, I, P##space);                                                                                        \
    space##_scaled(0, R, D, a, P##space, S##space);
    OF(identity)
    OF(automatic)
    OF(stitched)
    C.compare("factors", [&](size_t at) {
        double sum = 0;
        for (size_t k = 0, m = at / N, n = at % N; k < K; ++k)
            sum += (std::fmax(A[m * K + k], 0) + a) * (m > 0 && k > 0 ? std::exp(B[(k - 1) * N + n]) : a);
        return sum;
    });
    O.compare("counts", [&](size_t n) {
        double sum = X[n];
        for (int b = 0; b < L; ++b)
            sum += at[b] == n;
        return sum;
    });
    take(C), take(O);
#define COMPARE(space)                                                                                                             \
    P##space.compare(#space " softmax", [&](size_t at) {                                                                          \
        double total = 0;                                                                                                          \
        for (int d = 0; d < D; ++d)                                                                                               \
            total += std::exp(I[at / D * D + d]);                                                                                  \
        return std::exp(I[at]) / total;                                                                                            \
    });                                                                                                                            \
    S##space.compare(#space " scaled", [&](size_t at) { return a * P##space[at]; });                                              \
    take(P##space), take(S##space);
    COMPARE(identity)
    COMPARE(automatic)
    COMPARE(stitched)
    std::printf("%llu\n", bits);
    return verdict();
}
