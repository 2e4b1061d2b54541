// Jacobi iteration for the heat equation on a plate: sweep the grid, measure how much the sweep
// changed, swap the two grids, until the change is small.
//
// Shows: a host loop whose launches depend on each other from one iteration to the next. The sweep
// reads its neighbours in the old grid only; the change of a cell needs the old and the new value
// of that cell, which one thread has, so that sweep and change run as one kernel. The last kernel
// adds what all blocks found: a dependence of global width, and it stays unfused.
//
// usage: jacobi_residual [columns [rows]]
//
// expect: 3 launches -> 1
// arguments:
// arguments: 33 7
// arguments: 3 3
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

constexpr int TILE_X = 32, TILE_Y = 4;
constexpr int THREADS = TILE_X * TILE_Y;
constexpr int MOST_SWEEPS = 40;
constexpr float SMALL = 1e-3f;

__global__ void sweep(const float *old_grid, float *new_grid, int columns, int rows) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < 1 || column >= columns - 1 || row < 1 || row >= rows - 1) return;
    int cell = row * columns + column;
    new_grid[cell] = 0.25f * (old_grid[cell - 1] + old_grid[cell + 1] + old_grid[cell - columns] +
                              old_grid[cell + columns]);
}

// The largest change of each block.
__global__ void change(const float *old_grid, const float *new_grid, float *largest, int columns,
                       int rows) {
    __shared__ float found[THREADS];
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int thread = threadIdx.y * TILE_X + threadIdx.x;
    float mine = 0.0f;
    if (column < columns && row < rows) {
        int cell = row * columns + column;
        mine = fabsf(new_grid[cell] - old_grid[cell]);
    }
    found[thread] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half) found[thread] = fmaxf(found[thread], found[thread + half]);
        __syncthreads();
    }
    if (thread == 0) largest[blockIdx.y * gridDim.x + blockIdx.x] = found[0];
}

__global__ void largest_of_all(const float *largest, float *result, int blocks) {
    __shared__ float found[THREADS];
    float mine = 0.0f;
    for (int i = threadIdx.x; i < blocks; i += THREADS) mine = fmaxf(mine, largest[i]);
    found[threadIdx.x] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            found[threadIdx.x] = fmaxf(found[threadIdx.x], found[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) *result = found[0];
}

static float sweep_on_host(std::vector<float> &grid, int columns, int rows) {
    std::vector<float> next = grid;
    float largest = 0.0f;
    for (int row = 1; row < rows - 1; ++row)
        for (int column = 1; column < columns - 1; ++column) {
            int cell = row * columns + column;
            next[cell] = 0.25f * (grid[cell - 1] + grid[cell + 1] + grid[cell - columns] +
                                  grid[cell + columns]);
            largest = std::fmax(largest, std::fabs(next[cell] - grid[cell]));
        }
    grid = next;
    return largest;
}

int main(int argc, char **argv) {
    const int columns = argc > 1 ? atoi(argv[1]) : 70;
    const int rows = argc > 2 ? atoi(argv[2]) : 41;
    if (columns < 3 || rows < 3 || columns > 8192 || rows > 8192) {
        fprintf(stderr, "usage: %s [columns [rows]]\n", argv[0]);
        return 2;
    }
    const int cells = columns * rows;
    std::vector<float> plate(cells, 0.0f);
    for (int column = 0; column < columns; ++column) plate[column] = 64.0f;  // the hot edge

    const dim3 block(TILE_X, TILE_Y);
    const dim3 grid((columns + TILE_X - 1) / TILE_X, (rows + TILE_Y - 1) / TILE_Y);
    const int blocks = grid.x * grid.y;
    float *old_grid, *new_grid, *largest, *result;
    cudaMalloc(&old_grid, cells * sizeof(float));
    cudaMalloc(&new_grid, cells * sizeof(float));
    cudaMalloc(&largest, blocks * sizeof(float));
    cudaMalloc(&result, sizeof(float));
    cudaMemcpy(old_grid, plate.data(), cells * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(new_grid, plate.data(), cells * sizeof(float), cudaMemcpyHostToDevice);

    int sweeps = 0;
    float residual = 2 * SMALL;
    while (sweeps < MOST_SWEEPS && residual > SMALL) {
        sweep<<<grid, block>>>(old_grid, new_grid, columns, rows);
        change<<<grid, block>>>(old_grid, new_grid, largest, columns, rows);
        largest_of_all<<<1, THREADS>>>(largest, result, blocks);
        cudaMemcpy(&residual, result, sizeof residual, cudaMemcpyDeviceToHost);
        std::swap(old_grid, new_grid);
        ++sweeps;
    }
    std::vector<float> found(cells);
    cudaMemcpy(found.data(), old_grid, cells * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(old_grid);
    cudaFree(new_grid);
    cudaFree(largest);
    cudaFree(result);

    float expected = 2 * SMALL;
    int expected_sweeps = 0;
    while (expected_sweeps < MOST_SWEEPS && expected > SMALL) {
        expected = sweep_on_host(plate, columns, rows);
        ++expected_sweeps;
    }
    int wrong = sweeps != expected_sweeps || residual != expected;
    for (int cell = 0; cell < cells; ++cell) wrong += found[cell] != plate[cell];
    printf("%d sweeps, last change %g\n", sweeps, residual);
    printf(wrong ? "FAIL: %d values differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
