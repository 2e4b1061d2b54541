// test: program
// `const` variables that only the host refers to are none of the device's, as for nvcc; those that are declared
// `__constant__` are, used or not, and so is what kernels refer to.
#include <cuda_runtime.h>
struct Primitive { unsigned dimension; unsigned numbers[17]; };
extern const Primitive of_the_host[];
const Primitive of_the_host[20000] = {{1, {1}}, {2, {1, 3}}};
extern const Primitive *const pointer_of_the_host;
const Primitive *const pointer_of_the_host = of_the_host + 1;
extern const int in_a_kernel[];
const int in_a_kernel[] = {3, 4};
extern __constant__ const int declared[2];
__constant__ const int declared[2] = {5, 6};
__constant__ int unused[2] = {7, 8};
__global__ void copy(int *x) { x[threadIdx.x] = in_a_kernel[threadIdx.x]; }
unsigned reads() { return pointer_of_the_host->dimension; }

//> kernel _Z4copyPi as _Z4copyPi stub _Z4copyPi unit 0 present true
//> variable declared as declared shadow declared unit 0 bytes 8 constant true present true
//> variable unused as unused shadow unused unit 0 bytes 8 constant true present true
//> host-visible memory nothing
//> image sirius.placeholder.0 present true
//> variable in_a_kernel of the device alone
