/*
 * cuFFT's extended interface, of which the CPU device has nothing: for programs that include it out of habit.
 */
#ifndef SIRIUS_CUFFTXT_H
#define SIRIUS_CUFFTXT_H

#include <cufft.h>

#endif
