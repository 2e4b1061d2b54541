// Rows and columns are quotient and remainder of one index. A stencil reads its neighbours across blocks, which
// keeps it apart from what writes them, and the reason says so: what its unsigned index relies on holds at every size, since no row
// before the first is read. What reads its own place by row and column runs with what writes there.
//
// expect: 4 launches -> 3
// expect-missed: global_dependence, global_dependence
// executes: 3
#include <cstdio>

__global__ void fill(unsigned n, double *a) {
    unsigned k = blockDim.x * blockIdx.x + threadIdx.x;
    if (k < n * n) a[k] = k * 0.5;
}

__global__ void five(unsigned n, const double *__restrict__ a, double *__restrict__ b) {
    int k = blockDim.x * blockIdx.x + threadIdx.x;
    if (k < n * n) {
        int i = k % n, j = k / n;
        b[i + j * n] = a[i + j * n] + (i < n - 1 ? a[i + 1 + j * n] : 0.0) + (i > 0 ? a[i - 1 + j * n] : 0.0) +
                       (j < n - 1 ? a[i + (j + 1) * n] : 0.0) + (j > 0 ? a[i + (j - 1) * n] : 0.0);
    }
}

__global__ void one(unsigned n, const double *__restrict__ a, double *__restrict__ b) {
    int k = blockDim.x * blockIdx.x + threadIdx.x;
    if (k < n * n) {
        int i = k % n, j = k / n;
        b[i + j * n] = a[i + j * n] + 1;
    }
}

int main(int argc, char **) {
    const int n = 39 + argc, size = n * n * sizeof(double);
    double *a, *b, *c, *h = new double[n * n], *o = new double[n * n];
    cudaMalloc(&a, size);
    cudaMalloc(&b, size);
    cudaMalloc(&c, size);
    const int blocks = (n * n + 255) / 256;
    fill<<<blocks, 256>>>(n, a);
    five<<<blocks, 256>>>(n, a, b);
    five<<<blocks, 256>>>(n, b, c);
    one<<<blocks, 256>>>(n, c, a);
    cudaMemcpy(h, b, size, cudaMemcpyDeviceToHost);
    cudaMemcpy(o, a, size, cudaMemcpyDeviceToHost);
    int bad = 0;
    auto inside = [&](int x, int y) { return x >= 0 && y >= 0 && x < n && y < n; };
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            auto first = [&](int x, int y) { return inside(x, y) ? (x + y * n) * 0.5 : 0.0; };
            auto second = [&](int x, int y) { return inside(x, y) ? h[x + y * n] : 0.0; };
            auto sum = [&](auto at) { return at(i, j) + at(i + 1, j) + at(i - 1, j) + at(i, j + 1) + at(i, j - 1); };
            bad += h[i + j * n] != sum(first);
            bad += o[i + j * n] != sum(second) + 1;
        }
    std::printf("%s\n", bad ? "FAIL" : "PASS");
    return bad != 0;
}
