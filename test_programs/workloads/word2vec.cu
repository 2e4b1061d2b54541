// Word vectors with negative samples, trained: for each pair of words the vectors of the centre, of its neighbour and of words
// at random are looked up; their products, sigmoids and errors; gradients of both tables, and a step.
//
// Shows: rows are found through indices that only the run knows. Each pair has rows of its own, in an order that no
// compiler can see, so that what writes tables stays behind what reads them.
//
// expect: 8 launches -> 2
#include "workload.h"

constexpr int PAIRS = 24, WIDTH = 32, OTHERS = 4, WORDS = PAIRS * OTHERS;
constexpr float RATE = 0.3f;

__global__ void look_up(const float *table, const int *words, float *rows) {
    rows[blockIdx.x * WIDTH + threadIdx.x] = table[words[blockIdx.x] * WIDTH + threadIdx.x];
}

__global__ void look_up_others(const float *table, const int *words, float *rows) {
    for (int o = 0; o < OTHERS; ++o)
        rows[(blockIdx.x * OTHERS + o) * WIDTH + threadIdx.x] = table[words[blockIdx.x * OTHERS + o] * WIDTH + threadIdx.x];
}

__global__ void products(const float *centres, const float *others, float *scores) {
    for (int o = 0; o < OTHERS; ++o) {
        float sum = centres[blockIdx.x * WIDTH + threadIdx.x] * others[(blockIdx.x * OTHERS + o) * WIDTH + threadIdx.x];
        for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
        if (threadIdx.x == 0) scores[blockIdx.x * OTHERS + o] = sum;
    }
}

// The first of the other words is the true neighbour.
__global__ void errors(const float *scores, float *e) {
    if (threadIdx.x < OTHERS)
        e[blockIdx.x * OTHERS + threadIdx.x] =
            1.0f / (1.0f + expf(-scores[blockIdx.x * OTHERS + threadIdx.x])) - (threadIdx.x == 0 ? 1.0f : 0.0f);
}

__global__ void centre_gradient(const float *e, const float *others, float *gradient) {
    float sum = 0.0f;
    for (int o = 0; o < OTHERS; ++o)
        sum += e[blockIdx.x * OTHERS + o] * others[(blockIdx.x * OTHERS + o) * WIDTH + threadIdx.x];
    gradient[blockIdx.x * WIDTH + threadIdx.x] = sum;
}

__global__ void other_gradients(const float *e, const float *centres, float *gradients) {
    for (int o = 0; o < OTHERS; ++o)
        gradients[(blockIdx.x * OTHERS + o) * WIDTH + threadIdx.x] =
            e[blockIdx.x * OTHERS + o] * centres[blockIdx.x * WIDTH + threadIdx.x];
}

__global__ void step(float *table, const int *words, const float *gradients) {
    table[words[blockIdx.x] * WIDTH + threadIdx.x] -= RATE * gradients[blockIdx.x * WIDTH + threadIdx.x];
}

int main() {
    Tensor in(WORDS * WIDTH, 1), out(WORDS * WIDTH, 2), centres(PAIRS * WIDTH), others(WORDS * WIDTH);
    Tensor scores(WORDS), e(WORDS), of_centres(PAIRS * WIDTH), of_others(WORDS * WIDTH);
    std::vector<int> words(PAIRS + WORDS);
    for (int p = 0; p < PAIRS; ++p) words[p] = p * 29 % WORDS;
    for (int w = 0; w < WORDS; ++w) words[PAIRS + w] = (w * 35 + 11) % WORDS;
    int *centre_words;
    cudaMalloc(&centre_words, words.size() * sizeof(int));
    cudaMemcpy(centre_words, words.data(), words.size() * sizeof(int), cudaMemcpyHostToDevice);
    const int *other_words = centre_words + PAIRS;
    look_up<<<PAIRS, WIDTH>>>(in.device, centre_words, centres.device);
    look_up_others<<<PAIRS, WIDTH>>>(out.device, other_words, others.device);
    products<<<PAIRS, WIDTH>>>(centres.device, others.device, scores.device);
    errors<<<PAIRS, WIDTH>>>(scores.device, e.device);
    centre_gradient<<<PAIRS, WIDTH>>>(e.device, others.device, of_centres.device);
    other_gradients<<<PAIRS, WIDTH>>>(e.device, centres.device, of_others.device);
    step<<<PAIRS, WIDTH>>>(in.device, centre_words, of_centres.device);
    step<<<WORDS, WIDTH>>>(out.device, other_words, of_others.device);
    std::vector<float> got = in.back();
    for (float value : out.back()) got.push_back(value);

    std::vector<double> first(in.host.begin(), in.host.end()), second(out.host.begin(), out.host.end());
    for (int p = 0; p < PAIRS; ++p)
        for (int o = 0; o < OTHERS; ++o) {
            const int centre = words[p] * WIDTH, other = words[PAIRS + p * OTHERS + o] * WIDTH;
            double sum = 0;
            for (int w = 0; w < WIDTH; ++w) sum += (double)in.host[centre + w] * out.host[other + w];
            const double wrong = 1 / (1 + std::exp(-sum)) - (o == 0);
            for (int w = 0; w < WIDTH; ++w) {
                first[centre + w] -= RATE * wrong * out.host[other + w];
                second[other + w] -= RATE * wrong * in.host[centre + w];
            }
        }
    first.insert(first.end(), second.begin(), second.end());
    return judge(got, first, 1e-4);
}
