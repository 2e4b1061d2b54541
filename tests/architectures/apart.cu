// `answer` is other code for each architecture, through a function of this file; the others are the same for all.

#include <cstdio>

#ifdef __CUDA_ARCH__
__device__ __noinline__ int own_number() {
#if __CUDA_ARCH__ >= 900
    return 90909;
#elif __CUDA_ARCH__ >= 800
    return 80808;
#else
    return 75757;
#endif
}
#else
__device__ int own_number();
#endif

__global__ void twice(float *to, const float *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] = from[i] * 2;
    }
}

__global__ void more(float *to, const float *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] = from[i] + 1;
    }
}

__global__ void answer(int *number) { number[threadIdx.x] = own_number(); }

int main() {
    const int architectures[] = {__CUDA_ARCH_LIST__};
    const int n = 1000;
    float *one, *two, *three;
    int *number;
    cudaMallocManaged(&one, n * sizeof(float));
    cudaMallocManaged(&two, n * sizeof(float));
    cudaMallocManaged(&three, n * sizeof(float));
    cudaMallocManaged(&number, 32 * sizeof(int));
    for (int i = 0; i < n; i++) {
        one[i] = i;
    }
    twice<<<8, 128>>>(two, one, n);
    more<<<8, 128>>>(three, two, n);
    answer<<<1, 32>>>(number);
    cudaDeviceSynchronize();
    printf("%d %g, of %zu from %d\n", number[31], three[999], sizeof architectures / sizeof(int), architectures[0]);
}
