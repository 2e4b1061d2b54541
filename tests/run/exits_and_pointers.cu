// Launches where a program ends or fails, and pointers that only a test at run time tells apart.
// expect: 18 launches -> 5
// arguments: 1000
#include <cstdio>
#include <cstdlib>

__global__ void scale(float *values, float factor, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] *= factor;
}

__global__ void add(float *sum, const float *values, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) sum[i] += values[i];
}

static float *last;
static int last_count;

static float first_of(const float *values) {
    float first;
    cudaMemcpy(&first, values, sizeof first, cudaMemcpyDeviceToHost);
    return first;
}

// Runs after the main thread's own values are gone.
static void at_exit() {
    int blocks = (last_count + 127) / 128;
    scale<<<blocks, 128>>>(last, 2.0f, last_count);
    scale<<<blocks, 128>>>(last, 0.25f, last_count);
    printf("at exit: %g\n", first_of(last));
}

struct AddsOnTheWayOut {
    float *sum;
    const float *values;
    int count;
    ~AddsOnTheWayOut() { add<<<(count + 127) / 128, 128>>>(sum, values, count); }
};

// A launch is pending where the exception leaves; the destructor's launch comes after it.
__attribute__((noinline)) void throws(float *sum, const float *values, int count, bool fails) {
    AddsOnTheWayOut guard{sum, values, count};
    scale<<<(count + 127) / 128, 128>>>(sum, 2.0f, count);
    if (fails) throw 5;
    scale<<<(count + 127) / 128, 128>>>(sum, 3.0f, count);
}

// Six launches over buffers of one allocation site: each two buffers are compared once.
__attribute__((noinline)) void many(float **buffers, int count) {
    int blocks = (count + 127) / 128;
    add<<<blocks, 128>>>(buffers[0], buffers[1], count);
    add<<<blocks, 128>>>(buffers[1], buffers[2], count);
    add<<<blocks, 128>>>(buffers[2], buffers[0], count);
    add<<<blocks, 128>>>(buffers[0], buffers[2], count);
    add<<<blocks, 128>>>(buffers[1], buffers[0], count);
    add<<<blocks, 128>>>(buffers[2], buffers[1], count);
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 100;
    float *buffers[4];
    float *host = (float *)malloc((count + 1) * sizeof(float));
    for (int i = 0; i <= count; i++) host[i] = 1.0f + i % 3;
    for (float *&buffer : buffers) {
        cudaMalloc(&buffer, (count + 1) * sizeof(float));
        cudaMemcpy(buffer, host, (count + 1) * sizeof(float), cudaMemcpyHostToDevice);
    }
    many(buffers, count);
    printf("%g %g %g\n", first_of(buffers[0]), first_of(buffers[1]), first_of(buffers[2]));
    // Two of them are one buffer now.
    float *overlapping[3] = {buffers[0], buffers[1], buffers[1]};
    many(overlapping, count);
    printf("%g %g\n", first_of(buffers[0] + 2), first_of(buffers[1] + 2));
    for (int fails = 0; fails < 2; fails++) {
        try {
            throws(buffers[3], buffers[2], count, fails != 0);
        } catch (int code) {
            printf("caught %d\n", code);
        }
        printf("%g\n", first_of(buffers[3]));
    }
    last = buffers[3];
    last_count = count;
    atexit(at_exit);
    puts("PASS");
}
