// Lanes of a warp that exchange plain shared memory with no barrier between, in kernels that fuse: the values that they
// hand on come from another kernel, go to another one, or do both, and two kernels with such exchanges follow each
// other. What a kernel leaves in global memory for the next is not needed afterwards, and is handed on in registers where
// no barrier stands between. CUDA promises no lockstep of lanes from Volta on: on such a GPU the program may fail, whoever compiles it.
//
// expect: 10 launches -> 3
#include <cstdio>

static const int blocks = 4, threads = 256, count = blocks * threads;

__global__ void twice(const int *in, int *out) {
    int i = blockIdx.x * threads + threadIdx.x;
    out[i] = 2 * in[i];
}

__global__ void sum(const int *in, int *totals) {
    __shared__ int sums[threads];
    int thread = threadIdx.x;
    sums[thread] = in[blockIdx.x * threads + thread];
    __syncthreads();
    for (int half = threads / 2; half > 16; half >>= 1) {
        if (thread < half) sums[thread] += sums[thread + half];
        __syncthreads();
    }
    if (thread < 32)
        for (int half = 16; half > 0; half >>= 1)
            if (thread < half) sums[thread] += sums[thread + half];
    if (thread == 0) totals[blockIdx.x] = sums[0];
}

// The steps written one by one, each in a lane that reads what its neighbour has before that one writes.
__device__ __noinline__ void scan_warp(int *own, int lane) {
    if (lane >= 1) own[lane] += own[lane - 1];
    if (lane >= 2) own[lane] += own[lane - 2];
    if (lane >= 4) own[lane] += own[lane - 4];
    if (lane >= 8) own[lane] += own[lane - 8];
    if (lane >= 16) own[lane] += own[lane - 16];
}

__global__ void scan(const int *in, int *out) {
    __shared__ int data[threads];
    int thread = threadIdx.x;
    data[thread] = in[blockIdx.x * threads + thread];
    scan_warp(data + thread / 32 * 32, thread % 32);
    out[blockIdx.x * threads + thread] = data[thread];
}

__global__ void reverse_warps(const int *in, int *out) {
    extern __shared__ int turned[];
    int thread = threadIdx.x;
    turned[thread] = in[blockIdx.x * threads + thread];
    out[blockIdx.x * threads + thread] = turned[thread / 32 * 32 + 31 - thread % 32];
}

__global__ void subtract(const int *in, const int *totals, int *out) {
    int i = blockIdx.x * threads + threadIdx.x;
    out[i] = in[i] - totals[blockIdx.x];
}

static int *allocate() {
    int *memory;
    cudaMalloc(&memory, count * sizeof(int));
    return memory;
}

int main() {
    static int host[count], scanned[count], got[count], totals[blocks], wrong;
    int *in = allocate();
    for (int i = 0; i < count; i++) host[i] = i * 37 % 101;
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);

    // Into the exchange, and out of it.
    int *doubled = allocate(), *sums = allocate(), *rest = allocate();
    twice<<<blocks, threads>>>(in, doubled);
    sum<<<blocks, threads>>>(doubled, sums);
    subtract<<<blocks, threads>>>(doubled, sums, rest);
    cudaMemcpy(got, rest, sizeof got, cudaMemcpyDeviceToHost);
    cudaMemcpy(totals, sums, sizeof totals, cudaMemcpyDeviceToHost);
    for (int block = 0; block < blocks; block++) {
        int total = 0;
        for (int i = 0; i < threads; i++) total += 2 * host[block * threads + i];
        wrong += totals[block] != total;
        for (int i = 0; i < threads; i++) wrong += got[block * threads + i] != 2 * host[block * threads + i] - total;
    }

    // From one exchange to the next.
    int *first = allocate(), *second = allocate();
    scan<<<blocks, threads>>>(in, first);
    sum<<<blocks, threads>>>(first, sums);
    subtract<<<blocks, threads>>>(first, sums, second);
    cudaFree(first);
    cudaMemcpy(got, second, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) scanned[i] = i % 32 ? scanned[i - 1] + host[i] : host[i];
    for (int block = 0; block < blocks; block++) {
        int total = 0;
        for (int i = 0; i < threads; i++) total += scanned[block * threads + i];
        for (int i = 0; i < threads; i++) wrong += got[block * threads + i] != scanned[block * threads + i] - total;
    }

    // Two exchanges, with what each thread leaves for itself before, between and behind them.
    int *turned = allocate(), *sorted = allocate(), *results = allocate();
    twice<<<blocks, threads>>>(in, turned);
    reverse_warps<<<blocks, threads, threads * sizeof(int)>>>(turned, second);
    scan<<<blocks, threads>>>(second, sorted);
    twice<<<blocks, threads>>>(sorted, results);
    cudaFree(turned);
    cudaFree(second);
    cudaFree(sorted);
    cudaMemcpy(got, results, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0, sum = 0; i < count; i++) {
        sum = (i % 32 ? sum : 0) + 2 * host[i / 32 * 32 + 31 - i % 32];
        wrong += got[i] != 2 * sum;
    }
    printf(wrong ? "FAIL %d\n" : "PASS\n", wrong);
    return wrong != 0;
}
