// GELU by its tangent formula, as a framework runs it without a kernel of its own: eight operators on elements, each
// with a tensor for its result.
//
// Shows: the results in between stay in registers, and nobody writes them.
//
// expect: 8 launches -> 1
#include "workload.h"

constexpr int COUNT = 5000, THREADS = 128, BLOCKS = (COUNT + THREADS - 1) / THREADS;

#define ELEMENT const int i = blockIdx.x * THREADS + threadIdx.x; if (i < COUNT)

__global__ void multiply(const float *a, const float *b, float *out) { ELEMENT out[i] = a[i] * b[i]; }
__global__ void scale(const float *a, float by, float *out) { ELEMENT out[i] = a[i] * by; }
__global__ void add(const float *a, const float *b, float *out) { ELEMENT out[i] = a[i] + b[i]; }
__global__ void shift(const float *a, float by, float *out) { ELEMENT out[i] = a[i] + by; }
__global__ void tangent(const float *a, float *out) { ELEMENT out[i] = tanhf(a[i]); }

int main() {
    Tensor x(COUNT, 1, 8.0f), square(COUNT), cube(COUNT), small(COUNT), sum(COUNT), t(COUNT), one(COUNT), y(COUNT);
    multiply<<<BLOCKS, THREADS>>>(x.device, x.device, square.device);
    multiply<<<BLOCKS, THREADS>>>(square.device, x.device, cube.device);
    scale<<<BLOCKS, THREADS>>>(cube.device, 0.044715f, small.device);
    add<<<BLOCKS, THREADS>>>(x.device, small.device, sum.device);
    scale<<<BLOCKS, THREADS>>>(sum.device, 0.79788456f, sum.device);
    tangent<<<BLOCKS, THREADS>>>(sum.device, t.device);
    shift<<<BLOCKS, THREADS>>>(t.device, 1.0f, one.device);
    multiply<<<BLOCKS, THREADS>>>(one.device, x.device, y.device);
    const std::vector<float> got = y.back();

    std::vector<double> expected;
    for (double v : x.host) expected.push_back(v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v))));
    return judge(got, expected, 1e-4);
}
