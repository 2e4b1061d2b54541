// test: program
// Of a jump into the scope of a variable nvcc only warns.
__global__ void kernel(float *x, int n) {
  switch (n) {
  case 1:
    float next = x[1];
    x[0] = next;
    break;
  case 2:
    x[0] = 1;
  }
}

//> status 1
//> switch_jump.cu:9:3: error: cannot jump from switch statement to this case label
//>     9 |   case 2:
//>       |   ^
//> switch_jump.cu:6:11: note: jump bypasses variable initialization
//>     6 |     float next = x[1];
//>       |           ^
//> 1 error generated when compiling for host.
//> sirius-rs note    : nvcc only warns of this in device code; put braces around what follows the other case label
