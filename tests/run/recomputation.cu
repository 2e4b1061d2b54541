// What a launch of one block makes, each block of the launch behind it computes by itself: norms in front of products,
// statistics in front of what uses them. Beside each stands a twin that has to stay apart. An argument is the number of the part.
//
// expect: 41 launches -> 29
// executes: 1 1 1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2 2 1 2 2 1 2
// arguments: 0
// arguments: 1
// arguments: 2
// arguments: 3
// arguments: 4
// arguments: 5
// arguments: 6
// arguments: 7
// arguments: 8
// arguments: 9
// arguments: 10
// arguments: 11
// arguments: 12
// arguments: 13
// arguments: 14
// arguments: 15
// arguments: 16
// arguments: 17
// arguments: 18
// arguments: 19
// arguments: 20
// arguments: 21
// arguments: 22
// arguments: 23
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

const int N = 300, ROWS = 96;

__device__ float sum_of_warp(float v) {
    for (int far = 16; far > 0; far /= 2) v += __shfl_xor_sync(~0u, v, far);
    return v;
}

__device__ float sum_of_block(float v) {
    __shared__ float part[32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    v = sum_of_warp(v);
    if (lane == 0) part[warp] = v;
    __syncthreads();
    v = lane < blockDim.x / 32 ? part[lane] : 0;
    return sum_of_warp(v);
}

// A norm, as engines of language models have it.
__global__ void norm(const float *x, const float *weight, int n, float *out) {
    float own = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) own += x[i] * x[i];
    float scale = 1 / sqrtf(sum_of_block(own) / n + 1e-5f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = x[i] * scale * weight[i];
}

// A warp for each row.
__global__ void product(const float *a, const float *x, int n, int rows, float *out) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int i = lane; i < n; i += 32) sum += a[n * row + i] * x[i];
    sum = sum_of_warp(sum);
    if (lane == 0) out[row] = sum;
}

// The same, by all warps of a block that meet in shared memory.
__global__ void product_of_block(const float *a, const float *x, int n, int rows, float *out) {
    __shared__ float sums[32];
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int i = lane; i < n; i += 32) sum += a[n * row + i] * x[i];
    sum = sum_of_warp(sum);
    if (lane == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < blockDim.x / 32) out[blockIdx.x * (blockDim.x / 32) + threadIdx.x] = sums[threadIdx.x];
}

// Two numbers, each behind a pointer of its own.
__global__ void statistics(const float *x, int n, float *mean, float *spread) {
    float own = 0, squares = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) own += x[i], squares += x[i] * x[i];
    own = sum_of_block(own) / n;
    __syncthreads();
    squares = sum_of_block(squares) / n;
    if (threadIdx.x == 0) {
        *mean = own;
        *spread = sqrtf(squares - own * own + 1e-5f);
    }
}

__global__ void standardised(const float *x, const float *mean, const float *spread, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (x[i] - *mean) / *spread;
}

// An element for each thread.
__global__ void table(const float *x, float *out, int n) {
    if (threadIdx.x < n) out[threadIdx.x] = 1 + x[threadIdx.x] * x[threadIdx.x];
}

__global__ void by_table(const float *x, const float *entries, float *out, int n, int entries_count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] * entries[i % entries_count];
}

// Every other element stays as it was.
__global__ void some_of_norm(const float *x, const float *weight, int n, float *out) {
    float own = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) own += x[i];
    own = sum_of_block(own);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (weight[i] > 0) out[i] = x[i] * own;
}

// It also counts how often it ran.
__global__ void counted_norm(const float *x, const float *weight, int n, float *out, int *count) {
    float own = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) own += x[i];
    own = sum_of_block(own);
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = x[i] * own + weight[i];
    if (threadIdx.x == 0) atomicAdd(count, 1);
}

// Half of it is made of the other half, which the launch finds as it was before.
__global__ void running_norm(const float *x, int n, float *out) {
    float own = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) own += x[i];
    own = sum_of_block(own);
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = out[i] / 2 + x[i] * own;
}

struct Layer {
    float *x, *weight, *a, *xb, *out;
    bool made = false, plain = true;
};

// Pointers of which nothing is known, and conditions that the host looks at each time.
__attribute__((noinline)) void layer(Layer &own, int n, int rows, int threads) {
    if (own.plain) norm<<<1, threads>>>(own.x, own.weight, n, own.xb);
    if (!own.made) product<<<rows, 32>>>(own.a, own.xb, n, rows, own.out);
}

// The second layer's product, behind the first one's norm.
__attribute__((noinline)) void handed_on(Layer &own, Layer &next, int n, int rows) {
    norm<<<1, 256>>>(own.x, own.weight, n, own.xb);
    product<<<rows / 2, 64>>>(next.a, next.xb, n, rows, next.out);
}

__attribute__((noinline)) void either(Layer &own, int n, int rows, bool first) {
    norm<<<1, 256>>>(own.x, own.weight, n, own.xb);
    if (first) product<<<rows, 32>>>(own.a, own.xb, n, rows, own.out);
    else product_of_block<<<rows / 8, 256>>>(own.a, own.xb, n, rows, own.out);
}

// Of a length that is known, behind pointers of which nothing is.
__attribute__((noinline)) void of_known_length(Layer &own, Layer &next) {
    norm<<<1, 256>>>(own.x, own.weight, N, own.xb);
    product<<<ROWS, 32>>>(next.a, next.xb, N, ROWS, next.out);
}

