// Launches of one block that need what all blocks before them made: the last of these blocks runs them. Beside each stands
// a twin that has to stay apart. An argument is the number of the part.
//
// expect: 42 launches -> 31
// built with: --sirius-boundaries=last-block
// executes: 3 2 2 2 1 1 1 2 2 1 1 1 1 4 4 1 2 2 2
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
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

const int N = 3000, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS;

// The sum of each block.
__global__ void sums(const float *v, float *sum, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    part[threadIdx.x] = i < n ? v[i] : 0;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sum[blockIdx.x] = part[0];
}

// The sum of all of them, by the threads of a block of any number.
__global__ void total(const float *__restrict__ sum, float *all, int blocks) {
    __shared__ float part[256];
    float own = 0;
    for (int i = threadIdx.x; i < blocks; i += blockDim.x) own += sum[i];
    part[threadIdx.x] = own;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) all[blockIdx.x] = part[0];
}

// The same by warps, each element by way of the cache that need not see what others write.
__global__ void total_of_warps(const float *sum, float *all, int blocks) {
    __shared__ float part[32];
    float own = 0;
    for (int i = threadIdx.x; i < blocks; i += blockDim.x) own += __ldg(sum + i);
    for (int far = 16; far > 0; far /= 2) own += __shfl_down_sync(~0u, own, far);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        float together = 0;
        for (int warp = 0; warp < blockDim.x / 32; ++warp) together += part[warp];
        *all = together;
    }
}

// One thread does it all.
__global__ void total_alone(const float *sum, float *all, int blocks) {
    float together = 0;
    for (int i = 0; i < blocks; ++i) together += sum[i];
    all[threadIdx.x] = together;
}

// Threads beyond the end leave at once.
__global__ void squares(const float *v, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    to[i] = v[i] * v[i];
}

// A tile of a plane, of which each block finds the largest element.
__global__ void largest(const float *v, float *most, int side) {
    __shared__ float tile[8][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = x < side && y < side ? v[y * side + x] : -1e30f;
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        float found = tile[0][0];
        for (int i = 1; i < 128; ++i) found = fmaxf(found, tile[i / 16][i % 16]);
        most[blockIdx.y * gridDim.x + blockIdx.x] = found;
    }
}

__global__ void largest_of_all(const float *most, float *all, int blocks) {
    __shared__ float part[THREADS];
    float found = -1e30f;
    for (int i = threadIdx.x; i < blocks; i += blockDim.x) found = fmaxf(found, most[i]);
    part[threadIdx.x] = found;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < blockDim.x; ++i) found = fmaxf(found, part[i]);
        *all = found;
    }
}

// What the blocks have read is written over.
__global__ void clear_sums(float *v, const float *sum, float *all, int n, int blocks) {
    __shared__ float together;
    if (threadIdx.x == 0) {
        together = 0;
        for (int i = 0; i < blocks; ++i) together += sum[i];
        *all = together;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) v[i] = i % 7 == 0 ? together : v[i] * 0.5f;
}

// Shared memory of which the launch says how much it is.
__global__ void sums_dynamic(const float *v, float *sum, int n) {
    extern __shared__ float part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? v[i] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        float together = 0;
        for (int k = 0; k < blockDim.x; ++k) together += part[k];
        sum[blockIdx.x] = together;
    }
}

__global__ void scale(float *v, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] *= by;
}

__global__ void divide(float *v, const float *all, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] /= *all;
}

static float *make(int count, int start) {
    std::vector<float> host(count);
    for (int i = 0; i < count; ++i) host[i] = float((i * 37 + start * 11) % 101 - 20);
    float *device;
    cudaMalloc(&device, count * sizeof(float));
    cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    return device;
}

static bool near(float one, float other) { return fabsf(one - other) <= 1e-3f * (1 + fabsf(other)); }

static float element(const float *device, int at = 0) {
    float value = 0;
    cudaMemcpy(&value, device + at, sizeof value, cudaMemcpyDeviceToHost);
    return value;
}

static float sum_of(const float *device, int count) {
    std::vector<float> host(count);
    cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost);
    double all = 0;
    for (float value : host) all += value;
    return float(all);
}

