// Solvers that set their sum to zero in each iteration, in front of the launches: the set runs in the kernel like they do.
// Beside them stand loops whose sets differ from iteration to iteration. An argument is the number of the part.
//
// expect: 9 launches -> 5, 3 host loops inside their kernels
// built with: --sirius-boundaries=grid-barrier
// executes: 1 1 5 5 1
// arguments: 0
// arguments: 1
// arguments: 2
// arguments: 3
// arguments: 4
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <utility>
#include <vector>

const int N = 1000, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS;

__global__ void smooth(const float *from, float *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) to[i] = (from[(i + N - 1) % N] + from[i] * 2 + from[(i + 1) % N]) * 0.25f;
}

// Counts the elements that moved by more than a little, on top of what is there.
__global__ void count_moved(const float *from, const float *to, int *moved) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float by = i < N ? from[i] - to[i] : 0;
    if (by > 1e-3f || by < -1e-3f) atomicAdd(moved, 1);
}

// The same in tiles of a plane of 40 x 25, of which each row goes on in the next one.
__global__ void smooth_tiles(const float *from, float *to, int *moved) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 40 || y >= 25) return;
    int i = y * 40 + x;
    float value = (from[(i + N - 1) % N] + from[i] * 2 + from[(i + 1) % N]) * 0.25f, by = from[i] - value;
    to[i] = value;
    if (by > 1e-3f || by < -1e-3f) atomicAdd(moved, 1);
}

std::vector<float> expected(int iterations) {
    std::vector<float> from(N), to(N);
    for (int i = 0; i < N; i++) from[i] = (i * 37 % 101) * 0.01f;
    for (; iterations > 0; iterations--) {
        for (int i = 0; i < N; i++) to[i] = (from[(i + N - 1) % N] + from[i] * 2 + from[(i + 1) % N]) * 0.25f;
        std::swap(from, to);
    }
    return from;
}

int main(int, char **arguments) {
    int part = atoi(arguments[1]);
    float *from, *to;
    int *moved, host = N, iterations = 0;
    std::vector<float> start(N);
    for (int i = 0; i < N; i++) start[i] = (i * 37 % 101) * 0.01f;
    cudaMalloc(&from, N * sizeof(float));
    cudaMalloc(&to, N * sizeof(float));
    cudaMalloc(&moved, sizeof(int));
    cudaMemcpy(from, start.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    switch (part) {
    case 0:
        // A zero each time.
        while (host > 0 && iterations < 5) {
            cudaMemset(moved, 0, sizeof(int));
            smooth<<<BLOCKS, THREADS>>>(from, to);
            count_moved<<<BLOCKS, THREADS>>>(from, to, moved);
            cudaMemcpy(&host, moved, sizeof(int), cudaMemcpyDeviceToHost);
            std::swap(from, to);
            iterations++;
        }
        break;
    case 1:
        // Bytes of one.
        while (host > 0 && iterations < 5) {
            cudaMemset(moved, 1, sizeof(int));
            smooth<<<BLOCKS, THREADS>>>(from, to);
            count_moved<<<BLOCKS, THREADS>>>(from, to, moved);
            cudaMemcpy(&host, moved, sizeof(int), cudaMemcpyDeviceToHost);
            std::swap(from, to);
            iterations++;
        }
        break;
    case 2:
        // Another number each time.
        while (host > 0 && iterations < 5) {
            cudaMemset(moved, iterations & 1, sizeof(int));
            smooth<<<BLOCKS, THREADS>>>(from, to);
            count_moved<<<BLOCKS, THREADS>>>(from, to, moved);
            cudaMemcpy(&host, moved, sizeof(int), cudaMemcpyDeviceToHost);
            std::swap(from, to);
            iterations++;
        }
        break;
    case 3:
        // In some iterations only.
        while (host > 0 && iterations < 5) {
            if (iterations % 2 == 0) cudaMemset(moved, 0, sizeof(int));
            smooth<<<BLOCKS, THREADS>>>(from, to);
            count_moved<<<BLOCKS, THREADS>>>(from, to, moved);
            cudaMemcpy(&host, moved, sizeof(int), cudaMemcpyDeviceToHost);
            std::swap(from, to);
            iterations++;
        }
        break;
    case 4:
        // One launch whose shape has two axes.
        while (host > 0 && iterations < 5) {
            cudaMemset(moved, 0, sizeof(int));
            smooth_tiles<<<dim3(5, 4), dim3(8, 8)>>>(from, to, moved);
            cudaMemcpy(&host, moved, sizeof(int), cudaMemcpyDeviceToHost);
            std::swap(from, to);
            iterations++;
        }
        break;
    }
    std::vector<float> result(N), right = expected(iterations);
    cudaMemcpy(result.data(), from, N * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < N; i++) wrong += result[i] != right[i];
    // What each iteration counts: by the host.
    std::vector<float> before = expected(iterations - 1);
    int count = 0;
    for (int i = 0; i < N; i++) {
        float by = before[i] - right[i];
        count += by > 1e-3f || by < -1e-3f;
    }
    printf("part %d: %d iterations, %d moved\n", part, iterations, host);
    if (part == 0 || part == 4) wrong += host != count;
    if (part == 1) wrong += host != 0x01010101 + count;
    puts(wrong == 0 && iterations == 5 ? "PASS" : "FAIL");
    return wrong != 0;
}
