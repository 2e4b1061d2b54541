// A step of an optimiser over structs: weights decay, moments follow the gradient, weights move. Each kernel takes
// the state, tensors with their sizes, and the numbers of the method, both by value.
//
// Shows: the fused kernel takes fields, each once, so that what one launch stores through a struct and the next one
// loads through another is one value, and what the host knows of a field is a constant.
//
// usage: optimiser_step
//
// expect: 3 launches -> 1
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

__global__ void decay(State state, Method method) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= state.weights.size) return;
    if (method.decoupled) state.weights.data[i] *= 1 - method.rate * method.decay;
    else state.gradient.data[i] += method.decay * state.weights.data[i];
}

__global__ void follow(State state, Method method) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= state.gradient.size) return;
    float gradient = state.gradient.data[i];
    state.mean.data[i] = method.keep_mean * state.mean.data[i] + (1 - method.keep_mean) * gradient;
    state.square.data[i] = method.keep_square * state.square.data[i] + (1 - method.keep_square) * gradient * gradient;
}

__global__ void move(State state, Method method) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= state.weights.size) return;
    float mean = state.mean.data[i] / (1 - powf(method.keep_mean, method.step));
    float square = state.square.data[i] / (1 - powf(method.keep_square, method.step));
    state.weights.data[i] -= method.rate * mean / (sqrtf(square) + method.least);
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
    decay<<<blocks, THREADS>>>(state, method);
    follow<<<blocks, THREADS>>>(state, method);
    move<<<blocks, THREADS>>>(state, method);
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
