// A step of an LSTM, and a loop of such steps, against the host in double precision.
#include "recurrent.tc.h"
#include "check.h"

const int B = 3, D = 5, H = 4, T = 6;

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

int main()
{
    Tensor<> X(T * B * D, 1), h0(B * H, 2), c0(B * H, 3), W(4 * H * D, 4), U(4 * H * H, 5), bias(4 * H, 6);
    std::vector<double> h = h0.host, c = c0.host, all = h0.host, first_h, first_c;
    for (int t = 0; t < T; ++t) {
        std::vector<double> next(B * H);
        for (int b = 0; b < B; ++b)
            for (int u = 0; u < H; ++u) {
                double gate[4];
                for (int g = 0; g < 4; ++g) {
                    gate[g] = bias[g * H + u];
                    for (int d = 0; d < D; ++d)
                        gate[g] += X[(t * B + b) * D + d] * W[(g * H + u) * D + d];
                    for (int r = 0; r < H; ++r)
                        gate[g] += h[b * H + r] * U[(g * H + u) * H + r];
                }
                double &cell = c[b * H + u];
                cell = sigmoid(gate[1]) * cell + sigmoid(gate[0]) * std::tanh(gate[2]);
                next[b * H + u] = sigmoid(gate[3]) * std::tanh(cell);
            }
        h = next;
        all.insert(all.end(), h.begin(), h.end());
        if (t == 0) {
            first_h = h;
            first_c = c;
        }
    }
    Tensor<> h1(B * H), c1(B * H), hs((T + 1) * B * H), cT(B * H);
    lstm_step(0, B, D, H, X, h0, c0, W, U, bias, h1, c1);
    h1.compare("h", [&](size_t i) { return first_h[i]; });
    c1.compare("c", [&](size_t i) { return first_c[i]; });
    lstm(0, T, B, D, H, X, h0, c0, W, U, bias, hs, cT);
    hs.compare("hs", [&](size_t i) { return all[i]; });
    cT.compare("last c", [&](size_t i) { return c[i]; });
    return verdict();
}
