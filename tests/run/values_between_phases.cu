// Launches with a barrier across the grid between them, of which a thread stores what it loads again behind the barrier: where all
// blocks run at once, that stays in a register. Beside each stands a twin in which another thread writes there, in another
// block or in its own, under another name, or from another grid, so that the load has to see it. An argument is the number of the part.
//
// expect: 36 launches -> 11
// built with: --sirius-boundaries=grid-barrier --sirius-opt=-launch-batches,-buffer-promotion
// executes: 1 1 1 1 1 1 1 1 1 2
// loads: 4096 6168 3040 5140 5144 5148 7140 5108 3920 4060
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
#include <cstdio>
#include <cstdlib>
#include <vector>

const int BLOCK = 64, N = 4 * BLOCK - 3, ROW = 16, ROWS = 12;

__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i] + 1.0f;
}

// Needs the neighbours, also those of other blocks.
__global__ void stencil(float *out, const float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i + 1 < n) out[i] = y[i - 1] + y[i + 1];
    else if (i < n) out[i] = 0.0f;
}

// Needs what the thread itself made two launches before, and what another block made in the one before.
__global__ void join(float *z, const float *y, const float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = y[i] - 0.25f * sums[n - 1 - i];
}

// What another thread made of it: element i by thread n - 1 - i.
__global__ void turn(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[n - 1 - i] = i;
}

__global__ void add_to_first(float *y, const float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == n - 1) y[0] = sums[n / 2];
}

__global__ void add_atomically(float *y, const float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 7) atomicAdd(&y[n - 1], sums[3]);
}

__global__ void double_in_place(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * y[i];
}

__global__ void scale_rows(float *y, const float *x, int width, int height) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < height) y[row * width + column] = 2.0f * x[row * width + column] + 1.0f;
}

__global__ void stencil_rows(float *out, const float *y, int width, int height) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    float above = row > 0 ? y[(row - 1) * width + column] : 0.0f;
    float below = row + 1 < height ? y[(row + 1) * width + column] : 0.0f;
    out[row * width + column] = above + below;
}

__global__ void join_rows(float *z, const float *y, const float *sums, int width, int height) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < height) z[row * width + column] = y[row * width + column] - 0.25f * sums[width * height - 1 - row * width - column];
}

// Two elements a thread: another grid.
__global__ void join_pairs(float *z, const float *y, const float *sums, int n) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) z[i] = y[i] - 0.25f * sums[n - 1 - i];
    if (i + 1 < n) z[i + 1] = y[i + 1] - 0.25f * sums[n - 2 - i];
}

