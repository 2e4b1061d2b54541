// Lanes return before others exchange values by a mask that names all 32: those that have ended are waited for by nobody. In a
// fused kernel they would go on to the next launch's barrier, and both would wait for each other. So such launches fuse where no
// lane returns, or whole warps do. Arguments are the part, and the number of elements.
//
// executes: 2 1 1 1 2 1
// arguments: 0 1000
// arguments: 0 1024
// arguments: 1 1000
// arguments: 2 1000
// arguments: 3 1000
// arguments: 3 1024
#include <cstdio>
#include <cstdlib>
#include <vector>

const unsigned ALL = 0xffffffffu;

__global__ void swapped(const unsigned *a, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = a[i] + __shfl_xor_sync(ALL, a[i], 1);
}

// All lanes come.
__global__ void all_swapped(const unsigned *a, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned own = i < n ? a[i] : 0, other = __shfl_xor_sync(ALL, own, 1);
    if (i < n) out[i] = own + other;
}

// Whole warps return.
__global__ void swapped_by_warps(const unsigned *a, unsigned *out, int n) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, i = warp * 32 + threadIdx.x % 32;
    if (warp >= n / 32) return;
    out[i] = a[i] + __shfl_xor_sync(ALL, a[i], 1);
}

__global__ void reversed(const unsigned *a, unsigned *out, int n) {
    __shared__ unsigned part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? a[i] : 0;
    __syncthreads();
    if (i < n) out[i] = part[255 - threadIdx.x];
}

// The exchange comes behind the barrier of the launch before it, and nothing behind the exchange.
__global__ void swapped_last(const unsigned *a, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = a[i] * 3 + __shfl_xor_sync(ALL, a[i], 1);
}

int main(int count, char **words) {
    int part = count > 1 ? atoi(words[1]) : 0, n = count > 2 ? atoi(words[2]) : 1000, blocks = (n + 255) / 256;
    std::vector<unsigned> host(1024), once(1024), twice(1024), found(1024);
    for (int i = 0; i < 1024; ++i) host[i] = i < n ? i * 7 % 31 : 0;
    unsigned *a, *b, *c;
    for (unsigned **each : {&a, &b, &c}) {
        cudaMalloc(each, 4096);
        cudaMemset(*each, 0, 4096);
    }
    cudaMemcpy(a, host.data(), 4096, cudaMemcpyHostToDevice);
    auto sum = [&](int i, const std::vector<unsigned> &of, unsigned factor) { return of[i] * factor + of[i ^ 1]; };
    int first = part == 2 ? n / 32 * 32 : n;
    if (part < 3) {
        for (int i = 0; i < first; ++i) once[i] = sum(i, host, 1);
        for (int i = 0; i < n; ++i) twice[i] = once[i / 256 * 256 + 255 - i % 256];
    } else {
        for (int i = 0; i < n; ++i) once[i] = host[i / 256 * 256 + 255 - i % 256];
        for (int i = 0; i < n; ++i) twice[i] = sum(i, once, 3);
    }
    if (part == 0) {
        swapped<<<blocks, 256>>>(a, b, n);
        reversed<<<blocks, 256>>>(b, c, n);
    } else if (part == 1) {
        all_swapped<<<blocks, 256>>>(a, b, n);
        reversed<<<blocks, 256>>>(b, c, n);
    } else if (part == 2) {
        swapped_by_warps<<<blocks, 256>>>(a, b, n);
        reversed<<<blocks, 256>>>(b, c, n);
    } else {
        reversed<<<blocks, 256>>>(a, b, n);
        swapped_last<<<blocks, 256>>>(b, c, n);
    }
    cudaMemcpy(found.data(), c, 4096, cudaMemcpyDeviceToHost);
    puts(found == twice ? "PASS" : "FAIL");
    return 0;
}
