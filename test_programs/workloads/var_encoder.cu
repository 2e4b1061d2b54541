// A variational autoencoder, a step of its training: means and logarithms of variances of samples, draws from them, what the decoder
// makes of the draws, the losses of both parts, and backwards the errors and gradients of the decoder and of the means.
//
// Shows: two heads read one input; their kernels and the two losses run side by side, all that belongs to a sample in its
// block. Gradients need all samples.
//
// expect: 13 launches -> 2
#include "workload.h"

constexpr int SAMPLES = 20, WIDTH = 32, LATENT = 8;
constexpr float RATE = 0.05f;

__global__ void product(const float *x, const float *w, int inner, int outer, float *y) {
    if (threadIdx.x >= outer) return;
    float sum = 0.0f;
    for (int k = 0; k < inner; ++k) sum += x[blockIdx.x * inner + k] * w[k * outer + threadIdx.x];
    y[blockIdx.x * outer + threadIdx.x] = sum;
}

__global__ void deviation(const float *logarithm, float *sigma) {
    if (threadIdx.x >= LATENT) return;
    const int i = blockIdx.x * LATENT + threadIdx.x;
    sigma[i] = expf(0.5f * logarithm[i]);
}

__global__ void draw(const float *mean, const float *sigma, const float *noise, float *z) {
    if (threadIdx.x >= LATENT) return;
    const int i = blockIdx.x * LATENT + threadIdx.x;
    z[i] = mean[i] + sigma[i] * noise[i];
}

__global__ void sigmoid(const float *y, float *p) {
    const int i = blockIdx.x * WIDTH + threadIdx.x;
    p[i] = 1.0f / (1.0f + expf(-y[i]));
}

__global__ void difference(const float *p, const float *x, float *e) {
    const int i = blockIdx.x * WIDTH + threadIdx.x;
    e[i] = p[i] - x[i];
}

__global__ void squares(const float *e, float *loss) {
    float sum = e[blockIdx.x * WIDTH + threadIdx.x] * e[blockIdx.x * WIDTH + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x == 0) loss[blockIdx.x] = 0.5f * sum;
}

__global__ void divergence(const float *mean, const float *logarithm, float *loss) {
    if (threadIdx.x != 0) return;
    float sum = 0.0f;
    for (int l = 0; l < LATENT; ++l) {
        const int i = blockIdx.x * LATENT + l;
        sum += mean[i] * mean[i] + expf(logarithm[i]) - logarithm[i] - 1.0f;
    }
    loss[blockIdx.x] = 0.5f * sum;
}

__global__ void decoder_error(const float *e, const float *p, float *error) {
    const int i = blockIdx.x * WIDTH + threadIdx.x;
    error[i] = e[i] * p[i] * (1.0f - p[i]);
}

__global__ void mean_error(const float *error, const float *decoder, const float *mean, float *of_mean) {
    if (threadIdx.x >= LATENT) return;
    float sum = 0.0f;
    for (int k = 0; k < WIDTH; ++k) sum += error[blockIdx.x * WIDTH + k] * decoder[threadIdx.x * WIDTH + k];
    of_mean[blockIdx.x * LATENT + threadIdx.x] = sum + mean[blockIdx.x * LATENT + threadIdx.x];
}

// A block for each row of the weights.
__global__ void step(const float *x, const float *e, int inner, int outer, float *w) {
    if (threadIdx.x >= outer) return;
    float sum = 0.0f;
    for (int s = 0; s < SAMPLES; ++s) sum += x[s * inner + blockIdx.x] * e[s * outer + threadIdx.x];
    w[blockIdx.x * outer + threadIdx.x] -= RATE * sum;
}

