// What the models share: weights from a seed, zeroed memory, and the judgement of what came out.
#pragma once
#include "clock.h"
#include <cmath>
#include <cstdio>
#include <vector>

// Values on host and device.
struct Parameters {
    std::vector<float> host;
    float *device;

    Parameters(size_t count, unsigned seed, float scale, float centre = 0.0f) : host(count) {
        for (float &value : host) {
            seed = seed * 1664525u + 1013904223u;
            value = ((float)(seed >> 8) / (1 << 24) - 0.5f) * scale + centre;
        }
        cudaMalloc(&device, count * sizeof(float));
        cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    }
};

// Zeroes on the device.
static float *room(size_t elements) {
    float *device;
    cudaMalloc(&device, elements * sizeof(float));
    cudaMemset(device, 0, elements * sizeof(float));
    return device;
}

// Prints what came out and whether it is near enough to the host's values; the exit status.
static int judge(const char *name, const std::vector<float> &result, const std::vector<double> &expected, double bound) {
    double worst = result.size() == expected.size() ? 0 : INFINITY;
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < result.size() && i < expected.size(); ++i) {
        const double distance = std::fabs(result[i] - expected[i]);
        worst = std::fmax(worst, distance == distance ? distance : INFINITY);
        const unsigned char *byte = (const unsigned char *)&result[i];
        for (size_t b = 0; b < sizeof(float); ++b) hash = (hash ^ byte[b]) * 16777619u;
    }
    const bool right = worst <= bound && cudaGetLastError() == cudaSuccess;
    printf("%s: checksum %08x, off by at most %.1e\n%s\n", name, hash, worst, right ? "PASS" : "FAIL");
    return !right;
}
