/*
 * In front of the C++ library's header of this name, which defines std::swap: what <type_traits>
 * declares of it is for both sides here, and so are the definitions.
 */
#pragma GCC system_header
#ifdef __CUDA__
#pragma clang force_cuda_host_device begin
#endif
#include_next <bits/move.h>
#ifdef __CUDA__
#pragma clang force_cuda_host_device end
#endif
