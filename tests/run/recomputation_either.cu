// What a launch of one block makes is needed by one of several launches, of which the host chooses: an activation, a type of
// weights. Whichever it comes to first computes it by itself. In the twin, the host looks before one of them.
//
// expect: 10 launches -> 7
// executes: 15
#include <cstdio>
#include <cstdlib>
#include <vector>

const int N = 300, ROWS = 96;

__device__ float sum_of_warp(float v) {
    for (int far = 16; far > 0; far /= 2) v += __shfl_xor_sync(~0u, v, far);
    return v;
}

__device__ float sum_of_block(float v) {
    __shared__ float part[32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    v = sum_of_warp(v);
    if (lane == 0) part[warp] = v;
    __syncthreads();
    v = lane < blockDim.x / 32 ? part[lane] : 0;
    return sum_of_warp(v);
}

__global__ void norm(const float *x, const float *weight, int n, float *out) {
    float own = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) own += x[i] * x[i];
    float scale = 1 / sqrtf(sum_of_block(own) / n + 1e-5f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = x[i] * scale * weight[i];
}

enum class Activation { none, relu, silu, square };

template <Activation activation>
__global__ void product(const float *a, const float *x, int n, int rows, float *out) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int i = lane; i < n; i += 32) sum += a[n * row + i] * x[i];
    sum = sum_of_warp(sum);
    if (activation == Activation::relu) sum = sum > 0 ? sum : 0;
    if (activation == Activation::silu) sum = sum / (1 + expf(-sum));
    if (activation == Activation::square) sum *= sum;
    if (lane == 0) out[row] = sum;
}

struct Layer {
    float *x, *weight, *a, *xb, *out;
    Activation activation;
    bool skips = false;
};

__attribute__((noinline)) void layer(Layer &own, int n, int rows) {
    norm<<<1, 256>>>(own.x, own.weight, n, own.xb);
    switch (own.activation) {
    case Activation::relu: product<Activation::relu><<<rows, 32>>>(own.a, own.xb, n, rows, own.out); break;
    case Activation::silu: product<Activation::silu><<<rows, 32>>>(own.a, own.xb, n, rows, own.out); break;
    case Activation::square: product<Activation::square><<<rows, 32>>>(own.a, own.xb, n, rows, own.out); break;
    case Activation::none: break;
    }
}

// One of the two is launched, or both, or none: what comes second finds what the first has stored.
__attribute__((noinline)) void any(Layer &own, Layer &next, int n, int rows) {
    norm<<<1, 256>>>(own.x, own.weight, n, own.xb);
    if (own.activation == Activation::relu) product<Activation::relu><<<rows, 32>>>(own.a, own.xb, n, rows, own.out);
    if (!next.skips) product<Activation::silu><<<rows, 32>>>(next.a, own.xb, n, rows, next.out);
}

__attribute__((noinline)) void looked_at(Layer &own, int n, int rows, float *host) {
    norm<<<1, 256>>>(own.x, own.weight, n, own.xb);
    switch (own.activation) {
    case Activation::relu: product<Activation::relu><<<rows, 32>>>(own.a, own.xb, n, rows, own.out); break;
    case Activation::silu:
        cudaMemcpy(host, own.xb, n * sizeof(float), cudaMemcpyDeviceToHost);
        product<Activation::silu><<<rows, 32>>>(own.a, own.xb, n, rows, own.out);
        break;
    default: break;
    }
}

int main(int argc, char **) {
    float *x, *weight, *a, *xb, *out, *other;
    std::vector<float> host(N * ROWS), seen(N);
    for (int i = 0; i < N * ROWS; ++i) host[i] = (i * 37 % 101 - 50) / 50.0f;
    cudaMalloc(&x, N * sizeof(float)), cudaMalloc(&weight, N * sizeof(float)), cudaMalloc(&xb, N * sizeof(float));
    cudaMalloc(&a, N * ROWS * sizeof(float)), cudaMalloc(&out, ROWS * sizeof(float));
    cudaMalloc(&other, ROWS * sizeof(float));
    cudaMemcpy(a, host.data(), N * ROWS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(weight, host.data() + 11, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, ROWS * sizeof(float)), cudaMemset(other, 0, ROWS * sizeof(float));
    Layer own = {x, weight, a, xb, out, Activation::none}, next = {x, weight, a, xb, other, Activation::none};
    double all = 0;
    auto look = [&]() {
        for (float *vector : {xb, out, other}) {
            int count = vector == xb ? N : ROWS;
            cudaMemcpy(host.data(), vector, count * sizeof(float), cudaMemcpyDeviceToHost);
            for (int i = 0; i < count; ++i) all += host[i] * (1 + i % 7);
        }
    };
    auto begin = [&](int step) {
        own.activation = Activation(step % 4);
        next.skips = step == 3;
        cudaMemcpy(x, host.data() + step * 3, N * sizeof(float), cudaMemcpyHostToDevice);
    };
    for (int step = 0; step < 4 * argc; ++step) begin(step), layer(own, N, ROWS), look();
    for (int step = 0; step < 4 * argc; ++step) begin(step), any(own, next, N, ROWS), look();
    for (int step = 0; step < 3 * argc; ++step) {
        begin(step), looked_at(own, N, ROWS, seen.data()), look();
        for (float one : seen) all += one;
    }
    printf("%.9g\nPASS\n", all);
}
