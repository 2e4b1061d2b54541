// Launches that begin before the one before them has ended, with --sirius-boundaries=overlap.
//
// Each pair depends on what other blocks made, so that it stays two launches. What nobody writes meanwhile is loaded before
// the wait: weights, a table that is staged in shared memory, indices. Beside these stand twins for which that would be
// wrong: weights that the launch before writes, weights that the host copies in between, a launch on another stream.
// The CPU device runs what stands before a wait with memory as it was before the launch before.
//
// expect: 27 launches -> 27
// options: --sirius-boundaries=overlap -arch=sm_90
// options: --sirius-boundaries=overlap -arch=sm_90 --sirius-opt=-launch-batches,-persistent-loops
// options: --sirius-boundaries=all -arch=sm_100 --sirius-fusion=local
#include <cstdio>
#include <cstring>

constexpr int N = 3000, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS, WIDTH = 32;

__global__ void fill(float *x, int n, float start) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] = start + i % 17;
}

// Reads what another block may have written, and its own weight.
__global__ void weigh(float *y, const float *x, const float *__restrict__ w, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float neighbour = x[(i + 1000) % n];
    y[i] = neighbour * w[i] + 1;
}

__global__ void with_table(float *y, const float *x, const float *table, int n) {
    __shared__ float staged[WIDTH];
    if (threadIdx.x < WIDTH) staged[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[n - 1 - i] + staged[(i / 3) % WIDTH];
}

__global__ void gather(float *y, const float *x, const int *indices, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int from = indices[i];
    y[i] = x[from] * 0.5f;
}

// The same with fewer threads: all loads stand in a loop with one that has to wait.
__global__ void gather_in_turn(float *y, const float *x, const int *indices, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = x[indices[i]] * 0.5f;
}

// Changes both what is read in turn and the weights.
__global__ void fill_both(float *x, float *w, int n, float start) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] = start - i % 5;
    w[i] = start + i % 3;
}

// Sums of rows: a loop around the loads that have to wait.
__global__ void product(float *y, const float *matrix, const float *x, int n, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float scale = matrix[row], sum = 0;
    for (int column = 0; column < columns; column++)
        sum += scale * x[(row + 700 * column) % n];
    y[row] = sum;
}

static float expected_x(int i, float start) { return start + i % 17; }

static int errors;

static void compare(const char *what, const float *found, float (*expected)(int), int n) {
    for (int i = 0; i < n; i++)
        if (found[i] != expected(i)) {
            printf("%s: element %d is %g, not %g\n", what, i, found[i], expected(i));
            errors++;
            return;
        }
    printf("%s: right\n", what);
}

static float host[N], weights[N], table[WIDTH];
static int indices[N];

static void compare_on_device(const char *what, const float *device, float (*expected)(int)) {
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    compare(what, host, expected, N);
}

static float weighed(int i) { return expected_x((i + 1000) % N, 1) * weights[i] + 1; }
static float doubly_weighed(int i) { return weighed((i + 1000) % N) * weights[i] + 1; }
static float from_table(int i) { return expected_x(N - 1 - i, 2) + table[(i / 3) % WIDTH]; }
static float gathered(int i) { return expected_x(indices[i], 3) * 0.5f; }
static float weighed_both(int i) { return (4.0f - (i + 1000) % N % 5) * (4.0f + i % 3) + 1; }
static float weighed_copied(int i) { return expected_x((i + 1000) % N, 5) * (weights[i] + 2) + 1; }
static float summed(int i) {
    float sum = 0;
    for (int column = 0; column < 4; column++) sum += weights[i] * expected_x((i + 700 * column) % N, 6);
    return sum;
}
static float managed_weight;
static float weighed_managed(int i) { return expected_x((i + 1000) % N, 7) * (managed_weight + i % 4) + 1; }

static void with_weights(float *x, float *y, float *w) {
    fill<<<BLOCKS, THREADS>>>(x, N, 1);
    weigh<<<BLOCKS, THREADS>>>(y, x, w, N);
    compare_on_device("weights", y, weighed);
    fill<<<BLOCKS, THREADS>>>(x, N, 1);
    if (cudaGetLastError() != cudaSuccess) errors++;
    weigh<<<BLOCKS, THREADS>>>(y, x, w, N);
    weigh<<<BLOCKS, THREADS>>>(x, y, w, N);
    compare_on_device("a chain", x, doubly_weighed);
}

static void with_tables(float *x, float *y, float *device_table, int *device_indices) {
    fill<<<BLOCKS, THREADS>>>(x, N, 2);
    with_table<<<BLOCKS, THREADS>>>(y, x, device_table, N);
    compare_on_device("a table", y, from_table);
    fill<<<BLOCKS, THREADS>>>(x, N, 3);
    gather<<<BLOCKS, THREADS>>>(y, x, device_indices, N);
    compare_on_device("indices", y, gathered);
    fill<<<BLOCKS, THREADS>>>(x, N, 3);
    gather_in_turn<<<BLOCKS / 4, THREADS>>>(y, x, device_indices, N);
    compare_on_device("indices in a loop", y, gathered);
}

