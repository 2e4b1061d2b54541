// Launches that work in place or from one buffer into another, as their caller likes: both are one launch.
// Where the buffers lie within each other without being equal they stay two.
//
// expect: 2 launches -> 1
// expect-missed: none
// executes: 4
#include <cstdio>
#include <vector>

constexpr int count = 4096, threads = 128;

// Every other element, as of complex numbers.
__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[2 * i] = 2.0f * x[2 * i];
}

__global__ void add(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[2 * i] += x[2 * i];
}

__attribute__((noinline)) static void thrice(float *y, const float *x, int n) {
    scale<<<(n + threads - 1) / threads, threads>>>(y, x, n);
    add<<<(n + threads - 1) / threads, threads>>>(y, x, n);
}

static int wrong = 0;

static void expect(const char *what, const float *device, float factor) {
    std::vector<float> host(2 * count);
    cudaMemcpy(host.data(), device, 2 * count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 2 * count; i += 2) {
        if (host[i] == factor * i) continue;
        printf("%s: element %d is %g\n", what, i, host[i]);
        wrong++;
        return;
    }
}

int main(int argc, char **) {
    constexpr int bytes = 2 * count * sizeof(float);
    float *a, *b;
    cudaMalloc(&a, bytes + sizeof(float));
    cudaMalloc(&b, bytes);
    std::vector<float> host(2 * count + 1);
    for (int i = 0; i < 2 * count; i++) host[i] = i;
    // From one buffer into another; in place, where the second kernel finds what the first one wrote; and the
    // real parts into the imaginary ones.
    for (int way = 0; way < 3; way++) {
        float *into = way == 0 ? b : way == 1 ? a : a + argc;
        cudaMemcpy(a, host.data(), bytes + sizeof(float), cudaMemcpyHostToDevice);
        thrice(into, a, count);
        expect(way == 0 ? "two buffers" : way == 1 ? "in place" : "side by side", into, way == 1 ? 4 : 3);
    }
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
