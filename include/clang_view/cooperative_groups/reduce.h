/*
 * In front of the toolkit's header of this name: it must see the compiler that compiles it, which is
 * clang, where programs see __NVCC__.
 */
#pragma GCC system_header
#pragma push_macro("__NVCC__")
#undef __NVCC__
#include_next <cooperative_groups/reduce.h>
#pragma pop_macro("__NVCC__")
