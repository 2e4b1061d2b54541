// A recurrent network in both directions: at each step a cell of each direction, of two products, their sum with a bias and
// a tanh; in the end both directions side by side, and a product that says the classes.
//
// Shows: the directions do not depend on each other, so that their kernels run side by side; everything of a sample stays in its block.
//
// expect: 10 launches -> 2
#include "workload.h"

constexpr int SAMPLES = 12, WIDTH = 32, STEPS = 5, CLASSES = 8;

__global__ void of_input(const float *x, const float *w, int step, float *a) {
    const float *row = x + (blockIdx.x * STEPS + step) * WIDTH;
    float sum = 0.0f;
    for (int k = 0; k < WIDTH; ++k) sum += row[k] * w[k * WIDTH + threadIdx.x];
    a[blockIdx.x * WIDTH + threadIdx.x] = sum;
}

__global__ void of_state(const float *h, const float *u, float *b) {
    float sum = 0.0f;
    for (int k = 0; k < WIDTH; ++k) sum += h[blockIdx.x * WIDTH + k] * u[k * WIDTH + threadIdx.x];
    b[blockIdx.x * WIDTH + threadIdx.x] = sum;
}

__global__ void add_bias(const float *a, const float *b, const float *bias, float *sum) {
    const int i = blockIdx.x * WIDTH + threadIdx.x;
    sum[i] = a[i] + b[i] + bias[threadIdx.x];
}

__global__ void bend(const float *sum, float *h) {
    const int i = blockIdx.x * WIDTH + threadIdx.x;
    h[i] = tanhf(sum[i]);
}

__global__ void join(const float *forward, const float *backward, float *both) {
    both[blockIdx.x * 2 * WIDTH + threadIdx.x] = forward[blockIdx.x * WIDTH + threadIdx.x];
    both[blockIdx.x * 2 * WIDTH + WIDTH + threadIdx.x] = backward[blockIdx.x * WIDTH + threadIdx.x];
}

__global__ void classes(const float *both, const float *w, float *scores) {
    if (threadIdx.x >= CLASSES) return;
    float sum = 0.0f;
    for (int k = 0; k < 2 * WIDTH; ++k) sum += both[blockIdx.x * 2 * WIDTH + k] * w[k * CLASSES + threadIdx.x];
    scores[blockIdx.x * CLASSES + threadIdx.x] = sum;
}

int main() {
    Tensor x(SAMPLES * STEPS * WIDTH, 1), w(WIDTH * WIDTH, 2, 0.5f), u(WIDTH * WIDTH, 3, 0.5f), bias(WIDTH, 4);
    Tensor forward(SAMPLES * WIDTH, 0, 0.0f), backward(SAMPLES * WIDTH, 0, 0.0f), last(2 * WIDTH * CLASSES, 5);
    Tensor a(SAMPLES * WIDTH), b(SAMPLES * WIDTH), c(SAMPLES * WIDTH), d(SAMPLES * WIDTH), e(SAMPLES * WIDTH), f(SAMPLES * WIDTH);
    Tensor both(SAMPLES * 2 * WIDTH), scores(SAMPLES * CLASSES);
    for (int step = 0; step < STEPS; ++step) {
        of_input<<<SAMPLES, WIDTH>>>(x.device, w.device, step, a.device);
        of_input<<<SAMPLES, WIDTH>>>(x.device, u.device, STEPS - 1 - step, d.device);
        of_state<<<SAMPLES, WIDTH>>>(forward.device, u.device, b.device);
        of_state<<<SAMPLES, WIDTH>>>(backward.device, w.device, e.device);
        add_bias<<<SAMPLES, WIDTH>>>(a.device, b.device, bias.device, c.device);
        add_bias<<<SAMPLES, WIDTH>>>(d.device, e.device, bias.device, f.device);
        bend<<<SAMPLES, WIDTH>>>(c.device, forward.device);
        bend<<<SAMPLES, WIDTH>>>(f.device, backward.device);
    }
    join<<<SAMPLES, WIDTH>>>(forward.device, backward.device, both.device);
    classes<<<SAMPLES, WIDTH>>>(both.device, last.device, scores.device);
    const std::vector<float> got = scores.back();

    std::vector<double> expected(SAMPLES * CLASSES);
    for (int s = 0; s < SAMPLES; ++s) {
        std::vector<double> states[2] = {std::vector<double>(WIDTH), std::vector<double>(WIDTH)};
        for (int direction = 0; direction < 2; ++direction)
            for (int step = 0; step < STEPS; ++step) {
                const std::vector<float> &first = direction ? u.host : w.host, &second = direction ? w.host : u.host;
                std::vector<double> next(WIDTH);
                for (int t = 0; t < WIDTH; ++t) {
                    double sum = bias.host[t];
                    for (int k = 0; k < WIDTH; ++k) {
                        const int at = direction ? STEPS - 1 - step : step;
                        sum += (double)x.host[(s * STEPS + at) * WIDTH + k] * first[k * WIDTH + t];
                        sum += states[direction][k] * second[k * WIDTH + t];
                    }
                    next[t] = std::tanh(sum);
                }
                states[direction] = next;
            }
        for (int c = 0; c < CLASSES; ++c)
            for (int k = 0; k < 2 * WIDTH; ++k)
                expected[s * CLASSES + c] += states[k / WIDTH][k % WIDTH] * last.host[k * CLASSES + c];
    }
    return judge(got, expected, 1e-4);
}
