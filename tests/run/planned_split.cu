// Two light kernels and a heavy one, each of which may run with the one before: the heavy one keeps so much shared memory
// that a multiprocessor holds few of its blocks, and what runs with it has to wait in as many rounds. So the light ones
// are one kernel, and the heavy one stays its own.
//
// expect: 3 launches -> 2
// expect-missed: resources
// executes: 2
// options: --sirius-planner=span
#include <cstdio>
#include <vector>

__global__ void light(float *y, const float *x, const float *w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * w[i & 1023] * w[i & 511] * w[i & 255];
}

__global__ void shift(float *z, const float *y, const float *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    z[i] = y[i] + b[i & 1023] + b[i & 511] + b[i & 255];
}

// 12,288 floats are 48 KiB.
__global__ void heavy(float *out, const float *z) {
    __shared__ float tile[12288];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = z[i];
    tile[threadIdx.x + 6144] = 2.0f * z[i];
    __syncthreads();
    out[i] = tile[255 - threadIdx.x] + tile[6144 + threadIdx.x];
}

int main() {
    const int threads = 256, blocks = 864, n = threads * blocks;
    float *x, *y, *z, *out, *w, *b;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&z, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMalloc(&w, 1024 * sizeof(float));
    cudaMalloc(&b, 1024 * sizeof(float));
    std::vector<float> host(n), of_w(1024), of_b(1024), result(n);
    for (int i = 0; i < n; i++) host[i] = i % 7 - 3;
    for (int i = 0; i < 1024; i++) of_w[i] = i % 5, of_b[i] = i % 3;
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(w, of_w.data(), 1024 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(b, of_b.data(), 1024 * sizeof(float), cudaMemcpyHostToDevice);
    light<<<blocks, threads>>>(y, x, w);
    shift<<<blocks, threads>>>(z, y, b);
    heavy<<<blocks, threads>>>(out, z);
    cudaMemcpy(result.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    auto expected = [&](int i) {
        float scaled = host[i] * of_w[i & 1023] * of_w[i & 511] * of_w[i & 255];
        return scaled + of_b[i & 1023] + of_b[i & 511] + of_b[i & 255];
    };
    for (int i = 0; i < n; i++) {
        int turned = (i / threads) * threads + 255 - i % threads;
        wrong += result[i] != expected(turned) + 2.0f * expected(i);
    }
    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
