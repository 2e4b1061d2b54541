// Loads by the read-only path, of vectors and in two dimensions, of what the launch before has written:
// in one kernel they become ordinary loads, and inline PTX takes the path on which writes are seen.
//
// expect: 6 launches -> 3
// expect-missed: copy_between
// expect-missed: copy_between
#include <cstdio>
#include <vector>

__global__ void fill_vectors(int4 *table, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) table[i] = make_int4(i, 2 * i, 3 * i, 4 * i);
}

__global__ void sum_vectors(const int4 *__restrict__ table, int *__restrict__ sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int4 each = __ldg(&table[i]);
    sums[i] = each.x + each.y + each.z + each.w;
}

__global__ void fill_rows(float2 *table, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) table[y * width + x] = make_float2(x, y);
}

__global__ void sum_rows(const float2 *__restrict__ table, float *__restrict__ sums, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float2 each = __ldg(&table[y * width + x]);
    sums[y * width + x] = each.x + 100.0f * each.y;
}

__global__ void fill(float *table, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) table[i] = 2.0f * i;
}

__global__ void by_assembly(const float *table, float *result, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(value) : "l"(table + i) : "memory");
    result[i] = value + 1.0f;
}

int main() {
    const int width = 40, height = 25, n = width * height;
    int4 *vectors;
    int *sums;
    float2 *rows;
    float *row_sums, *table, *result;
    cudaMalloc(&vectors, n * sizeof(int4));
    cudaMalloc(&sums, n * sizeof(int));
    cudaMalloc(&rows, n * sizeof(float2));
    cudaMalloc(&row_sums, n * sizeof(float));
    cudaMalloc(&table, n * sizeof(float));
    cudaMalloc(&result, n * sizeof(float));
    // What stale reads would see.
    cudaMemset(vectors, 0xff, n * sizeof(int4));
    cudaMemset(rows, 0xff, n * sizeof(float2));
    cudaMemset(table, 0xff, n * sizeof(float));
    cudaDeviceSynchronize();
    std::vector<int> found(n);
    std::vector<float> found_rows(n), found_results(n);
    fill_vectors<<<8, 128>>>(vectors, n);
    sum_vectors<<<8, 128>>>(vectors, sums, n);
    cudaMemcpy(found.data(), sums, n * sizeof(int), cudaMemcpyDeviceToHost);
    dim3 blocks(3, 4), threads(16, 8);
    fill_rows<<<blocks, threads>>>(rows, width, height);
    sum_rows<<<blocks, threads>>>(rows, row_sums, width, height);
    cudaMemcpy(found_rows.data(), row_sums, n * sizeof(float), cudaMemcpyDeviceToHost);
    fill<<<8, 128>>>(table, n);
    by_assembly<<<8, 128>>>(table, result, n);
    cudaMemcpy(found_results.data(), result, n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        wrong += found[i] != 10 * i;
        wrong += found_rows[i] != i % width + 100.0f * (i / width);
        wrong += found_results[i] != 2.0f * i + 1.0f;
    }
    cudaFree(vectors);
    cudaFree(sums);
    cudaFree(rows);
    cudaFree(row_sums);
    cudaFree(table);
    cudaFree(result);
    printf(wrong ? "FAIL: %d differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
