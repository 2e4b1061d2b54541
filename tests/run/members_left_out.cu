// Launches under conditions of their own, of which the run tells which come: they run as one launch of those that do.
// arguments: 0
// arguments: 1
// arguments: 2
// arguments: 5
// arguments: 6
// arguments: 11
// arguments: 31
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

static const int N = 1000, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS;

__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.5f * x[i] + 1.0f;
}

__global__ void relu(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && y[i] < 2.0f) y[i] = 0.0f;
}

__global__ void square(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] *= y[i];
}

__global__ void add(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}

__global__ void turn(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[n - 1 - i];
}

// A barrier, and a sum of a block.
__global__ void sums(float *y, const float *x, int n) {
    __shared__ float own[THREADS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    own[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) own[t] += own[t + half];
        __syncthreads();
    }
    if (i < n) y[i] = own[0];
}

// A face of a field, of as many rows as the field has.
__global__ void left(float *field, int columns, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) field[row * columns] = field[row * columns + 3];
}

static float *b[5];
static unsigned flags;

// One of several functions, as an engine for networks chooses it.
static __attribute__((noinline)) void activation(int which) {
    scale<<<BLOCKS, THREADS>>>(b[1], b[0], N);
    switch (which) {
    case 1: relu<<<BLOCKS, THREADS>>>(b[1], N); break;
    case 2: square<<<BLOCKS, THREADS>>>(b[1], N); break;
    }
    add<<<BLOCKS, THREADS>>>(b[2], b[1], N);
}

// Fields that a mask names; the grids are of several sizes.
static __attribute__((noinline)) void faces(unsigned mask) {
    if (mask & 1) left<<<2, 64>>>(b[0], 10, 100);
    if (mask & 2) left<<<2, 64>>>(b[1], 10, 90);
    if (mask & 4) left<<<1, 64>>>(b[2], 20, 50);
    if (mask & 8) left<<<1, 64>>>(b[3], 25, 40);
    if (mask & 16) left<<<2, 64>>>(b[4], 10, 100);
}

// What one hands to another within a block.
static __attribute__((noinline)) void within_blocks(unsigned mask) {
    if (mask & 1) scale<<<BLOCKS, THREADS>>>(b[1], b[0], N);
    if (mask & 2) sums<<<BLOCKS, THREADS>>>(b[2], b[1], N);
    if (mask & 4) add<<<BLOCKS, THREADS>>>(b[3], b[2], N);
    if (mask & 8) sums<<<BLOCKS, THREADS>>>(b[4], b[3], N);
}

// Twin: elements come from other blocks, so that the third stays apart whenever it is there.
static __attribute__((noinline)) void across_blocks(unsigned mask) {
    if (mask & 1) scale<<<BLOCKS, THREADS>>>(b[1], b[0], N);
    if (mask & 2) relu<<<BLOCKS, THREADS>>>(b[1], N);
    if (mask & 4) turn<<<BLOCKS, THREADS>>>(b[2], b[1], N);
    if (mask & 8) add<<<BLOCKS, THREADS>>>(b[3], b[2], N);
}

// Twin: the host looks in between where it was asked to.
static __attribute__((noinline)) void looked_at(unsigned mask) {
    float seen = 0;
    if (mask & 1) scale<<<BLOCKS, THREADS>>>(b[1], b[0], N);
    if (mask & 2) square<<<BLOCKS, THREADS>>>(b[1], N);
    if (mask & 4) {
        cudaMemcpy(&seen, b[1] + 7, 4, cudaMemcpyDeviceToHost);
        printf("saw %g\n", seen);
    }
    if (mask & 8) add<<<BLOCKS, THREADS>>>(b[2], b[1], N);
    if (mask & 16) relu<<<BLOCKS, THREADS>>>(b[2], N);
}

// Ways out of the middle.
static __attribute__((noinline)) void left_early(unsigned mask, int step) {
    if (mask & 1) scale<<<BLOCKS, THREADS>>>(b[1], b[0], N);
    if (step == 2) return;
    if (mask & 2) square<<<BLOCKS, THREADS>>>(b[1], N);
    if (mask & 8 && step == 1) throw std::runtime_error("out");
    if (mask & 4) add<<<BLOCKS, THREADS>>>(b[2], b[1], N);
}

// Blocks and pointers that the run tells: two may have other blocks, or be of one buffer.
static __attribute__((noinline)) void told_by_run(unsigned mask, int threads, float *one, float *other) {
    if (mask & 1) scale<<<(N + 127) / 128, 128>>>(one, b[0], N);
    if (mask & 2) relu<<<(N + threads - 1) / threads, threads>>>(one, N);
    if (mask & 4) turn<<<(N + 127) / 128, 128>>>(other, b[0], N);
    if (mask & 8) square<<<(N + 127) / 128, 128>>>(other, N);
}

int main(int argc, char **argv) {
    flags = argc > 1 ? atoi(argv[1]) : 11;
    static float host[N];
    for (int k = 0; k < 5; ++k) {
        cudaMalloc(&b[k], sizeof host);
        for (int i = 0; i < N; ++i) host[i] = (i * (k + 3)) % 23 - 5;
        cudaMemcpy(b[k], host, sizeof host, cudaMemcpyHostToDevice);
    }
    for (int step = 0; step < 4; ++step) {
        activation((flags + step) % 3);
        faces(flags ^ step);
        within_blocks(flags >> (step & 1));
        across_blocks(flags ^ step);
        looked_at(flags ^ step);
        try {
            left_early(flags | step, step);
        } catch (const std::exception &error) {
            printf("%s\n", error.what());
        }
        told_by_run(flags ^ step, step == 1 ? 64 : 128, b[1 + step % 2], b[step < 2 ? 3 : 1]);
        cudaDeviceSynchronize();
    }
    for (int k = 0; k < 5; ++k) {
        cudaMemcpy(host, b[k], sizeof host, cudaMemcpyDeviceToHost);
        double sum = 0;
        for (int i = 0; i < N; ++i) sum += host[i] * (i % 7 + 1);
        printf("%d %.17g\n", k, sum);
    }
    printf("PASS\n");
}
