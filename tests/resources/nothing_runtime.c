// A CUDA runtime that launches nothing, and the time of a guarded step on it. Prints how many kernels
// were launched in a call of `step`, and the nanoseconds of one.
#include <stdio.h>
#include <string.h>
#include <time.h>

static volatile long launches;

typedef struct { unsigned x, y, z; } dim3;

int cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    (void)f, (void)grid, (void)block, (void)arguments, (void)shared, (void)stream;
    ++launches;
    return 0;
}
int cudaFuncGetAttributes(void *attributes, const void *f) {
    (void)f;
    memset(attributes, 0, 128);
    ((int *)attributes)[6] = 1024;
    return 0;
}
int cudaStreamIsCapturing(void *stream, int *status) {
    (void)stream;
    *status = 0;
    return 0;
}
int cudaFuncSetAttribute(const void *f, int attribute, int value) {
    (void)f, (void)attribute, (void)value;
    return 0;
}
int cudaGetDevice(int *device) {
    *device = 0;
    return 0;
}
int cudaDeviceGetAttribute(int *value, int attribute, int device) {
    (void)attribute, (void)device;
    *value = 48 << 10;
    return 0;
}
void *__cudaRegisterFatBinary(void *image) { return image; }
void __cudaRegisterFatBinaryEnd(void *handle) { (void)handle; }
void __cudaUnregisterFatBinary(void *handle) { (void)handle; }
int __cudaRegisterFunction(void *a, const char *b, char *c, const char *d, int e, void *f, void *g, void *h, void *i, int *j) {
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, (void)i, (void)j;
    return 0;
}
int __cudaPushCallConfiguration(dim3 a, dim3 b, size_t c, void *d) {
    (void)a, (void)b, (void)c, (void)d;
    return 0;
}
int __cudaPopCallConfiguration(dim3 *a, dim3 *b, size_t *c, void *d) {
    (void)a, (void)b, (void)c, (void)d;
    return 0;
}

void step(float *a, const float *b, const float *c, float *d, int n, int threads);

int main(int argc, char **argv) {
    (void)argv;
    float *memory = (float *)0x100000000;
    int n = 1 << 16, calls = 2000000, overlap = argc > 1;
    float *last = overlap ? memory + 100 : memory + 3 * n;
    step(memory, memory + n, memory + 2 * n, last, n, 256);
    long before = launches;
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        for (int call = 0; call < calls; ++call) step(memory, memory + n, memory + 2 * n, last, n, 256);
        clock_gettime(CLOCK_MONOTONIC, &end);
        double time = (end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec);
        if (time / calls < best) best = time / calls;
    }
    printf("%ld %.1f\n", (launches - before) / (5l * calls), best);
    return 0;
}
