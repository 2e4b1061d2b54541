// A recurrent network over sentences of different lengths: a gated cell a step, whose result counts only while the sentence
// lasts; outputs behind its end count nothing, and in the end the outputs' mean over each sentence's length is taken.
//
// Shows: lengths are data, and only decide what is stored; each step is one kernel, and so are the steps of a sample where they are issued in one loop.
//
// expect: 7 launches -> 2
#include "workload.h"

constexpr int SAMPLES = 16, WIDTH = 32, STEPS = 6;

__global__ void gates(const float *x, const float *h, const float *w, const float *u, int step, float *keep, float *open) {
    float first = 0.0f, second = 0.0f;
    for (int k = 0; k < WIDTH; ++k) {
        const float input = x[(blockIdx.x * STEPS + step) * WIDTH + k], state = h[blockIdx.x * WIDTH + k];
        first += input * w[k * WIDTH + threadIdx.x] + state * u[k * WIDTH + threadIdx.x];
        second += input * u[k * WIDTH + threadIdx.x] + state * w[k * WIDTH + threadIdx.x];
    }
    keep[blockIdx.x * WIDTH + threadIdx.x] = first;
    open[blockIdx.x * WIDTH + threadIdx.x] = second;
}

__global__ void sigmoid(float *gate) {
    const int i = blockIdx.x * WIDTH + threadIdx.x;
    gate[i] = 1.0f / (1.0f + expf(-gate[i]));
}

__global__ void bend(float *gate) {
    const int i = blockIdx.x * WIDTH + threadIdx.x;
    gate[i] = tanhf(gate[i]);
}

__global__ void mix(const float *keep, const float *open, const float *h, float *next) {
    const int i = blockIdx.x * WIDTH + threadIdx.x;
    next[i] = keep[i] * h[i] + (1.0f - keep[i]) * open[i];
}

__global__ void while_it_lasts(const float *next, const int *lengths, int step, float *h) {
    const int i = blockIdx.x * WIDTH + threadIdx.x;
    if (step < lengths[blockIdx.x]) h[i] = next[i];
}

__global__ void add_output(const float *next, const int *lengths, int step, float *sums) {
    sums[blockIdx.x * WIDTH + threadIdx.x] += step < lengths[blockIdx.x] ? next[blockIdx.x * WIDTH + threadIdx.x] : 0.0f;
}

__global__ void mean(const int *lengths, float *sums) { sums[blockIdx.x * WIDTH + threadIdx.x] /= lengths[blockIdx.x]; }

int main() {
    Tensor x(SAMPLES * STEPS * WIDTH, 1), w(WIDTH * WIDTH, 2, 0.5f), u(WIDTH * WIDTH, 3, 0.5f), h(SAMPLES * WIDTH, 0, 0.0f);
    Tensor keep(SAMPLES * WIDTH), open(SAMPLES * WIDTH), next(SAMPLES * WIDTH), sums(SAMPLES * WIDTH, 0, 0.0f);
    std::vector<int> lengths(SAMPLES);
    for (int s = 0; s < SAMPLES; ++s) lengths[s] = 1 + s * 5 % STEPS;
    int *on_device;
    cudaMalloc(&on_device, SAMPLES * sizeof(int));
    cudaMemcpy(on_device, lengths.data(), SAMPLES * sizeof(int), cudaMemcpyHostToDevice);
    for (int step = 0; step < STEPS; ++step) {
        gates<<<SAMPLES, WIDTH>>>(x.device, h.device, w.device, u.device, step, keep.device, open.device);
        sigmoid<<<SAMPLES, WIDTH>>>(keep.device);
        bend<<<SAMPLES, WIDTH>>>(open.device);
        mix<<<SAMPLES, WIDTH>>>(keep.device, open.device, h.device, next.device);
        while_it_lasts<<<SAMPLES, WIDTH>>>(next.device, on_device, step, h.device);
        add_output<<<SAMPLES, WIDTH>>>(next.device, on_device, step, sums.device);
    }
    mean<<<SAMPLES, WIDTH>>>(on_device, sums.device);
    const std::vector<float> got = sums.back();

    std::vector<double> expected(SAMPLES * WIDTH);
    for (int s = 0; s < SAMPLES; ++s) {
        std::vector<double> state(WIDTH);
        for (int step = 0; step < lengths[s]; ++step) {
            std::vector<double> made(WIDTH);
            for (int t = 0; t < WIDTH; ++t) {
                double first = 0, second = 0;
                for (int k = 0; k < WIDTH; ++k) {
                    const double input = x.host[(s * STEPS + step) * WIDTH + k];
                    first += input * w.host[k * WIDTH + t] + state[k] * u.host[k * WIDTH + t];
                    second += input * u.host[k * WIDTH + t] + state[k] * w.host[k * WIDTH + t];
                }
                const double kept = 1 / (1 + std::exp(-first));
                made[t] = kept * state[t] + (1 - kept) * std::tanh(second);
                expected[s * WIDTH + t] += made[t] / lengths[s];
            }
            state = made;
        }
    }
    return judge(got, expected, 1e-4);
}
