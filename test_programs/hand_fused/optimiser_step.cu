// The three kernels of optimiser_step.cu as one, as one writes it by hand: each number is loaded and stored once, and
// what the host knows is not asked again. What the compiler makes of the three is measured by it.
//
// usage: optimiser_step
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

constexpr int COUNT = 20'000, THREADS = 256;

struct Tensor {
    float *data;
    int size;
};

struct State {
    Tensor weights, gradient, mean, square;
};

struct Method {
    float rate, keep_mean, keep_square, least, decay;
    int step;
    bool decoupled;
};

__global__ void step(float *__restrict__ weights, const float *__restrict__ gradients, float *__restrict__ means,
                     float *__restrict__ squares, int size, Method method) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    // Rounded as where it is stored.
    float weight = __fmul_rn(weights[i], 1 - method.rate * method.decay), gradient = gradients[i];
    float mean = method.keep_mean * means[i] + (1 - method.keep_mean) * gradient;
    float square = method.keep_square * squares[i] + (1 - method.keep_square) * gradient * gradient;
    means[i] = mean;
    squares[i] = square;
    mean /= 1 - powf(method.keep_mean, method.step);
    square /= 1 - powf(method.keep_square, method.step);
    weights[i] = weight - method.rate * mean / (sqrtf(square) + method.least);
}


static std::vector<float> pattern(unsigned seed) {
    std::vector<float> values(COUNT);
    for (float &value : values) {
        seed = seed * 1664525u + 1013904223u;
        value = (float)(seed >> 8) / (1 << 24) - 0.5f;
    }
    return values;
}

static Tensor upload(const std::vector<float> &values) {
    Tensor tensor{nullptr, COUNT};
    cudaMalloc(&tensor.data, COUNT * sizeof(float));
    cudaMemcpy(tensor.data, values.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
    return tensor;
}

int main() {
    std::vector<float> weights = pattern(1), gradient = pattern(2), mean = pattern(3), square = pattern(4);
    for (float &value : square) value *= value;
    State state = {upload(weights), upload(gradient), upload(mean), upload(square)};
    Method method = {0.01f, 0.9f, 0.999f, 1e-8f, 0.1f, 3, true};
    const int blocks = (COUNT + THREADS - 1) / THREADS;
    step<<<blocks, THREADS>>>(state.weights.data, state.gradient.data, state.mean.data, state.square.data, COUNT, method);
    std::vector<float> found(COUNT);
    cudaMemcpy(found.data(), state.weights.data, COUNT * sizeof(float), cudaMemcpyDeviceToHost);
    unsigned checksum = 2166136261u;
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        double first = 0.9 * mean[i] + 0.1 * gradient[i], second = 0.999 * square[i] + 0.001 * gradient[i] * gradient[i];
        double move = first / (1 - pow(0.9, 3)) / (sqrt(second / (1 - pow(0.999, 3))) + 1e-8);
        if (fabs(found[i] - (weights[i] * (1 - 0.001) - 0.01 * move)) > 1e-4) wrong++;
        unsigned bits;
        memcpy(&bits, &found[i], sizeof bits);
        checksum = (checksum ^ bits) * 16777619u;
    }
    printf("optimiser_step: %d weights, checksum %08x\n", COUNT, checksum);
    printf("%s\n", wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
