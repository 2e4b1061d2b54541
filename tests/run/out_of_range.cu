// Conversions of numbers that no integer holds, and shifts by the width or more: `cvt` saturates and makes 0 of NaN, or the
// highest bit where 64 bits are involved, and `shl` and `shr` shift everything out.
//
// expect: 2 launches -> 1
#include <climits>
#include <cmath>
#include <cstdio>
#include <cuda_fp16.h>

constexpr int NUMBERS = 8, DISTANCES = 6;

struct converted {
    int i, di, hi;
    unsigned u, du;
    long long l, dl;
    unsigned long long ul, dul;
    short s;
    unsigned char c;
};
struct shifted {
    int left, right;
    unsigned logical;
    long long long_left, long_right;
    unsigned long long long_logical;
};

__global__ void convert(const float *in, const double *doubles, converted *out) {
    const float f = in[threadIdx.x];
    const double d = doubles[threadIdx.x];
    out[threadIdx.x] = {(int)f, (int)d, (int)__float2half(f), (unsigned)f, (unsigned)d, (long long)f, (long long)d,
                        (unsigned long long)f, (unsigned long long)d, (short)f, (unsigned char)f};
}

__global__ void shift(const int *distances, int number, shifted *out) {
    const int n = distances[threadIdx.x];
    out[threadIdx.x] = {number << n, number >> n, (unsigned)number >> n, (long long)number << n, (long long)number >> n,
                        (unsigned long long)(long long)number >> n};
}

static int wrong = 0;

static void check(const char *what, int place, long long got, long long wanted) {
    if (got == wanted)
        return;
    wrong++;
    printf("%s %d: %lld for %lld\n", what, place, got, wanted);
}

// What PTX says, by comparisons.
static long long whole(double x, double least, double beyond, long long low, long long high, long long nan) {
    return std::isnan(x) ? nan : x < least ? low : x >= beyond ? high : (long long)x;
}

int main() {
    const float numbers[NUMBERS] = {NAN, INFINITY, -INFINITY, 3e9f, -3e9f, -1.5f, 1e19f, 200.75f};
    double numbers_twice[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        numbers_twice[i] = numbers[i];
    const int distances[DISTANCES] = {0, 5, 31, 32, 40, 64};
    const int number = -1234567;
    float *in;
    double *twice;
    int *by;
    converted *c, host[NUMBERS];
    shifted *s, moved[DISTANCES];
    cudaMalloc(&in, sizeof numbers);
    cudaMalloc(&twice, sizeof numbers_twice);
    cudaMalloc(&by, sizeof distances);
    cudaMalloc(&c, sizeof host);
    cudaMalloc(&s, sizeof moved);
    cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    cudaMemcpy(twice, numbers_twice, sizeof numbers_twice, cudaMemcpyHostToDevice);
    cudaMemcpy(by, distances, sizeof distances, cudaMemcpyHostToDevice);
    convert<<<1, NUMBERS>>>(in, twice, c);
    shift<<<1, DISTANCES>>>(by, number, s);
    cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpy(moved, s, sizeof moved, cudaMemcpyDeviceToHost);
    for (int i = 0; i < NUMBERS; i++) {
        const double x = numbers[i], two31 = 2147483648.0, two32 = 2 * two31, two63 = two31 * two32, two64 = 2 * two63;
        const converted &h = host[i];
        check("float to int", i, h.i, whole(x, -two31, two31, INT_MIN, INT_MAX, 0));
        check("double to int", i, h.di, whole(x, -two31, two31, INT_MIN, INT_MAX, INT_MIN));
        check("float to unsigned", i, h.u, whole(x, 0, two32, 0, UINT_MAX, 0));
        check("double to unsigned", i, h.du, whole(x, 0, two32, 0, UINT_MAX, 1ll << 31));
        check("float to long long", i, h.l, whole(x, -two63, two63, LLONG_MIN, LLONG_MAX, LLONG_MIN));
        check("double to long long", i, h.dl, whole(x, -two63, two63, LLONG_MIN, LLONG_MAX, LLONG_MIN));
        const long long large = x >= two63 && x < two64 ? (long long)(unsigned long long)x : whole(x, 0, two63, 0, -1, LLONG_MIN);
        check("float to unsigned long long", i, (long long)h.ul, large);
        check("double to unsigned long long", i, (long long)h.dul, large);
    }
    check("half to int", 7, host[7].hi, 200);
    check("float to short", 7, host[7].s, 200);
    check("float to unsigned char", 7, host[7].c, 200);
    for (int i = 0; i < DISTANCES; i++) {
        const int n = distances[i], wide = n < 64, narrow = n < 32;
        const long long l = number;
        check("int left", i, moved[i].left, narrow ? (int)((unsigned)number << n) : 0);
        check("int right", i, moved[i].right, narrow ? number >> n : -1);
        check("unsigned right", i, moved[i].logical, narrow ? (unsigned)number >> n : 0);
        check("long long left", i, moved[i].long_left, wide ? (long long)((unsigned long long)l << n) : 0);
        check("long long right", i, moved[i].long_right, wide ? l >> n : -1);
        check("unsigned long long right", i, (long long)moved[i].long_logical, wide ? (long long)((unsigned long long)l >> n) : 0);
    }
    printf(wrong ? "FAIL\n" : "PASS\n");
    return wrong != 0;
}
