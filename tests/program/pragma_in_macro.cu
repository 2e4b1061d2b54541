// test: program
// What stands in a macro is not read otherwise.
#define UNROLLED _Pragma("unroll")
__global__ void kernel(float *x) {
  UNROLLED x[0] = 1;
}

//> status 1
//> pragma_in_macro.cu:5:12: error: expected a for, while, or do-while loop to follow '#pragma unroll'
//>     5 |   UNROLLED x[0] = 1;
//>       |            ^
//> 1 error generated when compiling for host.
//> sirius-rs note    : nvcc leaves a #pragma unroll aside that no loop follows; this one stands in a macro: take it out there
