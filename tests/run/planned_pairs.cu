// A kernel that reads four arrays of one producer and one of another. The two need too much shared memory to be in one
// kernel, so it can run with one of them only: with the one of which it reads four arrays, which saves most bytes,
// though the other one is launched later.
//
// expect: 3 launches -> 2
// expect-missed: resources resources
// executes: 2
// options: --sirius-planner=priority --sirius-priority=annealing
// architecture: sm_75
#include <cstdio>
#include <vector>

__global__ void four(float *a, float *b, float *c, float *d, const float *x) {
    extern __shared__ float staged[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    staged[threadIdx.x] = x[i];
    __syncthreads();
    float v = staged[255 - threadIdx.x];
    a[i] = v + 1.0f;
    b[i] = v + 2.0f;
    c[i] = v + 3.0f;
    d[i] = v + 4.0f;
}

// 10,240 floats are 40 KiB.
__global__ void one(float *e, const float *x) {
    __shared__ float tile[10240];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    e[i] = 2.0f * tile[255 - threadIdx.x];
}

__global__ void reads_all(float *out, const float *a, const float *b, const float *c, const float *d, const float *e) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] * b[i] + c[i] * d[i] + e[i];
}

int main() {
    const int threads = 256, blocks = 128, n = threads * blocks;
    float *x, *a, *b, *c, *d, *e, *out;
    for (float **each : {&x, &a, &b, &c, &d, &e, &out}) cudaMalloc(each, n * sizeof(float));
    std::vector<float> host(n), result(n);
    for (int i = 0; i < n; i++) host[i] = i % 7 - 3;
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    four<<<blocks, threads, 10240 * sizeof(float)>>>(a, b, c, d, x);
    one<<<blocks, threads>>>(e, x);
    reads_all<<<blocks, threads>>>(out, a, b, c, d, e);
    cudaMemcpy(result.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        float v = host[(i / threads) * threads + 255 - i % threads];
        wrong += result[i] != (v + 1) * (v + 2) + (v + 3) * (v + 4) + 2 * v;
    }
    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
