// A product in one kernel, a sum in the next.
//
// Shows: inside one kernel a compiler may contract a product and a sum to one rounding. Across two
// launches it cannot, and fusing them must not let it: the product is rounded, then the sum. The
// host reference does the same and the comparison is exact, to the last bit.
//
// usage: contraction [elements]
//
// expect: 2 launches -> 1
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void multiply(const float *x, const float *y, float *product, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) product[i] = x[i] * y[i];
}

__global__ void add(const float *product, const float *z, float *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = product[i] + z[i];
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 5000;
    if (n < 1) {
        fprintf(stderr, "usage: %s [elements]\n", argv[0]);
        return 2;
    }
    const size_t bytes = n * sizeof(float);
    std::vector<float> x(n), y(n), z(n), output(n);
    for (int i = 0; i < n; ++i) {
        x[i] = 1.0f + (i % 97) / 97.0f;
        y[i] = 1.0f + (i % 89) / 89.0f;
        z[i] = -x[i] * y[i] * 0.999f;  // near the product, so that its low bits matter
    }
    float *dx, *dy, *dz, *product, *sum;
    cudaMalloc(&dx, bytes);
    cudaMalloc(&dy, bytes);
    cudaMalloc(&dz, bytes);
    cudaMalloc(&product, bytes);
    cudaMalloc(&sum, bytes);
    cudaMemcpy(dx, x.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(dz, z.data(), bytes, cudaMemcpyHostToDevice);

    const int threads = 128, blocks = (n + threads - 1) / threads;
    multiply<<<blocks, threads>>>(dx, dy, product, n);
    add<<<blocks, threads>>>(product, dz, sum, n);
    cudaMemcpy(output.data(), sum, bytes, cudaMemcpyDeviceToHost);
    for (float *buffer : {dx, dy, dz, product, sum}) cudaFree(buffer);

    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        volatile float rounded = x[i] * y[i];
        wrong += output[i] != rounded + z[i];
    }
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
