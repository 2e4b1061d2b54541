// Launches that need what other blocks made, as phases of one cooperative launch. Beside each stands a twin that has to
// stay apart. An argument is the number of the part.
//
// expect: 55 launches -> 29, 4 host loops inside their kernels
// built with: --sirius-boundaries=grid-barrier
// executes: 1 2 1 1 2 1 1 1 1 6 1 2 2 1 1 2 1 1 1 1 5 4 1 2
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
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

const int N = 3000, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS;

__global__ void smooth(const float *__restrict__ from, float *__restrict__ to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = i > 0 ? from[i - 1] : 0, right = i + 1 < n ? from[i + 1] : 0;
    to[i] = left * 0.25f + from[i] * 0.5f + right * 0.25f;
}

__global__ void blend(const float *from, float *to, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i] + by * from[n - 1 - i];
}

// Reads by way of the cache that need not see what others write.
__global__ void smooth_cached(const float *from, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = __ldg(from + (i ? i - 1 : n - 1)) * 0.5f + __ldg(from + i);
}

__global__ void scale(float *v, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] *= by;
}

__global__ void add(const float *a, float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] += a[i];
}

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

// Each element by the sum of all blocks.
__global__ void normalise(float *v, const float *sum, int blocks, int n) {
    __shared__ double all[2];
    if (threadIdx.x == 0) {
        double total = 1;
        for (int block = 0; block < blocks; ++block) total += fabsf(sum[block]);
        all[0] = total;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = float(v[i] / all[0]);
}

// A tile of a plane, turned over; the grid has two dimensions.
const int TILE = 8, SIDE = 52;
__global__ void transpose(const float *from, float *to, int side) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = x < side && y < side ? from[y * side + x] : 0;
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    if (x < side && y < side) to[y * side + x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void blur(const float *from, float *to, int side) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x >= side || y >= side) return;
    float sum = from[y * side + x];
    if (x > 0) sum += from[y * side + x - 1];
    if (y > 0) sum += from[(y - 1) * side + x];
    to[y * side + x] = sum / 3;
}

// As many elements as there are, whatever the grid.
__global__ void stride(const float *from, float *to, int n) {
    int all = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all)
        to[i] = from[n - 1 - i] + float(gridDim.x);
}

// Shared memory of which the launch says how much it is.
__global__ void reverse(const float *from, float *to, int n) {
    extern __shared__ float part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? from[n - 1 - i] : 0;
    __syncthreads();
    if (i < n) to[i] = part[blockDim.x - 1 - threadIdx.x] + part[threadIdx.x];
}

__global__ void tell(const float *from, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i ? i - 1 : 0];
    if (i == 5) printf("%g\n", from[i]);
}

__global__ void count(const unsigned *from, unsigned *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(to + i % 7, from[(i + 1) % 7] + 1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) std::printf("FAIL %s\n", cudaGetErrorString(status)), std::exit(1);
}

static void step(float *a, float *b, cudaStream_t stream) {
    smooth<<<BLOCKS, THREADS, 0, stream>>>(a, b, N);
    smooth<<<BLOCKS, THREADS, 0, stream>>>(b, a, N);
}

