// One launch of each definition.
#include "products.tc.h"
#include <cuda_runtime.h>
static float *zeros(size_t count)
{
    float *made;
    cudaMalloc((void **)&made, count * sizeof(float));
    cudaMemset(made, 0, count * sizeof(float));
    return made;
}
int main()
{
    const int T = 64, M = 128, B = 64, D = 96, H = 64;
    float *X = zeros(T * M), *W = zeros(3 * M * M), *bias = zeros(4 * M), *O = zeros(3 * T * M);
    several_qkv(0, T, M, M, X, W, bias, W + M * M, bias + M, W + 2 * M * M, bias + 2 * M, O, O + T * M, O + 2 * T * M);
    float *x = zeros(B * D), *h = zeros(B * H), *V = zeros(4 * H * D), *U = zeros(4 * H * H), *gates = zeros(B * 4 * H);
    several_gates(0, B, D, H, x, h, V, U, bias, gates);
    float *cell = zeros(8 * 24), *rows = zeros(8 * 24);
    several_step(0, 8, 32, 24, x, h, gates, V, U, bias, rows, cell);
    return cudaDeviceSynchronize();
}
