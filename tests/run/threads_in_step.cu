// expect: 6 launches -> 3
// expect-missed: shape, copy_between, copy_between
// Threads that differ only in an index that the kernel never reads do the same work. The CPU device runs
// them in step: each loads `x[i]` before any stores it, and one of them stands for all. CUDA promises that of no two warps: on a GPU
// the program races, whoever compiles it.
#include <cstdio>

constexpr int count = 64;
constexpr int width = 32;
constexpr int height = 8;

__global__ void accumulate(float *x, const float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int round = 0; round < 3; round++)
        x[i] += a[i];
}

__global__ void twice(float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += x[i];
}

__global__ void through_shared(float *x)
{
    __shared__ float tile[width];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    tile[threadIdx.x] += tile[threadIdx.x];
    __syncthreads();
    x[i] = tile[width - 1 - threadIdx.x];
}

__global__ void count_threads(float *x, int *threads)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = x[i] + 1;
    atomicAdd(&threads[i], 1);
}

__global__ void tell_apart(float *rows, const float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    rows[threadIdx.y * count + i] = a[i] + threadIdx.y;
}

int main()
{
    float a[count], x[count], rows[count * height];
    int threads[count] = {};
    for (int i = 0; i < count; i++) {
        a[i] = i;
        x[i] = 1;
    }
    float *device_a, *device_x, *device_rows;
    int *device_threads;
    cudaMalloc(&device_a, sizeof a);
    cudaMalloc(&device_x, sizeof x);
    cudaMalloc(&device_rows, sizeof rows);
    cudaMalloc(&device_threads, sizeof threads);
    cudaMemcpy(device_a, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemset(device_threads, 0, sizeof threads);
    dim3 grid(count / width), block(width, height);

    // Members that cannot tell become one kernel, still in step; `through_shared` joins them below.
    accumulate<<<grid, block>>>(device_x, device_a);
    twice<<<grid, block>>>(device_x);
    // A fused kernel would read threadIdx.y, and `twice` would double eight times.
    tell_apart<<<grid, block>>>(device_rows, device_a);
    cudaMemcpy(rows, device_rows, sizeof rows, cudaMemcpyDeviceToHost);
    int bad = 0;
    for (int y = 0; y < height; y++)
        for (int i = 0; i < count; i++)
            bad += rows[y * count + i] != i + y;

    through_shared<<<grid, block>>>(device_x);
    cudaMemcpy(x, device_x, sizeof x, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) {
        int from = i / width * width + width - 1 - i % width;
        bad += x[i] != 4 * (1 + 3 * from);
    }

    // Extent 1 on y: an atomic that counts threads, and a kernel that does not.
    twice<<<grid, width>>>(device_x);
    count_threads<<<grid, width>>>(device_x, device_threads);
    cudaMemcpy(x, device_x, sizeof x, cudaMemcpyDeviceToHost);
    cudaMemcpy(threads, device_threads, sizeof threads, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) {
        int from = i / width * width + width - 1 - i % width;
        bad += x[i] != 8 * (1 + 3 * from) + 1 || threads[i] != 1;
    }
    puts(bad ? "FAIL" : "PASS");
    return bad != 0;
}
