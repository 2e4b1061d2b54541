// A small encoder and decoder of `test_programs/models/seq2seq.cu`.
//
// Shows: two loop nests in turn, 5 + 3 - 1 batches of the encoder and the decoder's six cells one after the other.
//
// expect: 18 launches -> 2
// executes: 13
#define SMALL
#include "../../test_programs/models/seq2seq.cu"
