// Error codes between launches: which error is seen, where, by which call, and what still runs.
//
// expect: 25 launches -> 11
#include <cstdio>
#include <cstdlib>

constexpr int count = 256, threads = 64, blocks = count / threads;
constexpr size_t bytes = count * sizeof(float);

__global__ void scale(float *y, const float *x, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = by * x[i];
}

__global__ void __launch_bounds__(64) bounded(float *y, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = x[i] + 1.0f;
}

__global__ void tile(float *y, const float *x) {
    extern __shared__ float part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = part[threadIdx.x] * 3.0f;
}

static int wrong = 0;
static float host[count];
static float *x, *y, *z;

template <class Expected> static void expect(const float *device, Expected value, const char *what) {
    float found[count];
    cudaMemcpy(found, device, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) {
        if (found[i] != (float)value(i)) {
            printf("%s: element %d is %g, not %g\n", what, i, found[i], (float)value(i));
            wrong++;
            return;
        }
    }
}

static void status(cudaError_t found, cudaError_t expected, const char *what) {
    if (found != expected) {
        printf("%s: %s, not %s\n", what, cudaGetErrorName(found), cudaGetErrorName(expected));
        wrong++;
    }
}

static void fresh() {
    cudaMemset(y, 0, bytes);
    cudaMemset(z, 0, bytes);
}

int main(int argc, char **) {
    for (int i = 0; i < count; i++) host[i] = i;
    cudaMalloc(&x, bytes);
    cudaMalloc(&y, bytes);
    cudaMalloc(&z, bytes);
    cudaMemcpy(x, host, bytes, cudaMemcpyHostToDevice);
    int zero = argc - 1, huge = 2000 * argc;

    // The first of two is invalid; the second runs, with what the first did not write.
    fresh();
    scale<<<blocks, huge>>>(y, x, 2.0f);
    scale<<<blocks, threads * argc>>>(z, y, 3.0f);
    status(cudaPeekAtLastError(), cudaErrorInvalidValue, "peek");
    status(cudaGetLastError(), cudaErrorInvalidValue, "get");
    status(cudaGetLastError(), cudaSuccess, "get again");
    expect(z, [](int) { return 0; }, "the first is invalid");

    // The second of two is invalid.
    fresh();
    scale<<<blocks, threads * argc>>>(y, x, 2.0f);
    scale<<<zero, threads>>>(z, y, 3.0f);
    status(cudaGetLastError(), cudaErrorInvalidValue, "second");
    expect(y, [](int i) { return 2 * i; }, "the second is invalid");
    expect(z, [](int) { return 0; }, "did not run");

    // A check between: the first's error, not the second's.
    fresh();
    scale<<<blocks, threads * argc>>>(y, x, 2.0f);
    status(cudaGetLastError(), cudaSuccess, "between, valid");
    scale<<<blocks, huge>>>(z, y, 3.0f);
    status(cudaGetLastError(), cudaErrorInvalidValue, "after, invalid");
    scale<<<blocks, huge>>>(z, y, 3.0f);
    status(cudaPeekAtLastError(), cudaErrorInvalidValue, "between, invalid");
    scale<<<blocks, threads * argc>>>(z, y, 4.0f);
    status(cudaGetLastError(), cudaErrorInvalidValue, "left by peeking");
    expect(z, [](int i) { return 8 * i; }, "after an error");

    // Invalid only by a launch bound, or by shared memory; of one value that the host knows late.
    fresh();
    bounded<<<2, 128 * argc>>>(y, x);
    scale<<<2, 128 * argc>>>(z, y, 2.0f);
    status(cudaGetLastError(), cudaErrorInvalidValue, "bound");
    expect(z, [](int) { return 0; }, "bounded does not run");
    tile<<<blocks, threads, 100000 * argc>>>(y, x);
    scale<<<blocks, threads>>>(z, y, 2.0f);
    status(cudaGetLastError(), cudaErrorInvalidValue, "shared memory");
    expect(y, [](int) { return 0; }, "tile does not run");
    tile<<<blocks, threads, threads * sizeof(float)>>>(y, x);
    bounded<<<blocks, threads>>>(z, y);
    status(cudaGetLastError(), cudaSuccess, "valid");
    expect(z, [](int i) { return 3 * i + 1; }, "tile, bounded");

    // An error of another call stands while launches succeed.
    fresh();
    void *nothing;
    status(cudaMalloc(&nothing, (size_t)1 << 60), cudaErrorMemoryAllocation, "too much memory");
    scale<<<blocks, threads>>>(y, x, 2.0f);
    scale<<<blocks, threads>>>(z, y, 3.0f);
    status(cudaGetLastError(), cudaErrorMemoryAllocation, "older error");
    expect(z, [](int i) { return 6 * i; }, "after an older error");

    // Retry with fewer threads until it works.
    fresh();
    int size = 4096 * argc;
    for (;; size /= 2) {
        scale<<<(count + size - 1) / size, size>>>(y, x, 2.0f);
        if (cudaGetLastError() == cudaSuccess) break;
    }
    scale<<<(count + size - 1) / size, size>>>(z, y, 3.0f);
    if (size != 1024) wrong++, printf("size %d\n", size);
    expect(z, [](int i) { return 6 * i; }, "retried");

    // The launch's own status.
    fresh();
    float two = 2.0f;
    void *arguments[] = {&y, &x, &two};
    status(cudaLaunchKernel((const void *)scale, dim3(blocks), dim3(threads), arguments, 0, 0), cudaSuccess, "cudaLaunchKernel");
    arguments[0] = &z;
    arguments[1] = &y;
    status(cudaLaunchKernel((const void *)scale, dim3(blocks), dim3(huge), arguments, 0, 0), cudaErrorInvalidValue, "its status");
    status(cudaLaunchKernel((const void *)scale, dim3(blocks), dim3(threads), arguments, 0, 0), cudaSuccess, "again");
    status(cudaGetLastError(), cudaErrorInvalidValue, "last");
    expect(z, [](int i) { return 4 * i; }, "by cudaLaunchKernel");

    // Empty and flat grids.
    fresh();
    scale<<<dim3(blocks, zero), threads>>>(y, x, 2.0f);
    scale<<<dim3(blocks, zero), threads>>>(z, x, 2.0f);
    status(cudaGetLastError(), cudaErrorInvalidValue, "empty");
    scale<<<dim3(blocks, 70000 * argc), threads>>>(y, x, 2.0f);
    scale<<<dim3(blocks, 70000 * argc), threads>>>(z, y, 2.0f);
    status(cudaGetLastError(), cudaErrorInvalidValue, "too high");
    expect(y, [](int) { return 0; }, "empty");

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
