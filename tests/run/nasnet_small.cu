// A small network of `test_programs/models/nasnet.cu`: one stage of two cells.
//
// Shows: what is ready at one time and of other code than its neighbours stands beside them in one launch.
//
// expect: 62 launches -> 23
// executes: 26
#define SMALL
#include "../../test_programs/models/nasnet.cu"
