// Planes that one kernel writes plane by plane, and the next reads turned within its blocks: the same places in two ways of
// writing them, whose digits tell what a thread reads. They run as one where tiles are whole.
//
// expect: 2 launches -> 1
// executes: 2 2 1
// arguments:
// arguments: 30 17
// arguments: 8 8
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void by_planes(int *a, const int *x, int rows, int wide, int by) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    size_t at = (size_t)blockIdx.z * rows * wide + row * wide + column;
    if (column < (unsigned)wide && row < (unsigned)rows) a[at] = x[at] * by + 6;
}

__global__ void turned(int *y, const int *a, int rows, int wide, int by) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int across = blockIdx.x * blockDim.x + threadIdx.y, down = blockIdx.y * blockDim.y + threadIdx.x;
    if (column < wide && row < rows && across < wide && down < rows)
        y[(blockIdx.z * rows + row) * wide + column] = a[(blockIdx.z * rows + down) * wide + across] * by + 2;
}

int main(int argc, char **argv) {
    int wide = argc > 1 ? atoi(argv[1]) : 21, rows = argc > 2 ? atoi(argv[2]) : 12;
    const int planes = 2, size = planes * rows * wide;
    std::vector<int> start(size), found(size);
    for (int i = 0; i < size; i++) start[i] = i * 37 % 997;
    int *x, *a, *y;
    for (int **each : {&x, &a, &y}) {
        cudaMalloc(each, size * sizeof(int));
        cudaMemcpy(*each, start.data(), size * sizeof(int), cudaMemcpyHostToDevice);
    }
    dim3 grid((wide + 7) / 8, (rows + 7) / 8, planes), block(8, 8);
    by_planes<<<grid, block>>>(a, x, rows, wide, 3);
    turned<<<grid, block>>>(y, a, rows, wide, 5);
    cudaFree(a);
    cudaMemcpy(found.data(), y, size * sizeof(int), cudaMemcpyDeviceToHost);
    for (int plane = 0; plane < planes; plane++)
        for (int row = 0; row < rows; row++)
            for (int column = 0; column < wide; column++) {
                int across = column / 8 * 8 + row % 8, down = row / 8 * 8 + column % 8;
                int at = (plane * rows + row) * wide + column, from = (plane * rows + down) * wide + across;
                int expected = across < wide && down < rows ? (start[from] * 3 + 6) * 5 + 2 : start[at];
                if (found[at] != expected) {
                    printf("FAIL at %d: %d, not %d\n", at, found[at], expected);
                    return 1;
                }
            }
    puts("PASS");
}
