/* Runtime calls, through CUDA's own semantics of streams, events, host functions and memory. */
#define _GNU_SOURCE
#include "image.h"
#include <pthread.h>
#include <unistd.h>

int cudaStreamCreate(void **);
int cudaStreamCreateWithFlags(void **, unsigned);
int cudaStreamDestroy(void *);
int cudaStreamSynchronize(void *);
int cudaStreamQuery(void *);
int cudaStreamWaitEvent(void *, void *, unsigned);
int cudaLaunchHostFunc(void *, void (*)(void *), void *);
int cudaStreamAddCallback(void *, void (*)(void *, int, void *), void *, unsigned);
int cudaEventCreate(void **);
int cudaEventCreateWithFlags(void **, unsigned);
int cudaEventRecord(void *, void *);
int cudaEventSynchronize(void *);
int cudaEventElapsedTime(float *, void *, void *);
int cudaEventDestroy(void *);
int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
int cudaMallocPitch(void **, size_t *, size_t, size_t);
int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemset2D(void *, size_t, int, size_t, size_t);
int cudaMallocHost(void **, size_t);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaFreeHost(void *);
int cudaHostRegister(void *, size_t, unsigned);
int cudaHostUnregister(void *);
int cudaGetDeviceCount(int *);
int cudaSetDevice(int);
int cudaDeviceGetAttribute(int *, int, int);
int cudaMemGetInfo(size_t *, size_t *);
int cudaStreamBeginCapture(void *, int);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);

static int order[2], filled;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void slow(void *value) {
    /* The host opens the gate only after the call that issued this function has returned. */
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    usleep(20000);
    order[filled++] = *(int *)value;
    /* Host functions must not call the runtime: refused, not a hang. */
    CHECK(cudaStreamSynchronize(0) == 800);
}

static void callback(void *stream, int status, void *value) {
    CHECK(stream != 0 && status == 0);
    order[filled++] = *(int *)value;
}

static void nothing(ThreadContext *t, void *const *a) { (void)t, (void)a; }
static const Kernel kernels[] = {KERNEL(nothing, 0, 0, 0)};

int main(void) {
    register_image(kernels, 1, 0, 0);
    void *stream, *other, *start, *end, *untimed;
    CHECK(cudaStreamCreate(&stream) == 0 && cudaStreamCreateWithFlags(&other, 1) == 0);
    CHECK(cudaEventCreate(&start) == 0 && cudaEventCreate(&end) == 0);
    CHECK(cudaEventCreateWithFlags(&untimed, 2) == 0);
    CHECK(cudaEventRecord(start, stream) == 0);
    int first = 1, second = 2;
    pthread_mutex_lock(&gate);
    CHECK(cudaLaunchHostFunc(stream, slow, &first) == 0);
    CHECK(cudaStreamQuery(stream) == 600 && cudaStreamQuery(other) == 0);
    pthread_mutex_unlock(&gate);
    CHECK(cudaStreamAddCallback(stream, callback, &second, 0) == 0);
    CHECK(cudaEventRecord(end, stream) == 0 && filled == 2);
    CHECK(order[0] == 1 && order[1] == 2);
    CHECK(cudaEventSynchronize(end) == 0 && cudaStreamWaitEvent(other, end, 0) == 0);
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, start, end) == 0 && milliseconds >= 20);
    CHECK(cudaEventRecord(untimed, 0) == 0);
    CHECK(cudaEventElapsedTime(&milliseconds, start, untimed) == 400);
    CHECK(cudaEventDestroy(start) == 0 && cudaEventDestroy(start) == 400);
    CHECK(cudaStreamDestroy(other) == 0 && cudaStreamSynchronize(other) == 400);
    CHECK(cudaStreamDestroy(0) == 400);

    /* Pitched rows. */
    char *rows, host[3 * 10], back[3 * 10];
    size_t pitch;
    for (int i = 0; i < 30; i++) host[i] = (char)i;
    CHECK(cudaMallocPitch((void **)&rows, &pitch, 10, 3) == 0 && pitch == 512);
    CHECK(cudaMemset2D(rows, pitch, 7, 10, 3) == 0 && rows[2 * 512 + 9] == 7 && rows[10] == 0);
    CHECK(cudaMemcpy2D(rows, pitch, host, 10, 10, 3, 1) == 0);
    CHECK(cudaMemcpy2D(back, 10, rows, pitch, 10, 3, 2) == 0 && memcmp(host, back, 30) == 0);
    CHECK(cudaMemcpy2D(back, 9, rows, pitch, 10, 3, 2) == 12);
    CHECK(cudaMemcpy2D(rows, pitch, host, 10, 10, 4, 1) == 1);

    /* Pinned, managed and registered memory. */
    int *pinned, *managed;
    CHECK(cudaMallocHost((void **)&pinned, 64) == 0 && cudaMallocManaged((void **)&managed, 64, 1) == 0);
    pinned[3] = 9;
    CHECK(cudaMemcpyAsync(managed, pinned, 64, 4, stream) == 0 && managed[3] == 9);
    CHECK(cudaFree(pinned) == 1 && cudaFreeHost(managed) == 1);
    CHECK(cudaFreeHost(pinned) == 0 && cudaFree(managed) == 0);
    CHECK(cudaHostRegister(host, sizeof host, 0) == 0 && cudaHostRegister(host, 1, 0) == 712);
    CHECK(cudaHostUnregister(host) == 0 && cudaHostUnregister(host) == 713);

    int count = 0, value = 0;
    CHECK(cudaGetDeviceCount(&count) == 0 && count == 1);
    CHECK(cudaSetDevice(1) == 101 && cudaSetDevice(0) == 0);
    CHECK(cudaDeviceGetAttribute(&value, 97, 0) == 0 && value == 166912);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, nothing, 256, 0) == 0 && value == 8);
    size_t before, after, total;
    CHECK(cudaMemGetInfo(&before, &total) == 0);
    void *large;
    CHECK(cudaMalloc(&large, 1 << 20) == 0 && cudaMemGetInfo(&after, &total) == 0);
    CHECK(before - after == 1 << 20);
    CHECK(cudaMalloc(&large, (size_t)1 << 60) == 2);
    CHECK(cudaStreamBeginCapture(0, 0) == 900 && cudaGetLastError() == 900);

    /* More allocations than the system has mappings for. */
    static void *many[40000];
    for (int i = 0; i < 40000; i++) CHECK(cudaMalloc(&many[i], 100) == 0);
    for (int i = 0; i < 40000; i++) CHECK(cudaMemset(many[i], i, 100) == 0);
    for (int i = 0; i < 40000; i++) CHECK(cudaFree(many[i]) == 0);
    puts("ok");
    return 0;
}
