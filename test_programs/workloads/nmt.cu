// A step of a translator's decoder: the state asks the encoded words of its sentence (sums of projections, tanh, a product
// with a vector), the scores of words behind the sentence's end are masked, a softmax of four kernels makes weights, the
// weighed sum of words is the context, and a product with a tanh makes the new state. Greedy decoding of three words.
//
// Shows: additive attention of eleven operators, most of them on elements, with two reductions and two small products;
// all of a sentence stays in its block.
//
// expect: 12 launches -> 1
#include "workload.h"

constexpr int SENTENCES = 10, WORDS = 12, WIDTH = 32, STEPS = 3;

__global__ void project(const float *state, const float *w, float *query) {
    float sum = 0.0f;
    for (int k = 0; k < WIDTH; ++k) sum += state[blockIdx.x * WIDTH + k] * w[k * WIDTH + threadIdx.x];
    query[blockIdx.x * WIDTH + threadIdx.x] = sum;
}

__global__ void add_query(const float *keys, const float *query, float *sums) {
    for (int word = 0; word < WORDS; ++word) {
        const int i = (blockIdx.x * WORDS + word) * WIDTH + threadIdx.x;
        sums[i] = keys[i] + query[blockIdx.x * WIDTH + threadIdx.x];
    }
}

__global__ void bend(float *values, int rows) {
    for (int row = 0; row < rows; ++row) {
        const int i = (blockIdx.x * rows + row) * WIDTH + threadIdx.x;
        values[i] = tanhf(values[i]);
    }
}

__global__ void score(const float *bent, const float *v, float *scores) {
    for (int word = 0; word < WORDS; ++word) {
        float sum = bent[(blockIdx.x * WORDS + word) * WIDTH + threadIdx.x] * v[threadIdx.x];
        for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
        if (threadIdx.x == 0) scores[blockIdx.x * WORDS + word] = sum;
    }
}

__global__ void mask(const int *lengths, float *scores) {
    if (threadIdx.x < WORDS && threadIdx.x >= lengths[blockIdx.x]) scores[blockIdx.x * WORDS + threadIdx.x] = -1e9f;
}

__global__ void largest(const float *scores, float *most) {
    if (threadIdx.x != 0) return;
    float found = scores[blockIdx.x * WORDS];
    for (int word = 1; word < WORDS; ++word) found = fmaxf(found, scores[blockIdx.x * WORDS + word]);
    most[blockIdx.x] = found;
}

__global__ void exponentials(const float *most, float *scores) {
    if (threadIdx.x >= WORDS) return;
    float *own = scores + blockIdx.x * WORDS + threadIdx.x;
    *own = expf(*own - most[blockIdx.x]);
}

__global__ void sum_of(const float *powers, float *sums) {
    if (threadIdx.x != 0) return;
    float sum = 0.0f;
    for (int word = 0; word < WORDS; ++word) sum += powers[blockIdx.x * WORDS + word];
    sums[blockIdx.x] = sum;
}

__global__ void divide(const float *sums, float *powers) {
    if (threadIdx.x < WORDS) powers[blockIdx.x * WORDS + threadIdx.x] /= sums[blockIdx.x];
}

__global__ void context(const float *weights, const float *words, float *found) {
    float sum = 0.0f;
    for (int word = 0; word < WORDS; ++word)
        sum += weights[blockIdx.x * WORDS + word] * words[(blockIdx.x * WORDS + word) * WIDTH + threadIdx.x];
    found[blockIdx.x * WIDTH + threadIdx.x] = sum;
}

__global__ void combine(const float *found, const float *query, const float *w, float *state) {
    float sum = query[blockIdx.x * WIDTH + threadIdx.x];
    for (int k = 0; k < WIDTH; ++k) sum += found[blockIdx.x * WIDTH + k] * w[k * WIDTH + threadIdx.x];
    state[blockIdx.x * WIDTH + threadIdx.x] = sum;
}

int main() {
    Tensor words(SENTENCES * WORDS * WIDTH, 1), keys(SENTENCES * WORDS * WIDTH, 2), state(SENTENCES * WIDTH, 3);
    Tensor w(WIDTH * WIDTH, 4, 0.5f), out(WIDTH * WIDTH, 5, 0.5f), v(WIDTH, 6);
    Tensor query(SENTENCES * WIDTH), sums(SENTENCES * WORDS * WIDTH), scores(SENTENCES * WORDS), found(SENTENCES * WIDTH);
    Tensor most(SENTENCES), totals(SENTENCES);
    std::vector<int> lengths(SENTENCES);
    for (int s = 0; s < SENTENCES; ++s) lengths[s] = 3 + s * 7 % (WORDS - 2);
    int *on_device;
    cudaMalloc(&on_device, SENTENCES * sizeof(int));
    cudaMemcpy(on_device, lengths.data(), SENTENCES * sizeof(int), cudaMemcpyHostToDevice);
    for (int step = 0; step < STEPS; ++step) {
        project<<<SENTENCES, WIDTH>>>(state.device, w.device, query.device);
        add_query<<<SENTENCES, WIDTH>>>(keys.device, query.device, sums.device);
        bend<<<SENTENCES, WIDTH>>>(sums.device, WORDS);
        score<<<SENTENCES, WIDTH>>>(sums.device, v.device, scores.device);
        mask<<<SENTENCES, WIDTH>>>(on_device, scores.device);
        largest<<<SENTENCES, WIDTH>>>(scores.device, most.device);
        exponentials<<<SENTENCES, WIDTH>>>(most.device, scores.device);
        sum_of<<<SENTENCES, WIDTH>>>(scores.device, totals.device);
        divide<<<SENTENCES, WIDTH>>>(totals.device, scores.device);
        context<<<SENTENCES, WIDTH>>>(scores.device, words.device, found.device);
        combine<<<SENTENCES, WIDTH>>>(found.device, query.device, out.device, state.device);
        bend<<<SENTENCES, WIDTH>>>(state.device, 1);
    }
    const std::vector<float> got = state.back();

    std::vector<double> states(state.host.begin(), state.host.end());
    for (int s = 0; s < SENTENCES; ++s)
        for (int step = 0; step < STEPS; ++step) {
            double *own = &states[s * WIDTH], asked[WIDTH] = {}, weights[WORDS] = {}, sum = 0, seen[WIDTH] = {};
            for (int t = 0; t < WIDTH; ++t)
                for (int k = 0; k < WIDTH; ++k) asked[t] += own[k] * w.host[k * WIDTH + t];
            for (int word = 0; word < lengths[s]; ++word) {
                for (int t = 0; t < WIDTH; ++t)
                    weights[word] += std::tanh(keys.host[(s * WORDS + word) * WIDTH + t] + asked[t]) * v.host[t];
                sum += weights[word] = std::exp(weights[word]);
            }
            for (int word = 0; word < lengths[s]; ++word)
                for (int t = 0; t < WIDTH; ++t) seen[t] += weights[word] / sum * words.host[(s * WORDS + word) * WIDTH + t];
            for (int t = 0; t < WIDTH; ++t) {
                own[t] = asked[t];
                for (int k = 0; k < WIDTH; ++k) own[t] += seen[k] * out.host[k * WIDTH + t];
                own[t] = std::tanh(own[t]);
            }
        }
    return judge(got, states, 1e-4);
}
