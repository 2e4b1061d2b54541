// Numbers of eight bits as the device converts them, against what the header does on the host: every one of them as
// a half, every half as one of them, and as many floats around the numbers and between them.
//
// options: -arch=sm_90
// expect: 2 launches -> 1
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda_fp8.h>
#include <vector>

constexpr int PATTERNS = 1 << 16;

struct Results {
    unsigned short of_float[2][PATTERNS], of_half[2][PATTERNS];
    unsigned to_half[2][PATTERNS];
};

__host__ __device__ unsigned bits_of(__half2_raw pair) { return pair.x | (unsigned)pair.y << 16; }

__host__ __device__ void convert(int i, float x, float y, Results *out) {
    const __half2_raw halves = {(unsigned short)i, (unsigned short)(i * 40503)};
    for (int kind = 0; kind < 2; ++kind) {
        const auto format = kind ? __NV_E5M2 : __NV_E4M3;
        out->of_float[kind][i] = __nv_cvt_float2_to_fp8x2(make_float2(x, y), __NV_SATFINITE, format);
        out->of_half[kind][i] = __nv_cvt_halfraw2_to_fp8x2(halves, __NV_SATFINITE, format);
        out->to_half[kind][i] = bits_of(__nv_cvt_fp8x2_to_halfraw2((unsigned short)i, format));
    }
}

__global__ void on_device(const float *x, Results *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    convert(i, x[i], x[PATTERNS - 1 - i], out);
}

__global__ void count(const float *x, int *nans) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] != x[i]) atomicAdd(nans, 1);
}

static bool alike(unsigned a, unsigned b) {
    // Which of the patterns that are no number it is does not matter.
    auto none = [](unsigned half) { return (half & 0x7fff) > 0x7c00; };
    for (int part = 0; part < 32; part += 16) {
        const unsigned x = a >> part & 0xffff, y = b >> part & 0xffff;
        if (x != y && !(none(x) && none(y))) return false;
    }
    return true;
}

int main() {
    std::vector<float> x(PATTERNS);
    unsigned state = 1;
    for (int i = 0; i < PATTERNS; ++i) {
        state = state * 1664525u + 1013904223u;
        // Sums of a few bits with a last one beside the tie, of all sizes that matter.
        const int places = (state >> 8) % 32;
        x[i] = std::ldexp((float)(places + 1), (int)(state >> 16) % 30 - 22);
        if (i % 3) x[i] = std::nextafter(x[i], i % 3 == 1 ? INFINITY : -INFINITY);
        if (i & 4) x[i] = -x[i];
        if (i % 97 == 0) memcpy(&x[i], &state, 4);
    }
    x[0] = NAN, x[1] = INFINITY, x[2] = -INFINITY, x[3] = 0.0f, x[4] = -0.0f;
    float *device_x;
    int *nans;
    Results *results, *got = new Results, *wanted = new Results;
    cudaMalloc(&device_x, PATTERNS * sizeof(float));
    cudaMalloc(&results, sizeof(Results));
    cudaMalloc(&nans, sizeof(int));
    cudaMemset(nans, 0, sizeof(int));
    cudaMemcpy(device_x, x.data(), PATTERNS * sizeof(float), cudaMemcpyHostToDevice);
    on_device<<<PATTERNS / 256, 256>>>(device_x, results);
    count<<<PATTERNS / 256, 256>>>(device_x, nans);
    cudaMemcpy(got, results, sizeof(Results), cudaMemcpyDeviceToHost);
    int wrong = 0;
    auto expect = [&](const char *what, int kind, int i, unsigned got, unsigned wanted, bool same) {
        if (!same && wrong++ < 8) printf("%s, format %d, %x (%g): %x, not %x\n", what, kind, i, x[i], got, wanted);
    };
    for (int i = 0; i < PATTERNS; ++i) {
        convert(i, x[i], x[PATTERNS - 1 - i], wanted);
        for (int kind = 0; kind < 2; ++kind) {
            const unsigned a = got->of_float[kind][i], b = wanted->of_float[kind][i];
            expect("of float", kind, i, a, b, a == b);
            const unsigned c = got->of_half[kind][i], d = wanted->of_half[kind][i];
            expect("of half", kind, i, c, d, c == d);
            const unsigned e = got->to_half[kind][i], f = wanted->to_half[kind][i];
            expect("to half", kind, i, e, f, alike(e, f));
        }
    }
    printf(wrong ? "FAIL: %d wrong\n" : "PASS\n", wrong);
    return wrong != 0;
}
