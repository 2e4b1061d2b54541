// Launches with a warp a block beside launches whose blocks have many warps: the one warp is the first of each block, and its
// barriers wait for it alone. So it is whichever comes first, and whatever number of warps the others have. Barriers of the
// others stand in a loop that a thread leaves when its columns end: a run in which these do not end together keeps the
// launches apart, as do rows that overlap. Apart in any case: blocks of two warps, and lanes that return before a barrier in
// a loop.
//
// expect: 14 launches -> 9
// expect-missed: copy_between copy_between copy_between copy_between shape copy_between divergent_barrier copy_between
// executes: 9 9 11 9 14
// arguments:
// arguments: 40 64
// arguments: 9 50
// arguments: 1 96
// arguments: 9 64 5
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int ROWS = 5;

// The largest of all that the threads of a block bring, in each of them.
__device__ float most_of_block(float most) {
    __shared__ float shared[32];
    for (int lanes = 16; lanes > 0; lanes /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, lanes));
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = most;
    __syncthreads();
    most = shared[threadIdx.x % (blockDim.x / 32)];
    for (int lanes = 16; lanes > 0; lanes /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, lanes));
    return most;
}

// Takes the largest element of each row away from all of it, a block a row.
__global__ void lower(float *x, int n, int pitch) {
    float *row = x + blockIdx.x * pitch, most = -1;
    for (int t = threadIdx.x; t < n; t += blockDim.x) most = fmaxf(most, row[t]);
    most = most_of_block(most);
    for (int t = threadIdx.x; t < n; t += blockDim.x) row[t] -= most;
}

// Sums of a row's elements times those of columns: threads along y share the elements.
__global__ void mix(const float *x, const float *values, float *out, int n, int pitch, int columns) {
    __shared__ float sums[32];
    const float *row = x + blockIdx.x * pitch;
    for (int c = threadIdx.x; c < columns; c += 32) {
        if (threadIdx.y == 0) sums[threadIdx.x] = 0;
        __syncthreads();
        float sum = 0;
        for (int t = threadIdx.y; t < n; t += blockDim.y) sum += row[t] * values[t * columns + c];
        atomicAdd(&sums[threadIdx.x], sum);
        __syncthreads();
        if (threadIdx.y == 0) out[blockIdx.x * columns + c] = sums[threadIdx.x];
    }
}

// Adds the number of an element to it.
__global__ void count_up(float *x, int n, int pitch) {
    for (int t = threadIdx.y * 32 + threadIdx.x; t < n; t += 32 * blockDim.y) x[blockIdx.x * pitch + t] += t % 4;
}

// The sum of two rows' halves, by so many lanes as there are rows; the others return.
__global__ void some_lanes(float *x, int n, int pitch, int lanes) {
    __shared__ float first;
    if (threadIdx.x >= lanes) return;
    if (threadIdx.x == 0) first = x[blockIdx.x * pitch];
    for (int i = 0; i < 2; ++i) {
        __syncthreads();
        for (int t = threadIdx.x + 1; t < n; t += lanes) x[blockIdx.x * pitch + t] += first;
    }
}

// The same once, where lanes that have returned wait with the others.
__global__ void few_lanes(float *x, int n, int pitch, int lanes) {
    __shared__ float first;
    if (threadIdx.x >= lanes) return;
    if (threadIdx.x == 0) first = x[blockIdx.x * pitch];
    __syncthreads();
    for (int t = threadIdx.x + 1; t < n; t += lanes) x[blockIdx.x * pitch + t] += first;
}

struct Rows {
    int n, pitch, columns;
    float *x, *values, *out;
    std::vector<float> elements, factors;