int main(int argc, char **argv) {
    int which = argc > 1 ? std::atoi(argv[1]) : 0;
    const int most = 1024 * THREADS;
    std::vector<float> host(most);
    for (int i = 0; i < most; ++i) host[i] = float(i % 11) * 0.125f - 0.5f;
    const size_t bytes = most * sizeof(float);
    float *a, *b, *c, *sum;
    unsigned *total;
    check(cudaMalloc(&a, bytes));
    check(cudaMalloc(&b, bytes));
    check(cudaMalloc(&c, bytes));
    check(cudaMalloc(&sum, bytes));
    check(cudaMalloc(&total, 28));
    for (float *each : {a, b, c, sum}) check(cudaMemcpy(each, host.data(), bytes, cudaMemcpyHostToDevice));
    check(cudaMemset(total, 1, 28));

    switch (which) {
    case 0: // Stencil after stencil.
        smooth<<<BLOCKS, THREADS>>>(a, b, N);
        smooth<<<BLOCKS, THREADS>>>(b, c, N);
        smooth_cached<<<BLOCKS, THREADS>>>(c, a, N);
        break;
    case 1: { // The host looks at it in between.
        smooth<<<BLOCKS, THREADS>>>(a, b, N);
        float seen;
        check(cudaMemcpy(&seen, b, sizeof seen, cudaMemcpyDeviceToHost));
        smooth<<<BLOCKS, THREADS>>>(b, c, N);
        std::printf("%g\n", seen);
        break;
    }
    case 2: // A sum of all, and all by the sum.
        sums<<<BLOCKS, THREADS>>>(a, sum, N);
        normalise<<<BLOCKS, THREADS>>>(a, sum, BLOCKS, N);
        break;
    case 3: // Sweeps of Jacobi's method, written out.
        smooth<<<BLOCKS, THREADS>>>(a, b, N);
        smooth<<<BLOCKS, THREADS>>>(b, a, N);
        smooth<<<BLOCKS, THREADS>>>(a, b, N);
        smooth<<<BLOCKS, THREADS>>>(b, a, N);
        smooth<<<BLOCKS, THREADS>>>(a, b, N);
        sums<<<BLOCKS, THREADS>>>(b, sum, N);
        break;
    case 4: // More blocks than the device has room for: what the launch tells.
        smooth<<<1024, THREADS>>>(a, b, most);
        smooth<<<1024, THREADS>>>(b, c, most);
        break;
    case 5: // Blocks of other sizes: threads that have no place in the smaller ones wait.
        smooth<<<BLOCKS, THREADS>>>(a, b, N);
        smooth<<<2 * BLOCKS, THREADS / 2>>>(b, c, N);
        break;
    case 6: { // Planes, and shared memory of one.
        dim3 grid((SIDE + TILE - 1) / TILE, (SIDE + TILE - 1) / TILE), block(TILE, TILE);
        transpose<<<grid, block>>>(a, b, SIDE);
        blur<<<grid, block>>>(b, c, SIDE);
        transpose<<<grid, block>>>(c, a, SIDE);
        break;
    }
    case 7: // A phase of several launches.
        smooth<<<BLOCKS, THREADS>>>(a, b, N);
        scale<<<BLOCKS, THREADS>>>(b, N, 3);
        add<<<BLOCKS, THREADS>>>(a, b, N);
        smooth<<<BLOCKS, THREADS>>>(b, c, N);
        break;
    case 8: // Grids of several sizes, which each counts for itself.
        stride<<<3, THREADS>>>(a, b, N);
        stride<<<BLOCKS, THREADS>>>(b, c, N);
        break;
    case 9: { // Two streams at once, again and again.
        cudaStream_t streams[2];
        for (cudaStream_t &stream : streams) check(cudaStreamCreate(&stream));
        check(cudaDeviceSynchronize());
        cudaEvent_t event;
        check(cudaEventCreate(&event));
        for (int t = 0; t < 3; ++t) {
            step(a, b, streams[0]);
            check(cudaEventRecord(event, streams[0]));
            step(c, sum, streams[1]);
            check(cudaEventRecord(event, streams[1]));
        }
        check(cudaEventDestroy(event));
        for (cudaStream_t stream : streams) check(cudaStreamSynchronize(stream));
        for (cudaStream_t stream : streams) check(cudaStreamDestroy(stream));
        break;
    }
    case 10: // Memory of which each launch has its own share.
        reverse<<<BLOCKS, THREADS, THREADS * sizeof(float)>>>(a, b, N);
        reverse<<<BLOCKS, THREADS, 2 * THREADS * sizeof(float)>>>(b, c, N);
        break;
    case 11: // What prints stays.
        smooth<<<BLOCKS, THREADS>>>(a, b, N);
        tell<<<BLOCKS, THREADS>>>(b, c, N);
        break;
    case 12: // Streams of their own.
    {
        cudaStream_t one, other;
        check(cudaStreamCreate(&one));
        check(cudaStreamCreate(&other));
        check(cudaDeviceSynchronize());
        smooth<<<BLOCKS, THREADS, 0, one>>>(a, b, N);
        check(cudaStreamSynchronize(one));
        smooth<<<BLOCKS, THREADS, 0, other>>>(b, c, N);
        check(cudaStreamSynchronize(other));
        check(cudaStreamDestroy(one));
        check(cudaStreamDestroy(other));
        break;
    }
    case 13: // Atomics of one launch, and of the next.
        count<<<BLOCKS, THREADS>>>(total, (unsigned *)sum, N);
        count<<<BLOCKS, THREADS>>>((unsigned *)sum, total, N);
        break;
    case 14: // One after a condition.
        smooth<<<BLOCKS, THREADS>>>(a, b, N);
        if (argc > 2) smooth<<<BLOCKS, THREADS>>>(b, c, N);
        break;
    case 15: // An error in the middle: the others run.
        smooth<<<BLOCKS, THREADS>>>(a, b, N);
        smooth<<<argc > 2 ? 1 : 0, THREADS>>>(b, a, N);
        smooth<<<BLOCKS, THREADS>>>(b, c, N);
        if (cudaGetLastError() == cudaSuccess) std::puts("no error");
        break;
    case 16: // The host waits in between, which is made up for.
        smooth<<<BLOCKS, THREADS>>>(a, b, N);
        check(cudaDeviceSynchronize());
        smooth<<<BLOCKS, THREADS>>>(b, c, N);
        check(cudaDeviceSynchronize());
        break;
    case 17: // Sweeps in a loop.
        for (int t = 0; t < 11; ++t) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            std::swap(a, b);
        }
        break;
    case 18: // Two launches in each iteration, and a loop around.
        for (int o = 0; o < 3; ++o)
            for (int t = 0; t < 4; ++t) {
                sums<<<BLOCKS, THREADS>>>(a, sum, N);
                normalise<<<BLOCKS, THREADS>>>(a, sum, BLOCKS, N);
            }
        break;
    case 19: // A number of each iteration.
        for (int t = 0; t < 9; ++t) {
            blend<<<BLOCKS, THREADS>>>(a, b, N, 0.125f * t);
            blend<<<BLOCKS, THREADS>>>(b, a, N, 1);
        }
        break;
    case 20: // The host looks at each sweep.
        for (int t = 0; t < 5; ++t) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            std::swap(a, b);
            float first;
            check(cudaMemcpy(&first, a, sizeof first, cudaMemcpyDeviceToHost));
            if (first > 100) break;
        }
        break;
    case 21: // More blocks than the device has room for, in a loop.
        for (int t = 0; t < 4; ++t) {
            smooth<<<1024, THREADS>>>(a, b, most);
            std::swap(a, b);
        }
        break;
    case 23: { // In a graph that runs twice.
        cudaStream_t stream;
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        check(cudaStreamCreate(&stream));
        check(cudaDeviceSynchronize());
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        smooth<<<BLOCKS, THREADS, 0, stream>>>(a, b, N);
        smooth<<<BLOCKS, THREADS, 0, stream>>>(b, a, N);
        check(cudaStreamEndCapture(stream, &graph));
        check(cudaGraphInstantiate(&executable, graph, 0));
        for (int t = 0; t < 2; ++t) check(cudaGraphLaunch(executable, stream));
        check(cudaStreamSynchronize(stream));
        check(cudaGraphExecDestroy(executable));
        check(cudaGraphDestroy(graph));
        check(cudaStreamDestroy(stream));
        break;
    }
    case 22: // Grids that change from iteration to iteration: batches are phases.
        for (int t = 0; t < 4; ++t) {
            smooth<<<t % 2 ? BLOCKS : BLOCKS / 2, THREADS>>>(a, b, N);
            std::swap(a, b);
        }
        break;
    }
    check(cudaDeviceSynchronize());

    std::vector<float> results(3 * most);
    check(cudaMemcpy(results.data(), a, bytes, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(results.data() + most, b, bytes, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(results.data() + 2 * most, c, bytes, cudaMemcpyDeviceToHost));
    double check_sum = 0;
    for (size_t i = 0; i < results.size(); ++i) check_sum += double(results[i]) * double(i % 97 + 1);
    unsigned totals[7];
    check(cudaMemcpy(totals, total, 28, cudaMemcpyDeviceToHost));
    for (unsigned each : totals) check_sum += each % 1000;
    std::printf("%.9g\nPASS\n", check_sum);
}
