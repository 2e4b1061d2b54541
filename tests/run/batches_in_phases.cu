// Launches that wait for their batches, which are phases of one cooperative launch: all blocks wait for each other between two
// batches. Beside these stand twins whose batches stay launches of their own. An argument is the number of the part.
//
// built with: --sirius-boundaries=grid-barrier
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
// executes: 1 1 6 9 9 1 8 1 1 1 1 1 9
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int STEPS = 6, LAYERS = 4, COUNT = 640, THREADS = 64;

static void check(cudaError_t status) {
    if (status != cudaSuccess) std::printf("FAIL %s\n", cudaGetErrorString(status)), std::exit(1);
}

__host__ __device__ unsigned mixed(unsigned value) {
    value ^= value >> 15;
    value *= 0x2c1b3c6du;
    return value ^ value >> 12;
}

// Each element needs those of other blocks, of the step before and of the layer below. What it reads others have written in
// the launch.
__global__ void cell(const unsigned *__restrict__ before, const unsigned *__restrict__ below, unsigned *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    out[i] = mixed(__ldg(before + (i * 7 + 1) % count) + 3 * below[(i + count / 2) % count]);
}

// A grid of three dimensions: every block sums its threads' elements in shared memory.
__global__ void summed(const unsigned *in, unsigned *out, int count, unsigned seed) {
    __shared__ unsigned sums[THREADS];
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
    unsigned sum = seed;
    for (int i = threadIdx.x; i < count; i += blockDim.x) sum = mixed(sum + in[i] * (block + 1));
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    for (int i = block * blockDim.x + threadIdx.x; i < count; i += blocks * blockDim.x) out[i] = mixed(sums[0] + i);
}

// What a launch takes by value, and atomic operations.
struct Factors {
    unsigned by[4];
    int count;
};
__global__ void scattered(Factors factors, const unsigned *in, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned own = factors.by[i % 4];
    if (i < factors.count) atomicAdd(out + (i * 5 + 3) % factors.count, mixed(in[i] * own));
}

// Lanes that have returned are waited for by none.
__global__ void swapped(const unsigned *before, const unsigned *below, unsigned *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned own = mixed(before[(i * 7 + 1) % count] + below[(i + 5) % count]);
    out[i] = own + __shfl_xor_sync(0xffffffffu, own, 1);
}

// A quarter of the lanes has returned when the others vote.
__global__ void voted(const unsigned *before, const unsigned *below, unsigned *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 4 == 3) return;
    unsigned own = mixed(before[(i * 7 + 1) % count] + below[(i + 5) % count]);
    out[i] = own + __any_sync(0xffffffffu, own % 32 == 0);
}

// The other warp takes no part, and none waits for it.
__global__ void swapped_by_first(const unsigned *before, const unsigned *below, unsigned *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned own = i < count ? mixed(before[(i * 7 + 1) % count] + below[(i + 5) % count]) : 0, other = 0;
    if (threadIdx.x < 32) other = __shfl_xor_sync(0xffffffffu, own, 1);
    if (i < count) out[i] = own + other;
}

// Shared memory that comes with the launch.
__global__ void turned(const unsigned *before, const unsigned *below, unsigned *out, int count) {
    extern __shared__ unsigned part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < count ? mixed(before[count - 1 - i] + below[i]) : 0;
    __syncthreads();
    if (i < count) out[i] = part[blockDim.x - 1 - threadIdx.x];
}

static unsigned *states;
static size_t place(int layer, int step) { return (size_t)(layer * (STEPS + 1) + step) * COUNT; }
static unsigned *state(int layer, int step) { return states + place(layer, step); }

// A stack of cells over time; `grid` of them may be more than there are elements for.
static void stack(int grid, cudaStream_t stream) {
    for (int step = 1; step <= STEPS; ++step)
        for (int layer = 1; layer <= LAYERS; ++layer)
            cell<<<grid, THREADS, 0, stream>>>(state(layer, step - 1), state(layer - 1, step), state(layer, step), COUNT);
}