    void fill() {
        for (size_t i = 0; i < elements.size(); ++i) elements[i] = i * 7 % 13;
        cudaMemcpy(x, elements.data(), elements.size() * sizeof(float), cudaMemcpyHostToDevice);
    }
    // Blocks run in any order where rows overlap, so that nothing is said of these.
    bool is_checked() const { return n <= pitch; }
    void lowered() {
        for (int r = 0; r < ROWS; ++r) {
            float *row = &elements[r * pitch], most = -1;
            for (int t = 0; t < n; ++t) most = fmaxf(most, row[t]);
            for (int t = 0; t < n; ++t) row[t] -= most;
        }
    }
    void counted() {
        for (int r = 0; r < ROWS; ++r)
            for (int t = 0; t < n; ++t) elements[r * pitch + t] += t % 4;
    }
    bool is_mixed(const char *what) {
        std::vector<float> found(ROWS * columns);
        cudaMemcpy(found.data(), out, found.size() * sizeof(float), cudaMemcpyDeviceToHost);
        for (int r = 0; is_checked() && r < ROWS; ++r)
            for (int c = 0; c < columns; ++c) {
                float sum = 0;
                for (int t = 0; t < n; ++t) sum += elements[r * pitch + t] * factors[t * columns + c];
                if (found[r * columns + c] != sum)
                    return printf("wrong: %s, %d %d: %g, not %g\n", what, r, c, found[r * columns + c], sum) == 0;
            }
        return true;
    }
    bool is_right(const char *what) {
        std::vector<float> found(elements.size());
        cudaMemcpy(found.data(), x, found.size() * sizeof(float), cudaMemcpyDeviceToHost);
        if (is_checked() && found != elements) return printf("wrong: %s\n", what) == 0;
        return true;
    }
};

int main(int argc, char **argv) {
    Rows now;
    now.n = argc > 1 ? atoi(argv[1]) : 12, now.columns = argc > 2 ? atoi(argv[2]) : 32;
    now.pitch = argc > 3 ? atoi(argv[3]) : now.n + 3;
    const int n = now.n, pitch = now.pitch, columns = now.columns;
    now.elements.resize(ROWS * (n + pitch));
    now.factors.resize(n * columns);
    for (size_t i = 0; i < now.factors.size(); ++i) now.factors[i] = i % 5;
    cudaMalloc(&now.x, now.elements.size() * sizeof(float));
    cudaMalloc(&now.values, now.factors.size() * sizeof(float));
    cudaMalloc(&now.out, ROWS * columns * sizeof(float));
    cudaMemcpy(now.values, now.factors.data(), now.factors.size() * sizeof(float), cudaMemcpyHostToDevice);
    const dim3 warps(32, n < 6 ? n : 6), eight(32, 8);
    bool right = true;

    now.fill();
    lower<<<ROWS, 32>>>(now.x, n, pitch);
    mix<<<ROWS, warps>>>(now.x, now.values, now.out, n, pitch, columns);
    now.lowered();
    right &= now.is_mixed("one warp in front of several");

    now.fill();
    lower<<<ROWS, 32>>>(now.x, n, pitch);
    mix<<<ROWS, eight>>>(now.x, now.values, now.out, n, pitch, columns);
    now.lowered();
    right &= now.is_mixed("one warp in front of eight");

    now.fill();
    count_up<<<ROWS, warps>>>(now.x, n, pitch);
    lower<<<ROWS, 32>>>(now.x, n, pitch);
    now.counted();
    now.lowered();
    right &= now.is_right("one warp behind several");

    now.fill();
    lower<<<ROWS, 32>>>(now.x, n, pitch);
    count_up<<<ROWS, eight>>>(now.x, n, pitch);
    now.lowered();
    now.counted();
    right &= now.is_right("one warp in front of a loop");

    now.fill();
    lower<<<ROWS, 64>>>(now.x, n, pitch);
    mix<<<ROWS, eight>>>(now.x, now.values, now.out, n, pitch, columns);
    now.lowered();
    right &= now.is_mixed("two warps in front of eight");

    now.fill();
    some_lanes<<<ROWS, 32>>>(now.x, n, pitch, ROWS);
    count_up<<<ROWS, eight>>>(now.x, n, pitch);
    for (int r = 0; r < ROWS; ++r)
        for (int t = 1; t < n; ++t) now.elements[r * pitch + t] += 2 * now.elements[r * pitch];
    now.counted();
    right &= now.is_right("lanes that return");

    now.fill();
    few_lanes<<<ROWS, 32>>>(now.x, n, pitch, ROWS);
    count_up<<<ROWS, eight>>>(now.x, n, pitch);
    for (int r = 0; r < ROWS; ++r)
        for (int t = 1; t < n; ++t) now.elements[r * pitch + t] += now.elements[r * pitch];
    now.counted();
    right &= now.is_right("lanes that return and wait");

    printf(right ? "PASS\n" : "FAIL\n");
    return !right;
}
