// Static and dynamic shared memory of several kernels in one: layouts that overlap, sizes that
// differ, a write after the last read of a neighbour, sizes above 48 KiB with the opt-in attribute.
//
// expect: 16 launches -> 7
#include <cstdio>
#include <vector>

constexpr int threads = 128, blocks = 6, total = threads * blocks;

__global__ void shift_static(float *y, const float *x) {
    __shared__ float tile[threads];
    int base = blockIdx.x * blockDim.x, t = threadIdx.x;
    tile[t] = x[base + t];
    __syncthreads();
    y[base + t] = tile[(t + 1) % threads];
}

// Ends with reads of shared memory by other threads than wrote it; no barrier after it.
__global__ void mix_static(float *z, const float *y) {
    __shared__ double wide[threads];
    __shared__ char narrow[3];
    int base = blockIdx.x * blockDim.x, t = threadIdx.x;
    wide[threads - 1 - t] = y[base + t];
    if (t < 3) narrow[t] = t;
    __syncthreads();
    z[base + t] = wide[t] + narrow[t % 3];
}

extern __shared__ float dynamic[];

__global__ void shift_dynamic(float *y, const float *x, int by) {
    int base = blockIdx.x * blockDim.x, t = threadIdx.x;
    dynamic[t] = x[base + t];
    __syncthreads();
    y[base + t] = dynamic[(t + by) % threads] * 2.0f;
}

// The same dynamic memory as another type, and static memory beside it.
extern __shared__ double dynamic_doubles[];

__global__ void both(float *z, const float *y, int words) {
    __shared__ int offsets[threads];
    int base = blockIdx.x * blockDim.x, t = threadIdx.x;
    offsets[t] = (t * 5) % threads;
    for (int k = t; k < words; k += threads) dynamic_doubles[k] = k;
    __syncthreads();
    z[base + t] = y[base + t] + dynamic_doubles[offsets[(t + 1) % threads]] + dynamic_doubles[words - 1];
}

// Uses the memory that its launch gives to the last byte.
__global__ void large(float *y, const float *x, int words) {
    int base = blockIdx.x * blockDim.x, t = threadIdx.x;
    for (int k = t; k < words; k += threads) dynamic[k] = x[base + k % threads] + k;
    __syncthreads();
    y[base + t] = dynamic[words - 1 - t];
}

static int wrong = 0;
static std::vector<float> host(total);

static std::vector<float> values(const float *device) {
    std::vector<float> result(total);
    cudaMemcpy(result.data(), device, total * sizeof(float), cudaMemcpyDeviceToHost);
    return result;
}

template <class Expected> static void expect(const float *device, Expected value, const char *what) {
    std::vector<float> found = values(device);
    for (int i = 0; i < total; i++) {
        if (found[i] != value(i / threads * threads, i % threads)) {
            printf("%s: element %d is %g, not %g\n", what, i, found[i], value(i / threads * threads, i % threads));
            wrong++;
            return;
        }
    }
}

int main(int argc, char **) {
    float *x, *y, *z;
    cudaMalloc(&x, total * sizeof(float));
    cudaMalloc(&y, total * sizeof(float));
    cudaMalloc(&z, total * sizeof(float));
    for (int i = 0; i < total; i++) host[i] = i * i % 1000;
    cudaMemcpy(x, host.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    auto shifted = [](int base, int t, int by) { return host[base + (t + by) % threads]; };

    // Static and static.
    shift_static<<<blocks, threads>>>(y, x);
    mix_static<<<blocks, threads>>>(z, y);
    shift_static<<<blocks, threads>>>(y, z);
    auto mixed = [&](int base, int t) { return shifted(base, threads - 1 - t, 1) + t % 3; };
    expect(z, mixed, "static, static");
    expect(y, [&](int base, int t) { return mixed(base, (t + 1) % threads); }, "static, static, static");

    // Dynamic of two sizes, static between.
    shift_dynamic<<<blocks, threads, threads * sizeof(float)>>>(y, x, 3 * argc);
    both<<<blocks, threads, 500 * sizeof(double)>>>(z, y, 500 * argc);
    auto through_both = [&](int base, int t) { return 2.0f * shifted(base, t, 3) + (t + 1) * 5 % threads + 499.0f; };
    expect(z, through_both, "dynamic, both");
    mix_static<<<blocks, threads>>>(y, z);
    shift_dynamic<<<blocks, threads, threads * sizeof(float)>>>(x, y, 1);
    both<<<blocks, threads, 128 * sizeof(double)>>>(z, x, 128);
    auto mixed_both = [&](int base, int t) { return through_both(base, threads - 1 - t) + t % 3; };
    expect(z, [&](int base, int t) { return 2.0f * mixed_both(base, (t + 1) % threads) + (t + 1) * 5 % threads + 127.0f; },
           "static, dynamic, both");
    cudaMemcpy(x, host.data(), total * sizeof(float), cudaMemcpyHostToDevice);

    // Above 48 KiB: with the attribute for one, for both, and forgotten.
    const int words = 60 * 1024 / sizeof(float), bytes = words * sizeof(float);
    auto large_of = [&](int base, int t) {
        int k = words - 1 - t;
        return host[base + k % threads] + k;
    };
    cudaMemset(y, 0, total * sizeof(float));
    large<<<blocks, threads, bytes>>>(y, x, words);
    shift_dynamic<<<blocks, threads, threads * sizeof(float)>>>(z, x, 1);
    if (cudaGetLastError() != cudaErrorInvalidValue) wrong++, puts("a launch without the attribute is accepted");
    expect(y, [](int, int) { return 0.0f; }, "refused");
    expect(z, [&](int base, int t) { return 2.0f * shifted(base, t, 1); }, "beside a refused one");
    if (cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) != cudaSuccess) wrong++;
    large<<<blocks, threads, bytes>>>(y, x, words);
    shift_static<<<blocks, threads>>>(z, y);
    expect(z, [&](int base, int t) { return large_of(base, (t + 1) % threads); }, "large, static");
    large<<<blocks, threads, bytes>>>(y, x, words);
    shift_dynamic<<<blocks, threads, threads * sizeof(float)>>>(z, y, 1);
    expect(z, [&](int base, int t) { return 2.0f * large_of(base, (t + 1) % threads); }, "large, dynamic");
    large<<<blocks, threads, bytes>>>(y, x, words);
    large<<<blocks, threads, 1024>>>(z, y, 256);
    expect(z, [&](int base, int t) { return large_of(base, (255 - t) % threads) + 255 - t; }, "large, small");
    if (cudaGetLastError() != cudaSuccess) wrong++;

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
