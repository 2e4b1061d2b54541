// Layers of recurrent cells whose kernels find what they read and write by pointers in memory of the device, of which
// only the run tells where in one allocation they lead. Cells of a diagonal run together.
//
// expect: 3 launches -> 1
// arguments: 6
// arguments: 1
// executes: 9 4
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int hidden = 64, layers = 4, threads = 32, blocks = hidden / threads;

struct In {
    const float *below, *before;
};

struct Out {
    float *c, *h;
};

struct Model {
    float w[2][hidden * hidden], u[2][hidden * hidden], sum[2][hidden];
};

__global__ void product(const In *__restrict__ in, Model *__restrict__ model, int gate) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < hidden; k++) {
        sum += model->w[gate][k * hidden + i] * in->below[k];
        sum += model->u[gate][k * hidden + i] * in->before[k];
    }
    model->sum[gate][i] = sum;
}

__global__ void solve(const Model *__restrict__ model, const Out *__restrict__ out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float c = out->c[i] * model->sum[0][i] + model->sum[1][i];
    out->c[i] = c;
    out->h[i] = c / (2.0f + c * c);
}

template <typename T>
static T *on_device(const std::vector<T> &host) {
    T *memory;
    cudaMalloc(&memory, host.size() * sizeof(T));
    cudaMemcpy(memory, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return memory;
}

static std::vector<float> numbers(size_t n, int period, float unit) {
    std::vector<float> result(n);
    for (size_t i = 0; i < n; i++) result[i] = (i % period) * unit;
    return result;
}

// The same on the host, with places instead of pointers: of an input behind all states.
static std::vector<float> expected(int steps, std::vector<float> state, const std::vector<float> &input,
                                   const std::vector<float> &weights) {
    size_t inputs = state.size();
    state.insert(state.end(), input.begin(), input.end());
    auto h = [&](int layer, int step) { return &state[(layers + layer * (steps + 1) + step) * hidden]; };
    for (int step = 0; step < steps; step++) {
        for (int layer = 0; layer < layers; layer++) {
            const Model *model = (const Model *)weights.data() + layer;
            const float *below = layer == 0 ? &state[inputs + step * hidden] : h(layer - 1, step + 1);
            for (int i = 0; i < hidden; i++) {
                float sum[2] = {0, 0};
                for (int gate = 0; gate < 2; gate++) {
                    for (int k = 0; k < hidden; k++) {
                        sum[gate] += model->w[gate][k * hidden + i] * below[k];
                        sum[gate] += model->u[gate][k * hidden + i] * h(layer, step)[k];
                    }
                }
                float &c = state[layer * hidden + i];
                c = c * sum[0] + sum[1];
                h(layer, step + 1)[i] = c / (2.0f + c * c);
            }
        }
    }
    state.resize(inputs);
    return state;
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 9;
    std::vector<float> input = numbers(steps * hidden, 17, 0.01f);
    std::vector<float> start = numbers((layers + layers * (steps + 1)) * hidden, 13, 0.02f);
    std::vector<float> weights = numbers(layers * sizeof(Model) / sizeof(float), 23, 0.0003f);
    float *x = on_device(input), *state = on_device(start);
    Model *models = (Model *)on_device(weights);
    float *h = state + layers * hidden;

    In *in_host = (In *)malloc(steps * layers * sizeof(In));
    Out *out_host = (Out *)malloc(steps * layers * sizeof(Out));
    for (int step = 0; step < steps; step++) {
        for (int layer = 0; layer < layers; layer++) {
            float *own = h + layer * (steps + 1) * hidden, *lower = own - (steps + 1) * hidden;
            In *in = in_host + step * layers + layer;
            in->below = layer == 0 ? x + step * hidden : lower + (step + 1) * hidden;
            in->before = own + step * hidden;
            out_host[step * layers + layer].c = state + layer * hidden;
            out_host[step * layers + layer].h = own + (step + 1) * hidden;
        }
    }
    In *in;
    Out *out;
    cudaMalloc(&in, steps * layers * sizeof(In));
    cudaMalloc(&out, steps * layers * sizeof(Out));
    cudaMemcpy(in, in_host, steps * layers * sizeof(In), cudaMemcpyHostToDevice);
    cudaMemcpy(out, out_host, steps * layers * sizeof(Out), cudaMemcpyHostToDevice);

    for (int step = 0; step < steps; step++) {
        for (int layer = 0; layer < layers; layer++) {
            int cell = step * layers + layer;
            product<<<blocks, threads>>>(in + cell, models + layer, 0);
            product<<<blocks, threads>>>(in + cell, models + layer, 1);
            solve<<<blocks, threads>>>(models + layer, out + cell);
        }
    }
    std::vector<float> found(start.size());
    cudaMemcpy(found.data(), state, found.size() * sizeof(float), cudaMemcpyDeviceToHost);
    // What is compared at the end are no addresses.
    memset(in_host, 0, steps * layers * sizeof(In));
    memset(out_host, 0, steps * layers * sizeof(Out));
    cudaMemcpy(in, in_host, steps * layers * sizeof(In), cudaMemcpyHostToDevice);
    cudaMemcpy(out, out_host, steps * layers * sizeof(Out), cudaMemcpyHostToDevice);
    free(in_host);
    free(out_host);
    std::vector<float> value = expected(steps, start, input, weights);
    int wrong = 0;
    for (size_t i = 0; i < value.size(); i++) {
        float difference = found[i] - value[i];
        wrong += !(difference * difference <= 1e-8f);
    }
    printf("%s: %d wrong\n", wrong ? "FAIL" : "PASS", wrong);
    return wrong != 0;
}
