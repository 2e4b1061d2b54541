// Tables of pointers to shared variables, which a front end makes constants of: two buffers by turns, structures with
// such pointers, and a table in a function that two kernels call. Other kernels that they fuse with have shared
// variables of their own.
//
// expect: 4 launches -> 3
#include <cstdio>

constexpr int N = 64, STEPS = 7;

__global__ void by_turns(const float *x, float *y, int steps) {
    __shared__ float even[N], odd[N];
    float *stage[2] = {even, odd};
    float sum = 0;
    for (int k = 0; k < steps; ++k) {
        stage[k % 2][threadIdx.x] = x[k] + threadIdx.x;
        __syncthreads();
        sum += stage[k % 2][N - 1 - threadIdx.x];
        __syncthreads();
    }
    y[threadIdx.x] = sum + even[threadIdx.x] - 2 * odd[threadIdx.x];
}

__global__ void plain(const float *x, float *y, int steps) {
    __shared__ float tile[3 * N];
    for (int i = threadIdx.x; i < 3 * N; i += N) tile[i] = x[i % steps] * i;
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x * 3];
}

struct Part {
    int first;
    float *values;
};

template <int SIZE> __device__ float from_parts(int which, float value) {
    __shared__ float low[N], high[SIZE];
    const Part parts[3] = {{1, low}, {2, high}, {3, low + 1}};
    low[threadIdx.x] = value;
    high[threadIdx.x] = 2 * value;
    __syncthreads();
    const Part part = parts[which % 3];
    return part.values[(threadIdx.x + part.first) % (N - 1)];
}

__global__ void structures(float *y, int which) { y[threadIdx.x] = from_parts<N>(which, (float)threadIdx.x); }
__global__ void larger_structures(float *y, int which) {
    y[threadIdx.x] = from_parts<2 * N>(which, 3.0f * threadIdx.x);
}

int main(int count, char **) {
    float x[STEPS], got[4][N], *device_x, *y;
    for (int i = 0; i < STEPS; ++i) x[i] = i * i + 1;
    cudaMalloc(&device_x, sizeof x);
    cudaMalloc(&y, sizeof got);
    cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice);
    by_turns<<<1, N>>>(device_x, y, STEPS);
    plain<<<1, N>>>(device_x, y + N, STEPS);
    structures<<<1, N>>>(y + 2 * N, count);
    larger_structures<<<1, N>>>(y + 3 * N, count + 1);
    cudaMemcpy(got, y, sizeof got, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int t = 0; t < N; ++t) {
        float sum = 0;
        for (int k = 0; k < STEPS; ++k) sum += x[k] + N - 1 - t;
        sum += x[STEPS - 1] + t - 2 * (x[STEPS - 2] + t);
        const float wanted[4] = {sum, x[t * 3 % STEPS] * (t * 3), 2.0f * ((t + 2) % (N - 1)),
                                 3.0f * ((t + 3) % (N - 1) + 1)};
        for (int k = 0; k < 4; ++k)
            if (got[k][t] != wanted[k] && wrong++ < 8) printf("kernel %d, thread %d: %g, not %g\n", k, t, got[k][t], wanted[k]);
    }
    printf(wrong ? "FAIL: %d wrong\n" : "PASS\n", wrong);
    return wrong != 0;
}
