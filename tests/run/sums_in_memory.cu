// Sums of columns that several warps add up in memory, behind a barrier: each begins with a zero there. They lead to
// parts of one allocation through pointers that are computed, so that tests tell whether one overlaps another. Where
// none does they wait together, and their loops are one; where one reads what another one sums up, each runs by itself.
// A sum that reads what its own block has summed up comes behind that, though it waits as often.
//
// expect: 6 launches -> 1
// executes: 1 6 6 1
// arguments: 0 64
// arguments: 1 64
// arguments: 2 64
// arguments: 0 0
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int WIDTH = 64, WARPS = 4, THREADS = 32 * WARPS, MOST = 64;

__global__ void sum(const int *weight, const int *x, int *out, int rows) {
    const int warp = threadIdx.x / 32, column = blockIdx.x * 32 + threadIdx.x % 32;
    if (warp == 0) out[column] = 0;
    __syncthreads();
    int sum = 0;
    for (int k = warp * rows / WARPS; k < (warp + 1) * rows / WARPS; ++k) sum += weight[k * WIDTH + column] * x[k];
    atomicAdd(&out[column], sum);
}

// Each row times the sum of the column.
__global__ void sum_again(const int *weight, const int *sums, int *out, int rows) {
    const int warp = threadIdx.x / 32, column = blockIdx.x * 32 + threadIdx.x % 32;
    if (warp == 0) out[column] = 0;
    __syncthreads();
    int sum = 0;
    for (int k = warp * rows / WARPS; k < (warp + 1) * rows / WARPS; ++k) sum += weight[k * WIDTH + column] * sums[column];
    atomicAdd(&out[column], sum);
}

// Parts of one allocation, which the compiler does not see to lie apart.
__attribute__((noinline)) static void step(int *weight, int *x, int *a, int *b, int *c, int *d, int rows) {
    sum<<<WIDTH / 32, THREADS>>>(weight, x, a, rows);
    sum<<<WIDTH / 32, THREADS>>>(weight + MOST * WIDTH, x, b, rows);
    sum_again<<<WIDTH / 32, THREADS>>>(weight, a, c, rows);
    sum_again<<<WIDTH / 32, THREADS>>>(weight, b, d, rows);
}

int main(int argc, char **argv) {
    const int way = argc > 1 ? atoi(argv[1]) : 0, rows = argc > 2 ? atoi(argv[2]) : MOST;
    std::vector<int> values(2 * MOST * WIDTH + 8 * MOST);
    for (size_t i = 0; i < values.size(); ++i) values[i] = (int)(i * 7919 % 1009) - 500;
    int *all;
    cudaMalloc(&all, values.size() * sizeof(int));
    cudaMemcpy(all, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice);
    int *x = all + 2 * MOST * WIDTH, *part[8];
    for (int p = 0; p < 8; ++p) part[p] = x + p * MOST;
    // 1: the second sums up where the first does; 2: the second reads what the first sums up.
    int *a = part[1], *b = way == 1 ? a : part[2];
    step(all, way == 2 ? a + 16 : x, a, b, part[3], part[4], rows);
    sum<<<WIDTH / 32, THREADS>>>(all, x, part[5], rows);
    sum<<<WIDTH / 32, THREADS>>>(all + WIDTH, x, part[6], rows);
    std::vector<int> out(8 * MOST);
    cudaMemcpy(out.data(), x, out.size() * sizeof(int), cudaMemcpyDeviceToHost);
    unsigned check = 0;
    for (int value : out) check = check * 31 + (unsigned)value;
    printf("checksum %08x\n", check);
    if (way == 0) {
        for (int column = 0; column < WIDTH; ++column) {
            int first = 0, again = 0;
            for (int k = 0; k < rows; ++k) first += values[k * WIDTH + column] * values[2 * MOST * WIDTH + k];
            for (int k = 0; k < rows; ++k) again += values[k * WIDTH + column] * first;
            if (out[MOST + column] != first || out[3 * MOST + column] != again) return printf("FAIL\n"), 1;
        }
    }
    printf("%s\n", cudaDeviceSynchronize() == cudaSuccess ? "PASS" : "FAIL");
}
