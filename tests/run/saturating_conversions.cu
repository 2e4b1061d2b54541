// Inline PTX that converts with `.sat`: to whole numbers, what does not fit becomes the nearest one that does, with or
// without a number between; to numbers with a point, the nearest from 0 to 1.
//
// expect: 3 launches -> 3
#include <cstdio>
#include <cstring>

constexpr int MOST = 40;

__global__ void convert(long long *out, float a, double d, int i, long long l) {
    int n = 0, r;
    long long q;
    float f;
    double g;
    unsigned short h;
    const unsigned u = i;
    const unsigned long long ul = l;
#define TO(name, to, from, value, result) { asm(name " %0, %1;" : "=" to(result) : from(value)); out[n++] = result; }
    TO("cvt.rni.sat.s32.f32", "r", "f", a, r)
    TO("cvt.rzi.sat.u32.f32", "r", "f", a, r)
    TO("cvt.rni.sat.u8.f32", "r", "f", a, r)
    TO("cvt.rmi.sat.s8.f32", "r", "f", a, r)
    TO("cvt.rpi.ftz.sat.u16.f32", "r", "f", a, r)
    TO("cvt.rni.sat.s16.f32", "h", "f", a, h)
    TO("cvt.rni.sat.s64.f64", "l", "d", d, q)
    TO("cvt.sat.s8.s32", "r", "r", i, r)
    TO("cvt.sat.u8.s32", "r", "r", i, r)
    TO("cvt.sat.s16.s32", "r", "r", i, r)
    TO("cvt.sat.u16.s32", "r", "r", i, r)
    TO("cvt.sat.u32.s32", "r", "r", i, r)
    TO("cvt.sat.s8.u32", "r", "r", u, r)
    TO("cvt.sat.s32.u32", "r", "r", u, r)
    TO("cvt.sat.s32.s64", "r", "l", l, r)
    TO("cvt.sat.u32.s64", "r", "l", l, r)
    TO("cvt.sat.u32.u64", "r", "l", ul, r)
    TO("cvt.sat.u64.s64", "l", "l", l, q)
    TO("cvt.sat.s64.u64", "l", "l", ul, q)
    TO("cvt.sat.u64.s32", "l", "r", i, q)
    TO("cvt.s8.s32", "r", "r", i, r)
    TO("cvt.u8.s32", "r", "r", i, r)
    { asm("cvt.sat.f32.f32 %0, %1;" : "=f"(f) : "f"(a)); out[n++] = __float_as_int(f); }
    { asm("cvt.rzi.sat.f32.f32 %0, %1;" : "=f"(f) : "f"(a)); out[n++] = __float_as_int(f); }
    { asm("cvt.rn.sat.f32.s32 %0, %1;" : "=f"(f) : "r"(i)); out[n++] = __float_as_int(f); }
    { asm("cvt.rn.sat.f32.f64 %0, %1;" : "=f"(f) : "d"(d)); out[n++] = __float_as_int(f); }
    { asm("cvt.rn.sat.f16.f32 %0, %1;" : "=h"(h) : "f"(a)); out[n++] = h; }
    { asm("cvt.sat.f64.f64 %0, %1;" : "=d"(g) : "d"(d)); out[n++] = __double_as_longlong(g); }
}

static int wrong = 0;

static void check(long long *out, float a, double d, int i, long long l, const long long (&expected)[28]) {
    long long got[MOST];
    convert<<<1, 1>>>(out, a, d, i, l);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    for (int n = 0; n < 28; n++)
        if (got[n] != expected[n]) {
            wrong++;
            printf("%g %d, conversion %d: %lld, not %lld\n", a, i, n, got[n], expected[n]);
        }
}

int main() {
    long long *out;
    cudaMalloc(&out, MOST * sizeof(long long));
    const long long one = 0x3f800000, most = 0x7fffffffffffffff;
    check(out, 3e10f, 3e20, 70000, 1ll << 40,
          {0x7fffffff, -1, 255, 127, 65535, 32767, most, 127, 255, 32767, 65535, 70000, 127, 70000, 0x7fffffff, -1, -1,
           1ll << 40, 1ll << 40, 70000, 112, 112, one, one, one, one, 0x3c00, 0x3ff0000000000000});
    check(out, -5.5f, -3e20, -300, -(1ll << 40),
          {-6, 0, 0, -6, 0, 65530, -most - 1, -128, 0, -300, 0, 0, 127, 0x7fffffff, -0x7fffffff - 1, 0, -1, 0, most, 0, -44,
           212, 0, 0, 0, 0, 0, 0});
    check(out, 0.25f, 0.5, 1, 7,
          {0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 7, 7, 7, 7, 7, 1, 1, 1, 0x3e800000, 0, one, 0x3f000000, 0x3400,
           0x3fe0000000000000});
    printf(wrong ? "FAIL\n" : "PASS\n");
    return wrong != 0;
}