static void twins(float *x, float *y, float *w) {
    // What is loaded as weights is written right before.
    fill_both<<<BLOCKS, THREADS>>>(x, w, N, 4);
    weigh<<<BLOCKS, THREADS>>>(y, x, w, N);
    compare_on_device("written weights", y, weighed_both);
    // And here the host copies them in between.
    static float others[N];
    for (int i = 0; i < N; i++) others[i] = weights[i] + 2;
    fill<<<BLOCKS, THREADS>>>(x, N, 5);
    cudaMemcpy(w, others, sizeof others, cudaMemcpyHostToDevice);
    weigh<<<BLOCKS, THREADS>>>(y, x, w, N);
    compare_on_device("copied weights", y, weighed_copied);
    cudaMemcpy(w, weights, sizeof weights, cudaMemcpyHostToDevice);
    fill<<<BLOCKS, THREADS>>>(x, N, 6);
    product<<<BLOCKS, THREADS>>>(y, w, x, N, 4);
    compare_on_device("rows", y, summed);
}

// Two fields that change places, and weights that stay: the first launch of the loop follows now this, now that.
static void in_a_loop(float *x, float *y, float *w) {
    fill<<<BLOCKS, THREADS>>>(x, N, 1);
    for (int step = 0; step < 5; step++) {
        weigh<<<BLOCKS, THREADS>>>(y, x, w, N);
        weigh<<<BLOCKS, THREADS>>>(x, y, w, N);
    }
    static float a[N], b[N];
    for (int i = 0; i < N; i++) a[i] = expected_x(i, 1);
    for (int step = 0; step < 10; step++) {
        for (int i = 0; i < N; i++) b[i] = a[(i + 1000) % N] * weights[i] + 1;
        memcpy(a, b, sizeof a);
    }
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    bool same = true;
    for (int i = 0; i < N; i++) same = same && host[i] == a[i];
    printf("a loop: %s\n", same ? "right" : "wrong");
    errors += !same;
}

static void with_managed_memory(float *x, float *y) {
    float *w;
    cudaMallocManaged(&w, N * sizeof(float));
    for (int round = 0; round < 2; round++) {
        managed_weight = float(round + 1);
        for (int i = 0; i < N; i++) w[i] = managed_weight + i % 4;
        fill<<<BLOCKS, THREADS>>>(x, N, 7);
        weigh<<<BLOCKS, THREADS>>>(y, x, w, N);
        cudaDeviceSynchronize();
        compare_on_device("managed weights", y, weighed_managed);
    }
    cudaFree(w);
}

// What is written on one stream is loaded on the other, behind an event.
static void on_two_streams(float *x, float *y, float *w) {
    cudaStream_t one, two;
    cudaEvent_t written;
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cudaEventCreate(&written);
    fill<<<BLOCKS, THREADS, 0, one>>>(x, N, 1);
    fill_both<<<BLOCKS, THREADS, 0, two>>>(y, w, N, 4);
    cudaEventRecord(written, two);
    cudaStreamWaitEvent(one, written, 0);
    weigh<<<BLOCKS, THREADS, 0, one>>>(y, x, w, N);
    cudaDeviceSynchronize();
    cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
    bool same = true;
    for (int i = 0; i < N; i++)
        same = same && host[i] == expected_x((i + 1000) % N, 1) * (4.0f + i % 3) + 1;
    printf("two streams: %s\n", same ? "right" : "wrong");
    errors += !same;
    cudaMemcpy(w, weights, sizeof weights, cudaMemcpyHostToDevice);
    cudaEventDestroy(written);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
}

static void in_a_graph(float *x, float *y, float *w) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    fill<<<BLOCKS, THREADS, 0, stream>>>(x, N, 1);
    weigh<<<BLOCKS, THREADS, 0, stream>>>(y, x, w, N);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0);
    for (int round = 0; round < 3; round++) {
        cudaMemset(y, 0, sizeof host);
        cudaGraphLaunch(executable, stream);
        cudaStreamSynchronize(stream);
        compare_on_device("a graph", y, weighed);
    }
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}

int main() {
    float *x, *y, *w, *device_table;
    int *device_indices;
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&y, sizeof host);
    cudaMalloc(&w, sizeof weights);
    cudaMalloc(&device_table, sizeof table);
    cudaMalloc(&device_indices, sizeof indices);
    for (int i = 0; i < N; i++) {
        weights[i] = 0.25f * (i % 3);
        indices[i] = (i * 7 + 13) % N;
    }
    for (int i = 0; i < WIDTH; i++) table[i] = float(i * i);
    cudaMemcpy(w, weights, sizeof weights, cudaMemcpyHostToDevice);
    cudaMemcpy(device_table, table, sizeof table, cudaMemcpyHostToDevice);
    cudaMemcpy(device_indices, indices, sizeof indices, cudaMemcpyHostToDevice);
    with_weights(x, y, w);
    with_tables(x, y, device_table, device_indices);
    twins(x, y, w);
    in_a_loop(x, y, w);
    with_managed_memory(x, y);
    on_two_streams(x, y, w);
    in_a_graph(x, y, w);
    cudaFree(x);
    cudaFree(y);
    cudaFree(w);
    cudaFree(device_table);
    cudaFree(device_indices);
    printf("%s\n", errors ? "FAIL" : "PASS");
    return errors != 0;
}
