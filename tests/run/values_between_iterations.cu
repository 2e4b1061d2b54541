// Loops of the host in a kernel, with barriers across the grid: what a thread stores or loads in one iteration and loads in the next
// stays in a register where all blocks run at once. Beside each stands a twin in which another thread writes there, or in which the
// iteration before did not come to it, so that the load has to see it. An argument is the number of the part.
//
// expect: 43 launches -> 19, 16 host loops inside their kernels
// built with: --sirius-boundaries=grid-barrier --sirius-opt=-buffer-promotion
// executes: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 12 1 6
// loads: 25604 13268 15532 15924 19732 36928 30904 30904 48976 43000 18352 10848 211564 14520 7460 9437136 27248 36576
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
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

const int BLOCK = 64, N = 4 * BLOCK - 3, STEPS = 6;

__device__ int own() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Two fields by turns, each with its neighbours of the other.
__global__ void electric(float *e, const float *h, int n) {
    int i = own();
    if (i < n) e[i] = e[i] - 0.5f * (h[i] - (i > 0 ? h[i - 1] : 0.0f));
}
__global__ void magnetic(float *h, const float *e, int n) {
    int i = own();
    if (i < n) h[i] = h[i] - 0.5f * ((i + 1 < n ? e[i + 1] : 0.0f) - e[i]);
}

// With a source that nobody writes.
__global__ void heat(float *to, const float *from, const float *source, int n) {
    int i = own();
    if (i < n) to[i] = 0.25f * ((i > 0 ? from[i - 1] : 0.0f) + (i + 1 < n ? from[i + 1] : 0.0f)) + source[i];
}

// A state that is a thread's own, and an input that is another in each step.
__global__ void recur(float *state, float *out, const float *in, const float *weight, int step, int n) {
    int i = own();
    if (i >= n) return;
    state[i] = 0.5f * state[i] + in[(step * 31 + i) % n] * weight[i];
    out[i] = state[i];
}
__global__ void mix(float *weight, const float *out, int n) {
    int i = own();
    if (i < n) weight[i] = 0.5f * weight[i] + 0.125f * out[n - 1 - i];
}

// Sums of blocks, and all of them.
__global__ void sums(const float *v, float *sum, int n) {
    __shared__ float part[BLOCK];
    int i = own();
    part[threadIdx.x] = i < n ? v[i] * v[i] : 0;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sum[blockIdx.x] = part[0];
}
__global__ void total(const float *sum, float *all, int blocks) {
    if (threadIdx.x != 0) return;
    float found = 0;
    for (int block = 0; block < blocks; ++block) found += sum[block];
    *all = found;
}
__global__ void shrink(float *v, float *moved, const float *all, int n) {
    int i = own();
    if (i >= n) return;
    v[i] = v[i] / (1 + *all * 1e-3f);
    moved[i] += v[i];
}

// Element i by thread n - 1 - i.
__global__ void turn(float *v, int n) {
    int i = own();
    if (i < n) v[n - 1 - i] = v[n - 1 - i] * 0.5f + i;
}
__global__ void add_to_first(float *v, const float *h, int n) {
    int i = own();
    if (i == n - 1) v[0] += h[n / 2];
}
__global__ void add_atomically(float *v, const float *h, int n) {
    int i = own();
    if (i == 7) atomicAdd(&v[n - 1], h[3]);
}
__global__ void pairs(float *v, const float *h, int n) {
    int i = 2 * own();
    if (i < n) v[i] += 0.25f * h[i];
    if (i + 1 < n) v[i + 1] += 0.25f * h[n - 1 - i];
}

// A thread comes to its element later than in the first step, and never stores it.
__global__ void below(float *out, const float *v, int step, int n) {
    int i = own();
    if (i < n) out[i] = out[i] * 0.5f + (i < 40 * step ? v[i] : 1.0f);
}
// It stores it in every second step alone.
__global__ void every_second(float *v, const float *h, int step, int n) {
    int i = own();
    if (i >= n) return;
    float before = v[i];
    if (step % 2) v[i] = before * 0.5f + h[n - 1 - i];
    else if (before > 100.0f) v[i] = 1.0f;
}
// Another place in each step.
__global__ void moving(float *out, const float *v, int step, int n) {
    int i = own();
    if (i < n) out[i] = out[i] * 0.5f + v[(i + step) % n];
}
// The same place for all threads, which the first one writes.
__global__ void by_first(float *v, float *h, int n) {
    int i = own();
    if (i < n) v[i] = v[i] * 0.5f + h[1];
}
__global__ void change_first(float *h, const float *v, int n) {
    if (own() == n - 1) h[1] = v[n / 2] * 0.25f;
}

