// Host loops whose iterations need only what the same thread, or the same block, made in the iteration before: they run
// inside one kernel. Beside each stands a twin whose iterations have to stay launches of their own. An argument is the
// number of the loop.
//
// expect: 25 launches -> 23, 14 host loops inside their kernels
// executes: 1 2 1 1 2 40 1 1 1 1 40 40 1 1 20 1 40 9 1 3 1 4
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
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

const int N = 3000, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS, STEPS = 40;

__global__ void relax(float *v, float *w, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = v[i], b = w[i];
    v[i] = a + dt * (a - a * a * a / 3 - b);
    w[i] = b + dt * 0.08f * (a + 0.7f - 0.8f * b);
}

// The number of the step varies, and so does a number that the host works out.
__global__ void force(float *v, int n, int step, double dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] += float(dt * (step % 3 - 1) * (i % 7));
}

// As many elements as the step tells.
__global__ void front(float *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = v[i] * 0.5f + 1;
}

// Each block turns its own part round.
__global__ void turn(float *v, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    part[threadIdx.x] = i < n ? v[i] : 0;
    __syncthreads();
    float other = part[THREADS - 1 - threadIdx.x];
    if (i < n) v[i] = v[i] * 0.75f + other * 0.25f;
}

// Sums of warps.
__global__ void smooth(float *v) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = v[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    v[i] = v[i] * 0.5f + sum / 64;
}

// Neighbours' values: of other blocks, too.
__global__ void shift(const float *from, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i ? i - 1 : n - 1] * 0.5f + from[i];
}
__global__ void back(const float *from, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

__global__ void twice(const float *from, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = 2 * from[i];
}

__global__ void own(float *to, const float *from, int n, int distance) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i + distance] + 1;
}

struct Cell {
    float *v;
    int n;
    float rate;
};
__global__ void decay(Cell cell) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cell.n) cell.v[i] -= cell.rate * cell.v[i];
}

__global__ void count(unsigned *total, float *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] += 1;
        if (i % 3 == 0) atomicAdd(total, unsigned(i));
    }
}

// A row, from the row before it as this is until its own step comes.
__global__ void sink(float *v, int row) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    v[row * 512 + i] = v[row * 512 + i] * 0.5f - v[(row - 1) * 512 + i];
}

// The same from the next place of it, which is another block's for the last thread of a block.
__global__ void slide(float *v, int row) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    v[row * 512 + i] = v[row * 512 + i] * 0.5f - v[(row - 1) * 512 + (i + 1) % 512];
}

// More arguments than a kernel of several launches has room for.
struct Table {
    float entry[4500];
};
__global__ void look(float *v, Table table, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = v[i] * 0.5f + table.entry[i];
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) std::printf("FAIL %s\n", cudaGetErrorString(status)), std::exit(1);
}

