// Launches of different code that meet in a batch, as the layers of a network of different sizes do: one launch runs
// them, each block with the indices and the grid of its own. Beside that, one code with two grids, blocks of
// another size, more grids than one launch has room for, more blocks than a device holds at once, and shared memory
// that comes with the launch.
//
// arguments: 0
// arguments: 1
// arguments: 2
// arguments: 3
// arguments: 4
// arguments: 5
// executes: 5 5 8 8 8 5
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int STEPS = 4;

__host__ __device__ unsigned mixed(unsigned value) {
    value ^= value >> 15;
    value *= 0x2c1b3c6du;
    return value ^ value >> 12;
}

// A grid of three dimensions: every block sums its threads' elements in shared memory.
__global__ void below(const unsigned *in, unsigned *out, int count, unsigned seed) {
    __shared__ unsigned sums[64];
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
    for (int i = block * blockDim.x + threadIdx.x; i < count; i += blocks * blockDim.x)
        out[i] = mixed(sums[0] + i);
}

// A grid of one dimension, and an argument of another type before the pointers.
__global__ void above(double factor, const unsigned *one, const unsigned *other, unsigned *out, int count) {
    extern __shared__ unsigned first[];
    __shared__ unsigned tile[8192];  // A device holds few such blocks at once.
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 32) tile[threadIdx.x] = one[(blockIdx.x * 7 + threadIdx.x) % count];
    __syncthreads();
    unsigned sum = (unsigned)(factor * 16) + gridDim.x;
    for (int k = 0; k < 32; ++k) sum = mixed(sum + tile[k] + other[(i * 5 + k) % count]);
    (void)first;
    if (i < count) out[i] = sum;
}

int main(int argc, char **argv) {
    const int which = argc > 1 ? atoi(argv[1]) : 0;
    const int count = 640, threads = which == 2 ? 128 : 64;
    const int grid = which == 3 ? 450 : (count + threads - 1) / threads;
    const int more = which == 5 ? 10 : 0;
    const size_t shared = which == 4 ? 256 : 0;
    const size_t bytes = count * sizeof(unsigned);
    unsigned *lower, *upper, *others;
    cudaMalloc(&lower, (STEPS + 1) * bytes);
    cudaMalloc(&upper, (STEPS + 1) * bytes);
    cudaMalloc(&others, 10 * bytes);
    std::vector<unsigned> start(count);
    for (int i = 0; i < count; ++i) start[i] = i * 2654435761u;
    cudaMemcpy(lower, start.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(upper, start.data(), bytes, cudaMemcpyHostToDevice);
    for (int step = 1; step <= STEPS; ++step) {
        const unsigned *before = lower + (step - 1) * count;
        unsigned *here = lower + step * count;
        // As many grids as steps where they differ.
        const int depth = which == 1 ? step : 2;
        below<<<dim3(2, 3, depth), 64>>>(before, here, count, step);
        above<<<grid, threads, shared>>>(step / 4.0, here, upper + (step - 1) * count, upper + step * count, count);
        for (int other = 0; other < more; ++other)
            below<<<other + 1, 64>>>(before, others + other * count, count, step);
    }
    std::vector<unsigned> result(2 * (STEPS + 1) * count), of_others(10 * count);
    cudaMemcpy(of_others.data(), others, more * bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(result.data(), lower, (STEPS + 1) * bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(result.data() + (STEPS + 1) * count, upper, (STEPS + 1) * bytes, cudaMemcpyDeviceToHost);
    // The same on the host.
    auto summed = [&](const std::vector<unsigned> &in, std::vector<unsigned> &out, unsigned blocks, unsigned seed) {
        for (unsigned block = 0; block < blocks; ++block) {
            unsigned sum = 0;
            for (int thread = 0; thread < 64; ++thread) {
                unsigned own = seed;
                for (int i = thread; i < count; i += 64) own = mixed(own + in[i] * (block + 1));
                sum += own;
            }
            for (int i = block * 64; i < count; i += blocks * 64)
                for (int k = i; k < i + 64; ++k) out[k] = mixed(sum + k);
        }
    };
    std::vector<unsigned> expected_lower(start), expected_upper(start), other(count);
    bool right = true;
    for (int step = 1; step <= STEPS; ++step) {
        const std::vector<unsigned> lower_before(expected_lower), upper_before(expected_upper);
        summed(lower_before, expected_lower, 2 * 3 * (which == 1 ? step : 2), step);
        for (int i = 0; i < count; ++i) {
            unsigned sum = (unsigned)(step / 4.0 * 16) + grid;
            for (int k = 0; k < 32; ++k)
                sum = mixed(sum + expected_lower[(i / threads * 7 + k) % count] + upper_before[(i * 5 + k) % count]);
            expected_upper[i] = sum;
        }
        for (int i = 0; i < count; ++i)
            right = right && result[step * count + i] == expected_lower[i] &&
                    result[(STEPS + 1 + step) * count + i] == expected_upper[i];
        for (int at = 0; at < more && step == STEPS; ++at) {
            summed(lower_before, other, at + 1, step);
            for (int i = 0; i < count; ++i) right = right && of_others[at * count + i] == other[i];
        }
    }
    printf("%s\n", right && cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
    return right ? 0 : 1;
}
