// Several interests of a user out of what the user has read: rounds in which items are shared out among interests by a softmax,
// interests are weighed sums of items, shortened to less than one, and shares follow what interests and items have in common. One
// kernel an operator: the exponentials, their sum, the quotient, the batched product of small matrices, sums of squares.
//
// Shows: FusionStitching's figure 1, two reductions and a batched product with elementwise operators before and behind
// them; all of it stays in the block of a user.
//
// expect: 8 launches -> 1
#include "workload.h"

constexpr int USERS = 10, ITEMS = 16, INTERESTS = 4, WIDTH = 32, ROUNDS = 2;

__global__ void largest(const float *shares, float *most) {
    if (threadIdx.x >= ITEMS) return;
    const float *own = shares + (blockIdx.x * ITEMS + threadIdx.x) * INTERESTS;
    float found = own[0];
    for (int i = 1; i < INTERESTS; ++i) found = fmaxf(found, own[i]);
    most[blockIdx.x * ITEMS + threadIdx.x] = found;
}

__global__ void exponentials(const float *shares, const float *most, float *powers) {
    for (int at = threadIdx.x; at < ITEMS * INTERESTS; at += WIDTH) {
        const int i = blockIdx.x * ITEMS * INTERESTS + at;
        powers[i] = expf(shares[i] - most[i / INTERESTS]);
    }
}

__global__ void sum_of(const float *powers, float *sums) {
    if (threadIdx.x >= ITEMS) return;
    const int item = blockIdx.x * ITEMS + threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < INTERESTS; ++i) sum += powers[item * INTERESTS + i];
    sums[item] = sum;
}

__global__ void divide(const float *powers, const float *sums, float *weights) {
    for (int at = threadIdx.x; at < ITEMS * INTERESTS; at += WIDTH) {
        const int i = blockIdx.x * ITEMS * INTERESTS + at;
        weights[i] = powers[i] / sums[i / INTERESTS];
    }
}

__global__ void weighed_sums(const float *weights, const float *items, float *interests) {
    for (int i = 0; i < INTERESTS; ++i) {
        float sum = 0.0f;
        for (int t = 0; t < ITEMS; ++t) {
            const int item = blockIdx.x * ITEMS + t;
            sum += weights[item * INTERESTS + i] * items[item * WIDTH + threadIdx.x];
        }
        interests[(blockIdx.x * INTERESTS + i) * WIDTH + threadIdx.x] = sum;
    }
}

__global__ void squares(const float *interests, float *norms) {
    for (int i = 0; i < INTERESTS; ++i) {
        const float value = interests[(blockIdx.x * INTERESTS + i) * WIDTH + threadIdx.x];
        float sum = value * value;
        for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
        if (threadIdx.x == 0) norms[blockIdx.x * INTERESTS + i] = sum;
    }
}

__global__ void shorten(const float *norms, float *interests) {
    for (int i = 0; i < INTERESTS; ++i) {
        const float norm = norms[blockIdx.x * INTERESTS + i];
        interests[(blockIdx.x * INTERESTS + i) * WIDTH + threadIdx.x] *= norm / (1.0f + norm) / sqrtf(norm);
    }
}

__global__ void in_common(const float *interests, const float *items, float *shares) {
    for (int at = threadIdx.x; at < ITEMS * INTERESTS; at += WIDTH) {
        const float *interest = interests + (blockIdx.x * INTERESTS + at % INTERESTS) * WIDTH;
        const float *item = items + (blockIdx.x * ITEMS + at / INTERESTS) * WIDTH;
        float sum = 0.0f;
        for (int w = 0; w < WIDTH; ++w) sum += interest[w] * item[w];
        shares[blockIdx.x * ITEMS * INTERESTS + at] += sum;
    }
}

int main() {
    Tensor items(USERS * ITEMS * WIDTH, 1, 1.0f), shares(USERS * ITEMS * INTERESTS, 2), most(USERS * ITEMS), sums(USERS * ITEMS);
    Tensor powers(USERS * ITEMS * INTERESTS), weights(USERS * ITEMS * INTERESTS);
    Tensor interests(USERS * INTERESTS * WIDTH), norms(USERS * INTERESTS);
    for (int round = 0; round < ROUNDS; ++round) {
        largest<<<USERS, WIDTH>>>(shares.device, most.device);
        exponentials<<<USERS, WIDTH>>>(shares.device, most.device, powers.device);
        sum_of<<<USERS, WIDTH>>>(powers.device, sums.device);
        divide<<<USERS, WIDTH>>>(powers.device, sums.device, weights.device);
        weighed_sums<<<USERS, WIDTH>>>(weights.device, items.device, interests.device);
        squares<<<USERS, WIDTH>>>(interests.device, norms.device);
        shorten<<<USERS, WIDTH>>>(norms.device, interests.device);
        in_common<<<USERS, WIDTH>>>(interests.device, items.device, shares.device);
    }
    const std::vector<float> got = interests.back();

    std::vector<double> expected(USERS * INTERESTS * WIDTH), logits(shares.host.begin(), shares.host.end());
    for (int round = 0; round < ROUNDS; ++round)
        for (int u = 0; u < USERS; ++u) {
            double *own = &expected[u * INTERESTS * WIDTH];
            std::fill(own, own + INTERESTS * WIDTH, 0);
            for (int t = u * ITEMS; t < (u + 1) * ITEMS; ++t) {
                double sum = 0;
                for (int i = 0; i < INTERESTS; ++i) sum += std::exp(logits[t * INTERESTS + i]);
                for (int i = 0; i < INTERESTS; ++i)
                    for (int w = 0; w < WIDTH; ++w)
                        own[i * WIDTH + w] += std::exp(logits[t * INTERESTS + i]) / sum * items.host[t * WIDTH + w];
            }
            for (int i = 0; i < INTERESTS; ++i) {
                double norm = 0;
                for (int w = 0; w < WIDTH; ++w) norm += own[i * WIDTH + w] * own[i * WIDTH + w];
                for (int w = 0; w < WIDTH; ++w) own[i * WIDTH + w] *= norm / (1 + norm) / std::sqrt(norm);
                for (int t = u * ITEMS; t < (u + 1) * ITEMS; ++t)
                    for (int w = 0; w < WIDTH; ++w) logits[t * INTERESTS + i] += own[i * WIDTH + w] * items.host[t * WIDTH + w];
            }
        }
    return judge(got, expected, 1e-4);
}
