// test: program
// The user sees clang's own sentence.
__global__ void kernel(float *x) { *x = undeclared; }

//> status 1
//> front_end_error.cu:3:41: error: use of undeclared identifier 'undeclared'
//>     3 | __global__ void kernel(float *x) { *x = undeclared; }
//>       |                                         ^~~~~~~~~~
//> 1 error generated when compiling for host.
