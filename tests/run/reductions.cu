// Updates of one cell by one exact operator, whose results nobody uses, need no order: launches that
// make them become one. Floating-point sums, different operators, atomics of a block and results that
// are used keep theirs.
//
// expect: 26 launches -> 18
// expect-missed: global_dependence
// expect-missed: copy_between
// expect-missed: copy_between
// expect-missed: copy_between
// expect-missed: copy_between
// expect-missed: copy_between
// expect-missed: copy_between
// expect-missed: copy_between
// expect-missed: global_dependence
// expect-missed: copy_between
// expect-missed: global_dependence
// expect-missed: copy_between
// expect-missed: global_dependence
// expect-missed: copy_between
// expect-missed: global_dependence
// expect-missed: copy_between
// expect-missed: global_dependence
#include <cstdio>

constexpr int count = 2048, threads = 128, blocks = count / threads, bins = 32;

__global__ void scale(int *y, const int *x, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * by;
}

__global__ void histogram(int *counts, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&counts[(unsigned)x[i] % bins], 1);
}

__global__ void copy_counts(int *y, const int *counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = counts[i % bins];
}

__global__ void extremes(int *most, int *least, unsigned *far, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMax(most, x[i]);
    atomicMin(least, x[i]);
    atomicMax(far, (unsigned)x[i]);
}

__global__ void parity(unsigned *bits, unsigned long long *wide, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicXor(bits, (unsigned)x[i]);
    atomicOr(bits + 1, 1u << (x[i] & 31));
    atomicAnd(bits + 2, ~(1u << (x[i] & 15)));
    atomicInc(bits + 3, 99u);
    atomicAdd(wide, (unsigned long long)x[i] << 20);
}

__global__ void count_to_eighty(unsigned *bits, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] >= 0) atomicInc(bits + 3, 80u);
}

__global__ void largest(int *cell, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMax(cell, x[i] % 50);
}

__global__ void float_sum(float *sum, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sum, (float)(x[i] % 8));
}

// One block alone uses the cell, atomically for itself.
__global__ void in_block(int *cell, const int *x, int which) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x == which) atomicAdd_block(cell, x[i]);
}

__global__ void ticket(int *tickets, int *next) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tickets[i] = atomicAdd(next, 1) >= 0;
}

static int host[count], found[count];
static int wrong = 0;

static void expect(const void *device, int at, int value, const char *what) {
    int seen;
    cudaMemcpy(&seen, (const int *)device + at, sizeof seen, cudaMemcpyDeviceToHost);
    if (seen != value) printf("%s: %d, not %d\n", what, seen, value), wrong++;
}

int main(int argc, char **) {
    int *x, *y, *z, *counts, *other;
    for (int i = 0; i < count; i++) host[i] = i * 37 % 1021 - 100;
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&y, sizeof host);
    cudaMalloc(&z, sizeof host);
    cudaMalloc(&counts, sizeof host);
    cudaMalloc(&other, sizeof host);
    auto fresh = [&] {
        cudaMemset(counts, 0, sizeof host);
        cudaMemset(other, 0, sizeof host);
    };
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    auto times = [](int which, int by) {
        int result = 0;
        for (int v : host) result += (unsigned)(v * by) % bins == which;
        return result;
    };

    // One histogram of two inputs, 2 -> 1; its reader sees both.
    fresh();
    scale<<<blocks, threads>>>(y, x, 3);
    cudaDeviceSynchronize();
    histogram<<<blocks, threads>>>(counts, x);
    histogram<<<blocks, threads>>>(counts, y);
    copy_counts<<<blocks, threads>>>(z, counts);
    cudaMemcpy(found, z, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++)
        if (found[i] != times(i % bins, 1) + times(i % bins, 3)) wrong++;

    // Each input is counted where it is made, 4 -> 1.
    fresh();
    scale<<<blocks, threads>>>(y, x, 5);
    histogram<<<blocks, threads>>>(counts, y);
    scale<<<blocks, threads>>>(z, y, 7);
    histogram<<<blocks, threads>>>(counts, z);
    expect(counts, 3, times(3, 5) + times(3, 35), "counted where made");

    // Which of two the second counts into is known at run time only: no test is needed.
    fresh();
    histogram<<<blocks, threads>>>(counts, x);
    histogram<<<blocks, threads>>>(argc > 1 ? other : counts, x);
    expect(counts, 5, 2 * times(5, 1), "counted somewhere");

    // A fill in between.
    fresh();
    histogram<<<blocks, threads>>>(counts, x);
    cudaMemset(counts, 0, sizeof host);
    histogram<<<blocks, threads>>>(counts, x);
    expect(counts, 5, times(5, 1), "filled in between");

    // Other operators, each with itself.
    fresh();
    extremes<<<blocks, threads>>>(counts, counts + 1, (unsigned *)counts + 2, x);
    extremes<<<blocks, threads>>>(counts, counts + 1, (unsigned *)counts + 2, y);
    expect(counts, 0, 5 * 920, "maximum");
    expect(counts, 1, -500, "minimum");
    expect(counts, 2, -1, "unsigned maximum");
    fresh();
    parity<<<blocks, threads>>>((unsigned *)counts, (unsigned long long *)(counts + 8), x);
    parity<<<blocks, threads>>>((unsigned *)counts, (unsigned long long *)(counts + 8), y);
    expect(counts, 3, 2 * count % 100, "counter");

    // Counters with different limits.
    fresh();
    parity<<<blocks, threads>>>((unsigned *)counts, (unsigned long long *)(counts + 8), x);
    count_to_eighty<<<blocks, threads>>>((unsigned *)counts, x);
    cudaDeviceSynchronize();

    // Different operators on one cell.
    fresh();
    histogram<<<blocks, threads>>>(counts, x);
    largest<<<blocks, threads>>>(counts, x);
    expect(counts, 0, times(0, 1) > 49 ? times(0, 1) : 49, "sum, then maximum");

    // Sums of floating-point numbers.
    fresh();
    float_sum<<<blocks, threads>>>((float *)counts, x);
    float_sum<<<blocks, threads>>>((float *)counts, y);
    cudaDeviceSynchronize();

    // Atomics of one block, which another block continues.
    fresh();
    in_block<<<blocks, threads>>>(counts, x, 0);
    in_block<<<blocks, threads>>>(counts, x, 1);
    int sum = 0;
    for (int i = 0; i < 2 * threads; i++) sum += host[i];
    expect(counts, 0, sum, "blocks in turn");

    // Results that are used.
    fresh();
    ticket<<<blocks, threads>>>(y, counts);
    ticket<<<blocks, threads>>>(z, counts);
    expect(counts, 0, 2 * count, "tickets");
    cudaDeviceSynchronize();
    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
