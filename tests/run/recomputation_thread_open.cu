// The twin of `recomputation_thread.cu`: code that the program loads may know its functions, and capture around one of them. So
// the launches are one only where nothing is captured.
//
// expect: 4 launches -> 2
// executes: 9
// built with: -O2 -std=c++17 -Xlinker -E
#include "recomputation_thread.cu"
