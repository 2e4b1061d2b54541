// Launches that move below a wait, in a program with events and streams: what the host waits for afterwards tells
// whether they are done by then.
//
// expect: 10 launches -> 7
// expect-missed: copy_between control_flow control_flow fence copy_between fence
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void scale(float *y, const float *x, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

__global__ void add(float *z, const float *y, float summand, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = y[i] + summand;
}

static void check(cudaError_t found, int line) {
    if (found == cudaSuccess) return;
    fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(found));
    exit(1);
}

#define CHECK_LAUNCH() (check(cudaGetLastError(), __LINE__), check(cudaDeviceSynchronize(), __LINE__))

static int wrong = 0;

static int compare(const void *left, const void *right) {
    float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

// What `qsort` does is not known: it may be anything that looks at memory of the device.
static void expect(const float *device, int n, float value) {
    std::vector<float> host(n);
    qsort(host.data(), n, sizeof(float), compare);
    cudaMemcpy(host.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost);
    qsort(host.data(), n, sizeof(float), compare);
    for (int i = 0; i < n; i++) wrong += host[i] != value;
}

int main(int argc, char **) {
    const int n = 1000, threads = 128, blocks = (n + threads - 1) / threads;
    float *x, *y, *z;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&z, n * sizeof(float));
    std::vector<float> ones(n, 1.0f);
    cudaMemcpy(x, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaStream_t stream, other;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);

    // A timer around launches that are each checked.
    cudaEventRecord(start);
    if (argc > 0) {
        scale<<<blocks, threads>>>(y, x, 2.0f, n);
        CHECK_LAUNCH();
        add<<<blocks, threads>>>(z, y, 1.0f, n);
        CHECK_LAUNCH();
    }
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    expect(z, n, 3.0f);

    // Their own stream is waited for.
    if (argc > 0) {
        scale<<<blocks, threads, 0, stream>>>(y, x, 3.0f, n);
        cudaStreamSynchronize(stream);
        add<<<blocks, threads, 0, stream>>>(z, y, 1.0f, n);
        cudaStreamSynchronize(stream);
    }
    expect(z, n, 4.0f);

    // In a loop.
    for (int round = 0; round < 3 * argc; round++) {
        scale<<<blocks, threads>>>(y, x, 4.0f + round, n);
        CHECK_LAUNCH();
        add<<<blocks, threads>>>(z, y, 1.0f, n);
        CHECK_LAUNCH();
        expect(z, n, 5.0f + round);
    }

    // Another stream is waited for: the first launch would not be done where its memory is read.
    if (argc > 0) {
        scale<<<blocks, threads, 0, stream>>>(y, x, 5.0f, n);
        cudaStreamSynchronize(stream);
        add<<<blocks, threads, 0, stream>>>(z, y, 1.0f, n);
        cudaStreamSynchronize(other);
        expect(y, n, 5.0f);
        cudaStreamSynchronize(stream);
    }
    expect(z, n, 6.0f);

    // An event that was recorded before.
    if (argc > 0) {
        scale<<<blocks, threads, 0, stream>>>(y, x, 6.0f, n);
        cudaStreamSynchronize(stream);
        add<<<blocks, threads, 0, stream>>>(z, y, 1.0f, n);
        cudaEventSynchronize(stop);
        expect(y, n, 6.0f);
        cudaStreamSynchronize(stream);
    }
    expect(z, n, 7.0f);

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
