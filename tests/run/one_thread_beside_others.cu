// A launch of one thread, one that sets counters, and one that counts by what both left. The first two run side by side. The
// first and the last could be one only in a grid of one thread, which is no reason to keep the first two apart.
//
// expect: 3 launches -> 2
// executes: 10 10
// arguments: 256
// arguments: 1
#include <cstdio>
#include <cstdlib>

const int N = 1024;

__global__ void poke(int *keys, int *out, const int *index, int step) {
    keys[step] = step;
    keys[step + 8] = 100 - step;
    for (int i = 0; i < 4; ++i) out[i] = keys[index[i]];
}

__global__ void clear(int *count) { count[blockIdx.x * blockDim.x + threadIdx.x] = 0; }

__global__ void histogram(int *count, const int *keys) { atomicAdd(&count[keys[blockIdx.x * blockDim.x + threadIdx.x]], 1); }

static void check(cudaError_t status) {
    if (status != cudaSuccess) std::printf("FAIL %s\n", cudaGetErrorString(status)), std::exit(1);
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? std::atoi(argv[1]) : 256, blocks = N / threads;
    int *keys, *out, *index, *count, host[N];
    check(cudaMalloc(&keys, sizeof host));
    check(cudaMalloc(&out, 4 * sizeof(int)));
    check(cudaMalloc(&index, 4 * sizeof(int)));
    check(cudaMalloc(&count, sizeof host));
    for (int i = 0; i < N; ++i) host[i] = i * 7 % N;
    check(cudaMemcpy(keys, host, sizeof host, cudaMemcpyHostToDevice));
    int at[4] = {1, 3, 9, 20};
    check(cudaMemcpy(index, at, sizeof at, cudaMemcpyHostToDevice));
    for (int step = 1; step <= 5; ++step) {
        poke<<<1, 1>>>(keys, out, index, step);
        clear<<<blocks, threads>>>(count);
        histogram<<<blocks, threads>>>(count, keys);
    }
    check(cudaMemcpy(host, count, sizeof host, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(at, out, sizeof at, cudaMemcpyDeviceToHost));
    int total = 0;
    for (int i = 0; i < N; ++i) total += host[i];
    std::printf("%d %d %d\n%s\n", host[0], host[5], at[2], total == N ? "PASS" : "FAIL");
}
