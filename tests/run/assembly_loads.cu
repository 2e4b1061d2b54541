// Loads and stores by inline assembly that does not say that it touches memory: the headers' __ldg of
// half-precision numbers, and four numbers at a time.
//
// Shows: in a fused kernel such a load is an ordinary one, or the assembly says what it does; what the
// launch before wrote is read.
//
// expect: 4 launches -> 1
#include <cstdio>
#include <cuda_fp16.h>
#include <vector>
__global__ void bias(half *x, const half *b, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = __hadd(x[i], __ldg(&b[i & 63])); }
__global__ void twice(const half *x, half *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { half v = __ldg(&x[i]); y[i] = __hadd(v, v); } }
__global__ void four(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 >= n) return;
    float a, b, c, d;
    asm("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(x + 4 * i));
    asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(y + 4 * i), "f"(a + 1), "f"(b + 1), "f"(c + 1), "f"(d + 1));
}
int main() {
    const int n = 1 << 12;
    half *x, *b, *y; float *f, *g, *h;
    cudaMalloc(&x, n * 2); cudaMalloc(&b, 128); cudaMalloc(&y, n * 2); cudaMalloc(&f, n * 4); cudaMalloc(&g, n * 4); cudaMalloc(&h, n * 4);
    std::vector<half> v(n); for (int i = 0; i < n; i++) v[i] = __float2half(i % 100);
    std::vector<float> w(n); for (int i = 0; i < n; i++) w[i] = i;
    cudaMemcpy(x, v.data(), n * 2, cudaMemcpyHostToDevice); cudaMemcpy(b, v.data(), 128, cudaMemcpyHostToDevice); cudaMemcpy(f, w.data(), n * 4, cudaMemcpyHostToDevice);
    bias<<<n / 256, 256>>>(x, b, n);
    twice<<<n / 256, 256>>>(x, y, n);
    four<<<n / 1024, 256>>>(f, g, n);
    four<<<n / 1024, 256>>>(g, h, n);
    cudaMemcpy(v.data(), y, n * 2, cudaMemcpyDeviceToHost); cudaMemcpy(w.data(), h, n * 4, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += __half2float(v[i]) != 2 * (i % 100 + i % 64) || w[i] != i + 2;
    printf("%d wrong\n%s\n", wrong, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
