// The host writes text between launches: to its streams, in error checks that go on or leave, in a function.
// What it writes tells nothing of a kernel, unless that prints.
//
// expect: 14 launches -> 7
// arguments:
// arguments: 3000
#include <cstdio>
#include <cstdlib>
#include <iostream>

__global__ void scale(float *a, float k, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= k;
}

__global__ void add(float *a, const float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += b[i];
}

__global__ void fill(float *a, float k, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = k + i % 7;
}

__global__ void tell(float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += 1;
    if (i == 0) printf("the device says %g\n", a[0]);
}

static void say(const char *what, int step) {
    if (step % 2) printf("%s %d\n", what, step);
    else fprintf(stderr, "%s %d\n", what, step);
}

static void show(const float *a, int n) {
    float *host = (float *)malloc(n * sizeof(float)), sum = 0;
    cudaMemcpy(host, a, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) sum += host[i] / n;
    printf("%a\n", sum);
    free(host);
}

static int checked(float *a, float *b, int n, int blocks) {
#define CHECK(leave)                                                         \
    {                                                                        \
        cudaError_t error = cudaGetLastError();                              \
        if (error != cudaSuccess) {                                          \
            fprintf(stderr, "failed: %s\n", cudaGetErrorString(error));      \
            leave;                                                           \
        }                                                                    \
    }
    scale<<<blocks, 128>>>(a, 3, n);
    CHECK(return 1)
    add<<<blocks, 128>>>(a, b, n);
    CHECK(exit(2))
    scale<<<blocks, 128>>>(a, 0.5f, n);
    CHECK((void)0)
    add<<<blocks, 128>>>(b, a, n);
    CHECK(return 3)
    return 0;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1000, blocks = (n + 127) / 128;
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));

    fill<<<blocks, 128>>>(a, 1, n);
    printf("filled a\n");
    fill<<<blocks, 128>>>(b, 2, n);
    std::cout << "filled b, " << n << std::endl;
    add<<<blocks, 128>>>(a, b, n);
    say("added", 1);
    scale<<<blocks, 128>>>(a, 3, n);
    fflush(stdout);
    show(a, n);

    printf("checked: %d\n", checked(a, b, n, blocks));
    show(a, n);
    show(b, n);

    // The device's own lines stand between the host's.
    tell<<<blocks, 128>>>(a, n);
    cudaDeviceSynchronize();
    printf("told once\n");
    scale<<<blocks, 128>>>(a, 0.5f, n);
    tell<<<blocks, 128>>>(a, n);
    cudaDeviceSynchronize();
    printf("told twice\n");
    scale<<<blocks, 128>>>(a, 0.5f, n);
    show(a, n);

    // So much takes its time, in which the device can work.
    char *text = (char *)malloc(n * 8);
    for (int i = 0; i < n * 8; ++i) text[i] = i % 64 == 63 ? '\n' : 'a' + i % 26;
    scale<<<blocks, 128>>>(a, 2, n);
    fwrite(text, 1, n * 8, stdout);
    add<<<blocks, 128>>>(a, b, n);
    show(a, n);
    printf("PASS\n");
}