int main() {
    Tensor x(SAMPLES * WIDTH, 1), to_mean(WIDTH * LATENT, 2, 0.5f), to_variance(WIDTH * LATENT, 3, 0.5f);
    Tensor decoder(LATENT * WIDTH, 4), noise(SAMPLES * LATENT, 5);
    Tensor mean(SAMPLES * LATENT), logarithm(SAMPLES * LATENT), sigma(SAMPLES * LATENT), z(SAMPLES * LATENT);
    Tensor y(SAMPLES * WIDTH), p(SAMPLES * WIDTH), e(SAMPLES * WIDTH), error(SAMPLES * WIDTH), of_mean(SAMPLES * LATENT);
    Tensor of_output(SAMPLES), of_draw(SAMPLES);
    product<<<SAMPLES, WIDTH>>>(x.device, to_mean.device, WIDTH, LATENT, mean.device);
    product<<<SAMPLES, WIDTH>>>(x.device, to_variance.device, WIDTH, LATENT, logarithm.device);
    deviation<<<SAMPLES, WIDTH>>>(logarithm.device, sigma.device);
    draw<<<SAMPLES, WIDTH>>>(mean.device, sigma.device, noise.device, z.device);
    product<<<SAMPLES, WIDTH>>>(z.device, decoder.device, LATENT, WIDTH, y.device);
    sigmoid<<<SAMPLES, WIDTH>>>(y.device, p.device);
    difference<<<SAMPLES, WIDTH>>>(p.device, x.device, e.device);
    squares<<<SAMPLES, WIDTH>>>(e.device, of_output.device);
    divergence<<<SAMPLES, WIDTH>>>(mean.device, logarithm.device, of_draw.device);
    decoder_error<<<SAMPLES, WIDTH>>>(e.device, p.device, error.device);
    mean_error<<<SAMPLES, WIDTH>>>(error.device, decoder.device, mean.device, of_mean.device);
    step<<<LATENT, WIDTH>>>(z.device, error.device, LATENT, WIDTH, decoder.device);
    step<<<WIDTH, WIDTH>>>(x.device, of_mean.device, WIDTH, LATENT, to_mean.device);
    std::vector<float> got = of_output.back();
    for (const Tensor *more : {&of_draw, &decoder, &to_mean})
        for (float value : more->back()) got.push_back(value);

    std::vector<double> expected(2 * SAMPLES), first(decoder.host.begin(), decoder.host.end());
    std::vector<double> second(to_mean.host.begin(), to_mean.host.end());
    for (int s = 0; s < SAMPLES; ++s) {
        double m[LATENT] = {}, v[LATENT] = {}, drawn[LATENT], wrong[LATENT];
        for (int l = 0; l < LATENT; ++l) {
            for (int k = 0; k < WIDTH; ++k) {
                m[l] += (double)x.host[s * WIDTH + k] * to_mean.host[k * LATENT + l];
                v[l] += (double)x.host[s * WIDTH + k] * to_variance.host[k * LATENT + l];
            }
            drawn[l] = m[l] + std::exp(0.5 * v[l]) * noise.host[s * LATENT + l];
            wrong[l] = m[l];
            expected[SAMPLES + s] += 0.5 * (m[l] * m[l] + std::exp(v[l]) - v[l] - 1);
        }
        for (int k = 0; k < WIDTH; ++k) {
            double sum = 0;
            for (int l = 0; l < LATENT; ++l) sum += drawn[l] * decoder.host[l * WIDTH + k];
            const double out = 1 / (1 + std::exp(-sum)), far = out - x.host[s * WIDTH + k];
            expected[s] += 0.5 * far * far;
            for (int l = 0; l < LATENT; ++l) {
                first[l * WIDTH + k] -= RATE * drawn[l] * far * out * (1 - out);
                wrong[l] += far * out * (1 - out) * decoder.host[l * WIDTH + k];
            }
        }
        for (int k = 0; k < WIDTH; ++k)
            for (int l = 0; l < LATENT; ++l) second[k * LATENT + l] -= RATE * x.host[s * WIDTH + k] * wrong[l];
    }
    expected.insert(expected.end(), first.begin(), first.end());
    expected.insert(expected.end(), second.begin(), second.end());
    return judge(got, expected, 1e-4);
}
