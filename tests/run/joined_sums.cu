// Sums of columns, a thread a column: no barriers anywhere, but each sum is stored before the next kernel's loop
// begins. Loops that run equally often become one, wherever their counters begin; one that begins with what another
// one summed up stays behind it.
//
// expect: 5 launches -> 1
// arguments: 96
// arguments: 1
// arguments: 0
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int WIDTH = 128, THREADS = 64, MOST = 128;

__global__ void sum(const float *__restrict__ weight, const float *__restrict__ x, float *out, int rows) {
    const int column = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < rows; ++k) sum += weight[k * WIDTH + column] * x[k];
    out[column] = sum;
}

// The same rows of a weight that begins seven rows later.
__global__ void sum_from(const float *__restrict__ weight, const float *__restrict__ x, float *out, int rows) {
    const int column = blockIdx.x * THREADS + threadIdx.x;
    float sum = 1.0f;
    for (int k = 7; k < rows + 7; ++k) sum += weight[k * WIDTH + column] * x[k];
    if (column % 2) sum = -sum;
    out[column] = sum;
}

__global__ void sum_onto(const float *__restrict__ weight, const float *before, float *out, int rows) {
    const int column = blockIdx.x * THREADS + threadIdx.x;
    float sum = before[column];
    for (int k = 0; k < rows; ++k) sum = sum * 0.5f + weight[k * WIDTH + column];
    out[column] = sum;
}

int main(int argc, char **argv) {
    const int rows = argc > 1 ? atoi(argv[1]) : 96;
    std::vector<float> values(4 * MOST * WIDTH);
    for (size_t i = 0; i < values.size(); ++i) values[i] = (float)(i * 7919 % 1009) / 512 - 1;
    const size_t matrix = MOST * WIDTH;
    float *weight[3], *x, *a, *b, *c, *d, *e;
    cudaMalloc(&weight[0], matrix * sizeof(float));
    cudaMalloc(&weight[1], matrix * sizeof(float));
    cudaMalloc(&weight[2], matrix * sizeof(float));
    for (int w = 0; w < 3; ++w)
        cudaMemcpy(weight[w], &values[w * matrix], matrix * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&x, MOST * sizeof(float));
    cudaMemcpy(x, values.data(), MOST * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&a, WIDTH * sizeof(float));
    cudaMalloc(&b, WIDTH * sizeof(float));
    cudaMalloc(&c, WIDTH * sizeof(float));
    cudaMalloc(&d, WIDTH * sizeof(float));
    cudaMalloc(&e, WIDTH * sizeof(float));
    sum<<<WIDTH / THREADS, THREADS>>>(weight[0], x, a, rows);
    sum<<<WIDTH / THREADS, THREADS>>>(weight[1], x, b, rows);
    sum<<<WIDTH / THREADS, THREADS>>>(weight[2], x, c, rows);
    sum_from<<<WIDTH / THREADS, THREADS>>>(weight[0], x, d, rows);
    sum_onto<<<WIDTH / THREADS, THREADS>>>(weight[1], a, e, rows);
    std::vector<float> result(5 * WIDTH);
    const size_t bytes = WIDTH * sizeof(float);
    cudaMemcpy(&result[0], a, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(&result[WIDTH], b, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(&result[2 * WIDTH], c, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(&result[3 * WIDTH], d, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(&result[4 * WIDTH], e, bytes, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int column = 0; column < WIDTH; ++column) {
        double sums[5] = {0, 0, 0, 1, 0};
        for (int k = 0; k < rows; ++k) {
            for (int w = 0; w < 3; ++w) sums[w] += (double)values[w * matrix + k * WIDTH + column] * values[k];
            sums[3] += (double)values[(k + 7) * WIDTH + column] * values[k + 7];
        }
        if (column % 2) sums[3] = -sums[3];
        sums[4] = sums[0];
        for (int k = 0; k < rows; ++k) sums[4] = sums[4] * 0.5 + values[matrix + k * WIDTH + column];
        for (int s = 0; s < 5; ++s) wrong += !(std::abs(sums[s] - result[s * WIDTH + column]) < 1e-3);
    }
    for (float *each : weight) cudaFree(each);
    cudaFree(x);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFree(d);
    cudaFree(e);
    printf("%d wrong, %a\n%s\n", wrong, result[WIDTH], wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
