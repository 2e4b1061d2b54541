// Logistic regression, trained: scores of samples, their sigmoids, losses and errors, the gradient as a sum over samples, and
// a step with momentum and weight decay; one kernel an operator, three steps of training.
//
// Shows: everything of a sample stays in its block; the gradient needs all samples, so that each step has two kernels.
//
// expect: 8 launches -> 1
#include "workload.h"

constexpr int SAMPLES = 64, FEATURES = 32, STEPS = 3;
constexpr float RATE = 0.5f, MOMENTUM = 0.9f, DECAY = 0.01f;

__global__ void score(const float *x, const float *w, float *z) {
    float sum = x[blockIdx.x * FEATURES + threadIdx.x] * w[threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x == 0) z[blockIdx.x] = sum;
}

__global__ void sigmoid(const float *z, float *p) {
    if (threadIdx.x == 0) p[blockIdx.x] = 1.0f / (1.0f + expf(-z[blockIdx.x]));
}

__global__ void cross_entropy(const float *p, const float *y, float *loss) {
    const int s = blockIdx.x;
    if (threadIdx.x == 0) loss[s] = -y[s] * logf(p[s]) - (1.0f - y[s]) * logf(1.0f - p[s]);
}

__global__ void error(const float *p, const float *y, float *e) {
    if (threadIdx.x == 0) e[blockIdx.x] = (p[blockIdx.x] - y[blockIdx.x]) / SAMPLES;
}

__global__ void gradient(const float *x, const float *e, float *g) {
    float sum = 0.0f;
    for (int s = 0; s < SAMPLES; ++s) sum += e[s] * x[s * FEATURES + threadIdx.x];
    g[threadIdx.x] = sum;
}

__global__ void decay(const float *w, float *g) { g[threadIdx.x] += DECAY * w[threadIdx.x]; }

__global__ void momentum(const float *g, float *v) { v[threadIdx.x] = MOMENTUM * v[threadIdx.x] + g[threadIdx.x]; }

__global__ void update(const float *v, float *w) { w[threadIdx.x] -= RATE * v[threadIdx.x]; }

int main() {
    Tensor x(SAMPLES * FEATURES, 1), y(SAMPLES, 2), w(FEATURES, 3), v(FEATURES, 0, 0.0f);
    Tensor z(SAMPLES), p(SAMPLES), loss(SAMPLES), e(SAMPLES), g(FEATURES);
    for (float &label : y.host) label = label > 0.0f;
    cudaMemcpy(y.device, y.host.data(), SAMPLES * sizeof(float), cudaMemcpyHostToDevice);
    for (int step = 0; step < STEPS; ++step) {
        score<<<SAMPLES, FEATURES>>>(x.device, w.device, z.device);
        sigmoid<<<SAMPLES, FEATURES>>>(z.device, p.device);
        cross_entropy<<<SAMPLES, FEATURES>>>(p.device, y.device, loss.device);
        error<<<SAMPLES, FEATURES>>>(p.device, y.device, e.device);
        gradient<<<1, FEATURES>>>(x.device, e.device, g.device);
        decay<<<1, FEATURES>>>(w.device, g.device);
        momentum<<<1, FEATURES>>>(g.device, v.device);
        update<<<1, FEATURES>>>(v.device, w.device);
    }
    std::vector<float> got = w.back();
    for (float value : loss.back()) got.push_back(value);

    std::vector<double> weights(w.host.begin(), w.host.end()), speed(FEATURES), losses(SAMPLES);
    for (int step = 0; step < STEPS; ++step) {
        std::vector<double> slope(FEATURES);
        for (int s = 0; s < SAMPLES; ++s) {
            double sum = 0;
            for (int f = 0; f < FEATURES; ++f) sum += x.host[s * FEATURES + f] * weights[f];
            const double chance = 1 / (1 + std::exp(-sum));
            losses[s] = y.host[s] ? -std::log(chance) : -std::log(1 - chance);
            for (int f = 0; f < FEATURES; ++f) slope[f] += (chance - y.host[s]) / SAMPLES * x.host[s * FEATURES + f];
        }
        for (int f = 0; f < FEATURES; ++f) {
            speed[f] = MOMENTUM * speed[f] + slope[f] + DECAY * weights[f];
            weights[f] -= RATE * speed[f];
        }
    }
    weights.insert(weights.end(), losses.begin(), losses.end());
    return judge(got, weights, 1e-4);
}