int main(int argc, char **argv) {
    int part = argc > 1 ? atoi(argv[1]) : 0;
    std::vector<float> input(N), y(N), sums(N), expected(N), made(N);
    for (int i = 0; i < N; i++) input[i] = i % 37;
    float *dx, *dy, *dsums, *dz;
    cudaMalloc(&dx, N * sizeof(float));
    cudaMalloc(&dy, N * sizeof(float));
    cudaMalloc(&dsums, N * sizeof(float));
    cudaMalloc(&dz, N * sizeof(float));
    cudaMemcpy(dx, input.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(dz, 0, N * sizeof(float));
    const int grid = (N + BLOCK - 1) / BLOCK, n = part == 2 || part == 8 ? ROW * ROWS : N;
    for (int i = 0; i < n; i++) y[i] = 2.0f * input[i] + 1.0f;
    for (int i = 0; i < n; i++) sums[i] = i > 0 && i + 1 < n ? y[i - 1] + y[i + 1] : 0.0f;
    switch (part) {
    case 0:
        scale<<<grid, BLOCK>>>(dy, dx, N);
        stencil<<<grid, BLOCK>>>(dsums, dy, N);
        join<<<grid, BLOCK>>>(dz, dy, dsums, N);
        break;
    case 1:
        scale<<<grid, BLOCK>>>(dy, dx, N);
        stencil<<<grid, BLOCK>>>(dsums, dy, N);
        double_in_place<<<grid, BLOCK>>>(dy, N);
        stencil<<<grid, BLOCK>>>(dsums, dy, N);
        join<<<grid, BLOCK>>>(dz, dy, dsums, N);
        for (float &each : y) each *= 2.0f;
        for (float &each : sums) each *= 2.0f;
        break;
    case 2: {
        dim3 block(8, 4), tiles(ROW / 8, ROWS / 4);
        scale_rows<<<tiles, block>>>(dy, dx, ROW, ROWS);
        stencil_rows<<<tiles, block>>>(dsums, dy, ROW, ROWS);
        join_rows<<<tiles, block>>>(dz, dy, dsums, ROW, ROWS);
        for (int i = 0; i < n; i++) sums[i] = (i >= ROW ? y[i - ROW] : 0.0f) + (i + ROW < n ? y[i + ROW] : 0.0f);
        break;
    }
    case 3:  // Twin: another block writes it between.
        scale<<<grid, BLOCK>>>(dy, dx, N);
        stencil<<<grid, BLOCK>>>(dsums, dy, N);
        turn<<<grid, BLOCK>>>(dy, N);
        join<<<grid, BLOCK>>>(dz, dy, dsums, N);
        for (int i = 0; i < N; i++) y[i] = N - 1 - i;
        break;
    case 4:  // Twin: one thread writes one element.
        scale<<<grid, BLOCK>>>(dy, dx, N);
        stencil<<<grid, BLOCK>>>(dsums, dy, N);
        add_to_first<<<grid, BLOCK>>>(dy, dsums, N);
        join<<<grid, BLOCK>>>(dz, dy, dsums, N);
        y[0] = sums[N / 2];
        break;
    case 5:  // Twin: by an atomic operation.
        scale<<<grid, BLOCK>>>(dy, dx, N);
        stencil<<<grid, BLOCK>>>(dsums, dy, N);
        add_atomically<<<grid, BLOCK>>>(dy, dsums, N);
        join<<<grid, BLOCK>>>(dz, dy, dsums, N);
        y[N - 1] += sums[3];
        break;
    case 6:  // Twin: z is y one element further.
        scale<<<grid, BLOCK>>>(dy, dx, N);
        stencil<<<grid, BLOCK>>>(dsums, dy, N);
        stencil<<<grid, BLOCK>>>(dy + 1, dsums, N - 1);
        join<<<grid, BLOCK>>>(dz, dy, dsums, N);
        for (int i = 0; i + 1 < N; i++) y[i + 1] = i > 0 && i + 2 < N ? sums[i - 1] + sums[i + 1] : 0.0f;
        break;
    case 7:  // Twin: the reader has another grid.
        scale<<<grid, BLOCK>>>(dy, dx, N);
        stencil<<<grid, BLOCK>>>(dsums, dy, N);
        join_pairs<<<(grid + 1) / 2, BLOCK>>>(dz, dy, dsums, N);
        break;
    case 8: {  // Twin: equal numbers of blocks, arranged otherwise.
        dim3 block(8, 4);
        scale_rows<<<dim3(2, 3), block>>>(dy, dx, 16, 12);
        stencil<<<dim3(6), 32>>>(dsums, dy, n);
        join_rows<<<dim3(3, 2), block>>>(dz, dy, dsums, 24, 8);
        break;
    }
    default:  // Fewer elements behind than in front.
        scale<<<grid, BLOCK>>>(dy, dx, N);
        stencil<<<grid, BLOCK>>>(dsums, dy, N);
        join<<<grid, BLOCK>>>(dz, dy, dsums, N / 2);
    }
    for (int i = 0; i < N; i++) {
        int count = part == 9 ? N / 2 : n;
        expected[i] = i < count ? y[i] - 0.25f * sums[count - 1 - i] : 0.0f;
    }
    cudaMemcpy(made.data(), dz, N * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++)
        if (made[i] != expected[i]) return printf("FAIL %d: %g, not %g\n", i, made[i], expected[i]), 1;
    printf("PASS %g\n", made[5]);
}
