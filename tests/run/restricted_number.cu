// nvcc takes `__restrict__` behind a name of a type, whatever that is.
//
// expect: 1 launches -> 1
#include <cstdio>

__global__ void each(float *__restrict__ out, size_t __restrict__ n, float by) {
    const size_t i = threadIdx.x;
    if (i < n) out[i] = by * (int)i;
}

int main() {
    float *out, host[64];
    cudaMalloc(&out, sizeof host);
    cudaMemset(out, 0, sizeof host);
    each<<<1, 64>>>(out, 60, 1.5f);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int i = 0; i < 64; ++i) right &= host[i] == (i < 60 ? 1.5f * i : 0.0f);
    printf("%s\n", right ? "PASS" : "FAIL");
    return !right;
}
