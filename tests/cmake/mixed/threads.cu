// Threads of the host around a kernel.
#include <cstdio>

__global__ void twice(int *x) { x[threadIdx.x] *= 2; }

int main()
{
    int host[32], sum = 0, *device;
#pragma omp parallel for
    for (int i = 0; i < 32; i++) host[i] = i;
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    twice<<<1, 32>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 32; i++) sum += host[i];
    std::printf("%d wrong\n", sum != 992);
    return sum == 992 ? 0 : 1;
}
