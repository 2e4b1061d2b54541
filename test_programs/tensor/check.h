// What the programs of this folder share: tensors on both sides, and the comparison with a host in double precision.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

static int failures = 0;

// A tensor of which the host has a copy in double precision.
template <typename T = float> struct Tensor {
    std::vector<double> host;
    T *device = nullptr;

    // Elements between -1 and 1, other ones for each seed; `steps` of them are different.
    explicit Tensor(size_t count, int seed = 0, int steps = 23) : host(count)
    {
        for (size_t i = 0; i < count; ++i)
            host[i] = static_cast<double>((i * 7919 + seed * 104729 + i / 13) % steps) / steps * 2 - 1;
        send();
    }

    // Whole numbers from 0 to below `below`.
    static Tensor indices(size_t count, int below, int seed)
    {
        Tensor made(count);
        for (size_t i = 0; i < count; ++i)
            made.host[i] = static_cast<double>((i * 31 + seed * 17 + i / 5) % below);
        made.send();
        return made;
    }

    operator T *() { return device; }
    double operator[](size_t i) const { return host[i]; }

    void send()
    {
        std::vector<T> values(host.size());
        for (size_t i = 0; i < host.size(); ++i) {
            values[i] = static_cast<T>(host[i]);
            host[i] = static_cast<double>(values[i]);
        }
        if (!device && cudaMalloc(reinterpret_cast<void **>(&device), host.size() * sizeof(T) + 1) != cudaSuccess)
            std::exit(2);
        cudaMemcpy(device, values.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    }

    // Compares what the device made with what `expected` says of each element.
    template <typename Expected> void compare(const char *what, Expected expected, double tolerance = 1e-5)
    {
        std::vector<T> values(host.size());
        cudaMemcpy(values.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost);
        for (size_t i = 0; i < host.size(); ++i) {
            const double wanted = expected(i), found = static_cast<double>(values[i]);
            host[i] = found;
            if (!(std::fabs(found - wanted) <= tolerance * (1 + std::fabs(wanted)))) {
                if (++failures < 20)
                    std::printf("%s[%zu] is %.9g and should be %.9g\n", what, i, found, wanted);
            }
        }
    }
};

static int verdict()
{
    if (cudaDeviceSynchronize() != cudaSuccess)
        ++failures;
    std::printf(failures ? "FAIL\n" : "PASS\n");
    return failures != 0;
}
