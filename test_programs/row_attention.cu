// Attention as single operators, a block for each query: scores, softmax, weighted sum.
//
// Shows: what one operator hands to the next is a row that the block has written itself and that all of its
// threads read. As one kernel it stays in shared memory, and neither scores nor weights are ever in global memory.
//
// usage: row_attention [queries [keys]]
//
// expect: 3 launches -> 1
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int WIDTH = 32, THREADS = 64;

__global__ void scores(const float *query, const float *key, float *score, int keys) {
    for (int j = threadIdx.x; j < keys; j += THREADS) {
        float sum = 0;
        for (int c = 0; c < WIDTH; c++) sum += query[blockIdx.x * WIDTH + c] * key[j * WIDTH + c];
        score[blockIdx.x * keys + j] = sum;
    }
}

__global__ void softmax(const float *score, float *weight, int keys) {
    __shared__ float part[THREADS];
    float most = -INFINITY;
    for (int j = threadIdx.x; j < keys; j += THREADS) most = fmaxf(most, score[blockIdx.x * keys + j]);
    part[threadIdx.x] = most;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
        __syncthreads();
    }
    most = part[0];
    __syncthreads();
    float sum = 0;
    for (int j = threadIdx.x; j < keys; j += THREADS) {
        float value = expf(score[blockIdx.x * keys + j] - most);
        weight[blockIdx.x * keys + j] = value;
        sum += value;
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    sum = part[0];
    for (int j = threadIdx.x; j < keys; j += THREADS) weight[blockIdx.x * keys + j] /= sum;
}

__global__ void weigh(const float *weight, const float *value, float *out, int keys) {
    for (int c = threadIdx.x; c < WIDTH; c += THREADS) {
        float sum = 0;
        for (int j = 0; j < keys; j++) sum += weight[blockIdx.x * keys + j] * value[j * WIDTH + c];
        out[blockIdx.x * WIDTH + c] = sum;
    }
}

static std::vector<float> draw(int count, unsigned state) {
    std::vector<float> numbers(count);
    for (float &number : numbers) {
        state = state * 1664525u + 1013904223u;
        number = (state >> 8) * (2.0f / (1 << 24)) - 1.0f;
    }
    return numbers;
}

static float *upload(const std::vector<float> &numbers) {
    float *buffer;
    cudaMalloc(&buffer, numbers.size() * sizeof(float));
    cudaMemcpy(buffer, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice);
    return buffer;
}

int main(int argc, char **argv) {
    int queries = argc > 1 ? atoi(argv[1]) : 48, keys = argc > 2 ? atoi(argv[2]) : 96;
    if (queries < 1 || keys < 1) {
        fprintf(stderr, "usage: row_attention [queries [keys]]\n");
        return 1;
    }
    std::vector<float> query = draw(queries * WIDTH, 1), key = draw(keys * WIDTH, 2), value = draw(keys * WIDTH, 3);
    float *q = upload(query), *k = upload(key), *v = upload(value), *score, *weight, *out;
    cudaMalloc(&score, queries * keys * sizeof(float));
    cudaMalloc(&weight, queries * keys * sizeof(float));
    cudaMalloc(&out, queries * WIDTH * sizeof(float));

    scores<<<queries, THREADS>>>(q, k, score, keys);
    softmax<<<queries, THREADS>>>(score, weight, keys);
    weigh<<<queries, THREADS>>>(weight, v, out, keys);

    std::vector<float> result(queries * WIDTH);
    cudaMemcpy(result.data(), out, result.size() * sizeof(float), cudaMemcpyDeviceToHost);
    double worst = 0;
    unsigned checksum = 0;
    for (int i = 0; i < queries; i++) {
        double sum = 0, expected[WIDTH] = {};
        for (int j = 0; j < keys; j++) {
            double score = 0;
            for (int c = 0; c < WIDTH; c++) score += double(query[i * WIDTH + c]) * key[j * WIDTH + c];
            sum += exp(score);
            for (int c = 0; c < WIDTH; c++) expected[c] += exp(score) * value[j * WIDTH + c];
        }
        for (int c = 0; c < WIDTH; c++) {
            worst = fmax(worst, fabs(expected[c] / sum - result[i * WIDTH + c]));
            checksum = checksum * 31 + unsigned(int(result[i * WIDTH + c] * 65536.0f));
        }
    }
    bool right = worst < 1e-5;
    printf("row_attention: %d queries, %d keys, checksum %08x\n%s\n", queries, keys, checksum, right ? "PASS" : "FAIL");
    for (float *buffer : {q, k, v, score, weight, out}) cudaFree(buffer);
    return right ? 0 : 1;
}
