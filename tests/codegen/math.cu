// test: codegen
// Math functions of libdevice, of the C library and of LLVM.
__global__ void math(float *x, double *d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] = sinf(x[i]) + expf(x[i]) * rsqrtf(x[i]) + __expf(x[i]) / sqrtf(x[i]) + fmaf(x[i], 2.0f, 1.0f);
  d[i] = pow(d[i], 1.5) + normcdf(d[i]) + rsqrt(d[i]) + sin(d[i]) * cos(d[i + n]);
}
int main() {}
