// What the workloads share: values from a seed, and the comparison with the host's.
#pragma once
#include <cmath>
#include <cstdio>
#include <vector>

struct Tensor {
    std::vector<float> host;
    float *device;

    explicit Tensor(size_t count, unsigned seed = 0, float scale = 2.0f) : host(count) {
        for (float &value : host) {
            seed = seed * 1664525u + 1013904223u;
            value = ((float)(seed >> 8) / (1 << 24) - 0.5f) * scale;
        }
        cudaMalloc(&device, count * sizeof(float));
        cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    }
    std::vector<float> back() const {
        std::vector<float> values(host.size());
        cudaMemcpy(values.data(), device, values.size() * sizeof(float), cudaMemcpyDeviceToHost);
        return values;
    }
};

// Says PASS where all values are near those expected; the exit status.
static int judge(const std::vector<float> &got, const std::vector<double> &expected, double bound) {
    double worst = got.size() == expected.size() ? 0 : INFINITY;
    for (size_t i = 0; i < got.size() && i < expected.size(); ++i) {
        const double distance = std::fabs(got[i] - expected[i]);
        worst = std::fmax(worst, distance == distance ? distance : INFINITY);
    }
    printf("%zu values\n%s\n", got.size(), worst <= bound ? "PASS" : "FAIL");
    return worst > bound;
}
