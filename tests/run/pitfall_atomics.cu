// Atomics whose results are used and not used, into memory of one block and of all, in floats whose
// order matters; fences, volatile accesses, and blocks that wait for each other's arrival.
//
// expect: 32 launches -> 19
#include <cstdio>

constexpr int count = 1024, threads = 128, blocks = count / threads;

__global__ void scale(int *y, const int *x, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * by;
}

// Each block's own bins.
__global__ void own_bins(int *bins, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&bins[blockIdx.x * 16 + x[i] % 16], 1);
}

__global__ void all_bins(int *bins, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&bins[x[i] % 16], 1);
}

__global__ void read_bins(int *y, const int *bins, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = bins[blockIdx.x * stride + threadIdx.x % 16];
}

// Each thread takes a place; all places are taken once.
__global__ void take_places(int *list, int *next, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] % 3 == 0) list[atomicAdd(next, 1)] = x[i];
}

__global__ void sum_list(int *sum, const int *list, const int *length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < *length) atomicAdd(sum, list[i]);
}

__global__ void maxima(int *most, unsigned *bits, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMax(most, x[i]);
    atomicMin(most + 1, x[i]);
    atomicOr(bits, 1u << (x[i] % 32));
    atomicXor(bits + 1, (unsigned)x[i]);
    atomicInc(bits + 2, 99);
}

// A lock around an ordinary addition, held by one thread of a block.
__global__ void locked(int *lock, volatile int *total, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *total += x[i];
        __threadfence();
        atomicExch(lock, 0);
    }
}

// The last block to arrive adds up what the others left.
__global__ void last_arrival(int *result, int *partial, unsigned *arrived, const int *x) {
    __shared__ bool last;
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        int total = 0;
        for (unsigned k = 0; k < gridDim.x; k++) total += ((volatile int *)partial)[k];
        *result = total;
    }
}

__global__ void times_result(int *y, const int *x, const int *result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * *result;
}

__global__ void volatile_twice(volatile int *y, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
    y[i] = y[i] + y[i];
}

// One addition for each element: exact in any order.
__global__ void add_floats(float *sums, const float *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&sums[i], values[i]);
}

__global__ void scale_floats(float *y, const float *x, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * by + 0.1f;
}

// The old value matters.
__global__ void exchange(float *y, float *slots) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = atomicExch(&slots[i], (float)i);
}

// Threads of one block add to their block's sum; one thread of another width reads it.
__global__ void block_sums(int *sums, const int *x) {
    atomicAdd(&sums[blockIdx.x], x[blockIdx.x * blockDim.x + threadIdx.x]);
}

__global__ void subtract_sum(int *y, const int *x, const int *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] - sums[blockIdx.x];
}

static int wrong = 0;
static int host[count];

template <class Value, class Expected> static void expect(const Value *device, int n, Expected value, const char *what) {
    static Value found[count];
    cudaMemcpy(found, device, n * sizeof(Value), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        if (found[i] != (Value)value(i)) {
            printf("%s: element %d is %g, not %g\n", what, i, (double)found[i], (double)value(i));
            wrong++;
            return;
        }
    }
}

