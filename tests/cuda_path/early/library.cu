// Launches a kernel while the library is loaded, before the program's own code.
__device__ int counted = 5;
__global__ void in_library(int *to) { to[threadIdx.x] = threadIdx.x + counted; }
static int found[32];
struct EarlyInLibrary {
    EarlyInLibrary() {
        int *to;
        cudaMalloc(&to, sizeof found);
        in_library<<<1, 32>>>(to);
        cudaMemcpy(found, to, sizeof found, cudaMemcpyDeviceToHost);
        cudaFree(to);
    }
};
static EarlyInLibrary early;
extern "C" int of_library() { return found[31]; }
