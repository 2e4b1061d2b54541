// Algorithms of Thrust in kernels, whose headers of CUDA 12 mention the host's way beside the device's.
#include <cstdio>
#include <thrust/count.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

__global__ void counted(int *out, const int *in, int n) {
    out[0] = (int)thrust::count_if(thrust::device, in, in + n, [](int x) { return x % 3 == 0; });
    out[1] = thrust::reduce(thrust::device, in, in + n, 0);
}

int main() {
    int host[100], *memory;
    for (int i = 0; i < 100; ++i) host[i] = i;
    cudaMalloc(&memory, 102 * sizeof(int));
    cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice);
    counted<<<1, 1>>>(memory + 100, memory, 100);
    cudaMemcpy(host, memory + 100, 2 * sizeof(int), cudaMemcpyDeviceToHost);
    const int sum = thrust::reduce(thrust::device, memory, memory + 100);
    const bool right = host[0] == 34 && host[1] == 4950 && sum == 4950;
    if (!right) printf("%d %d %d\n", host[0], host[1], sum);
    puts(right ? "PASS" : "FAIL");
    return !right;
}
