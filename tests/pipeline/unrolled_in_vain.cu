// A loop that cannot be unrolled for want of a number, though it is asked for: nvcc says nothing of it.
__global__ void halve(float *p, int n) {
#pragma unroll
    for (int i = 0; i < n; i++) {
        if (p[i] < 0) break;
        p[i] = p[i] / 2 + i;
        __syncthreads();
    }
}

int main() {
    float *p;
    cudaMalloc(&p, 400);
    halve<<<1, 1>>>(p, 10);
    return cudaDeviceSynchronize();
}
