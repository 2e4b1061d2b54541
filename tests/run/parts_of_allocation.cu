// test: run
// expect: 10 launches -> 6
// Parts of one allocation: launches of one part move past launches of another; parts that overlap by
// one element keep the order.
#include <cstdio>
#include <vector>

__global__ void add(float *x, int n, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += a;
}

__global__ void multiply(float *x, int n, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}

constexpr int n = 256;
int failures = 0;

// What two chains leave, the second `distance` elements behind the first.
void check(const float *device, int distance) {
    std::vector<float> expected(3 * n, 1.0f), found(3 * n);
    for (int i = 0; i < n; i++) expected[i] += 1.0f;
    for (int i = 0; i < n; i++) expected[distance + i] += 5.0f;
    for (int i = 0; i < n; i++) expected[i] *= 2.0f;
    for (int i = 0; i < n; i++) expected[distance + i] *= 3.0f;
    cudaMemcpy(found.data(), device, 3 * n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 3 * n; i++)
        if (found[i] != expected[i]) {
            printf("distance %d: %d is %f, not %f\n", distance, i, found[i], expected[i]);
            failures++;
            return;
        }
}

void fill(float *device) {
    std::vector<float> ones(3 * n, 1.0f);
    cudaMemcpy(device, ones.data(), 3 * n * sizeof(float), cudaMemcpyHostToDevice);
}

int main() {
    float *x;
    cudaMalloc(&x, 3 * n * sizeof(float));

    // Side by side: both chains fuse.
    fill(x);
    add<<<n / 64, 64>>>(x, n, 1.0f);
    add<<<n / 64, 64>>>(x + n, n, 5.0f);
    multiply<<<n / 64, 64>>>(x, n, 2.0f);
    multiply<<<n / 64, 64>>>(x + n, n, 3.0f);
    check(x, n);

    // One element in common, the last of one chain and the first of the other.
    fill(x);
    add<<<n / 64, 64>>>(x, n, 1.0f);
    add<<<n / 64, 64>>>(x + n - 1, n, 5.0f);
    multiply<<<n / 64, 64>>>(x, n, 2.0f);
    multiply<<<n / 64, 64>>>(x + n - 1, n, 3.0f);
    check(x, n - 1);

    // A fill of the other part does not hold one back.
    fill(x);
    add<<<n / 64, 64>>>(x, n, 4.0f);
    cudaMemset(x + n, 0, n * sizeof(float));
    multiply<<<n / 64, 64>>>(x, n, 2.0f);
    std::vector<float> found(2 * n);
    cudaMemcpy(found.data(), x, 2 * n * sizeof(float), cudaMemcpyDeviceToHost);
    if (found[n - 1] != 10.0f || found[n] != 0.0f) failures++;

    cudaFree(x);
    puts(failures ? "FAIL" : "PASS");
    return failures != 0;
}
