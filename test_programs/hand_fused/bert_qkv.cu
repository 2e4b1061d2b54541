// The nine kernels of bert_qkv.cu as one, as one writes it by hand: the three products share the tile of
// their common input and their barriers, add the bias in a register and store to the heads' layout.
// What the compiler makes of the nine is measured by it.
//
// usage: bert_qkv
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int ROWS = 64;       // tokens
constexpr int HIDDEN = 128;    // width of the model
constexpr int HEADS = 4;
constexpr int DEPTH = HIDDEN / HEADS;
constexpr int TILE = 16;

// What the three branches have of their own.
struct Branches {
    const float *weight[3];
    const float *bias[3];
    float *heads[3];
};

__global__ void query_key_value(const float *x, Branches branches) {
    __shared__ float x_tile[TILE][TILE];
    __shared__ float weight_tile[3][TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum[3] = {0.0f, 0.0f, 0.0f};
    for (int k = 0; k < HIDDEN; k += TILE) {
        x_tile[threadIdx.y][threadIdx.x] = x[row * HIDDEN + k + threadIdx.x];
        for (int b = 0; b < 3; ++b)
            weight_tile[b][threadIdx.y][threadIdx.x] = branches.weight[b][(k + threadIdx.y) * HIDDEN + column];
        __syncthreads();
        for (int i = 0; i < TILE; ++i)
            for (int b = 0; b < 3; ++b) sum[b] += x_tile[threadIdx.y][i] * weight_tile[b][i][threadIdx.x];
        __syncthreads();
    }
    int place = ((column / DEPTH) * ROWS + row) * DEPTH + column % DEPTH;
    for (int b = 0; b < 3; ++b) branches.heads[b][place] = sum[b] + branches.bias[b][column];
}

static std::vector<float> pattern(size_t count, unsigned seed) {
    std::vector<float> values(count);
    for (float &value : values) {
        seed = seed * 1664525u + 1013904223u;
        value = (float)(seed >> 8) / (1 << 24) - 0.5f;
    }
    return values;
}

static float *upload(const std::vector<float> &values) {
    float *device;
    cudaMalloc(&device, values.size() * sizeof(float));
    cudaMemcpy(device, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
    return device;
}

static int differences(const std::vector<float> &x, const std::vector<float> &weight,
                       const std::vector<float> &bias, const std::vector<float> &heads) {
    int wrong = 0;
    for (int row = 0; row < ROWS; ++row)
        for (int column = 0; column < HIDDEN; ++column) {
            double sum = bias[column];
            for (int k = 0; k < HIDDEN; ++k) sum += (double)x[row * HIDDEN + k] * weight[k * HIDDEN + column];
            float got = heads[((column / DEPTH) * ROWS + row) * DEPTH + column % DEPTH];
            wrong += !(std::fabs(got - sum) <= 1e-4);
        }
    return wrong;
}

int main() {
    const size_t bytes = ROWS * HIDDEN * sizeof(float);
    std::vector<float> x = pattern(ROWS * HIDDEN, 1);
    std::vector<float> wq = pattern(HIDDEN * HIDDEN, 2), bq = pattern(HIDDEN, 3);
    std::vector<float> wk = pattern(HIDDEN * HIDDEN, 4), bk = pattern(HIDDEN, 5);
    std::vector<float> wv = pattern(HIDDEN * HIDDEN, 6), bv = pattern(HIDDEN, 7);

    float *d_x = upload(x);
    float *d_wq = upload(wq), *d_bq = upload(bq);
    float *d_wk = upload(wk), *d_bk = upload(bk);
    float *d_wv = upload(wv), *d_bv = upload(bv);
    float *d_q, *d_k, *d_v;
    cudaMalloc(&d_q, bytes);
    cudaMalloc(&d_k, bytes);
    cudaMalloc(&d_v, bytes);

    const dim3 grid(HIDDEN / TILE, ROWS / TILE), block(TILE, TILE);
    const Branches branches = {{d_wq, d_wk, d_wv}, {d_bq, d_bk, d_bv}, {d_q, d_k, d_v}};
    query_key_value<<<grid, block>>>(d_x, branches);

    std::vector<float> q(ROWS * HIDDEN), k(ROWS * HIDDEN), v(ROWS * HIDDEN);
    cudaMemcpy(q.data(), d_q, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(k.data(), d_k, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(v.data(), d_v, bytes, cudaMemcpyDeviceToHost);
    for (float *buffer : {d_x, d_wq, d_bq, d_wk, d_bk, d_wv, d_bv, d_q, d_k, d_v})
        cudaFree(buffer);

    int wrong = differences(x, wq, bq, q) + differences(x, wk, bk, k) + differences(x, wv, bv, v);
    unsigned hash = 2166136261u;
    for (const std::vector<float> *heads : {&q, &k, &v}) {
        const unsigned char *byte = (const unsigned char *)heads->data();
        for (size_t i = 0; i < bytes; ++i) hash = (hash ^ byte[i]) * 16777619u;
    }
    printf("bert_qkv: %d x %d, %d heads, checksum %08x\n", ROWS, HIDDEN, HEADS, hash);
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
