// Its kernel is other code for sm_90 only through the file that it is linked with.

#include <cstdio>

__device__ int own_number();

__global__ void answer(int *number) { number[threadIdx.x] = own_number(); }

int main() {
    int *number;
    cudaMallocManaged(&number, 32 * sizeof(int));
    answer<<<1, 32>>>(number);
    cudaDeviceSynchronize();
    printf("%d\n", number[0]);
}
