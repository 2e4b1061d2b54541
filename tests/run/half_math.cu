// Half precision and bfloat16 beyond sums and products: functions, comparisons of pairs, saturation, conversions
// with directed rounding; against the host.
//
// options: -arch=sm_90
// expect: 4 launches -> 1
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

constexpr int PATTERNS = 1 << 16;
constexpr int FUNCTIONS = 12, COMPARED = 8, ROUNDED = 16;

// Another pattern, for comparisons. The product needs more than 31 bits.
__host__ __device__ int other_of(int pattern) { return (int)((unsigned)pattern * 40503u + 77 & 0xffff); }

template <typename T> __device__ T number(int pattern) {
    T value;
    unsigned short bits = (unsigned short)pattern;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

__device__ unsigned bits_of(half2 x) { return *(unsigned *)&x; }
__device__ unsigned bits_of(__nv_bfloat162 x) { return *(unsigned *)&x; }
__device__ unsigned short bits_of(half x) { return *(unsigned short *)&x; }
__device__ unsigned short bits_of(__nv_bfloat16 x) { return *(unsigned short *)&x; }

template <typename T> __global__ void functions(float *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const T x = number<T>(i);
    const T of[FUNCTIONS] = {hexp(x), hexp2(x), hexp10(x), hlog(x),  hlog2(x), hlog10(x),
                             hsin(x), hcos(x),  hsqrt(x),  hrsqrt(x), htanh_approx(x), hfloor(x)};
    for (int f = 0; f < FUNCTIONS; ++f) out[f * PATTERNS + i] = (float)of[f];
}

__global__ void compare(unsigned *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const half a = number<half>(i), b = number<half>(other_of(i));
    const half2 x = __halves2half2(a, b), y = __halves2half2(b, b);
    const __nv_bfloat16 c = number<__nv_bfloat16>(i), d = number<__nv_bfloat16>(other_of(i));
    const __nv_bfloat162 u = __halves2bfloat162(c, d), v = __halves2bfloat162(d, d);
    const unsigned of[COMPARED] = {
        bits_of(__hlt2(x, y)),        bits_of(__hgeu2(x, y)),       bits_of(__hisnan2(x)), __hne2_mask(x, y),
        bits_of(__hlt2(u, v)),        bits_of(__heq2(u, v)),        bits_of(__hadd2_sat(x, y)), bits_of(__hmul2_sat(u, v))};
    for (int f = 0; f < COMPARED; ++f) out[f * PATTERNS + i] = of[f];
}

__host__ __device__ float fraction(int i) {
    // Many sizes, and numbers between halves.
    return ldexpf((float)((int)(i * 2654435761u >> 8) - (1 << 23)), i % 64 - 56);
}

// Whole numbers, downwards and towards zero, for which the host has no function.
__host__ __device__ __nv_bfloat16 down(int whole) {
#ifdef __CUDA_ARCH__
    return __int2bfloat16_rd(whole);
#else
    const float near = (float)whole;
    return __float2bfloat16_rd((double)near > whole ? nextafterf(near, -INFINITY) : near);
#endif
}

__host__ __device__ __nv_bfloat16 shorter(int whole) {
#ifdef __CUDA_ARCH__
    return __int2bfloat16_rz(whole);
#else
    const float near = (float)whole;
    return __float2bfloat16_rz(std::fabs((double)near) > std::fabs((double)whole) ? nextafterf(near, 0) : near);
#endif
}

// What host and device convert alike.
__host__ __device__ void round_to(int i, unsigned short *of) {
    const float x = fraction(i);
    const int whole = (int)(i * 2654435761u) >> (i % 31);
    const half h[8] = {__float2half_rd(x),  __float2half_ru(x),   __float2half_rz(x),  __int2half_rd(whole),
                       __int2half_ru(whole), __int2half_rz(whole), __uint2half_rd((unsigned)whole), __short2half_ru((short)whole)};
    const __nv_bfloat16 b[8] = {__float2bfloat16_rd(x),   __float2bfloat16_ru(x),   __float2bfloat16_rz(x),
                                __int2bfloat16_rn(whole), down(whole), shorter(whole),
                                __uint2bfloat16_rn((unsigned)whole), __short2bfloat16_rn((short)whole)};
    memcpy(of, h, sizeof h);
    memcpy(of + 8, b, sizeof b);
}

__global__ void round_all(unsigned short *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned short of[ROUNDED];
    round_to(i, of);
    for (int f = 0; f < ROUNDED; ++f) out[f * PATTERNS + i] = of[f];
}

static int wrong = 0;

static void tell(const char *what, int which, int i, double got, double wanted) {
    if (++wrong <= 10) printf("%s %d of %04x: %g, not %g\n", what, which, i, got, wanted);
}

template <typename T> static float on_host(int pattern) {
    T value;
    unsigned short bits = (unsigned short)pattern;
    memcpy(&value, &bits, sizeof bits);
    return (float)value;
}

template <typename T> static void check_functions(const char *what, const float *device, double unit, double least, double most) {
    std::vector<float> got(FUNCTIONS * PATTERNS);
    cudaMemcpy(got.data(), device, got.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < PATTERNS; ++i) {
        const double x = on_host<T>(i);
        if (!std::isfinite(x)) continue;
        const double wanted[FUNCTIONS] = {exp(x), exp2(x), pow(10, x), log(x), log2(x), log10(x),
                                          sin(x), cos(x), sqrt(x), 1 / sqrt(x), tanh(x), floor(x)};
        for (int f = 0; f < FUNCTIONS; ++f) {
            const double value = got[f * PATTERNS + i], right = wanted[f];
            if (std::isnan(right) || std::fabs(right) > most || ((f == 6 || f == 7) && std::fabs(x) > 1e4)) continue;
            // Numbers below the least are not whole; a double knows more of large arguments than a float.
            if (!(std::fabs(value - right) <= 3 * unit * std::fabs(right) + least)) tell(what, f, i, value, right);
        }
    }
}

static unsigned pair(bool low, bool high, unsigned truth) { return (low ? truth : 0) | (high ? truth << 16 : 0); }

int main() {
    float *of_half, *of_bfloat;
    unsigned *compared;
    unsigned short *rounded;
    cudaMalloc(&of_half, FUNCTIONS * PATTERNS * sizeof(float));
    cudaMalloc(&of_bfloat, FUNCTIONS * PATTERNS * sizeof(float));
    cudaMalloc(&compared, COMPARED * PATTERNS * sizeof(unsigned));
    cudaMalloc(&rounded, ROUNDED * PATTERNS * sizeof(short));
    functions<half><<<PATTERNS / 256, 256>>>(of_half);
    functions<__nv_bfloat16><<<PATTERNS / 256, 256>>>(of_bfloat);
    compare<<<PATTERNS / 256, 256>>>(compared);
    round_all<<<PATTERNS / 256, 256>>>(rounded);
    check_functions<half>("half", of_half, 1.0 / 2048, 1e-7, 65504);
    check_functions<__nv_bfloat16>("bfloat16", of_bfloat, 1.0 / 256, 1e-37, 3e38);

    std::vector<unsigned> got(COMPARED * PATTERNS);
    cudaMemcpy(got.data(), compared, got.size() * sizeof(unsigned), cudaMemcpyDeviceToHost);
    for (int i = 0; i < PATTERNS; ++i) {
        const int other = other_of(i);
        const float a = on_host<half>(i), b = on_host<half>(other);
        const float c = on_host<__nv_bfloat16>(i), d = on_host<__nv_bfloat16>(other);
        const unsigned ones = 0x3c00, masks = 0xffff, bones = 0x3f80;
        const unsigned wanted[6] = {pair(a < b, false, ones),   pair(!(a < b), true, ones), pair(a != a, b != b, ones),
                                    pair(a < b || a > b, false, masks), pair(c < d, false, bones),  pair(c == d, d == d, bones)};
        for (int f = 0; f < 6; ++f)
            if (got[f * PATTERNS + i] != wanted[f]) tell("comparison", f, i, got[f * PATTERNS + i], wanted[f]);
        const float sum = a + b, product = c * d;
        const float kept = sum > 0 ? std::fmin(sum, 1.0f) : 0.0f, bounded = product > 0 ? std::fmin(product, 1.0f) : 0.0f;
        const half low = __float2half_rn(kept);
        const __nv_bfloat16 less = __float2bfloat16_rn(bounded);
        unsigned short bits[2];
        memcpy(&bits[0], &low, 2);
        memcpy(&bits[1], &less, 2);
        if ((got[6 * PATTERNS + i] & 0xffff) != bits[0]) tell("sum", 6, i, got[6 * PATTERNS + i] & 0xffff, bits[0]);
        if ((got[7 * PATTERNS + i] & 0xffff) != bits[1]) tell("product", 7, i, got[7 * PATTERNS + i] & 0xffff, bits[1]);
    }

    std::vector<unsigned short> conversions(ROUNDED * PATTERNS);
    cudaMemcpy(conversions.data(), rounded, conversions.size() * sizeof(short), cudaMemcpyDeviceToHost);
    for (int i = 0; i < PATTERNS; ++i) {
        unsigned short wanted[ROUNDED];
        round_to(i, wanted);
        for (int f = 0; f < ROUNDED; ++f)
            if (conversions[f * PATTERNS + i] != wanted[f]) tell("conversion", f, i, conversions[f * PATTERNS + i], wanted[f]);
    }
    printf(wrong ? "FAIL: %d wrong\n" : "PASS\n", wrong);
    return wrong != 0;
}
