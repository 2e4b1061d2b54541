/*
 * In front of the toolkit's header of this name, which includes curand_mtgp32_kernel.h from its own folder: ours has
 * to come first.
 */
#pragma GCC system_header
#include <curand_mtgp32_kernel.h>
#include_next <curand_kernel.h>
