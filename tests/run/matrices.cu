// Tiles of matrices that a warp holds together, through `wmma` and through inline PTX, and their neighbours.
//
// Shows: the CPU device runs tensor core programs. Scaling the product touches its elements by other
// threads of the same block than those that stored them: a barrier between them is enough.
//
// expect: 5 launches -> 1
#include <cmath>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <vector>

using namespace nvcuda;

constexpr int ROWS = 32, COLUMNS = 32, DEPTH = 64;

// One warp a tile of 16 x 16.
template <class Element>
__global__ void product(const Element *a, const Element *b, float *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, Element, wmma::row_major> a_tile;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, Element, wmma::col_major> b_tile;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    const int row = blockIdx.y * 16, column = blockIdx.x * 16;
    for (int k = 0; k < DEPTH; k += 16) {
        wmma::load_matrix_sync(a_tile, a + row * DEPTH + k, DEPTH);
        wmma::load_matrix_sync(b_tile, b + column * DEPTH + k, DEPTH);
        wmma::mma_sync(sum, a_tile, b_tile, sum);
    }
    wmma::store_matrix_sync(c + row * COLUMNS + column, sum, COLUMNS, wmma::mem_row_major);
}

__global__ void scale(float *c, float factor) {
    const int row = blockIdx.y * 16 + threadIdx.x / 2, column = blockIdx.x * 16 + threadIdx.x % 2 * 8;
    for (int i = 0; i < 8; ++i) c[row * COLUMNS + column + i] *= factor;
}

// The same as a kernel library writes it: m16n8k16 from shared memory; b is stored by rows of k.
__global__ void by_assembly(const half *a, const half *b, float *c) {
    __shared__ __align__(16) half a_tile[16][16], b_tile[16][8];
    const int row = blockIdx.y * 16, column = blockIdx.x * 8, lane = threadIdx.x;
    float sum[4] = {0, 0, 0, 0};
    for (int k = 0; k < DEPTH; k += 16) {
        for (int i = lane; i < 256; i += 32) a_tile[i / 16][i % 16] = a[(row + i / 16) * DEPTH + k + i % 16];
        for (int i = lane; i < 128; i += 32) b_tile[i / 8][i % 8] = b[(column + i % 8) * DEPTH + k + i / 8];
        __syncthreads();
        unsigned x[4], y[2];
        const unsigned a_row = __cvta_generic_to_shared(&a_tile[lane % 16][lane / 16 * 8]);
        const unsigned b_row = __cvta_generic_to_shared(&b_tile[lane % 16][0]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(a_row));
        asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];"
                     : "=r"(y[0]), "=r"(y[1]) : "r"(b_row));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        c[(row + lane / 4 + i / 2 * 8) * COLUMNS + column + lane % 4 * 2 + i % 2] = sum[i];
}

// A matrix of bytes times another: m16n8k32, and movmatrix on what it leaves.
__global__ void bytes(const signed char *a, const signed char *b, int *c, unsigned *moved) {
    const int group = threadIdx.x / 4, within = threadIdx.x % 4;
    int sum[4] = {1, 1, 1, 1};
    int x[4], y[2];
    for (int r = 0; r < 4; ++r)
        x[r] = *(const int *)(a + (group + 8 * (r % 2)) * 32 + within * 4 + 16 * (r / 2));
    for (int r = 0; r < 2; ++r) y[r] = *(const int *)(b + group * 32 + within * 4 + 16 * r);
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    for (int i = 0; i < 4; ++i) c[(group + 8 * (i / 2)) * 8 + within * 2 + i % 2] = sum[i];
    // Row `group`, columns 2 within and the next.
    unsigned word = (group * 8 + within * 2) | (group * 8 + within * 2 + 1) << 16;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved[threadIdx.x]) : "r"(word));
}

static float element(int i, int seed) { return (float)((i * 37 + seed * 11) % 17 - 8) / 4; }

int main() {
    std::vector<half> a(ROWS * DEPTH), b(COLUMNS * DEPTH);
    std::vector<__nv_bfloat16> a16(a.size()), b16(b.size());
    for (size_t i = 0; i < a.size(); ++i) a[i] = element(i, 1), a16[i] = element(i, 1);
    for (size_t i = 0; i < b.size(); ++i) b[i] = element(i, 2), b16[i] = element(i, 2);
    std::vector<signed char> small(16 * 32), other(8 * 32);
    for (size_t i = 0; i < small.size(); ++i) small[i] = i * 7 % 256 - 128;
    for (size_t i = 0; i < other.size(); ++i) other[i] = i * 13 % 256 - 128;

    half *da, *db;
    __nv_bfloat16 *da16, *db16;
    float *c, *c16, *c_assembly;
    signed char *dsmall, *dother;
    int *integers;
    unsigned *moved;
    const size_t c_bytes = ROWS * COLUMNS * sizeof(float);
    cudaMalloc(&da, a.size() * 2);
    cudaMalloc(&db, b.size() * 2);
    cudaMalloc(&da16, a.size() * 2);
    cudaMalloc(&db16, b.size() * 2);
    cudaMalloc(&c, c_bytes);
    cudaMalloc(&c16, c_bytes);
    cudaMalloc(&c_assembly, c_bytes);
    cudaMalloc(&dsmall, small.size());
    cudaMalloc(&dother, other.size());
    cudaMalloc(&integers, 16 * 8 * 4);
    cudaMalloc(&moved, 32 * 4);
    cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(da16, a16.data(), a.size() * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(db16, b16.data(), b.size() * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(dsmall, small.data(), small.size(), cudaMemcpyHostToDevice);
    cudaMemcpy(dother, other.data(), other.size(), cudaMemcpyHostToDevice);

    const dim3 grid(COLUMNS / 16, ROWS / 16);
    product<<<grid, 32>>>(da, db, c);
    scale<<<grid, 32>>>(c, 0.5f);
    product<<<grid, 32>>>(da16, db16, c16);
    by_assembly<<<dim3(COLUMNS / 8, ROWS / 16), 32>>>(da, db, c_assembly);
    bytes<<<1, 32>>>(dsmall, dother, integers, moved);

    std::vector<float> got(ROWS * COLUMNS), got16(got.size()), assembly(got.size());
    std::vector<int> whole(16 * 8);
    std::vector<unsigned> words(32);
    cudaMemcpy(got.data(), c, c_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(got16.data(), c16, c_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(assembly.data(), c_assembly, c_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(whole.data(), integers, whole.size() * 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(words.data(), moved, words.size() * 4, cudaMemcpyDeviceToHost);

    int wrong = 0;
    for (int row = 0; row < ROWS; ++row)
        for (int column = 0; column < COLUMNS; ++column) {
            float sum = 0;  // exact: quarters below 2^24
            for (int k = 0; k < DEPTH; ++k) sum += element(row * DEPTH + k, 1) * element(column * DEPTH + k, 2);
            const int i = row * COLUMNS + column;
            wrong += got[i] != 0.5f * sum;
            wrong += got16[i] != sum;
            wrong += assembly[i] != sum;
        }
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column) {
            int sum = 1;
            for (int k = 0; k < 32; ++k) sum += small[row * 32 + k] * other[column * 32 + k];
            wrong += whole[row * 8 + column] != sum;
        }
    for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned group = lane / 4, twice = lane % 4 * 2;
        wrong += words[lane] != (twice * 8 + group | ((twice + 1) * 8 + group) << 16);
    }
    printf(wrong ? "FAIL: %d\n" : "PASS\n", wrong);
    return wrong != 0;
}
