// Warp operations with full and partial masks beside early returns, partial warps and divergence.
//
// expect: 20 launches -> 9
#include <algorithm>
#include <cstdio>

constexpr int count = 1024;

__global__ void scale(int *y, const int *x, int by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = x[i] * by;
}

__global__ void warp_sum(int *sums, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = x[i];
    for (int by = 16; by > 0; by >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, by);
    sums[i] = sum;
}

__global__ void lower_half(int *y, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = x[i];
    if (threadIdx.x % 32 < 16) {
        value += __shfl_xor_sync(0x0000ffffu, value, 8);
        y[i] = value;
    } else {
        y[i] = -value;
    }
}

__global__ void neighbours_of_the_living(int *y, const int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned living = __ballot_sync(0xffffffffu, i < n);
    if (i >= n) return;
    int next = __shfl_down_sync(living, x[i], 1);
    bool last = threadIdx.x % 32 == 31 - __clz(living);
    y[i] = (last ? x[i] : next) + 1000 * __popc(living);
}

// Only what does not depend on which threads happen to be together.
__global__ void together(int *y, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = __activemask();
    bool own = (mask >> (threadIdx.x % 32)) & 1;
    y[i] = own ? x[i] + 1 : -1;
}

__global__ void votes(int *y, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned odd = __ballot_sync(0xffffffffu, x[i] & 1);
    int all_small = __all_sync(0xffffffffu, x[i] < 5000), any_large = __any_sync(0xffffffffu, x[i] > 4000);
    unsigned same = __match_any_sync(0xffffffffu, x[i] % 5);
    y[i] = __popc(odd) + 100 * all_small + 1000 * any_large + 10000 * __popc(same);
}

// Writes through shared memory between lanes, with a warp's barrier only.
__global__ void warp_exchange(int *y, const int *x) {
    __shared__ int lanes[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    lanes[threadIdx.x] = x[i];
    __syncwarp();
    int other = lanes[threadIdx.x ^ 5];
    __syncwarp();
    lanes[threadIdx.x] = other + 1;
    __syncwarp();
    y[i] = lanes[threadIdx.x ^ 3];
}

// Sums of warps, then of the block by its first warp.
__global__ void block_sum(int *sums, const int *x, int n) {
    __shared__ int partial[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = i < n ? x[i] : 0;
    for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? partial[lane] : 0;
        for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
        if (lane == 0) sums[blockIdx.x] = sum;
    }
}

__global__ void reduced(int *y, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = __reduce_add_sync(0xffffffffu, x[i]) + __reduce_max_sync(0xffffffffu, x[i]);
}

// Subwarps of eight.
__global__ void eights(int *y, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = x[i];
    for (int by = 1; by < 8; by *= 2) {
        int up = __shfl_up_sync(0xffffffffu, value, by, 8);
        if (threadIdx.x % 8 >= by) value += up;
    }
    y[i] = value;
}

static int wrong = 0;
static int host[count];

template <class Expected> static void expect(const int *device, int n, Expected value, const char *what) {
    static int found[count];
    cudaMemcpy(found, device, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        if (found[i] != value(i)) {
            printf("%s: element %d is %d, not %d\n", what, i, found[i], value(i));
            wrong++;
            return;
        }
    }
}

int main(int argc, char **) {
    int *x, *y, *z;
    for (int i = 0; i < count; i++) host[i] = i * 7 % 3001;
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&y, sizeof host);
    cudaMalloc(&z, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    auto fresh = [&] {
        cudaMemset(y, 0, sizeof host);
        cudaMemset(z, 0, sizeof host);
    };
    const int blocks = 4, threads = 256, n = 1000;
    auto doubled = [](int i) { return i < n ? 2 * host[i] : 0; };

    fresh();
    scale<<<blocks, threads>>>(y, x, 2, n);
    warp_sum<<<blocks, threads>>>(z, y);
    auto sum = [&](int i) {
        int result = 0;
        for (int k = 0; k < 32; k++) result += doubled(i / 32 * 32 + k);
        return result;
    };
    expect(z, count, sum, "warp sum");
    fresh();
    scale<<<blocks, threads>>>(y, x, 2, n);
    lower_half<<<blocks, threads>>>(z, y);
    expect(z, count, [&](int i) {
        int lane = i % 32;
        return lane >= 16 ? -doubled(i) : doubled(i) + doubled(i ^ 8);
    }, "lower half");
    fresh();
    scale<<<blocks, threads>>>(y, x, 2, n);
    neighbours_of_the_living<<<blocks, threads>>>(z, y, n * argc);
    expect(z, n, [&](int i) { return (i % 32 == 31 || i == n - 1 ? doubled(i) : doubled(i + 1)) + 1000 * (i < 992 ? 32 : 8); }, "the living");
    fresh();
    scale<<<blocks, threads>>>(y, x, 2, n);
    together<<<blocks, threads>>>(z, y);
    expect(z, count, [&](int i) { return doubled(i) + 1; }, "together");
    fresh();
    scale<<<blocks, threads>>>(y, x, 2, n);
    votes<<<blocks, threads>>>(z, y);
    expect(z, count, [&](int i) {
        int base = i / 32 * 32, small = 1, large = 0, same = 0;
        for (int k = base; k < base + 32; k++) {
            small &= doubled(k) < 5000;
            large |= doubled(k) > 4000;
            same += doubled(k) % 5 == doubled(i) % 5;
        }
        return 100 * small + 1000 * large + 10000 * same;
    }, "votes");
    fresh();
    scale<<<blocks, threads>>>(y, x, 2, n);
    warp_exchange<<<blocks, threads>>>(z, y);
    scale<<<blocks, threads>>>(y, z, 3, n);
    expect(z, count, [&](int i) { return doubled(i ^ 6) + 1; }, "exchange");
    expect(y, n, [&](int i) { return 3 * (doubled(i ^ 6) + 1); }, "after the exchange");
    fresh();
    scale<<<blocks, threads>>>(y, x, 2, n);
    block_sum<<<blocks, threads>>>(z, y, n);
    expect(z, blocks, [&](int block) {
        int result = 0;
        for (int t = 0; t < threads; t++) result += doubled(block * threads + t);
        return result;
    }, "block sum");
    fresh();
    scale<<<blocks, threads>>>(y, x, 2, n);
    reduced<<<blocks, threads>>>(z, y);
    expect(z, count, [&](int i) {
        int most = 0;
        for (int k = 0; k < 32; k++) most = std::max(most, doubled(i / 32 * 32 + k));
        return sum(i) + most;
    }, "reduced");
    fresh();
    scale<<<blocks, threads>>>(y, x, 2, n);
    eights<<<blocks, threads>>>(z, y);
    warp_sum<<<blocks, threads>>>(y, z);
    expect(z, count, [&](int i) {
        int result = 0;
        for (int k = i / 8 * 8; k <= i; k++) result += doubled(k);
        return result;
    }, "eights");

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