int main(int argc, char **argv) {
    int part = argc > 1 ? atoi(argv[1]) : 0;
    const int most = 1024 * BLOCK;
    std::vector<float> host(most);
    for (int i = 0; i < most; i++) host[i] = float(i % 37) * 0.0625f - 1;
    float *all[5], *found;
    for (float *&each : all) {
        cudaMalloc(&each, most * sizeof(float));
        cudaMemcpy(each, host.data(), most * sizeof(float), cudaMemcpyHostToDevice);
    }
    cudaMalloc(&found, sizeof(float));
    float *a = all[0], *b = all[1], *c = all[2], *d = all[3], *e = all[4];
    const int grid = (N + BLOCK - 1) / BLOCK;
    float residual = 1e9f;
    switch (part) {
    case 0: // Fields in place.
        for (int step = 0; step < STEPS; ++step) {
            electric<<<grid, BLOCK>>>(a, b, N);
            magnetic<<<grid, BLOCK>>>(b, a, N);
        }
        break;
    case 1: // A source that nobody writes, with arrays that change places.
        for (int step = 0; step < STEPS; ++step) {
            heat<<<grid, BLOCK>>>(b, a, c, N);
            std::swap(a, b);
        }
        break;
    case 2: // A state, and a number that says where the input is.
        for (int step = 0; step < STEPS; ++step) {
            recur<<<grid, BLOCK>>>(a, b, c, d, step, N);
            mix<<<grid, BLOCK>>>(d, b, N);
        }
        break;
    case 3: // Until a number is small.
        for (int step = 0; step < STEPS && residual > 1.0f; ++step) {
            sums<<<grid, BLOCK>>>(a, c, N);
            total<<<1, BLOCK>>>(c, found, grid);
            shrink<<<grid, BLOCK>>>(a, b, found, N);
            cudaMemcpy(&residual, found, sizeof residual, cudaMemcpyDeviceToHost);
        }
        printf("%g\n", residual);
        break;
    case 4: // So, with a source and arrays that change places.
        for (int step = 0; step < STEPS && residual > 1.0f; ++step) {
            heat<<<grid, BLOCK>>>(b, a, d, N);
            sums<<<grid, BLOCK>>>(b, c, N);
            total<<<1, BLOCK>>>(c, found, grid);
            std::swap(a, b);
            cudaMemcpy(&residual, found, sizeof residual, cudaMemcpyDeviceToHost);
        }
        printf("%g\n", residual);
        break;
    case 5: // Twin: another block writes it.
        for (int step = 0; step < STEPS; ++step) {
            electric<<<grid, BLOCK>>>(a, b, N);
            magnetic<<<grid, BLOCK>>>(b, a, N);
            turn<<<grid, BLOCK>>>(a, N);
        }
        break;
    case 6: // Twin: one thread writes one element.
        for (int step = 0; step < STEPS; ++step) {
            electric<<<grid, BLOCK>>>(a, b, N);
            magnetic<<<grid, BLOCK>>>(b, a, N);
            add_to_first<<<grid, BLOCK>>>(a, b, N);
        }
        break;
    case 7: // Twin: by an atomic operation.
        for (int step = 0; step < STEPS; ++step) {
            electric<<<grid, BLOCK>>>(a, b, N);
            magnetic<<<grid, BLOCK>>>(b, a, N);
            add_atomically<<<grid, BLOCK>>>(a, b, N);
        }
        break;
    case 8: // Twin: under another name, one element further.
        for (int step = 0; step < STEPS; ++step) {
            electric<<<grid, BLOCK>>>(a, b, N);
            magnetic<<<grid, BLOCK>>>(b, a, N);
            electric<<<grid, BLOCK>>>(a + 1, b, N - 1);
        }
        break;
    case 9: // Twin: from another grid.
        for (int step = 0; step < STEPS; ++step) {
            electric<<<grid, BLOCK>>>(a, b, N);
            magnetic<<<grid, BLOCK>>>(b, a, N);
            pairs<<<(grid + 1) / 2, BLOCK>>>(a, b, N);
        }
        break;
    case 10: // Twin: the fields change places.
        for (int step = 0; step < STEPS; ++step) {
            electric<<<grid, BLOCK>>>(a, b, N);
            std::swap(a, b);
        }
        break;
    case 11: // Twin: threads come to it in different steps.
        for (int step = 0; step < STEPS; ++step) {
            below<<<grid, BLOCK>>>(a, c, step, N);
            mix<<<grid, BLOCK>>>(d, a, N);
        }
        break;
    case 12: // What is stored under a condition that changes.
        for (int step = 0; step < STEPS; ++step) {
            every_second<<<grid, BLOCK>>>(a, b, step, N);
            mix<<<grid, BLOCK>>>(b, a, N);
        }
        break;
    case 13: // Twin: another place in each step.
        for (int step = 0; step < STEPS; ++step) {
            moving<<<grid, BLOCK>>>(a, c, step, N);
            mix<<<grid, BLOCK>>>(d, a, N);
        }
        break;
    case 14: // Twin: all threads read what one writes.
        for (int step = 0; step < STEPS; ++step) {
            by_first<<<grid, BLOCK>>>(a, b, N);
            change_first<<<grid, BLOCK>>>(b, a, N);
        }
        break;
    case 15: // More blocks than the device has room for.
        for (int step = 0; step < STEPS; ++step) {
            electric<<<1024, BLOCK>>>(a, b, most);
            magnetic<<<1024, BLOCK>>>(b, a, most);
        }
        break;
    case 16: // Twin: until a number is small, and another thread writes it.
        for (int step = 0; step < STEPS && residual > 1.0f; ++step) {
            sums<<<grid, BLOCK>>>(a, c, N);
            total<<<1, BLOCK>>>(c, found, grid);
            shrink<<<grid, BLOCK>>>(a, b, found, N);
            turn<<<grid, BLOCK>>>(b, N);
            cudaMemcpy(&residual, found, sizeof residual, cudaMemcpyDeviceToHost);
        }
        printf("%g\n", residual);
        break;
    default: // Twin: the host writes it after each step.
        for (int step = 0; step < STEPS; ++step) {
            electric<<<grid, BLOCK>>>(a, b, N);
            magnetic<<<grid, BLOCK>>>(b, a, N);
            cudaMemcpy(a, host.data(), N / 2 * sizeof(float), cudaMemcpyHostToDevice);
        }
    }
    double check_sum = 0;
    for (float *each : {a, b, c, d, e}) {
        cudaMemcpy(host.data(), each, most * sizeof(float), cudaMemcpyDeviceToHost);
        for (int i = 0; i < most; i++) check_sum += double(host[i]) * (i % 97 + 1);
    }
    printf("%.9g\nPASS\n", check_sum);
}
