// Host code without -O, in which an int that overflows wraps around: that is what the host compiler makes of it which
// nvcc runs, and programs rely on that in random numbers and in squares of large indices.
//
// expect: 1 launches -> 1
#include <climits>
#include <cstdio>

__global__ void square(int *values, int count) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < count) {
        values[i] *= values[i];
    }
}

__attribute__((noinline)) static int wrong_squares(const int *values, int count) {
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        if (values[i] != i * i) {
            wrong++;
        }
    }
    return wrong;
}

__attribute__((noinline)) static bool grows(int from, int by) { return from + by > from; }

__attribute__((noinline)) static long long drawn(int seed, int steps) {
    long long sum = 0;
    for (int i = 0; i < steps; i++) {
        seed = seed * 1103515245 + 12345;
        sum += (seed << 3) / 16;
    }
    return sum;
}

static long long drawn_unsigned(unsigned seed, int steps) {
    long long sum = 0;
    for (int i = 0; i < steps; i++) {
        seed = seed * 1103515245u + 12345u;
        sum += static_cast<int>(seed << 3) / 16;
    }
    return sum;
}

int main() {
    const int count = 100000;
    static int values[count];
    for (int i = 0; i < count; i++) {
        values[i] = i;
    }
    int *device;
    cudaMalloc(&device, sizeof values);
    cudaMemcpy(device, values, sizeof values, cudaMemcpyHostToDevice);
    square<<<(count + 127) / 128, 128>>>(device, count);
    cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost);
    cudaFree(device);
    const int wrong = wrong_squares(values, count);
    const bool wraps = !grows(INT_MAX, 100) && grows(1, 2);
    const bool same = drawn(7, 1000) == drawn_unsigned(7, 1000);
    printf("%d wrong squares, wraps %d, same numbers %d\n", wrong, wraps, same);
    printf(wrong == 0 && wraps && same ? "PASS\n" : "FAIL\n");
    return wrong == 0 && wraps && same ? 0 : 1;
}
