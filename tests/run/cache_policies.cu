// Inline PTX with a policy for caches, fused multiplication and addition of doubles, and `__fns`.
//
// expect: 1 launches -> 1
#include <cstdio>
#include <cstring>

__global__ void policies(int *p, double *d, unsigned *places) {
    unsigned long long policy;
    int value;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(value) : "l"(p), "l"(policy));
    p[1] = value;
    asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(p + 2), "r"(value + 1), "l"(policy));
    asm("fma.rn.f64 %0, %1, %1, %2;" : "=d"(d[0]) : "d"(1.0 + 0x1p-40), "d"(-1.0));
    asm("mul.f64 %0, %1, %2;" : "=d"(d[1]) : "d"(2.0), "d"(3.0));
    const unsigned mask = 0xf0;
    const int asked[7][2] = {{0, 2}, {5, 0}, {3, 0}, {31, -1}, {7, 2}, {6, -3}, {0, 5}};
    for (int i = 0; i < 7; ++i) places[i] = __fns(mask, asked[i][0], asked[i][1]);
}

int main() {
    int *p, ints[3] = {5, 0, 0};
    double *d, doubles[2];
    unsigned *places, found[7], right_places[7] = {5, 5, ~0u, 7, ~0u, 4, ~0u};
    cudaMalloc(&p, sizeof ints);
    cudaMalloc(&d, sizeof doubles);
    cudaMalloc(&places, sizeof found);
    cudaMemcpy(p, ints, sizeof ints, cudaMemcpyHostToDevice);
    policies<<<1, 1>>>(p, d, places);
    cudaMemcpy(ints, p, sizeof ints, cudaMemcpyDeviceToHost);
    cudaMemcpy(doubles, d, sizeof doubles, cudaMemcpyDeviceToHost);
    cudaMemcpy(found, places, sizeof found, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess && ints[1] == 5 && ints[2] == 6;
    right &= doubles[0] == 0x1p-39 + 0x1p-80 && doubles[1] == 6.0;
    right &= memcmp(found, right_places, sizeof found) == 0;
    printf("%s\n", right ? "PASS" : "FAIL");
    return !right;
}
