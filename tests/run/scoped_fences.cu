// Fences with scope and order in either sequence, alone and among other instructions, and `cuda::atomic`, whose
// header writes them so.
//
// expect: 1 launches -> 1
#include <cstdio>
#include <cuda/atomic>

__global__ void count(unsigned *all, unsigned long long *wide, int *last) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> one(*all);
    one.fetch_add(1);
    asm volatile("fence.gpu.sc;" ::: "memory");
    asm volatile("fence.acq_rel.sys;" ::: "memory");
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> other(*wide);
    unsigned long long expected = other.load();
    while (!other.compare_exchange_weak(expected, expected + 2)) {}
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_block);
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
    int value;
    asm volatile("{ .reg .b32 seven; mov.b32 seven, 7; fence.cta.acq_rel; add.s32 %0, seven, %1; }" : "=r"(value) : "r"(5) : "memory");
    cuda::atomic_ref<int, cuda::thread_scope_device>(*last).store(value);
}

int main() {
    unsigned *all;
    unsigned long long *wide;
    int *last;
    cudaMallocManaged(&all, sizeof *all);
    cudaMallocManaged(&wide, sizeof *wide);
    cudaMallocManaged(&last, sizeof *last);
    *all = *wide = *last = 0;
    count<<<4, 32>>>(all, wide, last);
    cudaDeviceSynchronize();
    bool good = *all == 128 && *wide == 256 && *last == 12;
    printf("%s\n", good ? "PASS" : "FAIL");
    return good ? 0 : 1;
}
