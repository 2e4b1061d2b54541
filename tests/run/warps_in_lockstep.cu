// Code from before Volta: no barrier between the steps of a warp on volatile shared memory.
//
// expect: 4 launches -> 2
#include <cstdio>

__device__ void reduce_warp(volatile float *sums, int thread) {
    sums[thread] += sums[thread + 32];
    sums[thread] += sums[thread + 16];
    sums[thread] += sums[thread + 8];
    sums[thread] += sums[thread + 4];
    sums[thread] += sums[thread + 2];
    sums[thread] += sums[thread + 1];
}

__global__ void reduce(const float *values, float *totals) {
    __shared__ float sums[256];
    int thread = threadIdx.x;
    sums[thread] = values[blockIdx.x * 256 + thread];
    __syncthreads();
    for (int half = 128; half > 32; half >>= 1) {
        if (thread < half) sums[thread] += sums[thread + half];
        __syncthreads();
    }
    if (thread < 32) reduce_warp(sums, thread);
    if (thread == 0) totals[blockIdx.x] = sums[0];
}

// Without any barrier, with branches that some lanes leave out, and with a result that all of them read.
__global__ void reduce_by_halves(const float *values, float *everywhere) {
    __shared__ volatile float sums[64];
    int thread = threadIdx.x, lane = thread % 32;
    volatile float *own = sums + thread / 32 * 32;
    own[lane] = values[blockIdx.x * 64 + thread];
    for (int half = 16; half > 0; half >>= 1)
        if (lane < half) own[lane] += own[lane + half];
    everywhere[blockIdx.x * 64 + thread] = own[0];
}

// Lanes that scan beside zeros.
__global__ void scan(const unsigned *values, unsigned *sums) {
    __shared__ volatile unsigned data[64];
    int lane = threadIdx.x;
    data[lane] = 0;
    volatile unsigned *own = data + 32;
    own[lane] = values[lane];
    for (int distance = 1; distance < 32; distance *= 2) own[lane] += own[lane - distance];
    sums[lane] = own[lane];
}

// A lock that the lanes of a warp take in turns, with volatile memory behind it.
__global__ void count(int *total) {
    __shared__ int lock;
    __shared__ volatile int counter;
    if (threadIdx.x == 0) { lock = 0; counter = 0; }
    __syncthreads();
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            counter = counter + 1;
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) *total = counter;
}

int main() {
    float *values, *totals, *everywhere;
    unsigned *numbers, *sums;
    int *total, failures = 0;
    cudaMallocManaged(&values, 1024 * sizeof(float));
    cudaMallocManaged(&totals, 4 * sizeof(float));
    cudaMallocManaged(&everywhere, 1024 * sizeof(float));
    cudaMallocManaged(&numbers, 32 * sizeof(unsigned));
    cudaMallocManaged(&sums, 32 * sizeof(unsigned));
    cudaMallocManaged(&total, sizeof(int));
    for (int i = 0; i < 1024; i++) values[i] = i % 61;
    for (int i = 0; i < 32; i++) numbers[i] = 3 * i + 1;
    reduce<<<4, 256>>>(values, totals);
    reduce_by_halves<<<16, 64>>>(values, everywhere);
    scan<<<1, 32>>>(numbers, sums);
    count<<<1, 96>>>(total);
    cudaDeviceSynchronize();
    for (int block = 0; block < 4; block++) {
        float expected = 0;
        for (int i = 0; i < 256; i++) expected += values[block * 256 + i];
        failures += totals[block] != expected;
    }
    for (int i = 0; i < 1024; i++) {
        float expected = 0;
        for (int k = 0; k < 32; k++) expected += values[i / 32 * 32 + k];
        failures += everywhere[i] != expected;
    }
    unsigned expected = 0;
    for (int i = 0; i < 32; i++) {
        expected += numbers[i];
        failures += sums[i] != expected;
    }
    failures += *total != 96;
    printf(failures ? "FAIL %d\n" : "PASS\n", failures);
}