int main(int argc, char **argv) {
    int which = argc > 1 ? std::atoi(argv[1]) : 0;
    std::vector<float> host(BLOCKS * THREADS + 64);
    for (size_t i = 0; i < host.size(); ++i) host[i] = float(i % 11) * 0.125f - 0.5f;
    const size_t bytes = host.size() * sizeof(float);
    float *v, *w, *u;
    unsigned *total;
    check(cudaMalloc(&v, bytes));
    check(cudaMalloc(&w, bytes));
    check(cudaMalloc(&u, bytes));
    check(cudaMalloc(&total, sizeof(unsigned)));
    check(cudaMemcpy(v, host.data(), bytes, cudaMemcpyHostToDevice));
    check(cudaMemcpy(w, host.data(), bytes, cudaMemcpyHostToDevice));
    check(cudaMemset(u, 0, bytes));
    check(cudaMemset(total, 0, sizeof(unsigned)));

    switch (which) {
    case 0:
        for (int t = 0; t < STEPS; ++t) relax<<<BLOCKS, THREADS>>>(v, w, N, 0.05f);
        break;
    case 1: { // One kernel takes some 500 steps of this.
        double dt = 0.5;
        for (int t = 0; t < 10 * STEPS; ++t) {
            force<<<BLOCKS, THREADS>>>(v, N, t, dt);
            dt *= 0.99;
        }
        break;
    }
    case 2: // The host waits and looks for errors after each step.
        for (int t = 0; t < STEPS; ++t) {
            relax<<<BLOCKS, THREADS>>>(w, v, N, 0.025f);
            check(cudaGetLastError());
            check(cudaDeviceSynchronize());
        }
        break;
    case 3:
        for (int t = 0; t < STEPS; ++t) turn<<<BLOCKS, THREADS>>>(v, N);
        break;
    case 4: // Two launches in a step become one, and the steps.
        for (int t = 0; t < STEPS; ++t) {
            relax<<<BLOCKS, THREADS>>>(u, w, N, 0.05f);
            turn<<<BLOCKS, THREADS>>>(w, N);
        }
        turn<<<BLOCKS, THREADS>>>(w, N);
        break;
    case 5: // What a step reads another block has written.
        for (int t = 0; t < STEPS / 2; ++t) {
            shift<<<BLOCKS, THREADS>>>(v, w, N);
            back<<<BLOCKS, THREADS>>>(w, v, N);
        }
        break;
    case 6: // Not all of it each time.
        for (int t = 0; t < STEPS; ++t) front<<<BLOCKS, THREADS>>>(v, t < 10 ? N / 2 : t < 20 ? N / 3 : N);
        break;
    case 7:
        for (int t = 0; t < STEPS; ++t) smooth<<<BLOCKS, THREADS>>>(v);
        break;
    case 8: { // A loop in a loop, and a break.
        int left = STEPS - 3;
        for (int o = 0; o < 8; ++o)
            for (int t = 0; t < 8; ++t) {
                if (!left--) goto done;
                decay<<<BLOCKS, THREADS>>>(Cell{w, N, 0.125f});
            }
    done:
        break;
    }
    case 9: // The same over and over again hands nothing on: these run side by side.
        for (int t = 0; t < STEPS; ++t) twice<<<BLOCKS, THREADS>>>(v, w, N);
        break;
    case 10: // The host looks in each time.
        for (int t = 0; t < STEPS; ++t) {
            front<<<BLOCKS, THREADS>>>(w, N - 1);
            float first;
            check(cudaMemcpy(&first, w, sizeof first, cudaMemcpyDeviceToHost));
            if (first > 100) break;
        }
        break;
    case 11: // At another place each time, of which another thread reads in the next step.
        for (int t = 0; t < STEPS; ++t) own<<<BLOCKS / 2, THREADS>>>(v + t % 2 * N / 2, v + (t + 1) % 2 * N / 2, N / 2, 0);
        break;
    case 12: // Memory of two steps changes places.
        for (int t = 0; t < STEPS / 2; ++t) {
            relax<<<BLOCKS, THREADS>>>(v, w, N, 0.05f);
            std::swap(v, w);
        }
        break;
    case 13: // Sums that may be added up in any order.
        for (int t = 0; t < STEPS; ++t) count<<<BLOCKS, THREADS>>>(total, v, N);
        break;
    case 14: // Grids of two sizes take turns.
        for (int t = 0; t < STEPS / 2; ++t) {
            front<<<t % 2 ? BLOCKS : BLOCKS / 2, THREADS>>>(u, N);
        }
        break;
    case 15: { // On a stream that the host waits for.
        cudaStream_t stream;
        check(cudaStreamCreate(&stream));
        for (int t = 0; t < STEPS; ++t) {
            turn<<<BLOCKS, THREADS, 0, stream>>>(u, N);
            check(cudaStreamSynchronize(stream));
        }
        check(cudaStreamDestroy(stream));
        break;
    }
    case 16: { // Times of each step.
        cudaEvent_t begin, end;
        check(cudaEventCreate(&begin));
        check(cudaEventCreate(&end));
        float all = 0;
        for (int t = 0; t < STEPS; ++t) {
            check(cudaEventRecord(begin));
            front<<<BLOCKS, THREADS>>>(u, N);
            check(cudaEventRecord(end));
            check(cudaEventSynchronize(end));
            float time;
            check(cudaEventElapsedTime(&time, begin, end));
            all += time;
        }
        if (all < 0) std::puts("time runs backwards");
        break;
    }
    case 17: // An outer loop that looks in, an inner one that does not.
        for (int o = 0; o < 9; ++o) {
            for (int t = 0; t < 5; ++t) front<<<BLOCKS, THREADS>>>(v, N);
            float last;
            check(cudaMemcpy(&last, v + o, sizeof last, cudaMemcpyDeviceToHost));
            std::printf("%g\n", last);
        }
        break;
    case 18: // Of two launches one has only one of the two.
        for (int t = 0; t < STEPS - 1; ++t) {
            relax<<<BLOCKS, THREADS>>>(v, w, N, 0.05f);
            front<<<BLOCKS, THREADS>>>(v, N);
            std::swap(v, w);
        }
        break;
    case 19: {
        Table table;
        for (int i = 0; i < 4500; ++i) table.entry[i] = float(i % 5);
        for (int t = 0; t < 3; ++t) look<<<BLOCKS, THREADS>>>(v, table, N);
        break;
    }
    case 20: // A step overwrites what the one before has read.
        for (int t = 0; t < 4; ++t) sink<<<4, THREADS>>>(v, 4 - t);
        break;
    case 21: // And what another block has read.
        for (int t = 0; t < 4; ++t) slide<<<4, THREADS>>>(v, 4 - t);
        break;
    }

    std::vector<float> results(3 * host.size());
    check(cudaMemcpy(results.data(), v, bytes, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(results.data() + host.size(), w, bytes, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(results.data() + 2 * host.size(), u, bytes, cudaMemcpyDeviceToHost));
    unsigned summed;
    check(cudaMemcpy(&summed, total, sizeof summed, cudaMemcpyDeviceToHost));
    double sum = summed;
    for (size_t i = 0; i < results.size(); ++i) sum += double(results[i]) * double(i % 97 + 1);
    std::printf("%.9g\nPASS\n", sum);
}
