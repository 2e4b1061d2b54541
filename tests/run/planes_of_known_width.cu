// Planes whose rows have a length that the compiler knows, and as many rows as only the run does: one kernel writes the first
// plane, by rows, the next all of them, by planes. The same places are written in the same blocks.
//
// expect: 2 launches -> 1
// executes: 1 1
// arguments:
// arguments: 17
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void first_plane(double2 *out, const double2 *in, int rows, int wide) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < wide && row < rows && blockIdx.z == 0) out[row * wide + column] = in[row * wide + column];
}

__global__ void all_planes(double2 *out, const double2 *in, int rows, int wide, double by) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= wide || row >= rows) return;
    double2 element = in[(blockIdx.z * rows + row) * wide + column];
    out[(blockIdx.z * rows + row) * wide + column] = {element.y, element.x * by};
}

int main(int argc, char **argv) {
    const int wide = 24, planes = 2, rows = argc > 1 ? atoi(argv[1]) : 12, size = planes * rows * wide;
    std::vector<double2> start(size), found(size);
    for (int i = 0; i < size; i++) start[i] = {i * 37 % 997 * 1.0, i * 53 % 991 * 1.0};
    double2 *in, *out;
    for (double2 **each : {&in, &out}) {
        cudaMalloc(each, size * sizeof(double2));
        cudaMemcpy(*each, start.data(), size * sizeof(double2), cudaMemcpyHostToDevice);
    }
    dim3 grid(wide / 8, (rows + 7) / 8, planes), block(8, 8);
    first_plane<<<grid, block>>>(out, in, rows, wide);
    all_planes<<<grid, block>>>(out, in, rows, wide, 3);
    cudaMemcpy(found.data(), out, size * sizeof(double2), cudaMemcpyDeviceToHost);
    for (int i = 0; i < size; i++) {
        double x = start[i].y, y = start[i].x * 3;
        if (found[i].x != x || found[i].y != y) {
            printf("FAIL at %d: %g %g, not %g %g\n", i, found[i].x, found[i].y, x, y);
            return 1;
        }
    }
    puts("PASS");
}
