// A perceptron of two layers, trained: forwards product, bias, rectifier, product, softmax and loss; backwards the errors of both
// layers; the gradients as sums over samples, and a step. One kernel an operator.
//
// Shows: forwards and backwards everything of a sample stays in its block; gradients need all samples. The second layer's
// weights change only after the first layer's errors have been made of them.
//
// expect: 11 launches -> 2
#include "workload.h"

constexpr int SAMPLES = 24, IN = 16, HIDDEN = 32, CLASSES = 8;
constexpr float RATE = 0.2f;

__global__ void product(const float *x, const float *w, int inner, int outer, float *y) {
    if (threadIdx.x >= outer) return;
    float sum = 0.0f;
    for (int k = 0; k < inner; ++k) sum += x[blockIdx.x * inner + k] * w[k * outer + threadIdx.x];
    y[blockIdx.x * outer + threadIdx.x] = sum;
}

__global__ void add_bias(float *y, const float *bias) { y[blockIdx.x * HIDDEN + threadIdx.x] += bias[threadIdx.x]; }

__global__ void rectify(const float *y, float *h) {
    const int i = blockIdx.x * HIDDEN + threadIdx.x;
    h[i] = y[i] > 0.0f ? y[i] : 0.0f;
}

__global__ void softmax(const float *scores, float *p) {
    const float *row = scores + blockIdx.x * CLASSES;
    float most = row[0], sum = 0.0f;
    for (int c = 1; c < CLASSES; ++c) most = fmaxf(most, row[c]);
    for (int c = 0; c < CLASSES; ++c) sum += expf(row[c] - most);
    if (threadIdx.x < CLASSES) p[blockIdx.x * CLASSES + threadIdx.x] = expf(row[threadIdx.x] - most) / sum;
}

__global__ void output_error(const float *p, float *e) {
    if (threadIdx.x >= CLASSES) return;
    const int i = blockIdx.x * CLASSES + threadIdx.x;
    e[i] = (p[i] - (blockIdx.x % CLASSES == threadIdx.x ? 1.0f : 0.0f)) / SAMPLES;
}

__global__ void hidden_error(const float *e, const float *w, const float *y, float *error) {
    float sum = 0.0f;
    for (int c = 0; c < CLASSES; ++c) sum += e[blockIdx.x * CLASSES + c] * w[threadIdx.x * CLASSES + c];
    error[blockIdx.x * HIDDEN + threadIdx.x] = y[blockIdx.x * HIDDEN + threadIdx.x] > 0.0f ? sum : 0.0f;
}

// A block for each row of the weights.
__global__ void gradient(const float *x, const float *e, int inner, int outer, float *g) {
    if (threadIdx.x >= outer) return;
    float sum = 0.0f;
    for (int s = 0; s < SAMPLES; ++s) sum += x[s * inner + blockIdx.x] * e[s * outer + threadIdx.x];
    g[blockIdx.x * outer + threadIdx.x] = sum;
}

__global__ void step(const float *g, int outer, float *w) {
    if (threadIdx.x < outer) w[blockIdx.x * outer + threadIdx.x] -= RATE * g[blockIdx.x * outer + threadIdx.x];
}

int main() {
    Tensor x(SAMPLES * IN, 1), first(IN * HIDDEN, 2), bias(HIDDEN, 3), second(HIDDEN * CLASSES, 4);
    Tensor y(SAMPLES * HIDDEN), h(SAMPLES * HIDDEN), scores(SAMPLES * CLASSES), p(SAMPLES * CLASSES), e(SAMPLES * CLASSES);
    Tensor error(SAMPLES * HIDDEN), of_first(IN * HIDDEN), of_second(HIDDEN * CLASSES);
    product<<<SAMPLES, HIDDEN>>>(x.device, first.device, IN, HIDDEN, y.device);
    add_bias<<<SAMPLES, HIDDEN>>>(y.device, bias.device);
    rectify<<<SAMPLES, HIDDEN>>>(y.device, h.device);
    product<<<SAMPLES, HIDDEN>>>(h.device, second.device, HIDDEN, CLASSES, scores.device);
    softmax<<<SAMPLES, HIDDEN>>>(scores.device, p.device);
    output_error<<<SAMPLES, HIDDEN>>>(p.device, e.device);
    hidden_error<<<SAMPLES, HIDDEN>>>(e.device, second.device, y.device, error.device);
    gradient<<<HIDDEN, HIDDEN>>>(h.device, e.device, HIDDEN, CLASSES, of_second.device);
    gradient<<<IN, HIDDEN>>>(x.device, error.device, IN, HIDDEN, of_first.device);
    step<<<HIDDEN, HIDDEN>>>(of_second.device, CLASSES, second.device);
    step<<<IN, HIDDEN>>>(of_first.device, HIDDEN, first.device);
    std::vector<float> got = first.back();
    for (float value : second.back()) got.push_back(value);

    std::vector<double> one(first.host.begin(), first.host.end()), two(second.host.begin(), second.host.end());
    for (int s = 0; s < SAMPLES; ++s) {
        double before[HIDDEN], out[CLASSES], sum = 0;
        for (int t = 0; t < HIDDEN; ++t) {
            before[t] = bias.host[t];
            for (int k = 0; k < IN; ++k) before[t] += (double)x.host[s * IN + k] * first.host[k * HIDDEN + t];
        }
        for (int c = 0; c < CLASSES; ++c) {
            out[c] = 0;
            for (int t = 0; t < HIDDEN; ++t) out[c] += std::fmax(before[t], 0.0) * second.host[t * CLASSES + c];
            sum += std::exp(out[c]);
        }
        for (int c = 0; c < CLASSES; ++c) out[c] = (std::exp(out[c]) / sum - (s % CLASSES == c)) / SAMPLES;
        for (int t = 0; t < HIDDEN; ++t) {
            double wrong = 0;
            for (int c = 0; c < CLASSES; ++c) {
                wrong += out[c] * second.host[t * CLASSES + c];
                two[t * CLASSES + c] -= RATE * std::fmax(before[t], 0.0) * out[c];
            }
            for (int k = 0; k < IN && before[t] > 0; ++k) one[k * HIDDEN + t] -= RATE * x.host[s * IN + k] * wrong;
        }
    }
    one.insert(one.end(), two.begin(), two.end());
    return judge(got, one, 1e-4);
}
