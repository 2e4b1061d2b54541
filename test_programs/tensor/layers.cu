// Layers of networks, each against the host in double precision.
#include "layers.tc.h"
#include "check.h"

static double relu(double x) { return x > 0 ? x : 0; }

// A layer of a perceptron on the host.
template <typename In, typename Weights, typename Bias>
static double unit(const In &in, const Weights &w, const Bias &bias, int width, size_t row, size_t o)
{
    double sum = bias[o];
    for (int i = 0; i < width; ++i)
        sum += in[row * width + i] * w[o * width + i];
    return relu(sum);
}

int main()
{
    const int N = 2, C = 3, F = 4, H = 9, W = 11, KH = 3, KW = 2;
    Tensor<> I(N * C * H * W, 1), K(F * C * KH * KW, 2), bias(F, 3);
    auto image = [&](size_t n, int c, size_t h, size_t w) { return I[((n * C + c) * H + h) * W + w]; };
    {
        const int h = H - KH + 1, w = W - KW + 1;
        Tensor<> O(N * F * h * w);
        conv2d(0, N, C, H, W, F, KH, KW, I, K, O);
        O.compare("conv2d", [&](size_t at) {
            const size_t x = at % w, y = at / w % h, f = at / w / h % F, n = at / w / h / F;
            double sum = 0;
            for (int c = 0; c < C; ++c)
                for (int kh = 0; kh < KH; ++kh)
                    for (int kw = 0; kw < KW; ++kw)
                        sum += image(n, c, y + kh, x + kw) * K[((f * C + c) * KH + kh) * KW + kw];
            return sum;
        });
    }
    {
        const int h = (H - KH) / 2 + 1, w = (W - KW) / 3 + 1;
        Tensor<> O(N * F * h * w);
        sconv2d(0, N, C, H, W, F, KH, KW, I, K, bias, O);
        O.compare("sconv2d", [&](size_t at) {
            const size_t x = at % w, y = at / w % h, f = at / w / h % F, n = at / w / h / F;
            double sum = bias[f];
            for (int c = 0; c < C; ++c)
                for (int kh = 0; kh < KH; ++kh)
                    for (int kw = 0; kw < KW; ++kw)
                        sum += image(n, c, 2 * y + kh, 3 * x + kw) * K[((f * C + c) * KH + kh) * KW + kw];
            return sum;
        });
    }
    {
        Tensor<> K3(F * C * 9, 4), O(N * F * H * W);
        padded(0, N, C, H, W, F, I, K3, O);
        O.compare("padded", [&](size_t at) {
            const int x = at % W, y = at / W % H;
            const size_t f = at / W / H % F, n = at / W / H / F;
            double sum = 0;
            for (int c = 0; c < C; ++c)
                for (int kh = 0; kh < 3; ++kh)
                    for (int kw = 0; kw < 3; ++kw)
                        if (y + kh >= 1 && y + kh <= H && x + kw >= 1 && x + kw <= W)
                            sum += image(n, c, y + kh - 1, x + kw - 1) * K3[((f * C + c) * 3 + kh) * 3 + kw];
            return sum;
        });
    }
    {
        // Two groups of one and a half times the channels make up the image.
        const int G = 3, D = 1, h = H - KH + 1, w = W - KW + 1;
        Tensor<> GK(G * F * D * KH * KW, 5), gbias(G * F, 6), O(N * G * F * h * w);
        gconv(0, N, G, D, H, W, F, KH, KW, I, GK, gbias, O);
        O.compare("gconv", [&](size_t at) {
            const size_t x = at % w, y = at / w % h, f = at / w / h % F, g = at / w / h / F % G, n = at / w / h / F / G;
            double sum = gbias[g * F + f];
            for (int kh = 0; kh < KH; ++kh)
                for (int kw = 0; kw < KW; ++kw)
                    sum += image(n, g, y + kh, x + kw) * GK[((g * F + f) * KH + kh) * KW + kw];
            return sum;
        });
    }
    {
        const int h = H / 2, w = W / 2;
        Tensor<> O(N * C * h * w);
        maxpool(0, N, C, H, W, I, O);
        O.compare("maxpool", [&](size_t at) {
            const size_t x = at % w, y = at / w % h, c = at / w / h % C, n = at / w / h / C;
            double most = -INFINITY;
            for (int k = 0; k < 4; ++k)
                most = std::fmax(most, image(n, c, 2 * y + k / 2, 2 * x + k % 2));
            return most;
        });
    }
    {
        const int E = 50, D = 8, B = 6, L = 5, E2 = 20, D2 = 4, L2 = 7;
        Tensor<> X(E, 7), T1(E * D, 8), T2(E2 * D2, 9), Z(B * L), O1(B * D), O2(B * D2), O(B * D);
        Tensor<int> I1 = Tensor<int>::indices(B * L, E, 1), I2 = Tensor<int>::indices(B * L2, E2, 2);
        gather(0, E, B, L, X, I1, Z);
        Z.compare("gather", [&](size_t at) { return X[static_cast<size_t>(I1[at])]; });
        lut1(0, E, D, B, L, T1, I1, O);
        auto first = [&](size_t at) {
            double sum = 0;
            for (int l = 0; l < L; ++l)
                sum += T1[static_cast<size_t>(I1[at / D * L + l]) * D + at % D];
            return sum;
        };
        O.compare("lut1", first);
        lut2(0, E, D, B, L, E2, D2, L2, T1, I1, T2, I2, O1, O2);
        O1.compare("lut2", first);
        O2.compare("lut2", [&](size_t at) {
            double sum = 0;
            for (int l = 0; l < L2; ++l)
                sum += T2[static_cast<size_t>(I2[at / D2 * L2 + l]) * D2 + at % D2];
            return sum;
        });
        // An index outside of the table gives 0.
        I1.host[3] = -1;
        I1.host[4] = E;
        I1.send();
        gather(0, E, B, L, X, I1, Z);
        Z.compare("gather outside", [&](size_t at) {
            return at == 3 || at == 4 ? 0 : X[static_cast<size_t>(I1[at])];
        });
    }
    {
        const int B = 6, M = 20, O = 12, P = 10, Q = 3;
        Tensor<> In(B * M, 10), W2(O * M, 11), B2(O, 12), W3(P * O, 13), B3(P, 14), W4(Q * P, 15), B4(Q, 16);
        Tensor<> Y(B * O), Y3(B * P), Y4(B * Q), Plain(B * O);
        mlp1(0, B, M, O, In, W2, B2, Y);
        Y.compare("mlp1", [&](size_t at) { return unit(In, W2, B2, M, at / O, at % O); });
        c3(0, B, M, O, In, W2, Plain);
        Plain.compare("c3", [&](size_t at) {
            double sum = 0;
            for (int i = 0; i < M; ++i)
                sum += In[at / O * M + i] * W2[at % O * M + i];
            return sum;
        });
        mlp3(0, B, M, O, P, Q, In, W2, B2, W3, B3, W4, B4, Y, Y3, Y4);
        Y.compare("mlp3", [&](size_t at) { return unit(In, W2, B2, M, at / O, at % O); });
        Y3.compare("mlp3", [&](size_t at) { return unit(Y, W3, B3, O, at / P, at % P); });
        Y4.compare("mlp3", [&](size_t at) { return unit(Y3, W4, B4, P, at / Q, at % Q); });
    }
    {
        // Rows that do not fit: each layer is a kernel of its own.
        const int B = 5, M = 20, O = 300, P = 270, Q = 3;
        Tensor<> In(B * M, 10), W2(O * M, 11), B2(O, 12), W3(P * O, 13), B3(P, 14), W4(Q * P, 15), B4(Q, 16);
        Tensor<> Y(B * O), Y3(B * P), Y4(B * Q);
        mlp3(0, B, M, O, P, Q, In, W2, B2, W3, B3, W4, B4, Y, Y3, Y4);
        Y.compare("wide mlp3", [&](size_t at) { return unit(In, W2, B2, M, at / O, at % O); });
        Y3.compare("wide mlp3", [&](size_t at) { return unit(Y, W3, B3, O, at / P, at % P); }, 1e-4);
        Y4.compare("wide mlp3", [&](size_t at) { return unit(Y3, W4, B4, P, at / Q, at % Q); }, 1e-4);
    }
    return verdict();
}
