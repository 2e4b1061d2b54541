// Two small layers of the encoder in `test_programs/models/bert.cu`.
//
// Shows: members that copy asynchronously use shared memory in turn, a barrier between.
//
// expect: 24 launches -> 9
#define SMALL
#include "../../test_programs/models/bert.cu"
