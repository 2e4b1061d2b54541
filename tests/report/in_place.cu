// Two cells over three steps, each of which overwrites its state; other blocks still read it. Once written
// out, once as a loop.
#include <cstdlib>

__global__ void mix(const float *below, const float *state, float *sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float total = 0;
    for (int k = 0; k < 128; ++k) total += below[k] * state[127 - k];
    sum[i] = total;
}

__global__ void keep(const float *sum, float *state) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    state[i] = sum[i] * 0.5f;
}

#define CELL(below, state, sum)                                                                          \
    mix<<<4, 32>>>(below, state, sum);                                                                   \
    keep<<<4, 32>>>(sum, state);

int main(int argc, char **argv) {
    float *x, *s, *t;
    cudaMalloc(&x, 3 * 512);
    cudaMalloc(&s, 2 * 512);
    cudaMalloc(&t, 2 * 512);
    CELL(x, s, t)
    CELL(s, s + 128, t + 128)
    CELL(x + 128, s, t)
    CELL(s, s + 128, t + 128)
    CELL(x + 256, s, t)
    CELL(s, s + 128, t + 128)
    cudaDeviceSynchronize();
    const int steps = argc > 1 ? atoi(argv[1]) : 3;
    for (int step = 0; step < steps; ++step)
        for (int cell = 0; cell < 2; ++cell) {
            CELL(cell == 0 ? x + 128 * step : s, s + 128 * cell, t + 128 * cell)
        }
    cudaFree(x);
    cudaFree(s);
    cudaFree(t);
}
