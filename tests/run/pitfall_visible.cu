// Memory that host and device both see: managed, pinned, mapped, registered; the host reads
// and writes between launches, directly, through its own threads and library calls.
//
// expect: 16 launches -> 13
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

constexpr int count = 512, threads = 64, blocks = count / threads;
constexpr size_t bytes = count * sizeof(int);

__global__ void scale(int *y, const int *x, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * by;
}

static int wrong = 0;

template <class Expected> static void same(const int *found, Expected value, const char *what) {
    for (int i = 0; i < count; i++) {
        if (found[i] != value(i)) {
            printf("%s: element %d is %d, not %d\n", what, i, found[i], value(i));
            wrong++;
            return;
        }
    }
}

template <class Expected> static void expect(const int *device, Expected value, const char *what) {
    int found[count];
    cudaMemcpy(found, device, bytes, cudaMemcpyDeviceToHost);
    same(found, value, what);
}

int main(int argc, char **) {
    int *x, *y, *z, *managed, *pinned, *mapped, *of_mapped;
    int *plain = (int *)aligned_alloc(4096, bytes), *of_plain;
    cudaMalloc(&x, bytes);
    cudaMalloc(&y, bytes);
    cudaMalloc(&z, bytes);
    cudaMallocManaged(&managed, bytes);
    cudaMallocHost(&pinned, bytes);
    cudaHostAlloc(&mapped, bytes, cudaHostAllocMapped);
    cudaHostGetDevicePointer(&of_mapped, mapped, 0);
    cudaHostRegister(plain, bytes, cudaHostRegisterMapped);
    cudaHostGetDevicePointer(&of_plain, plain, 0);
    std::iota(plain, plain + count, 0);
    cudaMemcpy(x, plain, bytes, cudaMemcpyHostToDevice);

    // The host reads and writes between.
    scale<<<blocks, threads>>>(managed, x, 2);
    cudaDeviceSynchronize();
    same(managed, [](int i) { return 2 * i; }, "managed, read");
    for (int i = 0; i < count; i++) managed[i]++;
    scale<<<blocks, threads>>>(y, managed, 3);
    expect(y, [](int i) { return 3 * (2 * i + 1); }, "managed, written");
    scale<<<blocks, threads>>>(of_mapped, x, 2);
    cudaDeviceSynchronize();
    mapped[argc] = -1;
    scale<<<blocks, threads>>>(y, of_mapped, 3);
    cudaDeviceSynchronize();
    same(mapped, [](int i) { return i == 1 ? -1 : 2 * i; }, "mapped");
    expect(y, [](int i) { return i == 1 ? -3 : 6 * i; }, "mapped, written");

    // By library calls, and through a pointer that only they know.
    scale<<<blocks, threads>>>(pinned, x, 2);
    cudaDeviceSynchronize();
    memset(pinned, 0, bytes / 2);
    scale<<<blocks, threads>>>(y, pinned, 3);
    expect(y, [](int i) { return i < count / 2 ? 0 : 6 * i; }, "pinned");
    scale<<<blocks, threads>>>(of_plain, x, 5);
    cudaDeviceSynchronize();
    std::swap(plain[1], plain[2]);
    scale<<<blocks, threads>>>(y, of_plain, 1);
    expect(y, [](int i) { return 5 * (i == 1 ? 2 : i == 2 ? 1 : i); }, "registered");

    // Without a host access between they may be one; the host looks afterwards.
    scale<<<blocks, threads>>>(managed, x, 2);
    scale<<<blocks, threads>>>(managed, managed, 2);
    cudaDeviceSynchronize();
    same(managed, [](int i) { return 4 * i; }, "managed, afterwards");
    scale<<<blocks, threads>>>(y, x, 3);
    managed[0] = 77;
    scale<<<blocks, threads>>>(z, y, 2);
    expect(z, [](int i) { return 6 * i; }, "device memory only");
    cudaDeviceSynchronize();
    if (managed[0] != 77) wrong++;

    // Another thread of the host waits for a flag, then writes.
    std::atomic<int> ready{0};
    std::thread writer([managed, &ready] {
        while (ready.load() == 0) std::this_thread::yield();
        managed[3] = -3;
        ready.store(2);
    });
    scale<<<blocks, threads>>>(managed, x, 2);
    cudaDeviceSynchronize();
    ready.store(1);
    while (ready.load() != 2) std::this_thread::yield();
    scale<<<blocks, threads>>>(y, managed, 1);
    writer.join();
    expect(y, [](int i) { return i == 3 ? -3 : 2 * i; }, "written by a thread");

    // Prefetch, advice and copies between the two kinds.
    scale<<<blocks, threads>>>(managed, x, 2);
    cudaMemcpy(pinned, managed, bytes, cudaMemcpyDefault);
    scale<<<blocks, threads>>>(managed, managed, 2);
    cudaDeviceSynchronize();
    same(pinned, [](int i) { return 2 * i; }, "copied between");
    same(managed, [](int i) { return 4 * i; }, "after the copy");
    cudaHostUnregister(plain);
    free(plain);
    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
