// Barriers beside early returns, uneven blocks, loops and duplicated paths: a thread that returns
// early leaves its own kernel only, and a barrier waits for the threads that it had.
//
// expect: 10 launches -> 4
#include <cstdio>
#include <vector>

constexpr int count = 1000, threads = 128, blocks = (count + threads - 1) / threads;

// Returns early in the last block, and never meets a barrier.
__global__ void early(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (x[i] < 10.0f) {
        y[i] = -1.0f;
        return;
    }
    y[i] = x[i] + 1.0f;
}

// All threads reach the barrier, also those beyond the end.
__global__ void reverse(float *z, const float *y, int n) {
    __shared__ float tile[threads];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? y[i] : 0.0f;
    __syncthreads();
    if (i < n) z[i] = tile[threads - 1 - threadIdx.x];
}

// Whole blocks return before a barrier.
__global__ void whole_blocks_leave(float *z, const float *y, int from) {
    __shared__ float tile[threads];
    if ((int)blockIdx.x < from) return;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = y[i];
    __syncthreads();
    z[i] = tile[threadIdx.x ^ 1];
}

// A barrier in a loop whose trip count is the block's own.
__global__ void uneven_rounds(float *z, const float *y) {
    __shared__ float tile[threads];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = y[i];
    for (unsigned round = 0; round < blockIdx.x % 4; round++) {
        tile[threadIdx.x] = sum;
        __syncthreads();
        sum += tile[(threadIdx.x + 1) % threads];
        __syncthreads();
    }
    z[i] = sum;
}

// The same barrier on two paths that a compiler may make into one or more.
__global__ void two_paths(float *z, const float *y, int way) {
    __shared__ float tile[threads];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = y[i];
    float add;
    if (way) {
        add = 1.0f;
        __syncthreads();
        add += tile[0];
    } else {
        add = 2.0f;
        __syncthreads();
        add += tile[1];
    }
    z[i] = add + tile[threadIdx.x];
}

// A tree whose barriers are reached by all, with work for ever fewer threads.
__global__ void tree(float *sums, const float *z) {
    __shared__ float tile[threads];
    int t = threadIdx.x;
    tile[t] = z[blockIdx.x * blockDim.x + t];
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        __syncthreads();
        if (t < half) tile[t] += tile[t + half];
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}

// Votes of the whole block.
__global__ void votes(int *counts, const float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int positive = __syncthreads_count(y[i] > 0.0f);
    int all = __syncthreads_and(y[i] > 0.0f), any = __syncthreads_or(y[i] > 0.0f);
    counts[i] = positive * 4 + (all != 0) * 2 + (any != 0);
}

static int wrong = 0;

template <class Value, class Expected> static void expect(const Value *device, int n, Expected value, const char *what) {
    std::vector<Value> host(n);
    cudaMemcpy(host.data(), device, n * sizeof(Value), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        if (host[i] != value(i)) {
            printf("%s: element %d is %g, not %g\n", what, i, (double)host[i], (double)value(i));
            wrong++;
            return;
        }
    }
}

int main(int argc, char **) {
    constexpr int all = blocks * threads;
    float *x, *y, *z, *sums;
    int *counts;
    cudaMalloc(&x, all * sizeof(float));
    cudaMalloc(&y, all * sizeof(float));
    cudaMalloc(&z, all * sizeof(float));
    cudaMalloc(&sums, blocks * sizeof(float));
    cudaMalloc(&counts, all * sizeof(int));
    std::vector<float> host(all);
    for (int i = 0; i < all; i++) host[i] = i % 50;
    auto fresh = [&] {
        cudaMemcpy(x, host.data(), all * sizeof(float), cudaMemcpyHostToDevice);
        cudaMemset(y, 0, all * sizeof(float));
        cudaMemset(z, 0, all * sizeof(float));
    };
    auto y_of = [&](int i) { return i >= count ? 0.0f : host[i] < 10.0f ? -1.0f : host[i] + 1.0f; };

    fresh();
    early<<<blocks, threads>>>(y, x, count);
    reverse<<<blocks, threads>>>(z, y, count);
    expect(z, count, [&](int i) { return y_of(i / threads * threads + threads - 1 - i % threads); }, "early, reverse");

    fresh();
    early<<<blocks, threads>>>(y, x, count);
    whole_blocks_leave<<<blocks, threads>>>(z, y, 3 * argc);
    tree<<<blocks, threads>>>(sums, z);
    auto left = [&](int i) { return i / threads < 3 ? 0.0f : y_of(i ^ 1); };
    expect(z, all, left, "blocks that leave");
    auto sum_of = [&](int block) {
        float sum = 0;
        for (int t = 0; t < threads; t++) sum += left(block * threads + t);
        return sum;
    };
    expect(sums, blocks, sum_of, "tree");

    fresh();
    early<<<blocks, threads>>>(y, x, count);
    uneven_rounds<<<blocks, threads>>>(z, y);
    two_paths<<<blocks, threads>>>(x, z, argc - 1);
    auto rounds = [&](int i) {
        int block = i / threads;
        std::vector<float> values(threads);
        for (int t = 0; t < threads; t++) values[t] = y_of(block * threads + t);
        for (int round = 0; round < block % 4; round++) {
            std::vector<float> old = values;
            for (int t = 0; t < threads; t++) values[t] += old[(t + 1) % threads];
        }
        return values[i % threads];
    };
    expect(z, all, rounds, "uneven rounds");
    expect(x, all, [&](int i) { return rounds(i) + (2.0f + rounds(i / threads * threads + 1)); }, "two paths");

    fresh();
    early<<<blocks, threads>>>(y, x, count);
    votes<<<blocks, threads>>>(counts, y);
    auto vote = [&](int i) {
        int positive = 0, block = i / threads * threads;
        for (int t = 0; t < threads; t++) positive += y_of(block + t) > 0.0f;
        return positive * 4 + (positive == threads) * 2 + (positive > 0);
    };
    expect(counts, all, vote, "votes");

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
