// Streams, events, callbacks and capture between launches.
//
// expect: 25 launches -> 22
#include <atomic>
#include <cstdio>
#include <cstdlib>

constexpr int count = 256, threads = 64, blocks = count / threads;
constexpr size_t bytes = count * sizeof(float);

__global__ void scale(float *y, const float *x, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = by * x[i];
}

__global__ void turn(float *y, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[count - 1 - i];
}

static int wrong = 0;
static float host[count];

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

#define CHECK(call)                                                                    \
    do {                                                                               \
        cudaError_t status = (call);                                                   \
        if (status != cudaSuccess) {                                                   \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

struct Seen {
    const float *pinned;
    float sum;
    int calls;
};

static void CUDART_CB sum_up(void *data) {
    Seen *seen = (Seen *)data;
    for (int i = 0; i < count; i++) seen->sum += seen->pinned[i];
    seen->calls++;
}

static void CUDART_CB sum_up_old(cudaStream_t, cudaError_t status, void *data) {
    if (status == cudaSuccess) sum_up(data);
}

int main(int argc, char **) {
    float *x, *y, *z, *pinned;
    for (int i = 0; i < count; i++) host[i] = i;
    CHECK(cudaMalloc(&x, bytes));
    CHECK(cudaMalloc(&y, bytes));
    CHECK(cudaMalloc(&z, bytes));
    CHECK(cudaMallocHost(&pinned, bytes));
    CHECK(cudaMemcpy(x, host, bytes, cudaMemcpyHostToDevice));
    cudaStream_t one, two;
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    cudaEvent_t done, start, stop;
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));

    // One stream, and one stream under two names.
    scale<<<blocks, threads, 0, one>>>(y, x, 5.0f);
    scale<<<blocks, threads, 0, one>>>(z, y, 3.0f);
    CHECK(cudaStreamSynchronize(one));
    expect(z, [](int i) { return 15 * i; }, "one stream");
    cudaStream_t same = argc > 1 ? two : one;
    scale<<<blocks, threads, 0, one>>>(y, x, 2.0f);
    scale<<<blocks, threads, 0, same>>>(z, y, 3.0f);
    CHECK(cudaStreamSynchronize(one));
    expect(z, [](int i) { return 6 * i; }, "two names");

    // The second stream reads after an event, and the first goes on.
    scale<<<blocks, threads, 0, one>>>(y, x, 2.0f);
    CHECK(cudaEventRecord(done, one));
    CHECK(cudaStreamWaitEvent(two, done, 0));
    turn<<<blocks, threads, 0, two>>>(z, y);
    CHECK(cudaEventRecord(done, two));
    CHECK(cudaStreamWaitEvent(one, done, 0));
    scale<<<blocks, threads, 0, one>>>(y, y, 5.0f);
    CHECK(cudaDeviceSynchronize());
    expect(z, [](int i) { return 2 * (count - 1 - i); }, "second stream");
    expect(y, [](int i) { return 10 * i; }, "first stream");

    // Launches of one stream with another stream's between, apart and not.
    scale<<<blocks, threads, 0, one>>>(y, x, 2.0f);
    scale<<<blocks, threads, 0, two>>>(z, x, 7.0f);
    scale<<<blocks, threads, 0, one>>>(y, y, 3.0f);
    CHECK(cudaDeviceSynchronize());
    expect(z, [](int i) { return 7 * i; }, "other stream");
    expect(y, [](int i) { return 6 * i; }, "around the other stream");

    // The default stream orders `one`, and per-thread and legacy handles are streams of their own.
    scale<<<blocks, threads>>>(y, x, 2.0f);
    scale<<<blocks, threads, 0, one>>>(z, y, 3.0f);
    scale<<<blocks, threads>>>(y, z, 2.0f);
    expect(y, [](int i) { return 12 * i; }, "default stream");
    scale<<<blocks, threads, 0, cudaStreamLegacy>>>(y, x, 2.0f);
    scale<<<blocks, threads, 0, 0>>>(z, y, 3.0f);
    CHECK(cudaDeviceSynchronize());
    scale<<<blocks, threads, 0, cudaStreamPerThread>>>(y, z, 2.0f);
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    expect(y, [](int i) { return 12 * i; }, "legacy and per-thread stream");

    // Timing events around one of two launches.
    CHECK(cudaEventRecord(start));
    scale<<<blocks, threads>>>(y, x, 2.0f);
    CHECK(cudaEventRecord(stop));
    scale<<<blocks, threads>>>(z, y, 3.0f);
    CHECK(cudaEventSynchronize(stop));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    if (!(milliseconds >= 0)) wrong++, puts("no time");
    expect(z, [](int i) { return 6 * i; }, "timed");

    // Callbacks see what was before them.
    Seen seen = {pinned, 0, 0};
    scale<<<blocks, threads, 0, one>>>(pinned, x, 2.0f);
    CHECK(cudaLaunchHostFunc(one, sum_up, &seen));
    scale<<<blocks, threads, 0, one>>>(pinned, pinned, 0.0f);
    CHECK(cudaStreamAddCallback(one, sum_up_old, &seen, 0));
    scale<<<blocks, threads, 0, one>>>(pinned, x, 1.0f);
    CHECK(cudaStreamSynchronize(one));
    if (seen.sum != count * (count - 1) || seen.calls != 2) wrong++, printf("callbacks saw %g in %d calls\n", seen.sum, seen.calls);
    for (int i = 0; i < count; i++) wrong += pinned[i] != i;

    // Polling.
    scale<<<blocks, threads, 0, one>>>(y, x, 2.0f);
    while (cudaStreamQuery(one) == cudaErrorNotReady) {}
    scale<<<blocks, threads, 0, one>>>(z, y, 3.0f);
    CHECK(cudaEventRecord(done, one));
    while (cudaEventQuery(done) == cudaErrorNotReady) {}
    expect(z, [](int i) { return 6 * i; }, "polled");

    CHECK(cudaStreamDestroy(one));
    CHECK(cudaStreamCreate(&one));
    scale<<<blocks, threads, 0, one>>>(y, x, 2.0f);
    CHECK(cudaStreamDestroy(one));
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaDeviceSynchronize());
    scale<<<blocks, threads, 0, one>>>(z, y, 2.0f);
    CHECK(cudaStreamSynchronize(one));
    expect(z, [](int i) { return 4 * i; }, "a stream anew");

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
