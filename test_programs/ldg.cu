// The second kernel reads through __ldg what the first has written.
//
// Shows: the read-only path may serve stale data inside one kernel. Two launches make it right; one
// fused kernel is right only if the load becomes an ordinary one.
//
// usage: ldg [elements]
//
// expect: 2 launches -> 1
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void fill(int *table, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) table[i] = 3 * i + 1;
}

__global__ void look_up(const int *__restrict__ table, int *__restrict__ result, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) result[i] = __ldg(&table[i]) ^ 0x5a;
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 4000;
    if (n < 1) {
        fprintf(stderr, "usage: %s [elements]\n", argv[0]);
        return 2;
    }
    const size_t bytes = n * sizeof(int);
    std::vector<int> output(n);
    int *table, *result;
    cudaMalloc(&table, bytes);
    cudaMalloc(&result, bytes);
    cudaMemset(table, 0, bytes);  // what a stale read would see

    const int threads = 128, blocks = (n + threads - 1) / threads;
    fill<<<blocks, threads>>>(table, n);
    look_up<<<blocks, threads>>>(table, result, n);
    cudaMemcpy(output.data(), result, bytes, cudaMemcpyDeviceToHost);
    cudaFree(table);
    cudaFree(result);

    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += output[i] != ((3 * i + 1) ^ 0x5a);
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
