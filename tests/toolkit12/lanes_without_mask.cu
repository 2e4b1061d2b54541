// Operations of a warp that do not name their lanes, which GPUs before sm_70 have: those that run in step take part.
#include <cstdio>

__global__ void sum(int *out, const int *in) {
    int v = in[threadIdx.x];
    for (int o = 16; o; o >>= 1) v += __shfl_down(v, o);
    float f = __shfl_xor((float)in[threadIdx.x], 1);
    if (threadIdx.x % 32 < 16) {
        if (__all(v > -1) && __any(v == 0) == 0 && __ballot(1) == 0xffff) v += __shfl(0, 2);
        else v = -1;
    }
    int up = __shfl_up(v, 1);
    if (threadIdx.x < 2) out[3 * threadIdx.x] = v, out[3 * threadIdx.x + 1] = up, out[3 * threadIdx.x + 2] = (int)f;
}

int main() {
    int host[32], *memory;
    for (int i = 0; i < 32; ++i) host[i] = i + 1;
    cudaMalloc(&memory, 256);
    cudaMemcpy(memory, host, 128, cudaMemcpyHostToDevice);
    sum<<<1, 32>>>(memory + 32, memory);
    cudaMemcpy(host, memory + 32, 24, cudaMemcpyDeviceToHost);
    // A lane whose source lies outside of the warp gets its own value, so that lane 1 counts lane 31 twice, and 0 never.
    bool right = host[0] == 528 && host[1] == 528 && host[2] == 2 && host[4] == 528 && host[5] == 1;
    if (!right) printf("%d %d %d, %d %d %d\n", host[0], host[1], host[2], host[3], host[4], host[5]);
    puts(right ? "PASS" : "FAIL");
    return !right;
}
