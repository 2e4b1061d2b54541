// Launches that move down: structs passed in memory are taken at the old place, launches that pend
// are issued on every way out, and nobody may rely on a wait that a launch has passed.
//
// expect: 10 launches -> 6
// expect-missed: control_flow control_flow control_flow copy_between fence
#include <cstdio>
#include <vector>

// 64 bytes that callees may take to be aligned to 32.
struct __align__(32) Coefficients {
    float factor[15];
    int n;
};

__global__ void scale(float *y, const float *x, Coefficients c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < c.n) y[i] = c.factor[i % 15] * x[i];
}

__global__ void add(float *z, const float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = y[i] + 1.0f;
}

static int wrong = 0;

static void expect(const float *device, int n, float (*value)(int), const char *what) {
    std::vector<float> host(n);
    cudaMemcpy(host.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        if (host[i] != value(i)) {
            printf("%s: element %d is %f\n", what, i, host[i]);
            wrong++;
            return;
        }
    }
}

int main(int argc, char **) {
    const int n = 1000, threads = 128, blocks = (n + threads - 1) / threads;
    float *x, *y, *z;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&z, n * sizeof(float));
    std::vector<float> ones(n, 1.0f);
    cudaMemcpy(x, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice);

    // The struct changes after its launch.
    Coefficients c;
    for (int k = 0; k < 15; k++) c.factor[k] = 2.0f;
    c.n = n;
    scale<<<blocks, threads>>>(y, x, c);
    for (int k = 0; k < 15; k++) c.factor[k] = 100.0f * argc;
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    add<<<blocks, threads>>>(z, y, n);
    expect(z, n, [](int) { return 3.0f; }, "changed struct");

    // Iterations that leave between the members, by `continue` and by `break`.
    for (int round = 0; round < 6 * argc; round++) {
        for (int k = 0; k < 15; k++) c.factor[k] = round;
        scale<<<blocks, threads>>>(y, x, c);
        if (round == 1) continue;
        if (round == 4) break;
        add<<<blocks, threads>>>(z, y, n);
    }
    expect(y, n, [](int) { return 4.0f; }, "left by break");
    expect(z, n, [](int) { return 4.0f; }, "complete before");

    // A switch whose cases leave.
    for (int way = 0; way < 3 * argc; way++) {
        for (int k = 0; k < 15; k++) c.factor[k] = 10.0f + way;
        scale<<<blocks, threads>>>(y, x, c);
        switch (way) {
        case 0: expect(y, n, [](int) { return 10.0f; }, "first case"); break;
        case 1: add<<<blocks, threads>>>(z, y, n); break;
        default: expect(y, n, [](int) { return 12.0f; }, "default case"); break;
        }
    }
    expect(z, n, [](int) { return 12.0f; }, "second case");

    // Too many threads: refused in the original order, and the other one runs.
    for (int k = 0; k < 15; k++) c.factor[k] = 7.0f;
    scale<<<blocks, 1024 * argc + 1024>>>(y, x, c);
    if (cudaGetLastError() != cudaErrorInvalidValue) wrong++;
    add<<<blocks, threads * argc>>>(z, y, n);
    expect(z, n, [](int) { return 13.0f; }, "beside a refused launch");

    // Memory that the host sees: it has waited for the first launch, not for the second.
    float *shared;
    cudaMallocManaged(&shared, n * sizeof(float));
    for (int k = 0; k < 15; k++) c.factor[k] = 5.0f;
    scale<<<blocks, threads>>>(shared, x, c);
    cudaDeviceSynchronize();
    add<<<blocks, threads>>>(z, shared, n);
    for (int i = 0; i < n; i++) wrong += shared[i] != 5.0f;
    cudaDeviceSynchronize();
    expect(z, n, [](int) { return 6.0f; }, "after managed memory");

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
