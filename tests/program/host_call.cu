// test: program
// nvcc only warns of these, so that a sentence says what it does.
__host__ float on_host(float x) { return x; }
template <class T> __host__ __device__ T anywhere(T x) { return x < 0 ? on_host(x) : x + 1; }
__global__ void kernel(float *x, int n) {
  switch (n) {
  case 1:
    x[0] = anywhere(x[1]);
  }
}

//> status 1
//> host_call.cu:4:73: error: reference to __host__ function 'on_host' in __host__ __device__ function
//>     4 | template <class T> __host__ __device__ T anywhere(T x) { return x < 0 ? on_host(x) : x + 1; }
//>       |                                                                         ^
//> host_call.cu:8:12: note: called by 'kernel'
//>     8 |     x[0] = anywhere(x[1]);
//>       |            ^
//> host_call.cu:3:16: note: 'on_host' declared here
//>     3 | __host__ float on_host(float x) { return x; }
//>       |                ^
//> 1 error generated when compiling for sm_80.
//> sirius-rs note    : nvcc only warns where a __host__ __device__ function calls one of the other side, and a kernel that comes to such a call does anything; put the call between #ifndef __CUDA_ARCH__ and #endif, or make what is called __host__ __device__
