// Lanes of a warp that exchange plain shared memory with no barrier between: the last steps of a block's sum, as TeaLeaf
// and CloverLeaf have them, in nested branches and in a loop, and a scan. On the CPU device they go in lockstep,
// also where these kernels run as one with others: threads that have ended wait at the barriers that are left.
// CUDA promises no lockstep from Volta on: on such a GPU the program may fail, whoever compiles it.
//
// expect: 5 launches -> 3
#include <cstdio>

static const int blocks = 4, threads = 256, count = blocks * threads;

template <int half> struct halve {
    __device__ static void go(double *sums) {
        if (half > 16) __syncthreads();
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            halve<half / 2>::go(sums);
        }
    }
};
template <> struct halve<0> {
    __device__ static void go(double *) {}
};

__global__ void twice(const double *in, double *out) {
    int i = blockIdx.x * threads + threadIdx.x;
    out[i] = 2 * in[i];
}

__global__ void sum(const double *in, double *out) {
    __shared__ double sums[threads];
    sums[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
    halve<threads / 2>::go(sums);
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

__global__ void sum_in_loops(const double *in, double *out) {
    __shared__ double sums[threads];
    int thread = threadIdx.x;
    sums[thread] = in[blockIdx.x * threads + thread];
    __syncthreads();
    for (int half = threads / 2; half > 16; half >>= 1) {
        if (thread < half) sums[thread] += sums[thread + half];
        __syncthreads();
    }
    for (int half = 16; half > 0; half >>= 1)
        if (thread < half) sums[thread] += sums[thread + half];
    if (thread == 0) out[blockIdx.x] = sums[0];
}

// Each lane reads what its neighbour has before that one writes.
__device__ __noinline__ void scan_warp(double *own, int lane) {
    for (int distance = 1; distance < 32; distance *= 2)
        if (lane >= distance) own[lane] += own[lane - distance];
}

__global__ void scan(const double *in, double *out) {
    __shared__ double data[threads];
    int thread = threadIdx.x;
    data[thread] = in[blockIdx.x * threads + thread];
    scan_warp(data + thread / 32 * 32, thread % 32);
    out[blockIdx.x * threads + thread] = data[thread];
}

int main() {
    static double host[count], got[count], sums[2][blocks];
    double *in, *doubled, *first, *second, *scanned;
    int wrong = 0;
    for (int i = 0; i < count; i++) host[i] = i % 256;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&doubled, sizeof host);
    cudaMalloc(&first, sizeof sums[0]);
    cudaMalloc(&second, sizeof sums[1]);
    cudaMalloc(&scanned, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    sum<<<blocks, threads>>>(in, first);
    cudaMemcpy(sums[0], first, sizeof sums[0], cudaMemcpyDeviceToHost);
    scan<<<blocks, threads>>>(in, scanned);
    cudaMemcpy(got, scanned, sizeof got, cudaMemcpyDeviceToHost);
    twice<<<blocks, threads>>>(in, doubled);
    sum<<<blocks, threads>>>(doubled, first);
    sum_in_loops<<<blocks, threads>>>(doubled, second);
    for (int block = 0; block < blocks; block++) wrong += sums[0][block] != 255 * 128;
    cudaMemcpy(sums[0], first, sizeof sums[0], cudaMemcpyDeviceToHost);
    cudaMemcpy(sums[1], second, sizeof sums[1], cudaMemcpyDeviceToHost);
    for (int block = 0; block < blocks; block++)
        wrong += (sums[0][block] != 2 * 255 * 128) + (sums[1][block] != 2 * 255 * 128);
    double expected = 0;
    for (int i = 0; i < count; i++) {
        expected = i % 32 ? expected + host[i] : host[i];
        wrong += got[i] != expected;
    }
    printf(wrong ? "FAIL %d\n" : "PASS\n", wrong);
    return wrong != 0;
}
