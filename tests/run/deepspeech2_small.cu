// The recogniser of `test_programs/models/deepspeech2.cu` with three small layers over five steps.
//
// Shows: convolutions with what follows them, a transposition too, and cells of two shapes in the same batches.
//
// expect: 28 launches -> 4
// executes: 9
#define SMALL
#include "../../test_programs/models/deepspeech2.cu"
