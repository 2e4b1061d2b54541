// Two parts of one allocation, of which the first is only read: what is written in the second is computed from where the
// first begins, and other threads of the block read it behind barriers in a loop.
//
// expect: 2 launches -> 1
#include <cstdio>
#include <vector>

constexpr int BLOCKS = 8, THREADS = 128, ELEMENTS = BLOCKS * THREADS, ROUNDS = 5;

__global__ void taken(const float *in, float *way) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    way[i] = in[i];
}

// Each round a thread adds what its neighbour has.
__global__ void passed_on(float *way, float *out) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0.0f;
    for (int round = 0; round < ROUNDS; ++round) {
        const float next = threadIdx.x + 1 < THREADS ? way[i + 1] : 1.0f;
        __syncthreads();
        way[i] = 2.0f * next + round;
        __syncthreads();
        sum += next;
    }
    out[i] = sum + way[i];
}

int main() {
    float *all, *out;
    cudaMalloc(&all, 2 * ELEMENTS * sizeof(float));
    cudaMalloc(&out, ELEMENTS * sizeof(float));
    std::vector<float> host(ELEMENTS), result(ELEMENTS);
    for (int i = 0; i < ELEMENTS; ++i) host[i] = (float)(i % 37);
    cudaMemcpy(all, host.data(), ELEMENTS * sizeof(float), cudaMemcpyHostToDevice);
    taken<<<BLOCKS, THREADS>>>(all, all + ELEMENTS);
    passed_on<<<BLOCKS, THREADS>>>(all + ELEMENTS, out);
    cudaMemcpy(result.data(), out, ELEMENTS * sizeof(float), cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int block = 0; block < BLOCKS; ++block) {
        float way[THREADS], sums[THREADS] = {};
        for (int t = 0; t < THREADS; ++t) way[t] = host[block * THREADS + t];
        for (int round = 0; round < ROUNDS; ++round) {
            float next[THREADS];
            for (int t = 0; t < THREADS; ++t) next[t] = t + 1 < THREADS ? way[t + 1] : 1.0f;
            for (int t = 0; t < THREADS; ++t) {
                way[t] = 2.0f * next[t] + round;
                sums[t] += next[t];
            }
        }
        for (int t = 0; t < THREADS; ++t) right &= result[block * THREADS + t] == sums[t] + way[t];
    }
    printf("%s\n", right ? "PASS" : "FAIL");
    return !right;
}
