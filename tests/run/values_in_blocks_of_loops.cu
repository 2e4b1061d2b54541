// Loops of the host in a kernel, with barriers across the grid: what another thread of the block stored in the iteration before, or in
// this one, comes from shared memory where all blocks run at once; the rims of blocks do not. Beside these stand twins in which somebody
// else writes there from iteration to iteration, or nobody does in some. An argument is the number of the part.
//
// expect: 18 launches -> 9, 9 host loops inside their kernels
// built with: --sirius-boundaries=grid-barrier --sirius-opt=-launch-batches
// executes: 1 1 1 1 1 1 1 1 1
// loads: 3748 3356 57076 32508 12520 21584 26348 8644 2116
// arguments: 0
// arguments: 1
// arguments: 2
// arguments: 3
// arguments: 4
// arguments: 5
// arguments: 6
// arguments: 7
// arguments: 8
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

const int BLOCK = 64, N = 4 * BLOCK - 3, WIDTH = 24, HEIGHT = 13, MOST = 512, STEPS = 7;

__device__ int own() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void stencil(float *out, const float *y, int n) {
    int i = own();
    if (i >= n) return;
    if (i > 0 && i + 1 < n) out[i] = 0.25f * (y[i - 1] + y[i + 1]) + 0.5f * y[i];
    else out[i] = y[i];
}
__global__ void stencil_rows(float *out, const float *y, int width, int height) {
    int column = own(), row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    float sum = y[row * width + column];
    if (row > 0) sum += y[(row - 1) * width + column];
    if (row + 1 < height) sum += y[(row + 1) * width + column];
    if (column > 0) sum += y[row * width + column - 1];
    if (column + 1 < width) sum += y[row * width + column + 1];
    out[row * width + column] = 0.2f * sum;
}
__global__ void change(float *most, const float *now, const float *next, int n) {
    float found = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) found = fmaxf(found, fabsf(now[i] - next[i]));
    __shared__ float all[128];
    all[threadIdx.x] = found;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) all[threadIdx.x] = fmaxf(all[threadIdx.x], all[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) *most = all[0];
}
__global__ void one(float *y, const float *from, int n) {
    if (own() == n - 1) y[0] = from[n / 2] + 1.0f;
}
__global__ void turned(float *y, const float *from, int n) {
    int i = own();
    if (i < n) y[n - 1 - i] = from[i];
}
// Only in some steps: in others what was there before is read.
__global__ void now_and_then(float *out, const float *y, int step, int n) {
    int i = own();
    if (i < n && step % 3 != 1) out[i] = 0.5f * (y[i] + (i > 0 ? y[i - 1] : 0.0f));
}
__global__ void growing(float *out, const float *y, int step, int n) {
    int i = own();
    if (i < n && i < 40 * step) out[i] = 0.5f * (y[i] + (i > 0 ? y[i - 1] : 0.0f));
}

int main(int argc, char **argv) {
    int part = argc > 1 ? atoi(argv[1]) : 0;
    std::vector<float> input(MOST), made(MOST);
    for (int i = 0; i < MOST; i++) input[i] = i * 31 % 37;
    float *x, *y, *z, *most, residual = 1.0f;
    cudaMalloc(&most, sizeof(float));
    for (float **each : {&x, &y, &z}) {
        cudaMalloc(each, MOST * sizeof(float));
        cudaMemcpy(*each, input.data(), MOST * sizeof(float), cudaMemcpyHostToDevice);
    }
    const int grid = (N + BLOCK - 1) / BLOCK;
    int steps = 0;
    switch (part) {
    case 0:
        for (int step = 0; step < STEPS; ++step) {
            stencil<<<grid, BLOCK>>>(y, x, N);
            stencil<<<grid, BLOCK>>>(x, y, N);
        }
        break;
    case 1:
        for (int step = 0; step < STEPS; ++step) {
            stencil<<<grid, BLOCK>>>(y, x, N);
            std::swap(x, y);
        }
        break;
    case 2:
        while (steps < 20 && residual > 0.5f) {
            stencil<<<grid, BLOCK>>>(y, x, N);
            change<<<1, 128>>>(most, x, y, N);
            cudaMemcpy(&residual, most, sizeof residual, cudaMemcpyDeviceToHost);
            std::swap(x, y);
            ++steps;
        }
        break;
    case 3:
        while (steps < 20 && residual > 0.5f) {
            stencil<<<grid, BLOCK>>>(y, x, N);
            stencil<<<grid, BLOCK>>>(x, y, N);
            change<<<1, 128>>>(most, x, y, N);
            cudaMemcpy(&residual, most, sizeof residual, cudaMemcpyDeviceToHost);
            ++steps;
        }
        break;
    case 4: {
        dim3 block(8, 3), tiles((WIDTH + 7) / 8, (HEIGHT + 2) / 3);
        for (int step = 0; step < STEPS; ++step) {
            stencil_rows<<<tiles, block>>>(y, x, WIDTH, HEIGHT);
            std::swap(x, y);
        }
        break;
    }
    case 5:  // Twin: one thread writes one element behind it.
        for (int step = 0; step < STEPS; ++step) {
            stencil<<<grid, BLOCK>>>(y, x, N);
            one<<<grid, BLOCK>>>(y, x, N);
            std::swap(x, y);
        }
        break;
    case 6:  // Twin: others write all of it.
        for (int step = 0; step < STEPS; ++step) {
            stencil<<<grid, BLOCK>>>(y, x, N);
            stencil<<<grid, BLOCK>>>(z, y, N);
            turned<<<grid, BLOCK>>>(y, z, N);
            stencil<<<grid, BLOCK>>>(x, y, N);
        }
        break;
    case 7:  // In some steps nobody stores.
        for (int step = 0; step < STEPS; ++step) {
            now_and_then<<<grid, BLOCK>>>(y, x, step, N);
            stencil<<<grid, BLOCK>>>(x, y, N);
        }
        break;
    default:  // In each step more threads store.
        for (int step = 0; step < STEPS; ++step) {
            growing<<<grid, BLOCK>>>(y, x, step, N);
            std::swap(x, y);
        }
    }
    unsigned long long sum = 14695981039346656037ull;
    for (float *each : {x, y, z}) {
        cudaMemcpy(made.data(), each, MOST * sizeof(float), cudaMemcpyDeviceToHost);
        for (float value : made) sum = (sum ^ (long long)(value * 1024.0f)) * 1099511628211ull;
    }
    printf("PASS %d %llx\n", steps, sum);
}