static std::vector<unsigned> read_all() {
    std::vector<unsigned> all((LAYERS + 1) * (STEPS + 1) * COUNT);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(all.data(), states, all.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
    return all;
}

int main(int argc, char **argv) {
    const int which = argc > 1 ? std::atoi(argv[1]) : 0, grid = COUNT / THREADS;
    std::vector<unsigned> expected((LAYERS + 1) * (STEPS + 1) * COUNT);
    for (size_t i = 0; i < expected.size(); ++i) expected[i] = (unsigned)i * 2654435761u;
    check(cudaMalloc(&states, expected.size() * sizeof(unsigned)));
    check(cudaMemcpy(states, expected.data(), expected.size() * sizeof(unsigned), cudaMemcpyHostToDevice));
    cudaStream_t stream;
    check(cudaStreamCreate(&stream));
    bool right = true;
    switch (which) {
    case 0: // A stack of layers over time: a launch for each cell, a batch for each diagonal.
        stack(grid, 0);
        break;
    case 1: // The same in a stream of its own, again and again.
        for (int times = 0; times < 3; ++times) stack(grid, stream);
        break;
    case 2: // The host looks at each step.
        for (int step = 1; step <= STEPS; ++step) {
            for (int layer = 1; layer <= LAYERS; ++layer)
                cell<<<grid, THREADS>>>(state(layer, step - 1), state(layer - 1, step), state(layer, step), COUNT);
            unsigned seen;
            check(cudaMemcpy(&seen, state(LAYERS, step), sizeof seen, cudaMemcpyDeviceToHost));
            right = right && seen != 0;
        }
        break;
    case 3: { // While the stream is captured, batches are launches of their own.
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        stack(grid, stream);
        check(cudaStreamEndCapture(stream, &graph));
        check(cudaGraphInstantiate(&executable, graph, 0));
        check(cudaGraphLaunch(executable, stream));
        break;
    }
    case 4: // More blocks than the device has room for.
        stack(20000, 0);
        break;
    case 5: // Two codes with grids of several shapes, one with shared memory.
        for (int step = 1; step <= STEPS; ++step) {
            summed<<<dim3(2, 3, step), THREADS>>>(state(1, step - 1), state(1, step), COUNT, step);
            cell<<<grid, THREADS>>>(state(2, step - 1), state(1, step), state(2, step), COUNT);
        }
        break;
    case 6: // Blocks of other sizes: a batch that has some of both is by itself.
        for (int step = 1; step <= STEPS; ++step)
            for (int layer = 1; layer <= LAYERS; ++layer) {
                int threads = step == STEPS ? THREADS / 2 : THREADS;
                cell<<<COUNT / threads, threads>>>(state(layer, step - 1), state(layer - 1, step), state(layer, step), COUNT);
            }
        break;
    case 7: // Structures that launches take by value.
        for (int step = 1; step <= STEPS; ++step)
            for (int layer = 1; layer <= LAYERS; ++layer) {
                Factors factors = {{1u + layer, 2u * step, 3, 4}, COUNT};
                scattered<<<grid, THREADS>>>(factors, state(layer - 1, step), state(layer, step));
            }
        break;
    case 8: // Lanes of a warp wait for each other, of which none returns in this launch.
        for (int step = 1; step <= STEPS; ++step)
            for (int layer = 1; layer <= LAYERS; ++layer)
                swapped<<<grid, THREADS>>>(state(layer, step - 1), state(layer - 1, step), state(layer, step), COUNT);
        break;
    case 11: // Lanes of one warp wait for each other, all of which come.
        for (int step = 1; step <= STEPS; ++step)
            for (int layer = 1; layer <= LAYERS; ++layer)
                swapped_by_first<<<grid, THREADS>>>(state(layer, step - 1), state(layer - 1, step), state(layer, step), COUNT);
        break;
    case 12: // Lanes of a warp wait for each other, of which some have returned.
        for (int step = 1; step <= STEPS; ++step)
            for (int layer = 1; layer <= LAYERS; ++layer)
                voted<<<grid, THREADS>>>(state(layer, step - 1), state(layer - 1, step), state(layer, step), COUNT);
        break;
    case 9: // Shared memory comes with the launch.
        for (int step = 1; step <= STEPS; ++step)
            for (int layer = 1; layer <= LAYERS; ++layer)
                turned<<<grid, THREADS, THREADS * sizeof(unsigned)>>>(state(layer, step - 1), state(layer - 1, step),
                                                                     state(layer, step), COUNT);
        break;
    case 10: // A state for each layer, which steps overwrite.
        for (int step = 1; step <= STEPS; ++step)
            for (int layer = 1; layer <= LAYERS; ++layer) {
                cell<<<grid, THREADS>>>(state(layer, 0), state(layer - 1, 1), state(layer, 2), COUNT);
                cell<<<grid, THREADS>>>(state(layer, 2), state(layer - 1, 1), state(layer, 1), COUNT);
                cell<<<grid, THREADS>>>(state(layer, 2), state(layer, 1), state(layer, 0), COUNT);
            }
        break;
    }
    std::vector<unsigned> found = read_all();

    // The same on the host.
    auto own = [&](int layer, int step) { return expected.data() + place(layer, step); };
    auto cells = [&](int before_layer, int before_step, int layer, int step, int to_layer, int to_step) {
        const std::vector<unsigned> before(own(before_layer, before_step), own(before_layer, before_step) + COUNT);
        const std::vector<unsigned> below(own(layer, step), own(layer, step) + COUNT);
        for (int i = 0; i < COUNT; ++i) {
            unsigned &to = own(to_layer, to_step)[i];
            if (which == 8 || which == 11) {
                auto each = [&](int k) { return mixed(before[(k * 7 + 1) % COUNT] + below[(k + 5) % COUNT]); };
                to = each(i) + (which == 8 || i % THREADS < 32 ? each(i ^ 1) : 0);
            } else if (which == 12) {
                auto each = [&](int k) { return mixed(before[(k * 7 + 1) % COUNT] + below[(k + 5) % COUNT]); };
                bool any = false;
                for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) any |= k % 4 != 3 && each(k) % 32 == 0;
                if (i % 4 != 3) to = each(i) + any;
            } else if (which == 9) {
                int k = i / THREADS * THREADS + THREADS - 1 - i % THREADS;
                to = mixed(before[COUNT - 1 - k] + below[k]);
            } else {
                to = mixed(before[(i * 7 + 1) % COUNT] + 3 * below[(i + COUNT / 2) % COUNT]);
            }
        }
    };
    for (int times = 0; times < (which == 1 ? 3 : 1); ++times)
        for (int step = 1; step <= STEPS; ++step) {
            if (which == 5) {
                const unsigned blocks = 6 * step;
                for (unsigned block = 0; block < blocks; ++block) {
                    unsigned sum = 0;
                    for (int thread = 0; thread < THREADS; ++thread) {
                        unsigned part = step;
                        for (int i = thread; i < COUNT; i += THREADS) part = mixed(part + own(1, step - 1)[i] * (block + 1));
                        sum += part;
                    }
                    for (int i = block * THREADS; i < COUNT; i += blocks * THREADS)
                        for (int k = i; k < i + THREADS; ++k) own(1, step)[k] = mixed(sum + k);
                }
                cells(2, step - 1, 1, step, 2, step);
                continue;
            }
            for (int layer = 1; layer <= LAYERS; ++layer) {
                if (which == 7) {
                    const unsigned by[4] = {1u + layer, 2u * step, 3, 4};
                    for (int i = 0; i < COUNT; ++i) own(layer, step)[(i * 5 + 3) % COUNT] += mixed(own(layer - 1, step)[i] * by[i % 4]);
                } else if (which == 10) {
                    cells(layer, 0, layer - 1, 1, layer, 2);
                    cells(layer, 2, layer - 1, 1, layer, 1);
                    cells(layer, 2, layer, 1, layer, 0);
                } else {
                    cells(layer, step - 1, layer - 1, step, layer, step);
                }
            }
        }
    right = right && found == expected;
    std::printf("%s\n", right && cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
    return right ? 0 : 1;
}
