// More fused kernels than one device image takes: each stands in its own image and is launched from there.
// expect: 20 launches -> 10
#include <cstdio>

const int COUNT = 1000;

template <int N> __global__ void scale(int *to, const int *from) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT) to[i] = from[i] * (N + 2);
}

template <int N> __global__ void add(int *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT) to[i] += i + N;
}

template <int N> int step(int *to, const int *from, int *host) {
    scale<N><<<4, 256>>>(to, from);
    add<N><<<4, 256>>>(to);
    cudaMemcpy(host, to, COUNT * sizeof(int), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < COUNT; ++i) wrong += host[i] != 3 * i * (N + 2) + i + N;
    return wrong;
}

int main() {
    static int host[COUNT];
    int *from, *to;
    cudaMalloc(&from, sizeof host);
    cudaMalloc(&to, sizeof host);
    for (int i = 0; i < COUNT; ++i) host[i] = 3 * i;
    cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice);
    int wrong = step<0>(to, from, host) + step<1>(to, from, host) + step<2>(to, from, host) + step<3>(to, from, host);
    wrong += step<4>(to, from, host) + step<5>(to, from, host) + step<6>(to, from, host) + step<7>(to, from, host);
    wrong += step<8>(to, from, host) + step<9>(to, from, host);
    std::printf("%s\n", wrong ? "FAIL" : "PASS");
    cudaFree(from);
    cudaFree(to);
}
