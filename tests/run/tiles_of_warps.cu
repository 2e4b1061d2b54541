// Tiles of several warps, which meet in the shared memory that each block has for cooperative groups from sm_80 on.
//
// expect: 2 launches -> 2
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>

namespace cg = cooperative_groups;

constexpr int BLOCKS = 3, THREADS = 256;

__global__ void sums(int *out, const int *in) {
    __shared__ cg::block_tile_memory<THREADS> memory;
    const cg::thread_block block = cg::this_thread_block(memory);
    const auto tile = cg::tiled_partition<64>(block);
    const int own = in[blockIdx.x * THREADS + threadIdx.x];
    const int sum = cg::reduce(tile, own, cg::plus<int>());
    const int largest = cg::reduce(tile, own, cg::greater<int>());
    if (tile.thread_rank() == 0) {
        out[(blockIdx.x * tile.meta_group_size() + tile.meta_group_rank()) * 2] = sum;
        out[(blockIdx.x * tile.meta_group_size() + tile.meta_group_rank()) * 2 + 1] = largest;
    }
}

__global__ void fill(int *in) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    in[i] = i * 37 % 101;
}

int main() {
    constexpr int TILES = BLOCKS * THREADS / 64;
    int *in, *out, host[TILES * 2];
    cudaMalloc(&in, BLOCKS * THREADS * sizeof(int));
    cudaMalloc(&out, sizeof host);
    fill<<<BLOCKS, THREADS>>>(in);
    sums<<<BLOCKS, THREADS>>>(out, in);
    bool right = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess;
    for (int tile = 0; tile < TILES; ++tile) {
        int sum = 0, largest = 0;
        for (int i = tile * 64; i < tile * 64 + 64; ++i) {
            sum += i * 37 % 101;
            largest = i * 37 % 101 > largest ? i * 37 % 101 : largest;
        }
        right &= host[tile * 2] == sum && host[tile * 2 + 1] == largest;
    }
    printf("%s\n", right ? "PASS" : "FAIL");
    return !right;
}
