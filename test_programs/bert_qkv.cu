// The query, key and value branches of a BERT layer: for each a matrix product, a bias and the split
// into attention heads. Nine launches of one shape.
//
// Shows: a thread owns one element of the product. The bias is added to the same element by the
// same thread, and the head split, a permutation of the elements, is done from the same thread too:
// inside a branch every dependence has thread width although two of the kernels store to different
// places. Each branch runs as one kernel; the branches are independent of each other.
//
// usage: bert_qkv
//
// layouts: h
// expect: 9 launches -> 1
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int ROWS = 64;       // tokens
constexpr int HIDDEN = 128;    // width of the model
constexpr int HEADS = 4;
constexpr int DEPTH = HIDDEN / HEADS;
constexpr int TILE = 16;

// product[row][column] = Σ x[row][k] · weight[k][column]
__global__ void gemm(const float *x, const float *weight, float *product) {
    __shared__ float x_tile[TILE][TILE];
    __shared__ float weight_tile[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < HIDDEN; k += TILE) {
        x_tile[threadIdx.y][threadIdx.x] = x[row * HIDDEN + k + threadIdx.x];
        weight_tile[threadIdx.y][threadIdx.x] = weight[(k + threadIdx.y) * HIDDEN + column];
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += x_tile[threadIdx.y][i] * weight_tile[i][threadIdx.x];
        __syncthreads();
    }
    product[row * HIDDEN + column] = sum;
}

__global__ void add_bias(float *product, const float *bias) {
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    product[row * HIDDEN + column] += bias[column];
}

// [row][head · DEPTH + d] becomes [head][row][d]
__global__ void split_heads(const float *product, float *heads) {
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    heads[((column / DEPTH) * ROWS + row) * DEPTH + column % DEPTH] = product[row * HIDDEN + column];
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
    float *product_q, *product_k, *product_v, *d_q, *d_k, *d_v;
    cudaMalloc(&product_q, bytes);
    cudaMalloc(&product_k, bytes);
    cudaMalloc(&product_v, bytes);
    cudaMalloc(&d_q, bytes);
    cudaMalloc(&d_k, bytes);
    cudaMalloc(&d_v, bytes);

    const dim3 grid(HIDDEN / TILE, ROWS / TILE), block(TILE, TILE);
    gemm<<<grid, block>>>(d_x, d_wq, product_q);
    add_bias<<<grid, block>>>(product_q, d_bq);
    split_heads<<<grid, block>>>(product_q, d_q);

    gemm<<<grid, block>>>(d_x, d_wk, product_k);
    add_bias<<<grid, block>>>(product_k, d_bk);
    split_heads<<<grid, block>>>(product_k, d_k);

    gemm<<<grid, block>>>(d_x, d_wv, product_v);
    add_bias<<<grid, block>>>(product_v, d_bv);
    split_heads<<<grid, block>>>(product_v, d_v);

    std::vector<float> q(ROWS * HIDDEN), k(ROWS * HIDDEN), v(ROWS * HIDDEN);
    cudaMemcpy(q.data(), d_q, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(k.data(), d_k, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(v.data(), d_v, bytes, cudaMemcpyDeviceToHost);
    for (float *buffer : {d_x, d_wq, d_bq, d_wk, d_bk, d_wv, d_bv, product_q, product_k, product_v, d_q, d_k, d_v})
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