// In a loop, of which the host looks at each result.
static bool plain() {
    float *v = make(N, 1), *sum = make(BLOCKS, 0), *all = make(1, 0);
    bool right = true;
    for (int step = 0; step < 3; ++step) {
        float expected = sum_of(v, N);
        sums<<<BLOCKS, THREADS>>>(v, sum, N);
        total<<<1, THREADS>>>(sum, all, BLOCKS);
        right = right && near(element(all), expected);
        cudaMemset(v, 0, (step + 1) * 100 * sizeof(float));
    }
    return right;
}

// Two blocks do it.
static bool two_blocks() {
    float *v = make(N, 1), *sum = make(BLOCKS, 0), *all = make(2, 0);
    sums<<<BLOCKS, THREADS>>>(v, sum, N);
    total<<<2, THREADS>>>(sum, all, BLOCKS);
    float expected = sum_of(v, N);
    return near(element(all, 0), expected) && near(element(all, 1), expected);
}

// The host looks at the parts.
static bool host_looks() {
    float *v = make(N, 1), *sum = make(BLOCKS, 0), *all = make(1, 0);
    sums<<<BLOCKS, THREADS>>>(v, sum, N);
    float expected = sum_of(sum, BLOCKS);
    total<<<1, THREADS>>>(sum, all, BLOCKS);
    return near(element(all), expected);
}

// Another stream does it, behind an event.
static bool other_stream() {
    float *v = make(N, 1), *sum = make(BLOCKS, 0), *all = make(1, 0);
    cudaStream_t one, two;
    cudaEvent_t done;
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cudaEventCreate(&done);
    sums<<<BLOCKS, THREADS, 0, one>>>(v, sum, N);
    cudaEventRecord(done, one);
    cudaStreamWaitEvent(two, done, 0);
    total<<<1, THREADS, 0, two>>>(sum, all, BLOCKS);
    cudaDeviceSynchronize();
    return near(element(all), sum_of(v, N));
}

// A launch of no blocks fails, and the one of one block runs all the same.
static bool empty_grid(int blocks) {
    float *v = make(N, 1), *sum = make(BLOCKS, 5), *all = make(1, 0);
    float expected = blocks ? sum_of(v, N) : sum_of(sum, BLOCKS);
    sums<<<blocks, THREADS>>>(v, sum, N);
    total<<<1, THREADS>>>(sum, all, BLOCKS);
    cudaError_t error = cudaGetLastError();
    return (error == cudaSuccess) == (blocks > 0) && near(element(all), expected);
}

// One thread of the last block does it.
static bool one_thread() {
    float *v = make(N, 1), *sum = make(BLOCKS, 0), *all = make(1, 0);
    sums<<<BLOCKS, THREADS>>>(v, sum, N);
    total_alone<<<1, 1>>>(sum, all, BLOCKS);
    return near(element(all), sum_of(v, N));
}

// Fewer threads that wait for each other.
static bool fewer_threads() {
    float *v = make(N, 1), *sum = make(BLOCKS, 0), *all = make(1, 0);
    sums<<<BLOCKS, THREADS>>>(v, sum, N);
    total<<<1, 32>>>(sum, all, BLOCKS);
    return near(element(all), sum_of(v, N));
}

// More threads than a block has.
static bool more_threads() {
    float *v = make(N, 1), *sum = make(BLOCKS, 0), *all = make(1, 0);
    sums<<<BLOCKS, THREADS>>>(v, sum, N);
    total<<<1, 256>>>(sum, all, BLOCKS);
    return near(element(all), sum_of(v, N));
}

// Blocks of two dimensions, and one of one dimension with as many threads.
static bool other_shape() {
    const int side = 50, across = 4, down = 7;
    float *v = make(side * side, 1), *most = make(across * down, 0), *all = make(1, 0);
    largest<<<dim3(across, down), dim3(16, 8)>>>(v, most, side);
    largest_of_all<<<1, THREADS>>>(most, all, across * down);
    return element(all) == 80;
}

// Threads that leave early arrive all the same.
static bool early_return() {
    float *v = make(N, 1), *to = make(N, 0), *all = make(1, 0);
    squares<<<BLOCKS, THREADS>>>(v, to, N);
    total_of_warps<<<1, THREADS>>>(to, all, N);
    return near(element(all), sum_of(to, N));
}

// What blocks read is written by the last one.
static bool written_over() {
    float *v = make(N, 1), *sum = make(BLOCKS, 0), *all = make(1, 0);
    float expected = sum_of(v, N);
    sums<<<BLOCKS, THREADS>>>(v, sum, N);
    clear_sums<<<1, THREADS>>>(v, sum, all, N, BLOCKS);
    return near(element(all), expected) && near(element(v, 7), expected) && element(v, 1) == 14;
}

