// A small network of `test_programs/models/resnext.cu`: three blocks in two stages.
//
// Shows: a convolution joins the one before it where one block makes all that it reads; what goes around a block of
// layers joins the last of them.
//
// expect: 40 launches -> 8
// executes: 8
#define SMALL
#include "../../test_programs/models/resnext.cu"
