// What CUDA's headers turn into inline PTX and unusual intrinsics: cooperative groups (whose kernels
// fuse like others), directed rounding, arithmetic on packed bytes and halves, functions that nvcc has built in.
//
// expect: 3 launches -> 1
#include <cfenv>
#include <cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cuda_bf16.h>
#include <sm_20_atomic_functions.h>
#include <sm_20_intrinsics.h>
#include <sm_32_atomic_functions.h>
#include <sm_35_atomic_functions.h>
#include <sm_60_atomic_functions.h>
#include <sm_61_intrinsics.h>
#include <vector>

namespace cg = cooperative_groups;

constexpr int N = 256;
constexpr int U = 17;

__global__ void reversed(int *a) {
    auto block = cg::this_thread_block();
    __shared__ int s[128];
    int i = cg::this_grid().thread_rank();
    s[block.thread_rank()] = a[i];
    block.sync();
    a[i] = s[block.size() - 1 - block.thread_rank()];
}

__global__ void eights(int *a) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = cg::reduce(tile, a[i], cg::plus<int>()) + tile.thread_rank();
}

__global__ void arithmetic(const int *a, float *f, double *d, unsigned *u) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i] * 0.3f, y = 1.0f / (i + 3);
    float *fi = f + 12 * i;
    double *di = d + 6 * i;
    unsigned *ui = u + U * i;
    fi[0] = __fmul_rz(x, y), fi[1] = __fmul_ru(x, y), fi[2] = __fmul_rd(x, y);
    fi[3] = __fadd_rz(x, y), fi[4] = __fsub_ru(x, y), fi[5] = __fadd_rd(x, y);
    fi[6] = __fdiv_rz(x, y), fi[7] = __fsqrt_ru(y), fi[8] = __fmaf_rd(x, y, -y);
    fi[9] = __double2float_ru(x / 3.0), fi[10] = __int2float_rz(a[i] * 1000003);
    fi[11] = __bfloat162float(__float2bfloat16(x));
    di[0] = __dmul_rz(x / 3.0, y), di[1] = __dadd_ru(x, y / 3.0), di[2] = __ddiv_rd(x, y);
    di[3] = __dsqrt_rz(y), di[4] = __fma_ru(x / 3.0, y / 3.0, x), di[5] = __drcp_rd(y);
    unsigned p = a[i] * 2654435761u, q = p * 40503u + 12345u;
    ui[0] = __vadd4(p, q), ui[1] = __vsubss2(p, q), ui[2] = __vabsdiffu4(p, q);
    ui[3] = __vsadu4(p, q), ui[4] = __vmaxs2(p, q), ui[5] = __vcmpgtu4(p, q);
    ui[6] = __vavgu4(p, q), ui[7] = __vaddus4(p, q);
    ui[8] = __dp4a(int(p), int(q), a[i]), ui[9] = __dp4a(p, q, 7u);
    ui[10] = __dp2a_lo(int(p), int(q), a[i]), ui[11] = __dp2a_hi(p, q, 7u);
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(ui[12]) : "r"(p), "r"(q), "r"(a[i]));
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(ui[13]) : "r"(p), "r"(q), "r"(a[i]));
    ui[14] = __nv_bswap32(p), ui[15] = __nv_bswap16(p);
    ui[16] = __nv_bswap64((unsigned long long)p << 32 | q);
}

template <class Operation> double rounded(int direction, Operation operation) {
    fesetround(direction);
    double result = operation();
    fesetround(FE_TONEAREST);
    return result;
}

template <class Lane> unsigned packed(unsigned p, unsigned q, int bits, Lane lane) {
    unsigned result = 0, mask = (1u << bits) - 1;
    for (int at = 0; at < 32; at += bits)
        result |= (unsigned(lane(int(p >> at & mask), int(q >> at & mask))) & mask) << at;
    return result;
}

#define ROUND(direction, expression) rounded(direction, [&]() -> double { return expression; })