int main(int argc, char **) {
    int *x, *y, *z, *bins;
    float *floats, *sums;
    for (int i = 0; i < count; i++) host[i] = i * 37 % 1021;
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&y, sizeof host);
    cudaMalloc(&z, sizeof host);
    cudaMalloc(&bins, sizeof host);
    cudaMalloc(&floats, sizeof host);
    cudaMalloc(&sums, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    auto fresh = [&] {
        cudaMemset(y, 0, sizeof host);
        cudaMemset(z, 0, sizeof host);
        cudaMemset(bins, 0, sizeof host);
        cudaMemset(sums, 0, sizeof host);
    };
    auto bin = [](int first, int last, int which) {
        int result = 0;
        for (int i = first; i < last; i++) result += host[i] * 2 % 16 == which;
        return result;
    };

    fresh();
    scale<<<blocks, threads>>>(y, x, 2);
    own_bins<<<blocks, threads>>>(bins, y);
    read_bins<<<blocks, threads>>>(z, bins, 16);
    expect(z, count, [&](int i) { return bin(i / threads * threads, i / threads * threads + threads, i % threads % 16); }, "own bins");
    fresh();
    scale<<<blocks, threads>>>(y, x, 2);
    all_bins<<<blocks, threads>>>(bins, y);
    read_bins<<<blocks, threads>>>(z, bins, 0);
    expect(z, count, [&](int i) { return bin(0, count, i % threads % 16); }, "all bins");
    fresh();
    own_bins<<<blocks, threads>>>(bins, x);
    own_bins<<<blocks, threads>>>(bins, x);
    all_bins<<<blocks, threads>>>(bins + 512, x);
    all_bins<<<blocks, threads>>>(bins + 512, x);
    int found[16], total = 0;
    cudaMemcpy(found, bins + 512, sizeof found, cudaMemcpyDeviceToHost);
    for (int k : found) total += k;
    if (total != 2 * count) wrong++, printf("%d counted\n", total);

    fresh();
    take_places<<<blocks, threads>>>(y, bins, x);
    sum_list<<<blocks, threads>>>(bins + 1, y, bins);
    int thirds = 0, sum_thirds = 0;
    for (int v : host)
        if (v % 3 == 0) thirds++, sum_thirds += v;
    expect(bins, 2, [&](int i) { return i ? sum_thirds : thirds; }, "places");
    cudaMemset(y, 0, sizeof host);
    fresh();
    scale<<<blocks, threads>>>(y, x, 3);
    maxima<<<blocks, threads>>>(bins, (unsigned *)(bins + 16), y);
    maxima<<<blocks, threads>>>(bins, (unsigned *)(bins + 16), x);
    unsigned bits[3] = {};
    for (int round = 3; round > 0; round -= 2)
        for (int v : host) {
            bits[0] |= 1u << (v * round % 32);
            bits[1] ^= v * round;
            bits[2] = bits[2] >= 99 ? 0 : bits[2] + 1;
        }
    expect(bins, 2, [](int i) { return i ? 0 : 3060; }, "extremes");
    expect(bins + 16, 3, [&](int i) { return (int)bits[i]; }, "bits");

    fresh();
    scale<<<blocks, threads>>>(y, x, 2);
    locked<<<blocks, threads>>>(bins, bins + 1, y);
    times_result<<<blocks, threads>>>(z, x, bins + 1);
    int leaders = 0, everything = 0;
    for (int i = 0; i < count; i += threads) leaders += 2 * host[i];
    for (int v : host) everything += v;
    expect(z, count, [&](int i) { return host[i] * leaders; }, "locked");
    for (int round = 0; round < 2; round++) {
        fresh();
        scale<<<blocks, threads>>>(y, x, 2 + round);
        last_arrival<<<blocks, threads>>>(bins, bins + 1, (unsigned *)(bins + 512), y);
        times_result<<<blocks, threads>>>(z, x, bins);
        expect(z, count, [&](int i) { return host[i] * everything * (2 + round); }, "last arrival");
    }
    fresh();
    volatile_twice<<<blocks, threads>>>(y, x);
    volatile_twice<<<blocks, threads>>>(z, y);
    expect(z, count, [](int i) { return 4 * host[i]; }, "volatile");

    fresh();
    scale_floats<<<blocks, threads>>>(floats, (const float *)sums, 1.0f);
    add_floats<<<blocks, threads>>>(sums, floats);
    scale_floats<<<blocks, threads>>>(floats, sums, 3.0f);
    add_floats<<<blocks, threads>>>(sums, floats);
    expect(sums, count, [](int) {
        volatile float product = 0.1f * 3.0f;
        return 0.1f + __builtin_fmaf(0.1f, 3.0f, 0.1f) + 0 * product;
    }, "floats");
    fresh();
    exchange<<<blocks, threads>>>(floats, sums);
    exchange<<<blocks, threads>>>(sums, floats);
    expect(floats, count, [](int i) { return i; }, "exchanged");
    fresh();
    block_sums<<<blocks, threads>>>(bins, x);
    subtract_sum<<<blocks, threads>>>(y, x, bins);
    block_sums<<<blocks, threads>>>(bins, y);
    expect(y, count, [](int i) {
        int sum = 0;
        for (int k = 0; k < threads; k++) sum += host[i / threads * threads + k];
        return host[i] - sum;
    }, "block sums");
    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0 || argc > 3;
}
