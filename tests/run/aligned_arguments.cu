// Structs passed in memory that kernels may take to be more aligned than the caller keeps them,
// in kernels whose threads are fibers, because of the barrier, and in others.
//
// expect: 12 launches -> 6
#include <cstdio>

template <int A> struct __align__(A) Coefficients {
    float factor[23];
    int n;
};

template <int A> __global__ void first(float *y, const float *x, Coefficients<A> c, int shift) {
    __shared__ float rotated[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    rotated[threadIdx.x] = x[i];
    __syncthreads();
    Coefficients<A> own = c;
    own.factor[threadIdx.x % 23] += 1.0f;
    c.factor[threadIdx.x % 23] += rotated[(threadIdx.x + shift) % 128];
    if (i < c.n) y[i] = c.factor[i % 23] + own.factor[(i + shift) % 23];
}

template <int A> __global__ void second(float *z, const float *y, Coefficients<A> c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < c.n) z[i] = c.factor[i % 23] * y[i];
}

static int wrong = 0;

template <int A> void run(int shift) {
    const int n = 1024;
    static float host[n];
    float *x, *y, *z;
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&y, sizeof host);
    cudaMalloc(&z, sizeof host);
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    Coefficients<A> c;
    for (int k = 0; k < 23; k++) c.factor[k] = k;
    c.n = n;
    first<A><<<n / 128, 128>>>(y, x, c, shift);
    second<A><<<n / 128, 128>>>(z, y, c);
    cudaMemcpy(host, z, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        int block = i / 128 * 128, thread = i % 128;
        float sum = i % 23 == thread % 23 ? block + (thread + shift) % 128 : 0.0f;
        float own = (i + shift) % 23 + ((i + shift) % 23 == thread % 23 ? 1.0f : 0.0f);
        if (host[i] != i % 23 * (i % 23 + sum + own)) {
            printf("alignment %d: element %d is %f\n", A, i, host[i]);
            wrong++;
            return;
        }
    }
}

int main(int argc, char **) {
    run<4>(argc);
    run<8>(argc);
    run<16>(argc);
    run<32>(argc);
    run<64>(argc);
    run<128>(argc);
    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
