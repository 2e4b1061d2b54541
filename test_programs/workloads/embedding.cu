// Embeddings of a recommender: for each sample rows of three tables are looked up and added, the sums stand side by
// side, are weighed and added up to a score; a block a sample, one kernel an operator.
//
// Shows: which rows are read nobody knows before the program runs, but the tables are only read; the six launches run
// as one.
//
// expect: 6 launches -> 1
#include "workload.h"

constexpr int SAMPLES = 40, TABLES = 3, ROWS = 50, WIDTH = 32, BAG = 5;

__global__ void look_up(const float *table, const int *indices, float *sums) {
    float sum = 0.0f;
    for (int b = 0; b < BAG; ++b) sum += table[indices[blockIdx.x * BAG + b] * WIDTH + threadIdx.x];
    sums[blockIdx.x * WIDTH + threadIdx.x] = sum;
}

__global__ void side_by_side(const float *a, const float *b, const float *c, float *all) {
    float *row = all + blockIdx.x * TABLES * WIDTH + threadIdx.x;
    row[0] = a[blockIdx.x * WIDTH + threadIdx.x];
    row[WIDTH] = b[blockIdx.x * WIDTH + threadIdx.x];
    row[2 * WIDTH] = c[blockIdx.x * WIDTH + threadIdx.x];
}

__global__ void weigh(const float *all, const float *weight, float *parts) {
    const int row = blockIdx.x * TABLES * WIDTH;
    float sum = 0.0f;
    for (int t = 0; t < TABLES; ++t) sum += all[row + t * WIDTH + threadIdx.x] * weight[t * WIDTH + threadIdx.x];
    parts[blockIdx.x * WIDTH + threadIdx.x] = sum;
}

__global__ void add_up(const float *parts, float *scores) {
    float sum = parts[blockIdx.x * WIDTH + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x == 0) scores[blockIdx.x] = sum;
}

int main() {
    Tensor users(ROWS * WIDTH, 1), items(ROWS * WIDTH, 2), shops(ROWS * WIDTH, 3), weight(TABLES * WIDTH, 4);
    Tensor a(SAMPLES * WIDTH), b(SAMPLES * WIDTH), c(SAMPLES * WIDTH), all(SAMPLES * TABLES * WIDTH);
    Tensor parts(SAMPLES * WIDTH), scores(SAMPLES);
    std::vector<int> bags(TABLES * SAMPLES * BAG);
    for (size_t i = 0; i < bags.size(); ++i) bags[i] = (int)(i * i * 7 + 3 * i) % ROWS;
    int *indices;
    cudaMalloc(&indices, bags.size() * sizeof(int));
    cudaMemcpy(indices, bags.data(), bags.size() * sizeof(int), cudaMemcpyHostToDevice);
    look_up<<<SAMPLES, WIDTH>>>(users.device, indices, a.device);
    look_up<<<SAMPLES, WIDTH>>>(items.device, indices + SAMPLES * BAG, b.device);
    look_up<<<SAMPLES, WIDTH>>>(shops.device, indices + 2 * SAMPLES * BAG, c.device);
    side_by_side<<<SAMPLES, WIDTH>>>(a.device, b.device, c.device, all.device);
    weigh<<<SAMPLES, WIDTH>>>(all.device, weight.device, parts.device);
    add_up<<<SAMPLES, WIDTH>>>(parts.device, scores.device);
    const std::vector<float> got = scores.back();

    std::vector<double> expected(SAMPLES);
    const std::vector<float> *tables[] = {&users.host, &items.host, &shops.host};
    for (int s = 0; s < SAMPLES; ++s)
        for (int t = 0; t < TABLES; ++t)
            for (int e = 0; e < BAG; ++e)
                for (int w = 0; w < WIDTH; ++w)
                    expected[s] += (double)(*tables[t])[bags[(t * SAMPLES + s) * BAG + e] * WIDTH + w] * weight.host[t * WIDTH + w];
    return judge(got, expected, 1e-4);
}
