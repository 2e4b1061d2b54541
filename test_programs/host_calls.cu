// The same two kernels, reached in the ways in which host code calls: helper functions, templates
// that take a kernel, lambdas, `std::function`, virtual methods, and layers in a loop.
//
// Shows: launches in functions that are called become launches of the caller, so that two layers
// whose class is known run as one. In a loop over layers of unknown class only the launches within
// one method can.
//
// usage: host_calls [elements]
//
// expect: 18 launches -> 9
// arguments:
// arguments: 1
// arguments: 300
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

__global__ void scale(const float *x, float *y, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = by * x[i];
}

__global__ void shift(const float *x, float *y, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + by;
}

static const int threads = 128;

static int blocks(int n) { return (n + threads - 1) / threads; }

static void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(status));
    exit(2);
}

static float *allocate(int n) {
    float *data;
    check(cudaMalloc(&data, n * sizeof(float)));
    return data;
}

static void fill(float *device, int n) {
    std::vector<float> host(n);
    for (int i = 0; i < n; ++i) host[i] = (float)(i % 11) - 5.0f;
    check(cudaMemcpy(device, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
}

// How many elements of a result differ from so many rounds of x -> x / 2 + 1.
static int wrong(const float *device, int n, int rounds) {
    std::vector<float> host(n);
    check(cudaMemcpy(host.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost));
    int count = 0;
    for (int i = 0; i < n; ++i) {
        float expected = (float)(i % 11) - 5.0f;
        for (int round = 0; round < rounds; ++round) expected = 0.5f * expected + 1.0f;
        count += std::fabs(host[i] - expected) > 1e-4f;
    }
    return count;
}

struct Layer {
    float *weighted, *out;
};

struct Net {
    std::vector<Layer> layers;
    float *in;
    int n;
};

static void step(Net &net, int i) {
    const float *x = i == 0 ? net.in : net.layers[i - 1].out;
    scale<<<blocks(net.n), threads>>>(x, net.layers[i].weighted, net.n, 0.5f);
    shift<<<blocks(net.n), threads>>>(net.layers[i].weighted, net.layers[i].out, net.n, 1.0f);
}

static int helper_in_loop(int n) {
    Net net{{}, allocate(n), n};
    for (int i = 0; i < 4; ++i) net.layers.push_back({allocate(n), allocate(n)});
    fill(net.in, n);
    for (int i = 0; i < 4; ++i) step(net, i);
    const int count = wrong(net.layers[3].out, n, 4);
    cudaFree(net.in);
    for (Layer &layer : net.layers) {
        cudaFree(layer.weighted);
        cudaFree(layer.out);
    }
    return count;
}

template <class Kernel, class... Arguments> static void launch(Kernel kernel, int n, Arguments... rest) {
    kernel<<<blocks(n), threads>>>(rest...);
    check(cudaGetLastError());
}

static int templates(int n) {
    float *in = allocate(n), *out = allocate(n);
    fill(in, n);
    launch(scale, n, in, out, n, 0.5f);
    launch(shift, n, out, out, n, 1.0f);
    const int count = wrong(out, n, 1);
    cudaFree(in);
    cudaFree(out);
    return count;
}

static int lambdas(int n) {
    float *in = allocate(n), *out = allocate(n);
    fill(in, n);
    auto halve = [&](const float *x, float *y) { scale<<<blocks(n), threads>>>(x, y, n, 0.5f); };
    auto increase = [=](float *x) { shift<<<blocks(n), threads>>>(x, x, n, 1.0f); };
    halve(in, out);
    increase(out);
    const int count = wrong(out, n, 1);
    cudaFree(in);
    cudaFree(out);
    return count;
}

static int functions(int n) {
    float *in = allocate(n), *middle = allocate(n), *out = allocate(n);
    fill(in, n);
    std::function<void(const float *, float *)> round = [n](const float *x, float *y) {
        scale<<<blocks(n), threads>>>(x, y, n, 0.5f);
        shift<<<blocks(n), threads>>>(y, y, n, 1.0f);
    };
    round(in, middle);
    round(middle, out);
    const int count = wrong(out, n, 2);
    cudaFree(in);
    cudaFree(middle);
    cudaFree(out);
    return count;
}

struct Module {
    virtual ~Module() {}
    virtual void forward(const float *x, float *y, int n) const = 0;
};

struct Scale : Module {
    void forward(const float *x, float *y, int n) const override {
        scale<<<blocks(n), threads>>>(x, y, n, 0.5f);
    }
};

struct Round : Module {
    void forward(const float *x, float *y, int n) const override {
        scale<<<blocks(n), threads>>>(x, y, n, 0.5f);
        shift<<<blocks(n), threads>>>(y, y, n, 1.0f);
    }
};

struct Shift : Module {
    void forward(const float *x, float *y, int n) const override {
        shift<<<blocks(n), threads>>>(x, y, n, 1.0f);
    }
};

static int known_classes(int n) {
    float *in = allocate(n), *middle = allocate(n), *out = allocate(n);
    fill(in, n);
    Scale first;
    Shift second;
    const Module *modules[] = {&first, &second};
    modules[0]->forward(in, middle, n);
    modules[1]->forward(middle, out, n);
    const int count = wrong(out, n, 1);
    cudaFree(in);
    cudaFree(middle);
    cudaFree(out);
    return count;
}

static int unknown_classes(int n) {
    std::vector<std::unique_ptr<Module>> modules;
    modules.emplace_back(new Round());
    modules.emplace_back(new Scale());
    modules.emplace_back(new Shift());
    std::vector<float *> buffers;
    for (size_t i = 0; i <= modules.size(); ++i) buffers.push_back(allocate(n));
    fill(buffers[0], n);
    for (size_t i = 0; i < modules.size(); ++i) modules[i]->forward(buffers[i], buffers[i + 1], n);
    const int count = wrong(buffers.back(), n, 2);
    for (float *buffer : buffers) cudaFree(buffer);
    return count;
}

int main(int count, char **words) {
    const int n = count > 1 ? atoi(words[1]) : 1000;
    int differing = helper_in_loop(n) + templates(n) + lambdas(n) + functions(n);
    differing += known_classes(n) + unknown_classes(n);
    printf(differing ? "FAIL: %d values differ\n" : "PASS\n", differing);
    return differing != 0;
}