int main(int argc, char **argv) {
    int part = atoi(argv[1]);
    float *x, *weight, *a, *xb, *out, *other;
    int *count;
    std::vector<float> host(N * ROWS);
    for (int i = 0; i < N * ROWS; ++i) host[i] = (i * 37 % 101 - 50) / 50.0f;
    // Rounded up, so that a twin may read beyond a vector.
    const int bytes = 2 * N * sizeof(float);
    cudaMalloc(&x, bytes), cudaMalloc(&weight, bytes), cudaMalloc(&xb, bytes);
    cudaMalloc(&out, bytes), cudaMalloc(&other, bytes), cudaMalloc(&count, sizeof(int));
    cudaMalloc(&a, 4 * N * ROWS * sizeof(float));
    cudaMemset(a, 0, 4 * N * ROWS * sizeof(float)), cudaMemset(count, 0, sizeof(int));
    cudaMemcpy(a, host.data(), N * ROWS * sizeof(float), cudaMemcpyHostToDevice);
    for (float *vector : {x, weight, xb, out, other})
        cudaMemcpy(vector, host.data() + (vector == weight ? 11 : vector == xb ? 3 : 0), bytes, cudaMemcpyHostToDevice);
    Layer own = {x, weight, a, xb, out};
    int blocks = argc > 2 ? 2 : part == 10 ? 2 : 1, n = argc > 3 ? atoi(argv[3]) : N;
    switch (part) {
    // Thirty-two blocks of the product in each of the norm's.
    case 0: norm<<<1, 1024>>>(x, weight, N, xb), product<<<ROWS, 32>>>(a, xb, N, ROWS, out); break;
    // Blocks of one size, in which threads meet.
    case 1: norm<<<1, 256>>>(x, weight, N, xb), product_of_block<<<ROWS / 8, 256>>>(a, xb, N, ROWS, out); break;
    case 2: statistics<<<1, 128>>>(x, n, other, xb), standardised<<<(n + 127) / 128, 128>>>(x, other, xb, out, n); break;
    case 3: table<<<1, 64>>>(x, xb, 50), by_table<<<(n + 63) / 64, 64>>>(x, xb, out, n, 50); break;
    case 4: layer(own, N, ROWS, 512); break;
    case 5: own.plain = false, layer(own, N, ROWS, 512); break;
    case 6: either(own, N, ROWS, true); break;
    // How many blocks the norm has is known when it runs.
    case 7: norm<<<blocks, 128>>>(x, weight, N, xb), product<<<ROWS / 2, 64>>>(a, xb, N, ROWS, out); break;
    // It is looked at afterwards, as all is below.
    case 8: norm<<<1, 64>>>(x, weight, 1, xb), product<<<ROWS, 32>>>(a, xb, 1, ROWS, out); break;
    // One of two alternatives.
    case 9: either(own, N, ROWS, false); break;
    // Two blocks, as only the run tells.
    case 10: norm<<<blocks, 128>>>(x, weight, N, xb), product<<<ROWS / 2, 64>>>(a, xb, N, ROWS, out); break;
    // In place: a block would find what another has overwritten.
    case 11: norm<<<1, 256>>>(x, weight, N, x), product<<<ROWS, 32>>>(a, x, N, ROWS, out); break;
    // The product overwrites what the norm reads.
    case 12: norm<<<1, 256>>>(x, weight, N, xb), product<<<ROWS, 32>>>(a, xb, N, ROWS, x); break;
    case 13: some_of_norm<<<1, 256>>>(x, weight, N, xb), product<<<ROWS, 32>>>(a, xb, N, ROWS, out); break;
    case 14: counted_norm<<<1, 256>>>(x, weight, N, xb, count), product<<<ROWS, 32>>>(a, xb, N, ROWS, out); break;
    case 15: running_norm<<<1, 256>>>(x, N, xb), product<<<ROWS, 32>>>(a, xb, N, ROWS, out); break;
    // It reads more than the norm writes.
    case 16: norm<<<1, 256>>>(x, weight, N - 8, xb), product<<<ROWS, 32>>>(a, xb, N, ROWS, out); break;
    // Blocks of other sizes whose threads meet.
    case 17: norm<<<1, 512>>>(x, weight, N, xb), product_of_block<<<ROWS / 8, 256>>>(a, xb, N, ROWS, out); break;
    // The pointers are others than they mostly are: the product reads what was there before.
    case 18: own.xb = other; {
        Layer two = own;
        two.xb = xb, two.made = true;
        layer(two, N, ROWS, 512);
        own.plain = false, layer(own, N, ROWS, 512);
    } break;
    // It is the same memory, or other memory, or what the norm reads, as only the run tells.
    case 19: case 20: case 21: {
        Layer next = own;
        if (part == 20) next.xb = other;
        if (part == 21) next.out = x;
        handed_on(own, next, n, ROWS);
    } break;
    case 22: case 23: {
        Layer next = own;
        if (part == 23) next.xb = other;
        of_known_length(own, next);
    } break;
    }
    std::vector<float> found(2 * N);
    double all = 0;
    for (float *vector : {x, xb, out, other}) {
        if (cudaMemcpy(found.data(), vector, bytes, cudaMemcpyDeviceToHost)) return printf("FAIL\n"), 1;
        for (int i = 0; i < 2 * N; ++i) all += found[i] * (1 + i % 13);
    }
    int ran = 0;
    cudaMemcpy(&ran, count, sizeof(int), cudaMemcpyDeviceToHost);
    printf("part %d: %.9g, %d\nPASS\n", part, all, ran);
}
