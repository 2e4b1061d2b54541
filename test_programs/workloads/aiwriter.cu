// A writer of texts says its next word: embeddings of word and place, a layer norm, a layer with GELU and what was before it added,
// scores of all words, made flatter or steeper by a temperature, a softmax, and of each text the likeliest word, whose embedding
// the next step begins with.
//
// Shows: the word that is looked up is the result of the step before; all of a text stays in its block, and so do the steps.
//
// expect: 11 launches -> 2
#include "workload.h"

constexpr int TEXTS = 12, WIDTH = 32, WORDS = 48, STEPS = 3;
constexpr float TEMPERATURE = 0.7f;

__global__ void embed(const float *words, const float *places, const int *last, int step, float *x) {
    x[blockIdx.x * WIDTH + threadIdx.x] = words[last[blockIdx.x] * WIDTH + threadIdx.x] + places[step * WIDTH + threadIdx.x];
}

__global__ void mean(const float *x, float *means) {
    float sum = x[blockIdx.x * WIDTH + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x == 0) means[blockIdx.x] = sum / WIDTH;
}

__global__ void variance(const float *x, const float *means, float *variances) {
    const float distance_to_mean = x[blockIdx.x * WIDTH + threadIdx.x] - means[blockIdx.x];
    float sum = distance_to_mean * distance_to_mean;
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x == 0) variances[blockIdx.x] = sum / WIDTH;
}

__global__ void normalise(const float *x, const float *means, const float *variances, float *normed) {
    const int i = blockIdx.x * WIDTH + threadIdx.x;
    normed[i] = (x[i] - means[blockIdx.x]) / sqrtf(variances[blockIdx.x] + 1e-5f);
}

__global__ void layer(const float *normed, const float *w, float *y) {
    float sum = 0.0f;
    for (int k = 0; k < WIDTH; ++k) sum += normed[blockIdx.x * WIDTH + k] * w[k * WIDTH + threadIdx.x];
    y[blockIdx.x * WIDTH + threadIdx.x] = sum;
}

__global__ void gelu(float *y) {
    float &value = y[blockIdx.x * WIDTH + threadIdx.x];
    value = 0.5f * value * (1.0f + tanhf(0.7978846f * (value + 0.044715f * value * value * value)));
}

__global__ void residual(const float *x, float *y) { y[blockIdx.x * WIDTH + threadIdx.x] += x[blockIdx.x * WIDTH + threadIdx.x]; }

__global__ void score(const float *y, const float *words, float *scores) {
    for (int word = threadIdx.x; word < WORDS; word += WIDTH) {
        float sum = 0.0f;
        for (int k = 0; k < WIDTH; ++k) sum += y[blockIdx.x * WIDTH + k] * words[word * WIDTH + k];
        scores[blockIdx.x * WORDS + word] = sum;
    }
}

__global__ void temper(float *scores) {
    for (int word = threadIdx.x; word < WORDS; word += WIDTH) scores[blockIdx.x * WORDS + word] /= TEMPERATURE;
}

__global__ void likeliest(const float *scores, int *last, float *most) {
    if (threadIdx.x != 0) return;
    int best = 0;
    for (int word = 1; word < WORDS; ++word)
        if (scores[blockIdx.x * WORDS + word] > scores[blockIdx.x * WORDS + best]) best = word;
    last[blockIdx.x] = best;
    most[blockIdx.x] = scores[blockIdx.x * WORDS + best];
}

__global__ void chance(const float *scores, const float *most, int step, float *chances) {
    if (threadIdx.x != 0) return;
    float sum = 0.0f;
    for (int word = 0; word < WORDS; ++word) sum += expf(scores[blockIdx.x * WORDS + word] - most[blockIdx.x]);
    chances[step * TEXTS + blockIdx.x] = 1.0f / sum;
}

int main() {
    Tensor words(WORDS * WIDTH, 1), places(STEPS * WIDTH, 2), w(WIDTH * WIDTH, 3), x(TEXTS * WIDTH), normed(TEXTS * WIDTH);
    Tensor y(TEXTS * WIDTH), scores(TEXTS * WORDS), means(TEXTS), variances(TEXTS), most(TEXTS), chances(STEPS * TEXTS);
    std::vector<int> first(TEXTS);
    for (int t = 0; t < TEXTS; ++t) first[t] = t * 5 % WORDS;
    int *last;
    cudaMalloc(&last, TEXTS * sizeof(int));
    cudaMemcpy(last, first.data(), TEXTS * sizeof(int), cudaMemcpyHostToDevice);
    for (int step = 0; step < STEPS; ++step) {
        embed<<<TEXTS, WIDTH>>>(words.device, places.device, last, step, x.device);
        mean<<<TEXTS, WIDTH>>>(x.device, means.device);
        variance<<<TEXTS, WIDTH>>>(x.device, means.device, variances.device);
        normalise<<<TEXTS, WIDTH>>>(x.device, means.device, variances.device, normed.device);
        layer<<<TEXTS, WIDTH>>>(normed.device, w.device, y.device);
        gelu<<<TEXTS, WIDTH>>>(y.device);
        residual<<<TEXTS, WIDTH>>>(x.device, y.device);
        score<<<TEXTS, WIDTH>>>(y.device, words.device, scores.device);
        temper<<<TEXTS, WIDTH>>>(scores.device);
        likeliest<<<TEXTS, WIDTH>>>(scores.device, last, most.device);
        chance<<<TEXTS, WIDTH>>>(scores.device, most.device, step, chances.device);
    }
    std::vector<float> got = chances.back();
    std::vector<int> said(TEXTS);
    cudaMemcpy(said.data(), last, TEXTS * sizeof(int), cudaMemcpyDeviceToHost);
    got.insert(got.end(), said.begin(), said.end());

    std::vector<double> expected(STEPS * TEXTS);
    for (int t = 0; t < TEXTS; ++t) {
        int word = first[t];
        for (int step = 0; step < STEPS; ++step) {
            double in[WIDTH], out[WIDTH], all[WORDS], middle = 0, spread = 0, sum = 0;
            for (int k = 0; k < WIDTH; ++k) middle += (in[k] = (double)words.host[word * WIDTH + k] + places.host[step * WIDTH + k]) / WIDTH;
            for (double value : in) spread += (value - middle) * (value - middle) / WIDTH;
            for (int k = 0; k < WIDTH; ++k) {
                double own = 0;
                for (int j = 0; j < WIDTH; ++j) own += (in[j] - middle) / std::sqrt(spread + 1e-5) * w.host[j * WIDTH + k];
                out[k] = in[k] + 0.5 * own * (1 + std::tanh(0.7978846 * (own + 0.044715 * own * own * own)));
            }
            for (int other = word = 0; other < WORDS; ++other) {
                all[other] = 0;
                for (int k = 0; k < WIDTH; ++k) all[other] += out[k] * words.host[other * WIDTH + k] / TEMPERATURE;
                if (all[other] > all[word]) word = other;
            }
            for (double value : all) sum += std::exp(value - all[word]);
            expected[step * TEXTS + t] = 1 / sum;
        }
        expected.push_back(word);
    }
    return judge(got, expected, 1e-3);
}
