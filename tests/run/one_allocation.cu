// One allocation cut into parts by hand, and a single launch on them.
//
// Shows: nothing fuses, and still the kernel takes one pointer where it took three: the parts lie at distances
// that the host knows, as do the count and the grid. A part at a distance that is not known is passed.
//
// A kernel whose indices are not understood at a launch, here for a step of -1, stays as it is.
//
// expect: 3 launches -> 3
// expect-missed: global_dependence
// expect-missed: unproven_index
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int COUNT = 1000;

__global__ void mix(const float *left, const float *right, float *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = left[i] + 2.0f * right[count - 1 - i];
}

__global__ void turn(const float *in, float *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[count - 1 - i] * 3.0f;
}

struct Walk {
    float *from;
    int count, step;
};

__global__ void walk(Walk out, Walk in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < out.count) out.from[i * out.step] = in.from[i * in.step] + 1.0f;
}

int main(int argc, char **argv) {
    const int gap = argc > 1 ? atoi(argv[1]) : 8;
    if (gap < 0 || gap > 64) return fprintf(stderr, "usage: %s [gap]\n", argv[0]), 2;
    std::vector<float> values(2 * COUNT), got(COUNT);
    for (int i = 0; i < 2 * COUNT; ++i) values[i] = (float)(i * 7 % 31);
    float *all;
    cudaMalloc(&all, (4 * COUNT + 64) * sizeof(float));
    cudaMemcpy(all, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
    const int blocks = (COUNT + 127) / 128;
    mix<<<blocks, 128>>>(all, all + COUNT, all + 2 * COUNT, COUNT);
    turn<<<blocks, 128>>>(all + 2 * COUNT, all + 3 * COUNT + gap, COUNT);
    walk<<<blocks, 128>>>({all + 2 * COUNT - 1, COUNT, -1}, {all, COUNT, 1});
    cudaMemcpy(got.data(), all + COUNT, COUNT * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < COUNT; ++i) wrong += got[COUNT - 1 - i] != values[i] + 1.0f;
    cudaMemcpy(got.data(), all + 3 * COUNT + gap, COUNT * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(all);
    for (int i = 0; i < COUNT; ++i)
        wrong += got[COUNT - 1 - i] != 3.0f * (values[i] + 2.0f * values[2 * COUNT - 1 - i]);
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
