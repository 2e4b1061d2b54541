// The host writes text between launches, and what it writes may tell of them: the memory is the host's, too, or the
// stream is the program's own and looks at the device.
//
// expect: 7 launches -> 6
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <streambuf>

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

// Writes what the device has at that time to each line.
struct Watching : std::streambuf {
    const float *watched;
    int overflow(int character) override {
        float value = 0;
        if (character == '\n') {
            cudaMemcpy(&value, watched, sizeof value, cudaMemcpyDeviceToHost);
            printf(" (the device has %a)", value);
        }
        putchar(character);
        return character;
    }
};

static void own_stream(float *a, float *b, int n, int blocks) {
    Watching watching;
    watching.watched = a;
    std::ostream stream(&watching);
    scale<<<blocks, 128>>>(a, 2, n);
    stream << "scaled\n";
    add<<<blocks, 128>>>(a, b, n);
    stream << "added\n";
}

int main() {
    int n = 1000, blocks = (n + 127) / 128;
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    fill<<<blocks, 128>>>(a, 1, n);
    fill<<<blocks, 128>>>(b, 2, n);
    own_stream(a, b, n, blocks);

    float *managed;
    cudaMallocManaged(&managed, n * sizeof(float));
    // The host sees this memory as it writes.
    fill<<<blocks, 128>>>(managed, 4, n);
    cudaDeviceSynchronize();
    printf("%a\n", managed[1]);
    scale<<<blocks, 128>>>(managed, 2, n);
    cudaDeviceSynchronize();
    fwrite(managed, sizeof(float), 0, stdout);
    printf("%a\n", managed[1]);
    add<<<blocks, 128>>>(managed, a, n);
    cudaDeviceSynchronize();
    printf("%a\n", managed[1]);
    printf("PASS\n");
}
