// Arguments that are null touch nothing, whatever a kernel would do with others in their place.
//
// expect: 3 launches -> 1
#include <cstdio>

__global__ void ones(float *x, float *extra) {
    x[threadIdx.x] = 1;
    if (extra) extra[threadIdx.x] = 2;
}

__global__ void threes(float *x, float *extra) {
    x[threadIdx.x] = 3;
    if (extra) extra[threadIdx.x] = 4;
}

int main() {
    float *a, *b, *c, host[3][32];
    cudaMalloc(&a, sizeof host[0]);
    cudaMalloc(&b, sizeof host[1]);
    cudaMalloc(&c, sizeof host[2]);
    ones<<<1, 32>>>(a, nullptr);
    threes<<<1, 32>>>(b, nullptr);
    ones<<<1, 32>>>(c, nullptr);
    cudaMemcpy(host[0], a, sizeof host[0], cudaMemcpyDeviceToHost);
    cudaMemcpy(host[1], b, sizeof host[1], cudaMemcpyDeviceToHost);
    cudaMemcpy(host[2], c, sizeof host[2], cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int i = 0; i < 32; i++) right = right && host[0][i] == 1 && host[1][i] == 3 && host[2][i] == 1;
    printf("%s\n", right ? "PASS" : "FAIL");
    return right ? 0 : 1;
}
