// Networks as one definition each, against the host in double precision.
#include "networks.tc.h"
#include "check.h"

using Numbers = std::vector<double>;

static Numbers numbers(const Tensor<> &tensor) { return tensor.host; }

// Rows of `inner` numbers times the rows of a matrix; `bias` may be empty.
static Numbers dense_of(const Numbers &in, const Numbers &matrix, const Numbers &bias, size_t inner)
{
    const size_t rows = in.size() / inner, columns = matrix.size() / inner;
    Numbers out(rows * columns);
    for (size_t row = 0; row < rows; ++row)
        for (size_t column = 0; column < columns; ++column) {
            double sum = bias.empty() ? 0 : bias[column];
            for (size_t i = 0; i < inner; ++i)
                sum += in[row * inner + i] * matrix[column * inner + i];
            out[row * columns + column] = sum;
        }
    return out;
}

static Numbers positive(Numbers values)
{
    for (double &value : values)
        value = value > 0 ? value : 0;
    return values;
}

static Numbers sum_of(Numbers left, const Numbers &right)
{
    for (size_t at = 0; at < left.size(); ++at)
        left[at] += right[at];
    return left;
}

static Numbers normalised(Numbers rows, const Numbers &scale, const Numbers &shift)
{
    const size_t width = scale.size();
    for (size_t row = 0; row < rows.size(); row += width) {
        double mean = 0, square = 0;
        for (size_t at = 0; at < width; ++at)
            mean += rows[row + at] / width;
        for (size_t at = 0; at < width; ++at)
            square += (rows[row + at] - mean) * (rows[row + at] - mean) / width;
        for (size_t at = 0; at < width; ++at)
            rows[row + at] = (rows[row + at] - mean) / std::sqrt(square + 0.00001) * scale[at] + shift[at];
    }
    return rows;
}

static Numbers attended(const Numbers &q, const Numbers &k, const Numbers &v, size_t rows, size_t heads, size_t width)
{
    const size_t row = heads * width;
    Numbers out(rows * row);
    for (size_t h = 0; h < heads; ++h)
        for (size_t t = 0; t < rows; ++t) {
            Numbers powers(rows);
            double sum = 0;
            for (size_t s = 0; s < rows; ++s) {
                double score = 0;
                for (size_t d = 0; d < width; ++d)
                    score += q[t * row + h * width + d] * k[s * row + h * width + d];
                sum += powers[s] = std::exp(score / std::sqrt(double(width)));
            }
            for (size_t d = 0; d < width; ++d)
                for (size_t s = 0; s < rows; ++s)
                    out[t * row + h * width + d] += powers[s] / sum * v[s * row + h * width + d];
        }
    return out;
}

static void attentions()
{
    const int T = 9, H = 3, D = 4;
    Tensor<> Q(T * H * D, 1), K(T * H * D, 2), V(T * H * D, 3), shape(H * D), O(T * H * D), P(T * H * D);
    attention(0, T, H, D, Q, K, V, O);
    attention_of_rows(0, T, H * D, H, D, Q, K, V, shape, P);
    const Numbers expected = attended(numbers(Q), numbers(K), numbers(V), T, H, D);
    O.compare("attention", [&](size_t at) { return expected[at]; });
    P.compare("attention of rows", [&](size_t at) { return expected[at]; });
}

static void bert(int T, int H, int D, int F)
{
    const int M = H * D;
    Tensor<> X(T * M, 1), shape(H * D), Y(T * M);
    Tensor<> WQ(M * M, 2), BQ(M, 3), WK(M * M, 4), BK(M, 5), WV(M * M, 6), BV(M, 7), WO(M * M, 8), BO(M, 9);
    Tensor<> scale1(M, 10), shift1(M, 11), W1(F * M, 12), B1(F, 13), W2(M * F, 14), B2(M, 15), scale2(M, 16), shift2(M, 17);
    bert_layer(0, T, M, H, D, F, X, shape, WQ, BQ, WK, BK, WV, BV, WO, BO, scale1, shift1, W1, B1, W2, B2, scale2, shift2, Y);
    const Numbers x = numbers(X);
    const Numbers q = dense_of(x, numbers(WQ), numbers(BQ), M), k = dense_of(x, numbers(WK), numbers(BK), M);
    const Numbers heads = attended(q, k, dense_of(x, numbers(WV), numbers(BV), M), T, H, D);
    const Numbers middle =
        normalised(sum_of(dense_of(heads, numbers(WO), numbers(BO), M), x), numbers(scale1), numbers(shift1));
    Numbers active = dense_of(middle, numbers(W1), numbers(B1), M);
    for (double &value : active)
        value *= 0.5 * (1 + std::erf(value * 0.70710678));
    const Numbers expected =
        normalised(sum_of(dense_of(active, numbers(W2), numbers(B2), F), middle), numbers(scale2), numbers(shift2));
    Y.compare("bert", [&](size_t at) { return expected[at]; }, 1e-4);
}

