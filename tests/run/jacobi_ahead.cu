// Jacobi's method of test_programs, with barriers across the grid: its loop, which the host ends by what it copies, is one
// launch. Its blocks have two shapes.
//
// expect: 3 launches -> 1, 1 host loop inside its kernel
// built with: --sirius-boundaries=grid-barrier
// executes: 1 1 1
// arguments:
// arguments: 33 7
// arguments: 3 3
#include "../../test_programs/jacobi_residual.cu"
