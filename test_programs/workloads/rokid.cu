// What stands before and behind the layers of a recogniser of speech: energies of frames in bands of frequencies, their logarithms,
// mean and variance of a frame, the normalised frame; a product with bias and a rectifier with an upper bound; scores of letters and
// the logarithm of their softmax.
//
// Shows: five reductions of rows among elementwise operators; all of a frame stays in its block.
//
// expect: 12 launches -> 1
#include "workload.h"

constexpr int FRAMES = 24, BINS = 64, BANDS = 32, LETTERS = 16;

__global__ void power(const float *real, const float *imaginary, float *energy) {
    for (int bin = threadIdx.x; bin < BINS; bin += BANDS) {
        const int i = blockIdx.x * BINS + bin;
        energy[i] = real[i] * real[i] + imaginary[i] * imaginary[i];
    }
}

__global__ void bands(const float *energy, const float *filters, float *sums) {
    float sum = 0.0f;
    for (int bin = 0; bin < BINS; ++bin) sum += energy[blockIdx.x * BINS + bin] * filters[bin * BANDS + threadIdx.x];
    sums[blockIdx.x * BANDS + threadIdx.x] = sum;
}

__global__ void logarithm(const float *sums, float *x) {
    const int i = blockIdx.x * BANDS + threadIdx.x;
    x[i] = logf(sums[i] + 1e-3f);
}

__global__ void mean(const float *x, float *means) {
    float sum = x[blockIdx.x * BANDS + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x == 0) means[blockIdx.x] = sum / BANDS;
}

__global__ void centre(const float *means, float *x) { x[blockIdx.x * BANDS + threadIdx.x] -= means[blockIdx.x]; }

__global__ void variance(const float *x, float *variances) {
    float sum = x[blockIdx.x * BANDS + threadIdx.x] * x[blockIdx.x * BANDS + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x == 0) variances[blockIdx.x] = sum / BANDS;
}

__global__ void normalise(const float *variances, float *x) {
    x[blockIdx.x * BANDS + threadIdx.x] /= sqrtf(variances[blockIdx.x] + 1e-3f);
}

__global__ void layer(const float *x, const float *w, const float *bias, float *y) {
    float sum = bias[threadIdx.x];
    for (int k = 0; k < BANDS; ++k) sum += x[blockIdx.x * BANDS + k] * w[k * BANDS + threadIdx.x];
    y[blockIdx.x * BANDS + threadIdx.x] = sum;
}

__global__ void clip(float *y) {
    const int i = blockIdx.x * BANDS + threadIdx.x;
    y[i] = fminf(fmaxf(y[i], 0.0f), 6.0f);
}

__global__ void letters(const float *y, const float *w, float *scores) {
    if (threadIdx.x >= LETTERS) return;
    float sum = 0.0f;
    for (int k = 0; k < BANDS; ++k) sum += y[blockIdx.x * BANDS + k] * w[k * LETTERS + threadIdx.x];
    scores[blockIdx.x * LETTERS + threadIdx.x] = sum;
}

__global__ void log_sum(const float *scores, float *sums) {
    if (threadIdx.x != 0) return;
    float most = scores[blockIdx.x * LETTERS], sum = 0.0f;
    for (int l = 1; l < LETTERS; ++l) most = fmaxf(most, scores[blockIdx.x * LETTERS + l]);
    for (int l = 0; l < LETTERS; ++l) sum += expf(scores[blockIdx.x * LETTERS + l] - most);
    sums[blockIdx.x] = most + logf(sum);
}

__global__ void log_softmax(const float *sums, float *scores) {
    if (threadIdx.x < LETTERS) scores[blockIdx.x * LETTERS + threadIdx.x] -= sums[blockIdx.x];
}

int main() {
    Tensor real(FRAMES * BINS, 1), imaginary(FRAMES * BINS, 2), filters(BINS * BANDS, 3), w(BANDS * BANDS, 4), bias(BANDS, 5);
    Tensor last(BANDS * LETTERS, 6), energy(FRAMES * BINS), sums(FRAMES * BANDS), x(FRAMES * BANDS), y(FRAMES * BANDS);
    Tensor means(FRAMES), variances(FRAMES), scores(FRAMES * LETTERS), totals(FRAMES);
    // Filters take and never give.
    for (float &filter : filters.host) filter = filter > 0.0f ? filter : 0.0f;
    cudaMemcpy(filters.device, filters.host.data(), filters.host.size() * sizeof(float), cudaMemcpyHostToDevice);
    power<<<FRAMES, BANDS>>>(real.device, imaginary.device, energy.device);
    bands<<<FRAMES, BANDS>>>(energy.device, filters.device, sums.device);
    logarithm<<<FRAMES, BANDS>>>(sums.device, x.device);
    mean<<<FRAMES, BANDS>>>(x.device, means.device);
    centre<<<FRAMES, BANDS>>>(means.device, x.device);
    variance<<<FRAMES, BANDS>>>(x.device, variances.device);
    normalise<<<FRAMES, BANDS>>>(variances.device, x.device);
    layer<<<FRAMES, BANDS>>>(x.device, w.device, bias.device, y.device);
    clip<<<FRAMES, BANDS>>>(y.device);
    letters<<<FRAMES, BANDS>>>(y.device, last.device, scores.device);
    log_sum<<<FRAMES, BANDS>>>(scores.device, totals.device);
    log_softmax<<<FRAMES, BANDS>>>(totals.device, scores.device);
    const std::vector<float> got = scores.back();

    std::vector<double> expected(FRAMES * LETTERS);
    for (int f = 0; f < FRAMES; ++f) {
        double band[BANDS], middle = 0, spread = 0, total = 0;
        for (int b = 0; b < BANDS; ++b) {
            double sum = 1e-3;
            for (int bin = f * BINS; bin < (f + 1) * BINS; ++bin) {
                const double of_bin = (double)real.host[bin] * real.host[bin] + (double)imaginary.host[bin] * imaginary.host[bin];
                sum += of_bin * filters.host[bin % BINS * BANDS + b];
            }
            middle += (band[b] = std::log(sum)) / BANDS;
        }
        for (double value : band) spread += (value - middle) * (value - middle) / BANDS;
        for (int b = 0; b < BANDS; ++b) {
            double sum = bias.host[b];
            for (int k = 0; k < BANDS; ++k) sum += (band[k] - middle) / std::sqrt(spread + 1e-3) * w.host[k * BANDS + b];
            for (int l = 0; l < LETTERS; ++l)
                expected[f * LETTERS + l] += std::fmin(std::fmax(sum, 0), 6) * last.host[b * LETTERS + l];
        }
        for (int l = 0; l < LETTERS; ++l) total += std::exp(expected[f * LETTERS + l]);
        for (int l = 0; l < LETTERS; ++l) expected[f * LETTERS + l] -= std::log(total);
    }
    return judge(got, expected, 1e-3);
}
