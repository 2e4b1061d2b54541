// The driver's interface where things go wrong, or change between a list of arguments and its launch:
// errors are returned and do not become the runtime's last one, fused or not; arguments are those at the
// launch; a handle that was replaced launches the other kernel.
//
// expect: 7 launches -> 4
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static int failures = 0, failing_line = 0;
// Says nothing at once: output between launches would keep them apart.
#define EXPECT(call, wanted)                                             \
    do {                                                                 \
        if ((int)(call) != (int)(wanted)) {                              \
            ++failures;                                                  \
            failing_line = __LINE__;                                     \
        }                                                                \
    } while (0)

__global__ void fill(int *x, int value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = value;
}
__global__ void add(int *x, int value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += value;
}
__global__ void __launch_bounds__(64) small(int *x) { x[threadIdx.x] = 1; }

struct Parameters { CUdeviceptr x; int value; int n; };

int main() {
    const int n = 1000;
    CUdeviceptr x;
    CUcontext context, current;
    CUfunction fill_function, add_function, either;

    // Nothing works before cuInit, and most not without a context.
    EXPECT(cuMemAlloc(&x, 4), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuInit(0), CUDA_SUCCESS);
    EXPECT(cuMemAlloc(&x, 4), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cuCtxCreate(&context, 0, 1), CUDA_ERROR_INVALID_DEVICE);
    EXPECT(cuCtxCreate(&context, 0, 0), CUDA_SUCCESS);
    EXPECT(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT(current == context, true);
    EXPECT(cuMemAlloc(&x, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAlloc(&x, n * sizeof(int)), CUDA_SUCCESS);
    EXPECT(cudaGetFuncBySymbol(&fill_function, (const void *)fill), cudaSuccess);
    EXPECT(cudaGetFuncBySymbol(&add_function, (const void *)add), cudaSuccess);

    // Fused: the buffer is what it is at each launch.
    Parameters parameters{x, 7, n};
    size_t size = sizeof parameters;
    void *list[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                    CU_LAUNCH_PARAM_END};
    EXPECT(cuLaunchKernel(fill_function, 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, list), CUDA_SUCCESS);
    parameters.value = 3;
    EXPECT(cuLaunchKernel(add_function, 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, list), CUDA_SUCCESS);
    parameters.value = 1000;

    // A launch that fails between two that could run as one: its error is the driver's.
    int value = 5, count = n;
    void *arguments[] = {&x, &value, &count};
    unsigned threads = 128;
    EXPECT(cuLaunchKernel(add_function, 8, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr),
           CUDA_SUCCESS);
    EXPECT(cuLaunchKernel(add_function, 0, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr),
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(cudaPeekAtLastError(), cudaSuccess);
    EXPECT(cuLaunchKernel(add_function, 8, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr),
           CUDA_SUCCESS);
    EXPECT(cuLaunchKernel(add_function, 8, 1, 1, threads, 1, 1, 0, nullptr, arguments, list),
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuLaunchKernel(nullptr, 8, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr),
           CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuLaunchKernel(add_function, 8, 1, 1, threads, 1, 1, 0, nullptr, nullptr, nullptr),
           CUDA_ERROR_INVALID_VALUE);
    CUfunction small_function;
    EXPECT(cudaGetFuncBySymbol(&small_function, (const void *)small), cudaSuccess);
    void *one[] = {&x};
    EXPECT(cuLaunchKernel(small_function, 1, 1, 1, 65, 1, 1, 0, nullptr, one, nullptr),
           CUDA_ERROR_INVALID_VALUE);
    // More than the parameters are.
    size = sizeof parameters + 4;
    EXPECT(cuLaunchKernel(fill_function, 8, 1, 1, threads, 1, 1, 0, nullptr, nullptr, list),
           CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    EXPECT(cudaGetLastError(), cudaSuccess);

    // A handle that was replaced, and arguments behind an array on the heap.
    either = fill_function;
    either = add_function;
    void **on_heap = (void **)malloc(sizeof arguments);
    memcpy(on_heap, arguments, sizeof arguments);
    value = 20;
    EXPECT(cuLaunchKernel(either, 8, 1, 1, threads, 1, 1, 0, nullptr, on_heap, nullptr), CUDA_SUCCESS);
    free(on_heap);

    // Kernels that come as text cannot run here.
    CUmodule module;
    EXPECT(cuModuleLoadData(&module, ".version 8.0"), CUDA_ERROR_INVALID_PTX);
    const char *name = nullptr;
    EXPECT(cuGetErrorName(CUDA_ERROR_INVALID_PTX, &name), CUDA_SUCCESS);
    EXPECT(name ? strcmp(name, "CUDA_ERROR_INVALID_PTX") : 1, 0);
    EXPECT(cuMemsetD32(x + 4 * (n - 1), 77, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemsetD32(x + 4 * (n - 1), 77, 1), CUDA_SUCCESS);

    int *host = new int[n];
    EXPECT(cuMemcpyDtoH(host, x, n * sizeof(int)), CUDA_SUCCESS);
    for (int i = 0; i < n; ++i)
        failures += host[i] != (i == n - 1 ? 77 : 7 + 3 + 5 + 5 + 20);
    delete[] host;
    EXPECT(cuMemFree(x), CUDA_SUCCESS);
    EXPECT(cuCtxDestroy(context), CUDA_SUCCESS);
    printf(failures ? "FAIL: %d, the last in line %d\n" : "PASS\n", failures, failing_line);
    return failures != 0;
}
