// Sets, and copies within the device, are part of the launches that touch the same memory; their
// errors stay.
//
// expect: 13 launches -> 11
#include <cstdio>
#include <vector>

constexpr int threads = 128;

template <class T> __global__ void add(T *y, const T *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}

// Two elements of each thread, a launch apart.
__global__ void stride(float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += 1.0f;
}

__global__ void backwards(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[n - 1 - i];
}

static int wrong = 0;

template <class T, class Expected> static void expect(const T *device, int n, Expected expected, const char *what) {
    std::vector<T> host(n);
    cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        if (host[i] != expected(i) && wrong++ < 8)
            std::printf("%s: element %d is %g and not %g\n", what, i, double(host[i]), double(expected(i)));
}

template <class T> static T *filled(int n) {
    std::vector<T> host(n);
    for (int i = 0; i < n; i++) host[i] = T(i % 50);
    T *device;
    cudaMalloc(&device, n * sizeof(T));
    cudaMemcpy(device, host.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    return device;
}

template <class T> static T splat(int byte) {
    union {
        unsigned char bytes[sizeof(T)];
        T value;
    } all;
    for (unsigned char &one : all.bytes) one = byte;
    return all.value;
}

template <class T> static void set_then_add(int n, int byte, const char *what) {
    T *x = filled<T>(n), *y;
    cudaMalloc(&y, n * sizeof(T));
    cudaMemset(y, byte, n * sizeof(T));
    add<<<(n + threads - 1) / threads, threads>>>(y, x, n);
    expect(y, n, [&](int i) { return T(splat<T>(byte) + T(i % 50)); }, what);
    cudaFree(x);
    cudaFree(y);
}

int main(int argc, char **) {
    int n = 1000 * argc + 7, blocks = (n + threads - 1) / threads;
    // Elements of every size, a value that is more than a byte.
    set_then_add<double>(n, 0x140, "double");
    set_then_add<int>(n, -1, "int");
    set_then_add<short>(n, 3, "short");
    set_then_add<signed char>(n, 0, "char");

    float *x = filled<float>(n), *y, *z;
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&z, n * sizeof(float));
    // Between launches, in streams.
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMemsetAsync(y, 0, n * sizeof(float), stream);
    add<<<blocks, threads, 0, stream>>>(y, x, n);
    cudaMemcpyAsync(z, y, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
    add<<<blocks, threads, 0, stream>>>(z, y, n);
    cudaStreamSynchronize(stream);
    expect(z, n, [](int i) { return 2.0f * (i % 50); }, "stream");

    // More elements than threads, in a loop.
    for (int round = 0; round < 3; round++) {
        cudaMemset(y, 0, n * sizeof(float));
        stride<<<2, threads>>>(y, n);
    }
    expect(y, n, [](int) { return 1.0f; }, "loop");

    // A part of the allocation.
    cudaMemcpy(z, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaMemset(z, 0, 256 * sizeof(float));
    add<<<2, threads>>>(z, x, 256);
    expect(z, n, [](int i) { return float(i % 50); }, "part");

    // The copy's elements move to other threads: stays unfused.
    cudaMemcpy(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
    backwards<<<blocks, threads>>>(z, y, n);
    expect(z, n, [&](int i) { return float((n - 1 - i) % 50); }, "backwards");

    // Within one allocation.
    cudaMemcpy(y + 512, y, 512, cudaMemcpyDeviceToDevice);
    add<<<1, threads>>>(y, y + 512, 128);
    expect(y, 128, [](int i) { return 2.0f * (i % 50); }, "one allocation");

    // Errors: longer than the allocation, of no allocation; the launches are right nevertheless.
    cudaMemset(z, 0, n * sizeof(float));
    wrong += cudaMemset(z, 1, n * sizeof(float) + 4) != cudaErrorInvalidValue;
    add<<<blocks, threads>>>(z, x, n);
    wrong += cudaGetLastError() != cudaErrorInvalidValue;
    expect(z, n, [](int i) { return float(i % 50); }, "too long");
    cudaFree(z);
    wrong += cudaMemset(z, 0, n * sizeof(float)) != cudaErrorInvalidValue;
    cudaGetLastError();
    add<<<blocks, threads>>>(y, x, n);

    // Nothing to set: an allocation of no bytes is a null pointer.
    float *none;
    int nothing = argc - 1;
    cudaMalloc(&none, nothing * sizeof(float));
    wrong += cudaMemset(none, 0, nothing * sizeof(float)) != cudaSuccess;
    add<<<blocks, threads>>>(none, x, nothing);
    wrong += cudaDeviceSynchronize() != cudaSuccess;

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
