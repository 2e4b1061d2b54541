// A plane as high as a block: in the grid of the one kernel there is no second row of blocks, and in that of the other there
// is, so that rows are told by threads alone in the one, and by blocks and threads in the other.
//
// expect: 2 launches -> 1
// arguments:
// arguments: 16
// arguments: 33
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void on_plane(float *out, const float *in, int n, int columns, float scale) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < columns && row < n / columns) out[row * columns + column] = in[row * columns + column] * scale + 3;
}

int main(int argc, char **argv) {
    const int all = 1024, rows = 16;
    int columns = argc > 1 ? atoi(argv[1]) : 64;
    std::vector<float> start(all), found(all);
    for (int i = 0; i < all; i++) start[i] = i * 37 % 101;
    float *a, *b;
    for (float **each : {&a, &b}) {
        cudaMalloc(each, all * sizeof(float));
        cudaMemcpy(*each, start.data(), all * sizeof(float), cudaMemcpyHostToDevice);
    }
    on_plane<<<dim3((columns + 15) / 16, rows / 16), dim3(16, 16)>>>(a, a, all, columns, 3);
    on_plane<<<dim3((columns + 31) / 32, rows / 8), dim3(32, 8)>>>(b, a, all, columns, 5);
    cudaMemcpy(found.data(), b, all * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < all; i++) {
        int row = i / columns;
        float once = row < all / columns && row < rows ? start[i] * 3 + 3 : start[i];
        wrong += found[i] != (row < all / columns && row < rows ? once * 5 + 3 : start[i]);
    }
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
