// Launches that are one where two pointers do not overlap, and run as written where they do.
#include <cstdio>
#include <cstdlib>

__global__ void scale(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * 2;
}

__attribute__((noinline)) void step(float *a, float *b, float *c, int n) {
    scale<<<(n + 63) / 64, 64>>>(b, a, n);
    scale<<<(n + 63) / 64, 64>>>(c, b, n);
}

int main(int argc, char **) {
    float *memory;
    cudaMalloc(&memory, 4096 * sizeof(float));
    float **table = (float **)std::malloc(8 * sizeof(float *));
    for (int i = 0; i < 8; i++) table[i] = memory + (i + argc - 1) * 500;
    // The fourth time two pointers overlap, the fifth time both launches are invalid.
    for (int time = 0; time < 5; time++) {
        float *last = time == 3 ? table[1] + 1 : table[2];
        step(table[0], table[1], last, time == 4 ? 0 : 400);
    }
    std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    std::free(table);
    cudaFree(memory);
    return 0;
}
