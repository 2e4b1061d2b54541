// test: program
// Launches inside arguments of launches, under exceptions, in branches, loops and recursion; each
// keeps its own site.
#include <cuda_runtime.h>
#include <functional>
__global__ void kernel(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = n; }
int positive(int n) { if (n < 0) throw n; return n; }
int nested(float *x) { kernel<<<1, 1>>>(x, 1); return 1; }
void all(float *x, int n) {
  try {
    kernel<<<positive(n), 32>>>(x, nested(x));
    kernel<<<1, positive(n)>>>(x, ({ kernel<<<2, 2>>>(x, 2); 3; }));
  } catch (int) {
    kernel<<<9, 9>>>(x, 9);
    throw;
  }
  switch (n) {
  case 1: kernel<<<1, 10>>>(x, 1); break;
  case 2: kernel<<<1, 20>>>(x, 1);
  default: kernel<<<1, 30>>>(x, 1);
  }
  for (int i = 0; i < n; i++) if (i & 1) kernel<<<1, 40>>>(x, i); else kernel<<<1, 50>>>(x, i);
}
void recursive(float *x, int n) { if (n) { kernel<<<1, 60>>>(x, n); recursive(x, n - 1); } }
void indirect(float *x, std::function<void()> &f) { f = [=] { kernel<<<1, 70>>>(x, 7); }; }

//> kernel _Z6kernelPfi as _Z6kernelPfi stub _Z6kernelPfi unit 0 present true
//> host-visible memory nothing
//> image sirius.placeholder.0 present true
//> _Z6nestedPf: sirius.launch.0(i32 0, ptr nonnull @_Z6kernelPfi, i64 4294967297, i32 1, i64 4294967297, i32 1, i64 0, ptr null, ptr %x, i32 1)
//> _Z3allPfi: sirius.launch.0(i32 1, ptr nonnull @_Z6kernelPfi, i64 4294967297, i32 1, i64 4294967297, i32 1, i64 0, ptr null, ptr %x, i32 1)
//> _Z3allPfi: sirius.launch.0(i32 2, ptr nonnull @_Z6kernelPfi, i64 %agg.tmp.sroa.0.0.insert.insert, i32 1, i64 4294967328, i32 1, i64 0, ptr null, ptr %x, i32 1)
//> _Z3allPfi: sirius.launch.0(i32 3, ptr nonnull @_Z6kernelPfi, i64 4294967298, i32 1, i64 4294967298, i32 1, i64 0, ptr null, ptr %x, i32 2)
//> _Z3allPfi: sirius.launch.0(i32 4, ptr nonnull @_Z6kernelPfi, i64 4294967297, i32 1, i64 %agg.tmp.sroa.0.0.insert.insert, i32 1, i64 0, ptr null, ptr %x, i32 3)
//> _Z3allPfi: sirius.launch.0(i32 5, ptr nonnull @_Z6kernelPfi, i64 4294967305, i32 1, i64 4294967305, i32 1, i64 0, ptr null, ptr %x, i32 9)
//> _Z3allPfi: sirius.launch.0(i32 6, ptr nonnull @_Z6kernelPfi, i64 4294967297, i32 1, i64 4294967306, i32 1, i64 0, ptr null, ptr %x, i32 1)
//> _Z3allPfi: sirius.launch.0(i32 7, ptr nonnull @_Z6kernelPfi, i64 4294967297, i32 1, i64 4294967316, i32 1, i64 0, ptr null, ptr %x, i32 1)
//> _Z3allPfi: sirius.launch.0(i32 8, ptr nonnull @_Z6kernelPfi, i64 4294967297, i32 1, i64 4294967326, i32 1, i64 0, ptr null, ptr %x, i32 1)
//> _Z3allPfi: sirius.launch.0(i32 9, ptr nonnull @_Z6kernelPfi, i64 4294967297, i32 1, i64 4294967336, i32 1, i64 0, ptr null, ptr %x, i32 %i.0)
//> _Z3allPfi: sirius.launch.0(i32 10, ptr nonnull @_Z6kernelPfi, i64 4294967297, i32 1, i64 4294967346, i32 1, i64 0, ptr null, ptr %x, i32 %i.0)
//> _Z9recursivePfi: sirius.launch.0(i32 11, ptr nonnull @_Z6kernelPfi, i64 4294967297, i32 1, i64 4294967356, i32 1, i64 0, ptr null, ptr %x, i32 %n)
//> _ZNSt17_Function_handlerIFvvEZ8indirectPfRSt8functionIS0_EEUlvE_E9_M_invokeERKSt9_Any_data: sirius.launch.0(i32 12, ptr nonnull @_Z6kernelPfi, i64 4294967297, i32 1, i64 4294967366, i32 1, i64 0, ptr null, ptr %0, i32 7)
