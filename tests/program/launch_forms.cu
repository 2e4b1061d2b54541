// test: program
// Scalars, small and large structs by value, unions, templates, lambdas, methods, a destructor, a
// kernel that is handed to a helper, a launch through a pointer.
#include <cuda_runtime.h>
struct Small { float a; int b; };
struct Twelve { int a, b, c; };
struct Parameters { float *x, *y; int n; };
struct Large { float m[100]; };
union Either { int i; float f; };
struct Owner { float *x; ~Owner(); };

__global__ void scalars(float *x, float a, int n, bool b) { if (b) x[n] = a; }
__global__ void structs(Small s, Twelve t, Parameters p, float2 v) { p.x[t.c] = s.a + v.y; }
__global__ void large(Large l, Either e, float *x) { x[e.i] = l.m[3]; }
template <class F> __global__ void apply(F f, float *x) { *x = f(*x); }
static __global__ void one(float *x) { *x = 1; }
__global__ void none() {}

Owner::~Owner() { one<<<1, 1>>>(x); }

struct App {
  float *x;
  int n;
  void step() { scalars<<<(n + 255) / 256, 256>>>(x, 2.0f, n, true); }
  void run() { for (int i = 0; i < 10; i++) step(); }
};

template <class K, class... A> void launch(K kernel, int n, A... a) { kernel<<<n, 32>>>(a...); }

void all(Small s, Twelve t, Parameters p, const Large &l, float *x, float z, cudaStream_t stream) {
  Owner owner{x};
  structs<<<dim3(2, 3, 4), 32, 16, stream>>>(s, t, p, make_float2(1, z));
  Either e;
  e.i = 3;
  large<<<1, 1>>>(l, e, x);
  apply<<<1, 2>>>([=] __device__(float v) { return v * z; }, x);
  none<<<1, 1>>>();
  launch(one, 7, x);
  App app{x, t.a};
  app.run();
}
void through_pointer(void (*kernel)(float *), float *x) { kernel<<<1, 1>>>(x); }

//> kernel _Z7scalarsPffib as _Z7scalarsPffib stub _Z7scalarsPffib unit 0 present true
//> kernel _Z7structs5Small6Twelve10Parameters6float2 as _Z7structs5Small6Twelve10Parameters6float2 stub _Z7structs5Small6Twelve10Parameters6float2 unit 0 present true
//> kernel _Z5large5Large6EitherPf as _Z5large5Large6EitherPf stub _Z5large5Large6EitherPf unit 0 present true
//> kernel _Z4nonev as _Z4nonev stub _Z4nonev unit 0 present true
//> kernel _ZL3onePf as _ZL3onePf stub _ZL3onePf unit 0 present true
//> kernel _Z5applyIZ3all5Small6Twelve10ParametersRK5LargePffP11CUstream_stEUlfE_EvT_S6_ as _Z5applyIZ3all5Small6Twelve10ParametersRK5LargePffP11CUstream_stEUlfE_EvT_S6_ stub _Z5applyIZ3all5Small6Twelve10ParametersRK5LargePffP11CUstream_stEUlfE_EvT_S6_ unit 0 present true
//> host-visible memory nothing
//> image sirius.placeholder.0 present true
//> _ZN5OwnerD2Ev: sirius.launch.5(i32 0, ptr nonnull @_ZL3onePf, i64 4294967297, i32 1, i64 4294967297, i32 1, i64 0, ptr null, ptr %0)
//> _Z3all5Small6Twelve10ParametersRK5LargePffP11CUstream_st: sirius.launch.4(i32 1, ptr nonnull @_Z7structs5Small6Twelve10Parameters6float2, i64 12884901890, i32 4, i64 4294967328, i32 1, i64 16, ptr %stream, %struct.Small %.fca.1.insert158, %struct.Twelve %.fca.2.insert152, %struct.Parameters %.fca.2.insert, %struct.float2 %.fca.1.insert143)
//> _Z3all5Small6Twelve10ParametersRK5LargePffP11CUstream_st: sirius.launch.2(i32 2, ptr nonnull @_Z5large5Large6EitherPf, i64 4294967297, i32 1, i64 4294967297, i32 1, i64 0, ptr null, ptr nonnull byval(%struct.Large) align 8 %agg.tmp21125, ptr nonnull byval(%union.Either) align 4 %0, ptr %x)
//> _Z3all5Small6Twelve10ParametersRK5LargePffP11CUstream_st: sirius.launch.1(i32 3, ptr nonnull @_Z5applyIZ3all5Small6Twelve10ParametersRK5LargePffP11CUstream_stEUlfE_EvT_S6_, i64 4294967297, i32 1, i64 4294967298, i32 1, i64 0, ptr null, %class.anon %.fca.0.insert, ptr %x)
//> _Z3all5Small6Twelve10ParametersRK5LargePffP11CUstream_st: sirius.launch.0(i32 4, ptr nonnull @_Z4nonev, i64 4294967297, i32 1, i64 4294967297, i32 1, i64 0, ptr null)
//> _Z3all5Small6Twelve10ParametersRK5LargePffP11CUstream_st: sirius.launch.5(i32 5, ptr nonnull @_ZL3onePf, i64 4294967303, i32 1, i64 4294967328, i32 1, i64 0, ptr null, ptr %x)
//> _Z3all5Small6Twelve10ParametersRK5LargePffP11CUstream_st: sirius.launch.3(i32 6, ptr nonnull @_Z7scalarsPffib, i64 %agg.tmp.i113.sroa.0.4.insert.insert, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %x, float 2.000000e+00, i32 %t.sroa.0.0.extract.trunc, i8 1)
//> _Z3all5Small6Twelve10ParametersRK5LargePffP11CUstream_st: sirius.launch.5(i32 7, ptr nonnull @_ZL3onePf, i64 4294967297, i32 1, i64 4294967297, i32 1, i64 0, ptr null, ptr %x)
//> _Z15through_pointerPFvPfES_: not folded
//> _Z7structs5Small6Twelve10Parameters6float2: fadd float
//> _Z5applyIZ3all5Small6Twelve10ParametersRK5LargePffP11CUstream_stEUlfE_EvT_S6_: fmul float
