// Normalisations, each against the host in double precision.
#include "normalisations.tc.h"
#include "check.h"

// Mean and variance of elements that `at` names.
template <typename At> static void moments_of(int count, At at, double &mean, double &var)
{
    mean = var = 0;
    for (int i = 0; i < count; ++i)
        mean += at(i) / count;
    for (int i = 0; i < count; ++i)
        var += (at(i) - mean) * (at(i) - mean) / count;
}

int main()
{
    const int N = 6, K = 40;
    Tensor<> I(N * K, 1), O(N * K), gamma(K, 2), beta(K, 3), mean(N), var(N);
    softmax(0, N, K, I, O);
    O.compare("softmax", [&](size_t at) {
        double total = 0;
        for (int k = 0; k < K; ++k)
            total += std::exp(I[at / K * K + k]);
        return std::exp(I[at]) / total;
    });
    auto row = [&](size_t n, double &m, double &v) {
        moments_of(K, [&](int k) { return I[n * K + k]; }, m, v);
    };
    // Rows that are read by four, and such that are not: of a length without fours, from a place between fours on.
    for (const int width : {512, 1036, 515})
        for (const size_t first : {0, 1}) {
            Tensor<> in(N * width + 1, 7), out(N * width + 1);
            softmax(0, N, width, in.device + first, out.device + first);
            out.compare("long softmax", [&](size_t at) {
                if (at < first || at >= N * width + first)
                    return out[at];
                const size_t row = (at - first) / width * width + first;
                double total = 0;
                for (int k = 0; k < width; ++k)
                    total += std::exp(in[row + k]);
                return std::exp(in[at]) / total;
            });
        }
    Tensor<> all(300, 8), sum(1);
    from_below(0, 300, all, sum);
    sum.compare("from below", [&](size_t) {
        double total = 0;
        for (int k = 0; k < 300; ++k)
            total += all[k];
        return total;
    });
    double m, v;
    moments(0, N, K, I, mean, var);
    mean.compare("mean", [&](size_t n) { return row(n, m, v), m; });
    var.compare("var", [&](size_t n) { return row(n, m, v), v; });
    layer_norm(0, N, K, I, gamma, beta, O);
    O.compare("layer_norm", [&](size_t at) {
        row(at / K, m, v);
        return gamma[at % K] * (I[at] - m) / std::sqrt(v + 1e-5) + beta[at % K];
    }, 1e-4);

    const int G = 3, D = 2, H = 4, W = 5, S = D * H * W;
    Tensor<> X(N * G * S, 4), ggamma(G * D, 5), gbeta(G * D, 6), Y(N * G * S), gmean(N * G), gvar(N * G);
    group_norm(0, N, G, D, H, W, X, ggamma, gbeta, Y, gmean, gvar);
    auto group = [&](size_t n, double &mean, double &var) {
        moments_of(S, [&](int k) { return X[n * S + k]; }, mean, var);
    };
    gmean.compare("group_norm mean", [&](size_t n) { return group(n, m, v), m; });
    gvar.compare("group_norm var", [&](size_t n) { return group(n, m, v), v; });
    Y.compare("group_norm", [&](size_t at) {
        const size_t channel = at / (H * W) % (G * D);
        group(at / S, m, v);
        return ggamma[channel] * (X[at] - m) / std::sqrt(v + 1e-5) + gbeta[channel];
    }, 1e-4);

    const int C = 3, P = H * W;
    Tensor<> Z(N * C * P, 7), ZO(N * C * P), rmean(C, 8), rvar(C, 9);
    const std::vector<double> oldMean = rmean.host, oldVar = rvar.host;
    batch_norm(0, N, C, H, W, Z, 0.1f, 1e-3f, rmean, rvar, ZO);
    auto channel = [&](size_t c, double &mean, double &var) {
        moments_of(N * P, [&](int i) { return Z[(i / P * C + c) * P + i % P]; }, mean, var);
    };
    rmean.compare("batch_norm mean", [&](size_t c) { return channel(c, m, v), 0.9 * oldMean[c] + 0.1 * m; });
    rvar.compare("batch_norm var", [&](size_t c) { return channel(c, m, v), 0.9 * oldVar[c] + 0.1 * v; });
    ZO.compare("batch_norm", [&](size_t at) {
        channel(at / P % C, m, v);
        return (Z[at] - m) / std::sqrt(v + 1e-3);
    }, 1e-4);
    return verdict();
}
