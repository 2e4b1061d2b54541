// Three small cells over five steps of the stack in `test_programs/models/lstm.cu`.
//
// Shows: products whose warps share their sums run as one with the gates, and cells in batches, 5 + 3 - 1 of them.
//
// expect: 9 launches -> 1
// executes: 7
#define SMALL
#include "../../test_programs/models/lstm.cu"
