// Batch norm in training: mean and variance of each channel over all samples, the normalised values, the running
// statistics, a rectifier; a block a channel, one kernel an operator.
//
// Shows: sums that a block makes and all of its threads use have block width, so that the five launches run as one.
//
// expect: 5 launches -> 1
#include "workload.h"

constexpr int SAMPLES = 8, CHANNELS = 12, PIXELS = 100, THREADS = 64, COUNT = SAMPLES * PIXELS;

__device__ int place(int i) { return (i / PIXELS * CHANNELS + blockIdx.x) * PIXELS + i % PIXELS; }

__device__ float block_sum(float value) {
    __shared__ float partial[THREADS];
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    return partial[0];
}

__global__ void mean_of(const float *x, float *mean) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < COUNT; i += THREADS) sum += x[place(i)];
    sum = block_sum(sum);
    if (threadIdx.x == 0) mean[blockIdx.x] = sum / COUNT;
}

__global__ void variance_of(const float *x, const float *mean, float *variance) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < COUNT; i += THREADS) {
        const float d = x[place(i)] - mean[blockIdx.x];
        sum += d * d;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) variance[blockIdx.x] = sum / COUNT;
}

__global__ void run_on(const float *mean, const float *variance, float *running) {
    if (threadIdx.x == 0) {
        running[2 * blockIdx.x] = 0.9f * running[2 * blockIdx.x] + 0.1f * mean[blockIdx.x];
        running[2 * blockIdx.x + 1] = 0.9f * running[2 * blockIdx.x + 1] + 0.1f * variance[blockIdx.x];
    }
}

__global__ void normalise(const float *x, const float *mean, const float *variance, const float *gain, float *y) {
    for (int i = threadIdx.x; i < COUNT; i += THREADS)
        y[place(i)] = (x[place(i)] - mean[blockIdx.x]) * rsqrtf(variance[blockIdx.x] + 1e-5f) * gain[blockIdx.x];
}

__global__ void rectify(float *y) {
    for (int i = threadIdx.x; i < COUNT; i += THREADS) y[place(i)] = fmaxf(y[place(i)], 0.0f);
}

int main() {
    Tensor x(CHANNELS * COUNT, 1), gain(CHANNELS, 2), mean(CHANNELS), variance(CHANNELS), running(2 * CHANNELS, 3);
    Tensor y(CHANNELS * COUNT);
    mean_of<<<CHANNELS, THREADS>>>(x.device, mean.device);
    variance_of<<<CHANNELS, THREADS>>>(x.device, mean.device, variance.device);
    run_on<<<CHANNELS, THREADS>>>(mean.device, variance.device, running.device);
    normalise<<<CHANNELS, THREADS>>>(x.device, mean.device, variance.device, gain.device, y.device);
    rectify<<<CHANNELS, THREADS>>>(y.device);
    std::vector<float> got = y.back(), statistics = running.back();
    got.insert(got.end(), statistics.begin(), statistics.end());

    std::vector<double> expected(CHANNELS * COUNT), after(2 * CHANNELS);
    for (int c = 0; c < CHANNELS; ++c) {
        auto at = [&](int i) { return (i / PIXELS * CHANNELS + c) * PIXELS + i % PIXELS; };
        double m = 0, v = 0;
        for (int i = 0; i < COUNT; ++i) m += x.host[at(i)] / (double)COUNT;
        for (int i = 0; i < COUNT; ++i) v += (x.host[at(i)] - m) * (x.host[at(i)] - m) / COUNT;
        for (int i = 0; i < COUNT; ++i)
            expected[at(i)] = std::fmax((x.host[at(i)] - m) / std::sqrt(v + 1e-5) * gain.host[c], 0.0);
        after[2 * c] = 0.9 * running.host[2 * c] + 0.1 * m;
        after[2 * c + 1] = 0.9 * running.host[2 * c + 1] + 0.1 * v;
    }
    expected.insert(expected.end(), after.begin(), after.end());
    return judge(got, expected, 1e-4);
}
