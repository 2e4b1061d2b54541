// A pool may be of the host's memory: the host then reads and writes what it allocates, without a call. Between launches
// on memory of the device the same waiting is no obstacle.
//
// expect: 4 launches -> 3
// expect-missed: host_access copy_between
#include <cstdio>

__global__ void produce(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 3 * i + 1;
}

__global__ void consume(int *y, const int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 5;
}

int main() {
    const int n = 1000, threads = 128, blocks = (n + threads - 1) / threads;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeHost;
    cudaMemPool_t pool;
    cudaMemPoolCreate(&pool, &properties);
    int *x, *y, *z;
    cudaMallocFromPoolAsync(&x, n * sizeof(int), pool, stream);
    cudaMalloc(&y, n * sizeof(int));
    cudaMalloc(&z, n * sizeof(int));

    produce<<<blocks, threads, 0, stream>>>(x, n);
    cudaStreamSynchronize(stream);
    int first = x[0];
    x[1] = 40;
    consume<<<blocks, threads, 0, stream>>>(y, x, n);
    static int of_host[n], of_device[n];
    cudaMemcpyAsync(of_host, y, sizeof of_host, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);

    produce<<<blocks, threads, 0, stream>>>(z, n);
    cudaStreamSynchronize(stream);
    consume<<<blocks, threads, 0, stream>>>(y, z, n);
    cudaMemcpyAsync(of_device, y, sizeof of_device, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);

    int wrong = first != 1;
    for (int i = 0; i < n; i++) {
        wrong += of_host[i] != (i == 1 ? 45 : 3 * i + 6);
        wrong += of_device[i] != 3 * i + 6;
    }
    cudaFreeAsync(x, stream);
    cudaStreamSynchronize(stream);
    cudaFree(y);
    cudaFree(z);
    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
