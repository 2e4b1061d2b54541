/*
 * In front of Thrust's header of this name. In device code, Thrust mentions the host's way of an algorithm
 * in a branch that is never taken, so that its kernels are compiled; clang takes that for calls of host
 * functions. Here a function for the host, which nobody calls, mentions it.
 */
#pragma GCC system_header
#include_next <thrust/system/cuda/detail/cdp_dispatch.h>
/* With relocatable code, Thrust of CUDA 12 has functions for both sides, and launches from device code. */
#if defined(__CUDA_ARCH__) && !defined(CUB_DETAIL_CDPv1) && !defined(SIRIUS_CDP_DISPATCH)
#define SIRIUS_CDP_DISPATCH
/* What the host's way returns, whatever it is. */
struct sirius_returned {
  template <class... Parts>
  __attribute__((host)) sirius_returned(Parts &&...);
};
#undef THRUST_CDP_DISPATCH
#define THRUST_CDP_DISPATCH(par_impl, seq_impl)                                                    \
  if (false) {                                                                                     \
    (void)[&]() __attribute__((host))->sirius_returned { NV_IF_TARGET(NV_ANY_TARGET, par_impl); }; \
  }                                                                                                \
  NV_IF_TARGET(NV_IS_HOST, par_impl, seq_impl)
#endif
