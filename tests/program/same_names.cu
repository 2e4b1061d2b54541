// test: program
// with: same_names_other.cu
// Two units with a `__constant__` of one name, a static kernel of one name and one template.
#include "same_names.h"
static __global__ void kernel(float *x) { *x = c[0]; }
void first(float *x) { kernel<<<1, 1>>>(x); shared<<<2, 2>>>(x, 1); }

//> kernel _ZL6kernelPf as _ZL6kernelPf stub _ZL6kernelPf.0 unit 0 present true
//> kernel _Z6sharedIiEvPfT_ as _Z6sharedIiEvPfT_ stub _Z6sharedIiEvPfT_.0 unit 0 present true
//> kernel _ZL6kernelPf as _ZL6kernelPf.1 stub _ZL6kernelPf.1 unit 1 present true
//> kernel _Z6sharedIfEvPfT_ as _Z6sharedIfEvPfT_ stub _Z6sharedIfEvPfT_.1 unit 1 present true
//> kernel _Z6sharedIiEvPfT_ as _Z6sharedIiEvPfT_.1 stub _Z6sharedIiEvPfT_.1 unit 1 present true
//> variable c as c shadow c.0 unit 0 bytes 16 constant true present true
//> variable c as c.1 shadow c.1 unit 1 bytes 16 constant true present true
//> host-visible memory nothing
//> image sirius.placeholder.0 present true
//> image sirius.placeholder.1 present true
//> _Z5firstPf: sirius.launch.2(i32 0, ptr nonnull @_ZL6kernelPf.0, i64 4294967297, i32 1, i64 4294967297, i32 1, i64 0, ptr null, ptr %x)
//> _Z5firstPf: sirius.launch.1(i32 1, ptr nonnull @_Z6sharedIiEvPfT_.0, i64 4294967298, i32 1, i64 4294967298, i32 1, i64 0, ptr null, ptr %x, i32 1)
//> _Z6secondPf: sirius.launch.2(i32 2, ptr nonnull @_ZL6kernelPf.1, i64 4294967299, i32 1, i64 4294967299, i32 1, i64 0, ptr null, ptr %x)
//> _Z6secondPf: sirius.launch.0(i32 3, ptr nonnull @_Z6sharedIfEvPfT_.1, i64 4294967300, i32 1, i64 4294967300, i32 1, i64 0, ptr null, ptr %x, float 2.000000e+00)
//> _Z6secondPf: sirius.launch.1(i32 4, ptr nonnull @_Z6sharedIiEvPfT_.1, i64 4294967301, i32 1, i64 4294967301, i32 1, i64 0, ptr null, ptr %x, i32 3)
//> _ZL6kernelPf: fadd float