static bool dynamic_memory() {
    float *v = make(N, 1), *sum = make(BLOCKS, 0), *all = make(1, 0);
    sums_dynamic<<<BLOCKS, THREADS, THREADS * 4>>>(v, sum, N);
    sums_dynamic<<<1, THREADS, THREADS * 4>>>(sum, all, BLOCKS);
    return near(element(all), sum_of(v, N));
}

// A graph with the two runs twice; in a graph they stay apart.
static bool captured() {
    float *v = make(N, 1), *sum = make(BLOCKS, 0), *all = make(1, 0);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaGraph_t graph;
    cudaGraphExec_t runs;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    sums<<<BLOCKS, THREADS, 0, stream>>>(v, sum, N);
    total<<<1, THREADS, 0, stream>>>(sum, all, BLOCKS);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&runs, graph, 0);
    cudaGraphLaunch(runs, stream);
    cudaGraphLaunch(runs, stream);
    cudaStreamSynchronize(stream);
    return near(element(all), sum_of(v, N));
}

// Each stream counts for itself.
static void on_stream(const float *v, float *sum, float *all, cudaStream_t stream) {
    sums<<<BLOCKS, THREADS, 0, stream>>>(v, sum, N);
    total<<<1, THREADS, 0, stream>>>(sum, all, BLOCKS);
}
static bool two_streams() {
    float *v = make(N, 1), *w = make(N, 2), *sum = make(BLOCKS, 0), *other = make(BLOCKS, 0);
    float *all = make(1, 0), *of_other = make(1, 0);
    cudaStream_t one, two;
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    on_stream(v, sum, all, one);
    on_stream(w, other, of_other, two);
    cudaDeviceSynchronize();
    return near(element(all), sum_of(v, N)) && near(element(of_other), sum_of(w, N));
}

// How many threads there are only the run tells.
static bool unknown_threads(int threads, int of_last) {
    float *v = make(N, 1), *sum = make(N, 0), *all = make(1, 0);
    int blocks = (N + threads - 1) / threads;
    sums_dynamic<<<blocks, threads, threads * 4>>>(v, sum, N);
    total<<<1, of_last>>>(sum, all, blocks);
    return near(element(all), sum_of(v, N));
}

// Another launch changes the sums before they are added.
static bool fed_by_another() {
    float *v = make(N, 1), *sum = make(BLOCKS, 0), *all = make(1, 0);
    sums<<<BLOCKS, THREADS>>>(v, sum, N);
    scale<<<2, THREADS>>>(sum, BLOCKS, 3);
    total<<<1, THREADS>>>(sum, all, BLOCKS);
    return near(element(all), 3 * sum_of(v, N));
}

// What comes behind needs what the last block made, in all its blocks.
static bool used_behind() {
    float *v = make(N, 1), *sum = make(BLOCKS, 0), *all = make(1, 0);
    float expected = sum_of(v, N), before = element(v, 5);
    sums<<<BLOCKS, THREADS>>>(v, sum, N);
    total<<<1, THREADS>>>(sum, all, BLOCKS);
    divide<<<BLOCKS, THREADS>>>(v, all, N);
    return near(element(v, 5), before / expected);
}

int main(int argc, char **argv) {
    int part = argc > 1 ? atoi(argv[1]) : 0;
    bool right = false;
    switch (part) {
    case 0: right = plain(); break;
    case 1: right = two_blocks(); break;
    case 2: right = host_looks(); break;
    case 3: right = other_stream(); break;
    case 4: right = empty_grid(0); break;
    case 5: right = empty_grid(BLOCKS); break;
    case 6: right = one_thread(); break;
    case 7: right = fewer_threads(); break;
    case 8: right = more_threads(); break;
    case 9: right = other_shape(); break;
    case 10: right = early_return(); break;
    case 11: right = written_over(); break;
    case 12: right = dynamic_memory(); break;
    case 13: right = captured(); break;
    case 14: right = two_streams(); break;
    case 15: right = unknown_threads(64, 64); break;
    case 16: right = unknown_threads(64, 128); break;
    case 17: right = fed_by_another(); break;
    case 18: right = used_behind(); break;
    }
    puts(right ? "PASS" : "FAIL");
}