int main() {
    std::vector<int> a(N), want(N);
    for (int i = 0; i < N; i++) a[i] = i * 37 % 101 - 40;
    int *da;
    float *df;
    double *dd;
    unsigned *du;
    cudaMalloc(&da, N * 4), cudaMalloc(&df, N * 48), cudaMalloc(&dd, N * 48), cudaMalloc(&du, N * U * 4);
    cudaMemcpy(da, a.data(), N * 4, cudaMemcpyHostToDevice);
    reversed<<<2, 128>>>(da);
    eights<<<2, 128>>>(da);
    arithmetic<<<2, 128>>>(da, df, dd, du);
    std::vector<float> f(12 * N);
    std::vector<double> d(6 * N);
    std::vector<unsigned> u(U * N);
    cudaMemcpy(f.data(), df, N * 48, cudaMemcpyDeviceToHost);
    cudaMemcpy(d.data(), dd, N * 48, cudaMemcpyDeviceToHost);
    cudaMemcpy(u.data(), du, N * U * 4, cudaMemcpyDeviceToHost);

    int wrong = 0;
    auto expect = [&](const char *what, int i, double got, double expected) {
        if (got != expected && wrong++ < 20) printf("%s %d: %.17g, not %.17g\n", what, i, got, expected);
    };
    for (int i = 0; i < N; i++) {
        int sum = i % 8;
        for (int k = i / 8 * 8; k < i / 8 * 8 + 8; k++) sum += a[k / 128 * 128 + 127 - k % 128];
        volatile float x = sum * 0.3f, y = 1.0f / (i + 3);
        volatile double third = x / 3.0, small = y / 3.0, dx = x, dy = y;
        volatile int big = sum * 1000003;
        const float *fi = &f[12 * i];
        expect("mul.rz", i, fi[0], ROUND(FE_TOWARDZERO, float(x * y)));
        expect("mul.ru", i, fi[1], ROUND(FE_UPWARD, float(x * y)));
        expect("mul.rd", i, fi[2], ROUND(FE_DOWNWARD, float(x * y)));
        expect("add.rz", i, fi[3], ROUND(FE_TOWARDZERO, float(x + y)));
        expect("sub.ru", i, fi[4], ROUND(FE_UPWARD, float(x - y)));
        expect("add.rd", i, fi[5], ROUND(FE_DOWNWARD, float(x + y)));
        expect("div.rz", i, fi[6], ROUND(FE_TOWARDZERO, float(x / y)));
        expect("sqrt.ru", i, fi[7], ROUND(FE_UPWARD, sqrtf(y)));
        expect("fma.rd", i, fi[8], ROUND(FE_DOWNWARD, fmaf(x, y, -y)));
        expect("d2f.ru", i, fi[9], ROUND(FE_UPWARD, float(third)));
        expect("i2f.rz", i, fi[10], ROUND(FE_TOWARDZERO, float(big)));
        expect("bf16", i, std::fabs(fi[11] - x) <= std::fabs(x) / 256, 1);
        const double *di = &d[6 * i];
        expect("dmul.rz", i, di[0], ROUND(FE_TOWARDZERO, third * dy));
        expect("dadd.ru", i, di[1], ROUND(FE_UPWARD, dx + small));
        expect("ddiv.rd", i, di[2], ROUND(FE_DOWNWARD, dx / dy));
        expect("dsqrt.rz", i, di[3], ROUND(FE_TOWARDZERO, sqrt(dy)));
        expect("dfma.ru", i, di[4], ROUND(FE_UPWARD, fma(third, small, dx)));
        expect("drcp.rd", i, di[5], ROUND(FE_DOWNWARD, 1.0 / dy));
        unsigned p = sum * 2654435761u, q = p * 40503u + 12345u, sad = 0;
        for (int at = 0; at < 32; at += 8) sad += abs(int(p >> at & 255) - int(q >> at & 255));
        const unsigned *ui = &u[U * i];
        auto clamp = [](int v, int low, int high) { return v < low ? low : v > high ? high : v; };
        expect("vadd4", i, ui[0], packed(p, q, 8, [](int l, int r) { return l + r; }));
        expect("vsubss2", i, ui[1], packed(p, q, 16, [&](int l, int r) { return clamp(short(l) - short(r), -32768, 32767); }));
        expect("vabsdiffu4", i, ui[2], packed(p, q, 8, [](int l, int r) { return abs(l - r); }));
        expect("vsadu4", i, ui[3], sad);
        expect("vmaxs2", i, ui[4], packed(p, q, 16, [](int l, int r) { return short(l) > short(r) ? l : r; }));
        expect("vcmpgtu4", i, ui[5], packed(p, q, 8, [](int l, int r) { return l > r ? 255 : 0; }));
        expect("vavgu4", i, ui[6], packed(p, q, 8, [](int l, int r) { return (l + r + 1) / 2; }));
        auto products = [&](int count, int bits, int first, bool signed_p, bool signed_q) {
            int total = 0;
            for (int k = 0; k < count; k++) {
                unsigned l = p >> k * bits & ((1u << bits) - 1), r = q >> (first + k) * 8 & 255;
                int left = signed_p && l >> (bits - 1) ? int(l) - (1 << bits) : int(l);
                total += left * (signed_q ? int((signed char)r) : int(r));
            }
            return total;
        };
        expect("dp4a.s", i, int(ui[8]), products(4, 8, 0, true, true) + sum);
        expect("dp4a.u", i, int(ui[9]), products(4, 8, 0, false, false) + 7);
        expect("dp2a.lo.s", i, int(ui[10]), products(2, 16, 0, true, true) + sum);
        expect("dp2a.hi.u", i, int(ui[11]), products(2, 16, 2, false, false) + 7);
        expect("dp4a.u.s", i, int(ui[12]), products(4, 8, 0, false, true) + sum);
        expect("dp2a.hi.s.u", i, int(ui[13]), products(2, 16, 2, true, false) + sum);
        expect("bswap32", i, ui[14], __builtin_bswap32(p));
        expect("bswap16", i, ui[15], __builtin_bswap16(p));
        expect("bswap64", i, ui[16], __builtin_bswap32(p));
        expect("vaddus4", i, ui[7], packed(p, q, 8, [&](int l, int r) { return clamp(l + r, 0, 255); }));
    }
    printf(wrong ? "FAIL: %d\n" : "PASS\n", wrong);
    return wrong != 0;
}
