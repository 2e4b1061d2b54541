// Groups whose members keep their blocks and threads, or are remapped, by runs too, rearranged or side by side.

__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

__global__ void shift(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += 1.0f;
}

__global__ void transpose(float *y, const float *x, int width, int height) {
    __shared__ float tile[16][17];
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = x[row * width + column];
    __syncthreads();
    column = blockIdx.y * 16 + threadIdx.x;
    row = blockIdx.x * 16 + threadIdx.y;
    y[row * height + column] = tile[threadIdx.x][threadIdx.y];
}

__global__ void negate(float *y, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    y[row * width + column] = -y[row * width + column];
}

__global__ void subtract_first(float *y) {
    __shared__ float first;
    if (threadIdx.x == 0) first = y[blockIdx.x * 42];
    __syncthreads();
    for (int j = threadIdx.x; j < 42; j += 32) y[blockIdx.x * 42 + j] -= first;
}

__global__ void fill(float *y) { y[blockIdx.x * 32 + threadIdx.x] = 3.0f; }
__global__ void count(int *y) { y[blockIdx.x * 64 + threadIdx.x] = threadIdx.x; }

int main() {
    float *x, *y, *z, *u;
    int *v;
    cudaMalloc(&x, 4096 * sizeof(float));
    cudaMalloc(&y, 4096 * sizeof(float));
    cudaMalloc(&z, 2048 * sizeof(float));
    cudaMalloc(&u, 4096 * sizeof(float));
    cudaMalloc(&v, 4096 * sizeof(int));
    scale<<<16, 256>>>(y, x, 4096);
    shift<<<64, 64>>>(y, 4096);
    cudaDeviceSynchronize();
    float first;
    cudaMemcpy(&first, y, sizeof(float), cudaMemcpyDeviceToHost);
    transpose<<<dim3(8, 2), dim3(16, 16)>>>(y, x, 128, 32);
    negate<<<dim3(2, 8), dim3(16, 16)>>>(y, 32);
    cudaMemcpy(&first, y, sizeof(float), cudaMemcpyDeviceToHost);
    shift<<<63, 64>>>(y, 4032);
    subtract_first<<<96, 32>>>(y);
    cudaMemcpy(&first, y, sizeof(float), cudaMemcpyDeviceToHost);
    fill<<<64, 32>>>(z);
    count<<<10, 64>>>(v);
    cudaMemcpy(&first, z, sizeof(float), cudaMemcpyDeviceToHost);
    return first != 3.0f;
}
