// test: run
// expect: 8 launches -> 2
// expect-missed: control_flow
// What the host knows goes into fused kernels: constants of every width and sign, extents, pointers
// at known distances; and what only looks like it (structures that begin with a pointer, counters).
#include <cstdio>
#include <vector>

struct Slice {
    float *data;
    int count;
};

__global__ void narrow(float *x, signed char a, unsigned short b, bool negate, long long c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i] + a + b + (float)(c >> 40);
    x[i] = negate ? -value : value;
}

__global__ void extents(float *x, unsigned a, double d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += gridDim.x * 100 + gridDim.y * 10 + blockDim.y + (a >> 31) + (float)d;
}

__global__ void part_to_part(float *to, const float *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i] * 2 + 1;
}

__global__ void slices(Slice to, Slice from) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < to.count && i < from.count) to.data[i] += from.data[i];
}

__global__ void counted(float *x, int step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += step;
}

int main() {
    constexpr int n = 256;
    float *x;
    cudaMalloc(&x, 4 * n * sizeof(float));
    std::vector<float> expected(4 * n), found(4 * n);
    for (int i = 0; i < 4 * n; i++) expected[i] = i % 17;
    cudaMemcpy(x, expected.data(), 4 * n * sizeof(float), cudaMemcpyHostToDevice);

    narrow<<<n / 64, 64>>>(x, -3, 65535, true, -(1ll << 42));
    extents<<<n / 64, 64>>>(x, 0x80000001u, -0.5);
    for (int i = 0; i < n; i++) {
        expected[i] = -(expected[i] - 3 + 65535 - 4);
        expected[i] += 400 + 10 + 1 + 1 - 0.5f;
    }

    part_to_part<<<n / 64, 64>>>(x + n, x, n);
    part_to_part<<<n / 64, 64>>>(x + 3 * n, x + n, n);
    for (int i = 0; i < n; i++) expected[n + i] = expected[i] * 2 + 1;
    for (int i = 0; i < n; i++) expected[3 * n + i] = expected[n + i] * 2 + 1;

    slices<<<n / 64, 64>>>(Slice{x + 2 * n, n}, Slice{x + n, n});
    slices<<<n / 64, 64>>>(Slice{x + 2 * n, n}, Slice{x + 3 * n, n - 5});
    for (int i = 0; i < n; i++) expected[2 * n + i] += expected[n + i];
    for (int i = 0; i < n - 5; i++) expected[2 * n + i] += expected[3 * n + i];

    for (int step = 1; step < 4; step++) {
        counted<<<n / 64, 64>>>(x, step);
        counted<<<n / 64, 64>>>(x, -7);
        for (int i = 0; i < n; i++) {
            expected[i] += step;
            expected[i] += -7;
        }
    }

    cudaMemcpy(found.data(), x, 4 * n * sizeof(float), cudaMemcpyDeviceToHost);
    int failures = 0;
    for (int i = 0; i < 4 * n; i++)
        if (found[i] != expected[i] && failures++ < 5) printf("%d: %f, not %f\n", i, found[i], expected[i]);
    cudaFree(x);
    puts(failures ? "FAIL" : "PASS");
    return failures != 0;
}
