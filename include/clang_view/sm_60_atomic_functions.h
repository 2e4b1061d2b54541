/*
 * In front of the toolkit's header of this name, whose functions clang's CUDA wrapper has defined before the
 * program begins: defined once more they are errors.
 */
#pragma GCC system_header
#ifndef SIRIUS_COMPATIBILITY_H
#include_next <sm_60_atomic_functions.h>
#endif
