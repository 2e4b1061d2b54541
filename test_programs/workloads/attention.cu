// Attention over short sequences, as recommenders have it: for each of many samples and heads a product of small
// matrices, a mask, softmax by rows, and a second product; a block a sample and head, one kernel an operator.
//
// Shows: a small product needs what its own block made; all of attention runs as one launch, with barriers between.
//
// expect: 4 launches -> 1
#include "workload.h"

constexpr int PAIRS = 24, LENGTH = 16, DEPTH = 8, THREADS = 64, SQUARE = LENGTH * LENGTH, MATRIX = LENGTH * DEPTH;

__global__ void score(const float *query, const float *key, float *scores) {
    __shared__ float q[MATRIX], k[MATRIX];
    for (int i = threadIdx.x; i < MATRIX; i += THREADS) {
        q[i] = query[blockIdx.x * MATRIX + i];
        k[i] = key[blockIdx.x * MATRIX + i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < SQUARE; i += THREADS) {
        float sum = 0.0f;
        for (int d = 0; d < DEPTH; ++d) sum += q[i / LENGTH * DEPTH + d] * k[i % LENGTH * DEPTH + d];
        scores[blockIdx.x * SQUARE + i] = sum;
    }
}

__global__ void mask_later(float *scores) {
    for (int i = threadIdx.x; i < SQUARE; i += THREADS)
        scores[blockIdx.x * SQUARE + i] = i % LENGTH > i / LENGTH ? -1e9f : scores[blockIdx.x * SQUARE + i] * 0.35355339f;
}

__global__ void softmax(float *scores) {
    if (threadIdx.x >= LENGTH) return;
    float *row = scores + blockIdx.x * SQUARE + threadIdx.x * LENGTH;
    float most = -INFINITY, sum = 0.0f;
    for (int j = 0; j < LENGTH; ++j) most = fmaxf(most, row[j]);
    for (int j = 0; j < LENGTH; ++j) sum += expf(row[j] - most);
    for (int j = 0; j < LENGTH; ++j) row[j] = expf(row[j] - most) / sum;
}

__global__ void weigh(const float *scores, const float *value, float *out) {
    for (int i = threadIdx.x; i < MATRIX; i += THREADS) {
        float sum = 0.0f;
        for (int j = 0; j < LENGTH; ++j)
            sum += scores[blockIdx.x * SQUARE + i / DEPTH * LENGTH + j] * value[blockIdx.x * MATRIX + j * DEPTH + i % DEPTH];
        out[blockIdx.x * MATRIX + i] = sum;
    }
}

int main() {
    Tensor query(PAIRS * MATRIX, 1), key(PAIRS * MATRIX, 2), value(PAIRS * MATRIX, 3), scores(PAIRS * SQUARE), out(PAIRS * MATRIX);
    score<<<PAIRS, THREADS>>>(query.device, key.device, scores.device);
    mask_later<<<PAIRS, THREADS>>>(scores.device);
    softmax<<<PAIRS, THREADS>>>(scores.device);
    weigh<<<PAIRS, THREADS>>>(scores.device, value.device, out.device);
    const std::vector<float> got = out.back();

    std::vector<double> expected(PAIRS * MATRIX);
    for (int p = 0; p < PAIRS; ++p)
        for (int i = 0; i < LENGTH; ++i) {
            double weight[LENGTH], sum = 0;
            for (int j = 0; j <= i; ++j) {
                double dot = 0;
                for (int d = 0; d < DEPTH; ++d)
                    dot += query.host[p * MATRIX + i * DEPTH + d] * key.host[p * MATRIX + j * DEPTH + d];
                sum += weight[j] = std::exp(dot / std::sqrt((double)DEPTH));
            }
            for (int j = 0; j <= i; ++j)
                for (int d = 0; d < DEPTH; ++d)
                    expected[p * MATRIX + i * DEPTH + d] += weight[j] / sum * value.host[p * MATRIX + j * DEPTH + d];
        }
    return judge(got, expected, 1e-4);
}
