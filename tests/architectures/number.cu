// A device function that another file calls.

__device__ int own_number() {
#if __CUDA_ARCH__ >= 900
    return 90909;
#else
    return 75757;
#endif
}
