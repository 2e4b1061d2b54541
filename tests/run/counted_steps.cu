// A host loop that stores its step's row of what belongs to each block: that the rows of two blocks are apart follows from
// how often the loop goes round. Its twin goes round once more, and comes to the next block's rows.
//
// expect: 4 launches -> 2, 1 host loop inside its kernel
// executes: 1 7
// arguments: 0
// arguments: 1
#include <cstdio>
#include <cstdlib>
#include <vector>

const int BLOCKS = 4, WIDTH = 32, STEPS = 6;

__global__ void next(float *h) { h[blockIdx.x * WIDTH + threadIdx.x] += 1.0f; }

__global__ void output(const float *h, int step, float *outputs) {
    outputs[(blockIdx.x * STEPS + step) * WIDTH + threadIdx.x] = h[blockIdx.x * WIDTH + threadIdx.x];
}

int main(int argc, char **argv) {
    float *h, *outputs;
    const int count = (BLOCKS * STEPS + 1) * WIDTH;
    cudaMalloc(&h, BLOCKS * WIDTH * sizeof(float));
    cudaMalloc(&outputs, count * sizeof(float));
    cudaMemset(h, 0, BLOCKS * WIDTH * sizeof(float));
    cudaMemset(outputs, 0, count * sizeof(float));
    if (argc > 1 && std::atoi(argv[1]) == 1) {
        for (int step = 0; step < STEPS + 1; ++step) {
            next<<<BLOCKS, WIDTH>>>(h);
            output<<<BLOCKS, WIDTH>>>(h, step, outputs);
        }
    } else {
        for (int step = 0; step < STEPS; ++step) {
            next<<<BLOCKS, WIDTH>>>(h);
            output<<<BLOCKS, WIDTH>>>(h, step, outputs);
        }
    }
    std::vector<float> got(count);
    cudaMemcpy(got.data(), outputs, count * sizeof(float), cudaMemcpyDeviceToHost);
    const int steps = argc > 1 && std::atoi(argv[1]) == 1 ? STEPS + 1 : STEPS;
    std::vector<float> expected(count);
    for (int step = 0; step < steps; ++step)
        for (int block = 0; block < BLOCKS; ++block)
            for (int t = 0; t < WIDTH; ++t) expected[(block * STEPS + step) * WIDTH + t] = step + 1.0f;
    std::printf("%s\n", got == expected ? "PASS" : "FAIL");
    return got != expected;
}
