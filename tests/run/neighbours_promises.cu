// What a kernel may take for granted of itself, its neighbours may not: memory is read as another
// type than it was written as, signed sums have overflowed, shifts were too far.
//
// arguments:
// arguments: apart
// expect: 20 launches -> 9
#include <cstdio>
#include <cstring>
#include <vector>

constexpr int count = 500, threads = 128, blocks = (count + threads - 1) / threads;
constexpr size_t most = 8 * count;

// An element a thread, whatever it is.
template <class Out, class... In, class Function>
__global__ void each(Function function, Out *out, const In *...in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = function(i, in[i]...);
}

__global__ void multiples(double *out, double by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = i * by;
}

__global__ void accumulate(long long *out, const long long *in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] += in[i];
}

static int wrong = 0;

template <class T, class Expected> static void expect(const char *what, const void *device, Expected expected) {
    T found[count];
    cudaMemcpy(found, device, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) {
        T value = expected(i);
        if (memcmp(&found[i], &value, sizeof value) != 0) {
            printf("%s: element %d\n", what, i);
            wrong++;
            return;
        }
    }
}

template <class To, class From> static To bits(From from) {
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

int main(int argc, char **) {
    // A pool whose parts are what its users need, here the first and the second part the same, and
    // numbers near the largest.
    char *pool;
    cudaMalloc(&pool, 4 * most);
    cudaMemset(pool, 0, 4 * most);
    char *first = pool, *second = pool + (argc - 1) * most, *third = pool + 2 * most, *fourth = pool + 3 * most;

    // Doubles, then whole numbers in the same place, by another pointer.
    each<<<blocks, threads>>>([] __device__(int i) { return i * 0.25; }, (double *)first);
    each<<<blocks, threads>>>([] __device__(int, long long x) { return x + 1; }, (long long *)third,
                              (const long long *)second);
    each<<<blocks, threads>>>([] __device__(int i) { return i * 7.5; }, (double *)first);
    bool same = argc == 1;
    expect<long long>("doubles as numbers", third,
                      [=](int i) { return 1 + (same ? bits<long long>(i * 0.25) : 0); });

    // Added up in place, where other types were.
    cudaMemset(pool, 0, 4 * most);
    auto *sums = (long long *)first, *more = (long long *)fourth;
    multiples<<<blocks, threads>>>((double *)first, 0.5);
    accumulate<<<blocks, threads>>>(sums, (const long long *)second);
    multiples<<<blocks, threads>>>((double *)fourth, 1.5);
    accumulate<<<blocks, threads>>>(more, sums);
    auto doubled = [=](int i) { return bits<long long>(i * 0.5) * (same ? 2 : 1); };
    expect<long long>("sums of other types", sums, doubled);
    expect<long long>("sums of both", more, [=](int i) { return bits<long long>(i * 1.5) + doubled(i); });

    // Overflow in one kernel is a number for the next.
    int *x, *y, *z;
    for (int **at : {&x, &y, &z}) cudaMalloc(at, most);
    std::vector<int> host(count);
    for (int i = 0; i < count; i++) host[i] = 0x7fffffff - 3 * i;
    cudaMemcpy(x, host.data(), count * sizeof(int), cudaMemcpyHostToDevice);
    auto given = [&](int i) { return (unsigned)host[i]; };
    each<<<blocks, threads>>>([] __device__(int, int x) { return x + 1000; }, y, x);
    each<<<blocks, threads>>>([] __device__(int, int y, int x) { return (int)(y > x); }, z, y, x);
    expect<int>("above itself", z, [=](int i) { return (int)(given(i) + 1000) > (int)given(i); });
    each<<<blocks, threads>>>([] __device__(int, int x) { return x * 10; }, y, x);
    each<<<blocks, threads>>>([] __device__(int, int y) { return y / 10; }, z, y);
    expect<int>("product and quotient", z, [=](int i) { return (int)(given(i) * 10) / 10; });
    each<<<blocks, threads>>>([] __device__(int, int x) { return x > 0 ? x * 3 : x - 1; }, y, x);
    each<<<blocks, threads>>>([] __device__(int, int y) { return y < 0 ? 1 : y % 3; }, z, y);
    each<<<blocks, threads>>>([] __device__(int, int z, int y) { return z * 2 + (y / 3 == 5); }, z, z, y);
    expect<int>("chosen", z, [=](int i) {
        int y = (int)(given(i) * 3), z = y < 0 ? 1 : y % 3;
        return z * 2 + (y / 3 == 5);
    });

    // A sum over a loop.
    auto sum = [] __device__(int i, int x) {
        int total = 1;
        for (int k = 0; k < i % 9; k++) total = total * 31 + x;
        return total;
    };
    each<<<blocks, threads>>>(sum, y, x);
    each<<<blocks, threads>>>([] __device__(int, int y) { return y * 2; }, z, y);
    each<<<blocks, threads>>>([] __device__(int, int z) { return z / 2; }, z, z);
    expect<int>("hash", z, [=](int i) {
        unsigned total = 1;
        for (int k = 0; k < i % 9; k++) total = total * 31 + given(i);
        return (int)(total * 2) / 2;
    });
    each<<<blocks, threads>>>([] __device__(int i) { return (short)(i * 100); }, (short *)x);
    each<<<blocks, threads>>>([] __device__(int i, short x) { return (int)(char)x + i; }, y, (const short *)x);
    each<<<blocks, threads>>>([] __device__(int, int y) { return y + 5; }, z, y);
    expect<int>("narrow", z, [](int i) { return (int)(char)(short)(i * 100) + i + 5; });
    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