static void waves()
{
    const int B = 2, C = 5, T = 11, S = 3;
    Tensor<> I(B * C * T, 1), WT0(C * C, 2), WT1(C * C, 3), WS0(C * C, 4), WS1(C * C, 5), WR(C * C, 6), WK(S * C, 7);
    Tensor<> R(B * C * T), K(B * S * T);
    wavenet(0, B, C, T, S, I, WT0, WT1, WS0, WS1, WR, WK, R, K);
    Numbers gated(B * C * T);
    for (int b = 0; b < B; ++b)
        for (int c = 0; c < C; ++c)
            for (int t = 0; t < T; ++t) {
                double filter = 0, gate = 0;
                for (int i = 0; i < C; ++i) {
                    const double now = I[(b * C + i) * T + t], before = t >= 2 ? I[(b * C + i) * T + t - 2] : 0;
                    filter += WT0[c * C + i] * before + WT1[c * C + i] * now;
                    gate += WS0[c * C + i] * before + WS1[c * C + i] * now;
                }
                gated[(b * C + c) * T + t] = std::tanh(filter) / (1 + std::exp(-gate));
            }
    const auto mixed = [&](const Tensor<> &matrix, size_t batch, size_t row, size_t t) {
        double sum = 0;
        for (int i = 0; i < C; ++i)
            sum += matrix[row * C + i] * gated[(batch * C + i) * T + t];
        return sum;
    };
    R.compare("residual", [&](size_t at) { return I[at] + mixed(WR, at / T / C, at / T % C, at % T); });
    K.compare("skip", [&](size_t at) { return mixed(WK, at / T / S, at / T % S, at % T); });
}

static Numbers looked_up(const Tensor<> &table, const Tensor<int> &rows, size_t batch, size_t width)
{
    const size_t each = rows.host.size() / batch;
    Numbers out(batch * width);
    for (size_t b = 0; b < batch; ++b)
        for (size_t l = 0; l < each; ++l)
            for (size_t d = 0; d < width; ++d)
                out[b * width + d] += table[static_cast<size_t>(rows[b * each + l]) * width + d];
    return out;
}

static void productions()
{
    const int E1 = 20, D = 8, B = 6, L1 = 5, E2 = 30, L2 = 4, M = 12, N = 10, O = 14, P = 7, Q = 2, C = D + N;
    Tensor<> LUT1(E1 * D, 1), LUT2(E2 * D, 2), X(B * M, 3), W1(N * M, 4), B1(N, 5), WC(D * D, 6);
    Tensor<> W2(O * C, 7), B2(O, 8), W3(P * O, 9), B3(P, 10), W4(Q * P, 11), B4(Q, 12), R(B * Q);
    auto I1 = Tensor<int>::indices(B * L1, E1, 1), I2 = Tensor<int>::indices(B * L2, E2, 2);
    production(0, E1, D, B, L1, E2, L2, M, N, O, C, P, Q, LUT1, I1, LUT2, I2, X, W1, B1, WC, W2, B2, W3, B3, W4, B4, R);
    const Numbers crossed = dense_of(looked_up(LUT1, I1, B, D), numbers(WC), {}, D), second = looked_up(LUT2, I2, B, D);
    const Numbers wide = positive(dense_of(numbers(X), numbers(W1), numbers(B1), M));
    Numbers all(B * C);
    for (int b = 0; b < B; ++b)
        for (int c = 0; c < C; ++c)
            all[b * C + c] = c < D ? crossed[b * D + c] * second[b * D + c] : wide[b * N + c - D];
    Numbers result = positive(dense_of(all, numbers(W2), numbers(B2), C));
    result = positive(dense_of(result, numbers(W3), numbers(B3), O));
    result = positive(dense_of(result, numbers(W4), numbers(B4), P));
    R.compare("production", [&](size_t at) { return result[at]; });
}

int main()
{
    attentions();
    // Rows of layers fit into shared memory, and do not: 3 launches, and 8.
    bert(10, 3, 8, 40);
    bert(24, 3, 8, 600);
    waves();
    productions();
    return verdict();
}
