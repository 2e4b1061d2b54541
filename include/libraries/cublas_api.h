/*
 * cuBLAS under its other header's name, for machines whose toolkit comes without it: NVIDIA's own header, where
 * there is one, is found first.
 */
#include <cublas_v2.h>
