// Inline PTX that converts between halves, bfloat16, whole numbers and numbers of twice the precision, with every
// rounding: what is between two numbers is rounded once, as the host finds by looking at all of them.
//
// options: -arch=sm_90
// expect: 4 launches -> 1
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

constexpr int PATTERNS = 1 << 12, DOUBLES = 1 << 12, WHOLE = 1 << 10;
enum { NEAREST, TOWARDS_ZERO, DOWN, UP, ROUNDINGS };

typedef signed char s8;
typedef unsigned char u8;
typedef short s16;
typedef unsigned short u16;
typedef int s32;
typedef unsigned u32;
typedef long long s64;
typedef unsigned long long u64;

// PTX has bytes of bfloat16 in registers of a byte only.
#define EACH_BYTE(x) x(0, s8, h, s16) x(1, u8, h, u16)
#define EACH_WHOLE(x) x(2, s16, h, s16) x(3, u16, h, u16) \
    x(4, s32, r, s32) x(5, u32, r, u32) x(6, s64, l, s64) x(7, u64, l, u64)

// Some half of 16 that follow each other, with those that nothing but an exponent tells from zero.
__host__ __device__ int some_half(int i) { return i * 16 + (i % 8 ? i * 5 % 16 : 0); }

// Halves to whole numbers, kept in 64 bits, and from the lowest bits of 64.
template <bool BRAIN> __global__ void to_whole(u64 *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const u16 a = (u16)some_half(i);
#define TO(n, type, letter, holder, rounding, r, name)                                             \
    { holder x; asm("cvt." #rounding "." #type "." #name " %0, %1;" : "=" #letter(x) : "h"(a));    \
      out[((n) * ROUNDINGS + r) * PATTERNS + i] = (u64)(s64)x; }
#define ALL(n, type, letter, holder)                                                               \
    if (BRAIN) { TO(n, type, letter, holder, rni, 0, bf16) TO(n, type, letter, holder, rzi, 1, bf16) \
                 TO(n, type, letter, holder, rmi, 2, bf16) TO(n, type, letter, holder, rpi, 3, bf16) } \
    else { TO(n, type, letter, holder, rni, 0, f16) TO(n, type, letter, holder, rzi, 1, f16)       \
           TO(n, type, letter, holder, rmi, 2, f16) TO(n, type, letter, holder, rpi, 3, f16) }
    EACH_WHOLE(ALL)
#define BYTE(type, n, rounding, r)                                                                 \
    { u16 x; asm("{ .reg .b8 byte; cvt." #rounding "." #type ".bf16 byte, %1; mov.b16 %0, {byte, 0}; }" : "=h"(x) : "h"(a)); \
      out[((n) * ROUNDINGS + r) * PATTERNS + i] = (u64)(s64)(type)x; }
#define BYTES(n, type, letter, holder)                                                             \
    if (BRAIN) { BYTE(type, n, rni, 0) BYTE(type, n, rzi, 1) BYTE(type, n, rmi, 2) BYTE(type, n, rpi, 3) } \
    else { TO(n, type, letter, holder, rni, 0, f16) TO(n, type, letter, holder, rzi, 1, f16)       \
           TO(n, type, letter, holder, rmi, 2, f16) TO(n, type, letter, holder, rpi, 3, f16) }
    EACH_BYTE(BYTES)
}

template <bool BRAIN> __global__ void to_half(u16 *out, u16 *of_double, const u64 *in, const double *doubles) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
#define FROM(n, type, letter, holder, rounding, r, name)                                           \
    { const holder a = (holder)(type)in[i % WHOLE]; u16 x;                                         \
      asm("cvt." #rounding "." #name "." #type " %0, %1;" : "=h"(x) : #letter(a));                 \
      if (i < WHOLE) out[((n) * ROUNDINGS + r) * WHOLE + i] = x; }
#define EVERY(n, type, letter, holder)                                                             \
    if (BRAIN) { FROM(n, type, letter, holder, rn, 0, bf16) FROM(n, type, letter, holder, rz, 1, bf16) \
                 FROM(n, type, letter, holder, rm, 2, bf16) FROM(n, type, letter, holder, rp, 3, bf16) } \
    else { FROM(n, type, letter, holder, rn, 0, f16) FROM(n, type, letter, holder, rz, 1, f16)     \
           FROM(n, type, letter, holder, rm, 2, f16) FROM(n, type, letter, holder, rp, 3, f16) }
    EACH_WHOLE(EVERY)
    if (!BRAIN) {
#define FROM_BYTE(n, type, letter, holder)                                                         \
    FROM(n, type, letter, holder, rn, 0, f16) FROM(n, type, letter, holder, rz, 1, f16)            \
    FROM(n, type, letter, holder, rm, 2, f16) FROM(n, type, letter, holder, rp, 3, f16)
        EACH_BYTE(FROM_BYTE)
    }
#define DOUBLE(rounding, r, name)                                                                  \
    asm("cvt." #rounding "." #name ".f64 %0, %1;" : "=h"(x) : "d"(doubles[i]));                    \
    of_double[r * DOUBLES + i] = x;
    u16 x;
    if (BRAIN) { DOUBLE(rn, 0, bf16) DOUBLE(rz, 1, bf16) DOUBLE(rm, 2, bf16) DOUBLE(rp, 3, bf16) }
    else { DOUBLE(rn, 0, f16) DOUBLE(rz, 1, f16) DOUBLE(rm, 2, f16) DOUBLE(rp, 3, f16) }
}

// The number of a pattern; of the infinite one, the next that the format would have.
static double number(int pattern, bool brain) {
    const int places = brain ? 7 : 10, least = brain ? -133 : -24;
    const int exponent = (pattern & 0x7fff) >> places, mantissa = pattern & ((1 << places) - 1);
    const double size = exponent ? std::ldexp(mantissa + (1 << places), exponent - 1 + least)
                                 : std::ldexp(mantissa, least);
    return pattern & 0x8000 ? -size : size;
}

// `x` rounded to a half: of the two around it the one that is wanted.
static int rounded(long double x, bool brain, int rounding) {
    const int infinite = brain ? 0x7f80 : 0x7c00;
    const bool negative = std::signbit(x);
    const long double size = std::fabs(x);
    int low = 0, high = infinite;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        (number(middle, brain) <= size ? low : high) = middle;
    }
    if (size >= number(infinite, brain)) low = infinite - (std::isinf(x) ? 0 : 1), high = infinite;
    const long double below = size - number(low, brain), above = number(high, brain) - size;
    bool away = rounding == UP ? !negative : rounding == DOWN ? negative : false;
    if (rounding == NEAREST) away = below > above || below == above && low % 2 == 1;
    if (below == 0 || std::isinf(x)) away = false;
    return (away ? high : low) | (negative ? 0x8000 : 0);
}

static u64 whole(int pattern, bool brain, int rounding, int bits, bool is_signed) {
    const bool none = (pattern & 0x7fff) > (brain ? 0x7f80 : 0x7c00);
    if (none) return bits == 64 ? 1ull << 63 : 0;
    const bool infinite = (pattern & 0x7fff) == (brain ? 0x7f80 : 0x7c00);
    const double x = infinite ? pattern & 0x8000 ? -INFINITY : INFINITY : number(pattern, brain);
    const double part = rounding == NEAREST ? std::nearbyint(x) : rounding == DOWN ? std::floor(x)
                        : rounding == UP ? std::ceil(x) : std::trunc(x);
    const double end = std::ldexp(1, is_signed ? bits - 1 : bits);
    const u64 largest = (is_signed ? 1ull << (bits - 1) : bits == 64 ? 0 : 1ull << bits) - 1;
    if (part >= end) return largest;
    if (part < (is_signed ? -end : 0)) return is_signed ? ~largest : 0;
    return part < 0 ? (u64)(s64)part : (u64)part;
}

static u64 state = 1;
static u64 random_bits() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state ^ state >> 29;
}

template <typename T> static T *on_device(size_t count, const T *from = nullptr) {
    T *there;
    cudaMalloc(&there, count * sizeof(T));
    if (from) cudaMemcpy(there, from, count * sizeof(T), cudaMemcpyHostToDevice);
    return there;
}

template <typename T> static std::vector<T> on_host(const T *there, size_t count) {
    std::vector<T> here(count);
    cudaMemcpy(here.data(), there, count * sizeof(T), cudaMemcpyDeviceToHost);
    return here;
}

int main() {
    std::vector<double> doubles(DOUBLES);
    for (int i = 0; i < DOUBLES; ++i) {
        // At a half, between two, and a last bit beside either; and what has any bits.
        const bool brain = i & 1;
        const int pattern = (int)(random_bits() >> 20) & 0xffff;
        double x = number(pattern, brain);
        if (i & 2) x = (x + number(pattern + 1, brain)) / 2;
        if (i & 4) x = std::nextafter(x, i & 8 ? -INFINITY : INFINITY);
        const u64 bits = random_bits();
        if (i % 16 == 15) memcpy(&x, &bits, 8);
        doubles[i] = x != x ? 1 : x;
    }
    std::vector<u64> in(WHOLE);
    for (int i = 0; i < WHOLE; ++i) {
        // Few bits with a few of the last ones, so that sums of tie and least bit occur.
        const u64 some = random_bits() | 1ull << 63;
        in[i] = (some >> (55 - i % 8) << i % 56) + (i & 64 ? (u64)(i % 3) - 1 : 0);
        if (i & 128) in[i] = 0 - in[i];
    }
    u64 *wholes[2];
    u16 *halves[2], *of_doubles[2];
    double *device_doubles = on_device(DOUBLES, doubles.data());
    u64 *device_in = on_device(WHOLE, in.data());
    for (int brain = 0; brain < 2; ++brain) {
        wholes[brain] = on_device<u64>(8 * ROUNDINGS * PATTERNS);
        halves[brain] = on_device<u16>(8 * ROUNDINGS * WHOLE);
        of_doubles[brain] = on_device<u16>(ROUNDINGS * DOUBLES);
    }
    to_whole<false><<<PATTERNS / 256, 256>>>(wholes[0]);
    to_whole<true><<<PATTERNS / 256, 256>>>(wholes[1]);
    to_half<false><<<DOUBLES / 256, 256>>>(halves[0], of_doubles[0], device_in, device_doubles);
    to_half<true><<<DOUBLES / 256, 256>>>(halves[1], of_doubles[1], device_in, device_doubles);
    int wrong = 0;
    auto expect = [&](const char *what, int brain, int kind, int rounding, u64 of, u64 got, u64 wanted) {
        if (got != wanted && wrong++ < 8)
            printf("%s: format %d, kind %d, rounding %d, of %llx: %llx, not %llx\n", what, brain, kind, rounding, of, got, wanted);
    };
    for (int brain = 0; brain < 2; ++brain) {
        const auto whole_numbers = on_host(wholes[brain], 8 * ROUNDINGS * PATTERNS);
        const auto from_whole = on_host(halves[brain], 8 * ROUNDINGS * WHOLE);
        const auto from_double = on_host(of_doubles[brain], ROUNDINGS * DOUBLES);
        for (int rounding = 0; rounding < ROUNDINGS; ++rounding) {
            for (int kind = 0; kind < 8; ++kind) {
                const int bits = 8 << kind / 2;
                const bool is_signed = kind % 2 == 0;
                for (int i = 0; i < PATTERNS; ++i)
                    expect("to whole", brain, kind, rounding, some_half(i), whole_numbers[(kind * ROUNDINGS + rounding) * PATTERNS + i],
                           whole(some_half(i), brain, rounding, bits, is_signed));
                for (int i = 0; i < WHOLE && !(brain && bits == 8); ++i) {
                    const u64 cut = in[i] << (64 - bits);
                    const long double x = is_signed ? (long double)((s64)cut >> (64 - bits)) : (long double)(cut >> (64 - bits));
                    expect("from whole", brain, kind, rounding, in[i], from_whole[(kind * ROUNDINGS + rounding) * WHOLE + i],
                           rounded(x, brain, rounding));
                }
            }
            for (int i = 0; i < DOUBLES; ++i) {
                u64 bits;
                memcpy(&bits, &doubles[i], 8);
                expect("from double", brain, 8, rounding, bits, from_double[rounding * DOUBLES + i], rounded(doubles[i], brain, rounding));
            }
        }
    }
    printf(wrong ? "FAIL: %d wrong\n" : "PASS\n", wrong);
    return wrong != 0;
}
