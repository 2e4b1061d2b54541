// Barriers that hang on numbers in memory: all threads of a block load the same number there, since nothing writes it
// while the kernel runs, and so reach the barrier together. Not so where the number stands in what the kernel writes.
//
// expect: 8 launches -> 4
// expect-missed: copy_between divergent_barrier copy_between
#include <cstdio>

constexpr int BLOCKS = 6, THREADS = 64, N = BLOCKS * THREADS;

__global__ void reversed(const int *in, int *out, const unsigned *count) {
    if (blockIdx.x >= *count) return;
    __shared__ int tile[THREADS];
    tile[threadIdx.x] = in[blockIdx.x * THREADS + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * THREADS + threadIdx.x] = tile[THREADS - 1 - threadIdx.x];
}

// Each block turns its part as often as its own number says.
__global__ void turned(int *x, const unsigned *counts) {
    __shared__ int tile[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    for (unsigned k = 0; k < counts[blockIdx.x]; k++) {
        tile[threadIdx.x] = x[i];
        __syncthreads();
        x[i] = tile[(threadIdx.x + 1) % THREADS];
        __syncthreads();
    }
}

__global__ void twice(int *x) { x[blockIdx.x * THREADS + threadIdx.x] *= 2; }

// The number is another one for each thread.
__global__ void parted(int *x, const unsigned *counts) {
    __shared__ int tile[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    tile[threadIdx.x] = x[i];
    if (counts[threadIdx.x % BLOCKS] > 1000) __syncthreads();
    x[i] = tile[threadIdx.x] + 1;
}

static int wrong = 0;

static void check(const int *device, int (*expected)(int, int)) {
    int host[N];
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) wrong += host[i] != expected(i / THREADS, i % THREADS);
}

int main() {
    int *in, *out, *mixed, host[N];
    unsigned *counts, numbers[BLOCKS] = {4, 0, 1, 2, 3, 70};
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&mixed, sizeof host + THREADS * sizeof(int));
    cudaMalloc(&counts, sizeof numbers);
    for (int i = 0; i < N; i++) host[i] = i;
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(counts, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof host);
    cudaMemset(mixed, 0, sizeof host + THREADS * sizeof(int));
    cudaMemcpy(mixed, numbers, sizeof numbers, cudaMemcpyHostToDevice);

    reversed<<<BLOCKS, THREADS>>>(in, out, counts);
    twice<<<BLOCKS, THREADS>>>(out);
    turned<<<BLOCKS, THREADS>>>(out, counts);
    twice<<<BLOCKS, THREADS>>>(out);
    check(out, [](int block, int thread) {
        int turns[] = {4, 0, 1, 2, 3, 70};
        int from = THREADS - 1 - (thread + turns[block]) % THREADS;
        return block < 4 ? 4 * (block * THREADS + from) : 0;
    });

    // The number is in the allocation that is written.
    reversed<<<BLOCKS, THREADS>>>(in, mixed + THREADS, (unsigned *)mixed);
    twice<<<BLOCKS, THREADS>>>(mixed + THREADS);
    check(mixed + THREADS, [](int block, int thread) {
        return block < 4 ? 2 * (block * THREADS + THREADS - 1 - thread) : 0;
    });

    parted<<<BLOCKS, THREADS>>>(in, counts);
    twice<<<BLOCKS, THREADS>>>(in);
    check(in, [](int block, int thread) { return 2 * (block * THREADS + thread + 1); });

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
