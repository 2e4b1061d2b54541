// A multi-layer perceptron: three layers, each a matrix product and then bias with activation, all
// layers of one width.
//
// Shows: inside a layer every element stays in its thread, so product and activation run as one.
// From one layer to the next a thread needs the whole row, which several blocks wrote: a dependence
// of global width, and the layers stay unfused.
//
// usage: mlp [samples]
//
// expect: 6 launches -> 3
// expect-missed: global_dependence
// expect-missed: global_dependence
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int WIDTH = 64;
constexpr int TILE = 16;

__global__ void dense(const float *in, const float *weight, float *out, int samples) {
    int sample = blockIdx.y * blockDim.y + threadIdx.y;
    int unit = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples || unit >= WIDTH) return;
    float sum = 0.0f;
    for (int k = 0; k < WIDTH; ++k) sum += in[sample * WIDTH + k] * weight[k * WIDTH + unit];
    out[sample * WIDTH + unit] = sum;
}

__global__ void activate(float *out, const float *bias, int samples) {
    int sample = blockIdx.y * blockDim.y + threadIdx.y;
    int unit = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples || unit >= WIDTH) return;
    float value = out[sample * WIDTH + unit] + bias[unit];
    out[sample * WIDTH + unit] = value > 0.0f ? value : 0.1f * value;
}

static std::vector<float> pattern(size_t count, unsigned seed) {
    std::vector<float> values(count);
    for (float &value : values) {
        seed = seed * 1664525u + 1013904223u;
        value = ((float)(seed >> 8) / (1 << 24) - 0.5f) * 0.5f;
    }
    return values;
}

static void layer_on_host(std::vector<double> &rows, const std::vector<float> &weight,
                          const std::vector<float> &bias, int samples) {
    std::vector<double> out(rows.size());
    for (int s = 0; s < samples; ++s)
        for (int u = 0; u < WIDTH; ++u) {
            double sum = bias[u];
            for (int k = 0; k < WIDTH; ++k) sum += rows[s * WIDTH + k] * weight[k * WIDTH + u];
            out[s * WIDTH + u] = sum > 0.0 ? sum : 0.1 * sum;
        }
    rows = out;
}

int main(int argc, char **argv) {
    const int samples = argc > 1 ? atoi(argv[1]) : 100;
    if (samples < 1) {
        fprintf(stderr, "usage: %s [samples]\n", argv[0]);
        return 2;
    }
    const size_t count = (size_t)samples * WIDTH, bytes = count * sizeof(float);
    const size_t weight_bytes = WIDTH * WIDTH * sizeof(float), bias_bytes = WIDTH * sizeof(float);
    std::vector<float> input = pattern(count, 1), output(count);
    std::vector<float> w1 = pattern(WIDTH * WIDTH, 2), b1 = pattern(WIDTH, 3);
    std::vector<float> w2 = pattern(WIDTH * WIDTH, 4), b2 = pattern(WIDTH, 5);
    std::vector<float> w3 = pattern(WIDTH * WIDTH, 6), b3 = pattern(WIDTH, 7);

    float *x, *h1, *h2, *y, *dw1, *dw2, *dw3, *db1, *db2, *db3;
    cudaMalloc(&x, bytes);
    cudaMalloc(&h1, bytes);
    cudaMalloc(&h2, bytes);
    cudaMalloc(&y, bytes);
    cudaMalloc(&dw1, weight_bytes);
    cudaMalloc(&dw2, weight_bytes);
    cudaMalloc(&dw3, weight_bytes);
    cudaMalloc(&db1, bias_bytes);
    cudaMalloc(&db2, bias_bytes);
    cudaMalloc(&db3, bias_bytes);
    cudaMemcpy(x, input.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(dw1, w1.data(), weight_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(dw2, w2.data(), weight_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(dw3, w3.data(), weight_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(db1, b1.data(), bias_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(db2, b2.data(), bias_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(db3, b3.data(), bias_bytes, cudaMemcpyHostToDevice);

    const dim3 block(TILE, TILE), grid(WIDTH / TILE, (samples + TILE - 1) / TILE);
    dense<<<grid, block>>>(x, dw1, h1, samples);
    activate<<<grid, block>>>(h1, db1, samples);
    dense<<<grid, block>>>(h1, dw2, h2, samples);
    activate<<<grid, block>>>(h2, db2, samples);
    dense<<<grid, block>>>(h2, dw3, y, samples);
    activate<<<grid, block>>>(y, db3, samples);
    cudaMemcpy(output.data(), y, bytes, cudaMemcpyDeviceToHost);
    for (float *buffer : {x, h1, h2, y, dw1, dw2, dw3, db1, db2, db3}) cudaFree(buffer);

    std::vector<double> expected(input.begin(), input.end());
    layer_on_host(expected, w1, b1, samples);
    layer_on_host(expected, w2, b2, samples);
    layer_on_host(expected, w3, b3, samples);
    unsigned hash = 2166136261u;
    int wrong = 0;
    for (size_t i = 0; i < count; ++i) {
        wrong += !(std::fabs(output[i] - expected[i]) <= 1e-4);
        const unsigned char *byte = (const unsigned char *)&output[i];
        for (size_t k = 0; k < sizeof(float); ++k) hash = (hash ^ byte[k]) * 16777619u;
    }
    printf("mlp: %d samples, checksum %08x\n", samples, hash);
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
