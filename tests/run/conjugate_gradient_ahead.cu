// The method of conjugate gradients of test_programs, with barriers across the grid: what comes before its loop is one launch,
// and the loop, which the host ends by what it copies, is another.
//
// expect: 10 launches -> 2, 1 host loop inside its kernel
// built with: --sirius-boundaries=grid-barrier
// executes: 2 2 2
// loads: 1075000 165024 1176
// arguments:
// arguments: 129
// arguments: 1
#include "../../test_programs/conjugate_gradient.cu"
