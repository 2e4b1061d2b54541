// A plane whose columns only the run knows, and whose rows are what these leave of all elements; then all of them in a line.
// Tests leave one number of columns possible where both run as one, and with it one of rows.
//
// expect: 2 launches -> 1
// arguments: 48
// arguments: 16
// executes: 1 2
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int elements = 48 * 16;

__global__ void on_plane(float *out, const float *in, int n, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < columns && row < n / columns) out[row * columns + column] = in[row * columns + column] * 3.0f;
}

__global__ void on_line(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += i;
}

int main(int argc, char **argv) {
    int columns = argc > 1 ? atoi(argv[1]) : 48;
    std::vector<float> host(elements);
    for (int i = 0; i < elements; ++i) host[i] = i % 11;
    float *in, *out;
    cudaMalloc(&in, elements * sizeof(float));
    cudaMalloc(&out, elements * sizeof(float));
    cudaMemcpy(in, host.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, elements * sizeof(float));
    on_plane<<<dim3((columns + 15) / 16, 1), dim3(16, 16)>>>(out, in, elements, columns);
    on_line<<<(elements + 63) / 64, 64>>>(out, elements);
    std::vector<float> found(elements);
    cudaMemcpy(found.data(), out, elements * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < elements; ++i) {
        float wanted = (i / columns < 16 ? host[i] * 3.0f : 0.0f) + i;
        if (found[i] != wanted) {
            printf("%d is %g, not %g\n", i, found[i], wanted);
            return 1;
        }
    }
    cudaFree(in);
    cudaFree(out);
    puts("PASS");
}
