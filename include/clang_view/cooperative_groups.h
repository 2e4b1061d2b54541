/*
 * In front of the toolkit's header of this name: it must see the compiler that compiles it, which is
 * clang, where programs see __NVCC__.
 */
#pragma GCC system_header
#pragma push_macro("__NVCC__")
#undef __NVCC__
/* clang's own headers have them. */
#ifndef _CG_CLUSTER_INTRINSICS_AVAILABLE
#define _CG_CLUSTER_INTRINSICS_AVAILABLE
#endif
#include_next <cooperative_groups.h>
#pragma pop_macro("__NVCC__")
