// What runs where a launch with grid-wide barriers is refused: groups of its launches, as if nobody had asked for such barriers.
// An argument is the number of the part.
//
// expect: 31 launches -> 8, 1 host loop inside its kernel
// built with: --sirius-boundaries=grid-barrier
// options: --sirius-boundaries=last-block,grid-barrier
// executes: 1 2 2 3 2 1 2 3 9 3 1 2
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
#include <cstdio>
#include <cstdlib>
#include <vector>

// Small blocks, of which a device holds few for the threads that it has.
const int THREADS = 8, FEW = 8, MANY = 4096, N = MANY * THREADS;

__global__ void scale(float *v, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] *= by;
}

__global__ void add(const float *a, float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] += a[i];
}

__global__ void smooth(const float *from, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = i > 0 ? from[i - 1] : 0, right = i + 1 < n ? from[i + 1] : 0;
    to[i] = left * 0.25f + from[i] * 0.5f + right * 0.25f;
}

// The other way round within a block, by memory that the launch brings along.
__global__ void reverse(float *v, int n) {
    extern __shared__ float part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? v[i] : 0;
    __syncthreads();
    if (i < n) v[i] = part[blockDim.x - 1 - threadIdx.x];
}

struct Line {
    float by, plus;
};
__device__ float offset = 0.5f;
__global__ void line(float *v, Line with, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = v[i] * with.by + with.plus + offset;
}

// Rows of a matrix, the threads of a row beside each other.
__global__ void scale_rows(float *v, int width, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column < columns) v[row * width + column] *= 2;
}
__global__ void add_rows(const float *a, float *b, int pitch, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column < columns) b[row * pitch + column] += a[row * pitch + column];
}

// The largest of each block, and one block for all of them.
__global__ void largest(const float *v, float *of_block, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    part[threadIdx.x] = i < n ? v[i] : 0;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) of_block[blockIdx.x] = part[0];
}

// By the largest of all.
__global__ void spread(const float *largest, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = largest[0] * 0.5f + to[i];
}

// A norm of few elements, and products with them, a warp for each.
__global__ void norm(const float *x, const float *weight, int n, float *out) {
    float own = 0;
    for (int i = threadIdx.x; i < n; i += 32) own += x[i] * x[i];
    for (int far = 16; far > 0; far /= 2) own += __shfl_xor_sync(~0u, own, far);
    for (int i = threadIdx.x; i < n; i += 32) out[i] = x[i] * weight[i] / (1 + sqrtf(own));
}
__global__ void product(const float *a, const float *x, int n, float *out) {
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) sum += a[n * blockIdx.x + i] * x[i];
    for (int far = 16; far > 0; far /= 2) sum += __shfl_xor_sync(~0u, sum, far);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) std::printf("FAIL %s\n", cudaGetErrorString(status)), std::exit(1);
}

// The width of the rows that the second reads is for the run to tell.
__attribute__((noinline)) static void steps(float *a, float *b, float *c, int width, int pitch) {
    scale_rows<<<dim3(2, MANY / 4), THREADS>>>(a, width, 14);
    add_rows<<<dim3(2, MANY / 4), THREADS>>>(a, b, pitch, 14);
    smooth<<<MANY, THREADS>>>(b, c, N);
    scale<<<MANY, THREADS>>>(c, N, 0.75f);
}

int main(int argc, char **argv) {
    int which = argc > 1 ? std::atoi(argv[1]) : 0;
    std::vector<float> host(N);
    for (int i = 0; i < N; ++i) host[i] = float(i % 11) * 0.125f - 0.5f;
    const size_t bytes = N * sizeof(float);
    float *a, *b, *c, *d, *e;
    for (float **each : {&a, &b, &c, &d, &e}) {
        check(cudaMalloc(each, bytes));
        check(cudaMemcpy(*each, host.data(), bytes, cudaMemcpyHostToDevice));
    }
    // The device holds all of these blocks, or few of them.
    int blocks = which == 0 ? FEW : MANY, n = blocks * THREADS;

    switch (which) {
    case 0: case 1: // Two phases of two launches each: one launch, or two.
        scale<<<blocks, THREADS>>>(a, n, 1.5f);
        add<<<blocks, THREADS>>>(a, b, n);
        smooth<<<blocks, THREADS>>>(b, c, n);
        scale<<<blocks, THREADS>>>(c, n, 0.75f);
        break;
    case 2: // The second reads what its own thread wrote.
    case 3: // It reads what another one wrote, so that the first two are not one; the last two are.
        steps(a, b, c, 20, which == 2 ? 20 : 17 + argc);
        break;
    case 4: case 5: // The host leaves before the last: what it has come to runs all the same.
        scale<<<blocks, THREADS>>>(a, n, 2);
        add<<<blocks, THREADS>>>(a, b, n);
        if (which == 4) smooth<<<blocks, THREADS>>>(b, c, n);
        break;
    case 6: // A launch that CUDA refuses, among them.
    case 7: {
        int threads = which == 6 ? 2048 : THREADS;
        scale<<<blocks, THREADS>>>(a, n, 2);
        add<<<blocks, THREADS>>>(a, b, n);
        smooth<<<blocks, threads>>>(b, c, n);
        scale<<<blocks, threads>>>(c, n, 3);
        std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
        smooth<<<blocks, THREADS>>>(c, d, n);
        break;
    }
    case 8: // Barriers of blocks, shared memory of the launch, structs and device variables.
        for (int i = 0; i < 3; ++i) {
            line<<<blocks, THREADS>>>(a, Line{1.5f, float(i)}, n);
            reverse<<<blocks, THREADS, THREADS * sizeof(float)>>>(a, n);
            smooth<<<blocks, THREADS>>>(a, b, n);
            reverse<<<blocks, THREADS, THREADS * sizeof(float)>>>(b, n);
            line<<<blocks, THREADS>>>(b, Line{0.25f, -1}, n);
            smooth<<<blocks, THREADS>>>(b, a, n);
        }
        break;
    case 9: // The last block of the first runs the second, where that is asked for.
        largest<<<blocks, THREADS>>>(a, b, n);
        largest<<<1, THREADS>>>(b, c, blocks);
        scale<<<1, THREADS>>>(c, 1, 2);
        spread<<<blocks, THREADS>>>(c, d, n);
        add<<<blocks, THREADS>>>(a, d, n);
        break;
    case 10: // Each block of the second does the work of the first.
        norm<<<1, 32>>>(b, c, THREADS, d);
        product<<<blocks, 32>>>(a, d, THREADS, e);
        break;
    case 11: // Not where others have overwritten what the first reads.
        norm<<<1, 32>>>(b, c, THREADS, d);
        product<<<blocks, 32>>>(a, d, THREADS, b);
        break;
    }
    check(cudaDeviceSynchronize());
    double sum = 0;
    for (float *each : {a, b, c, d, e}) {
        check(cudaMemcpy(host.data(), each, bytes, cudaMemcpyDeviceToHost));
        for (int i = 0; i < N; i += 7) sum += host[i] * (i % 13 + 1);
    }
    std::printf("%.3f\nPASS\n", sum);
}
