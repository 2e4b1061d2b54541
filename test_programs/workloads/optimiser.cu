// A step of Adam for four tensors of different sizes: for each the first moment, the second, the update, one kernel an
// operator.
//
// Shows: the three launches of a tensor follow each other in their threads; tensors of other sizes stand beside them.
//
// expect: 12 launches -> 1
#include "workload.h"

constexpr int THREADS = 128;

__global__ void first_moment(float *m, const float *gradient, int count) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) m[i] = 0.9f * m[i] + 0.1f * gradient[i];
}

__global__ void second_moment(float *v, const float *gradient, int count) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] = 0.999f * v[i] + 0.001f * gradient[i] * gradient[i];
}

__global__ void update(float *weight, const float *m, const float *v, float rate, int count) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) weight[i] -= rate * m[i] / (sqrtf(v[i]) + 1e-8f);
}

struct Slot {
    Tensor weight, gradient, m, v;

    Slot(int count, unsigned seed) : weight(count, seed), gradient(count, seed + 1), m(count, seed + 2), v(count, seed + 3, 0.0f) {}
};

static inline void step(const Slot &slot, int count) {
    const int blocks = (count + THREADS - 1) / THREADS;
    first_moment<<<blocks, THREADS>>>(slot.m.device, slot.gradient.device, count);
    second_moment<<<blocks, THREADS>>>(slot.v.device, slot.gradient.device, count);
    update<<<blocks, THREADS>>>(slot.weight.device, slot.m.device, slot.v.device, 0.01f, count);
}

int main() {
    const Slot embedding(3000, 1), kernel(1024, 11), bias(32, 21), head(320, 31);
    step(embedding, 3000);
    step(kernel, 1024);
    step(bias, 32);
    step(head, 320);
    std::vector<float> got;
    std::vector<double> expected;
    for (const Slot *slot : {&embedding, &kernel, &bias, &head}) {
        const std::vector<float> weights = slot->weight.back();
        got.insert(got.end(), weights.begin(), weights.end());
        for (size_t i = 0; i < weights.size(); ++i) {
            const double g = slot->gradient.host[i], m = 0.9 * slot->m.host[i] + 0.1 * g, v = 0.999 * slot->v.host[i] + 0.001 * g * g;
            expected.push_back(slot->weight.host[i] - 0.01 * m / (std::sqrt(v) + 1e-8));
        }
    }
    return judge(got, expected, 1e-3);
}
