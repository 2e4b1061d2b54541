// Products of matrices with one vector: their loops have no barriers inside and become one, though barriers, and
// stores to shared memory, stand behind each. One product has more rows: its loop stays by itself.
//
// expect: 4 launches -> 1
// arguments: 96
// arguments: 4
// arguments: 0
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int WIDTH = 64, COLUMNS = 32, WARPS = 4, THREADS = WARPS * COLUMNS, MOST = 128;

// out = x · weight; each warp has an equal part of the rows.
__global__ void product(const float *weight, const float *x, float *out, int rows) {
    __shared__ float partial[WARPS][COLUMNS];
    const int lane = threadIdx.x % COLUMNS, warp = threadIdx.x / COLUMNS, column = blockIdx.x * COLUMNS + lane;
    float sum = 0.0f;
    for (int k = 0; k < rows; ++k) sum += weight[(warp * rows + k) * WIDTH + column] * x[warp * rows + k];
    partial[warp][lane] = sum;
    __syncthreads();
    if (warp == 0) out[column] = partial[0][lane] + partial[1][lane] + partial[2][lane] + partial[3][lane];
}

int main(int argc, char **argv) {
    const int rows = (argc > 1 ? atoi(argv[1]) : 96) / WARPS;
    std::vector<float> values(4 * MOST * WIDTH);
    for (size_t i = 0; i < values.size(); ++i) values[i] = (float)(i * 7919 % 1009) / 512 - 1;
    float *weight, *x, *a, *b, *c, *d;
    cudaMalloc(&weight, values.size() * sizeof(float));
    cudaMalloc(&x, MOST * sizeof(float));
    cudaMalloc(&a, WIDTH * sizeof(float));
    cudaMalloc(&b, WIDTH * sizeof(float));
    cudaMalloc(&c, WIDTH * sizeof(float));
    cudaMalloc(&d, WIDTH * sizeof(float));
    cudaMemcpy(weight, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(x, values.data(), MOST * sizeof(float), cudaMemcpyHostToDevice);
    product<<<WIDTH / COLUMNS, THREADS>>>(weight, x, a, rows);
    product<<<WIDTH / COLUMNS, THREADS>>>(weight + MOST * WIDTH, x, b, rows);
    product<<<WIDTH / COLUMNS, THREADS>>>(weight + 2 * MOST * WIDTH, x, c, rows);
    product<<<WIDTH / COLUMNS, THREADS>>>(weight + 3 * MOST * WIDTH, x, d, rows + 2);
    std::vector<float> result(4 * WIDTH);
    cudaMemcpy(&result[0 * WIDTH], a, WIDTH * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(&result[1 * WIDTH], b, WIDTH * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(&result[2 * WIDTH], c, WIDTH * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(&result[3 * WIDTH], d, WIDTH * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int p = 0; p < 4; ++p)
        for (int column = 0; column < WIDTH; ++column) {
            double sum = 0;
            for (int k = 0; k < WARPS * (rows + (p == 3 ? 2 : 0)); ++k)
                sum += (double)values[(p * MOST + k) * WIDTH + column] * values[k];
            wrong += !(std::abs(sum - result[p * WIDTH + column]) < 1e-3);
        }
    cudaFree(weight);
    cudaFree(x);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFree(d);
    printf("%d wrong, %a\n%s\n", wrong, result[WIDTH], wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
