// test: codegen
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void half_precision(__half *a, __half2 *b, __nv_bfloat16 *c, float *f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  a[i] = __hadd(a[i], __float2half(f[i]));
  b[i] = __hfma2(b[i], b[i], __float2half2_rn(2.f));
  f[i] = __half2float(a[i]) + __low2float(b[i]) + __high2float(b[i]);
  a[i] = a[i] * a[i] - a[i] / __float2half(3.f);
  if (a[i] > __float2half(1.f)) b[i] = __halves2half2(a[i], a[i]);
  c[i] = __hadd(c[i], __float2bfloat16(f[i]));
  f[i] += __bfloat162float(c[i]);
}
__global__ void warp(int *o, long long *l, double *d) {
  int t = threadIdx.x;
  unsigned m = __ballot_sync(~0u, o[t] > 0);
  int any = __any_sync(~0u, o[t]), all = __all_sync(~0u, o[t]);
  o[t] = m + any + all + __popc(m) + __ffs(m) + __clz(m) + __brev(m) + __activemask();
  o[t] += __syncthreads_count(any) + __syncthreads_or(all) + __syncthreads_and(any);
  l[t] = __shfl_down_sync(~0u, l[t], 3) + clock64() + atomicCAS((unsigned long long *)l, 1ull, 2ull);
  d[t] = __shfl_up_sync(~0u, d[t], 1) + __shfl_xor_sync(~0u, d[t], 2);
  o[t] += __shfl_sync(~0u, o[t], 0, 8) + __match_any_sync(~0u, o[2]) + __reduce_add_sync(~0u, o[1]);
  atomicAdd(d, 1.0);
  atomicMax(o, 3);
  atomicInc((unsigned *)o, 7u);
  atomicAdd_block(o, 2);
  __syncwarp();
  __threadfence();
  __nanosleep(10);
}
__global__ void scalar(int *o, float *f, double *d) {
  o[0] = __float2int_rz(f[0]) + __double2int_rn(d[3]) + __float2int_rd(f[1]) + __mulhi(o[1], o[2]);
  o[1] = __mul24(o[1], o[2]) + __byte_perm(o[1], o[2], 0x1234) + __sad(o[1], o[2], 3u);
  o[2] = __funnelshift_l(o[1], o[2], 3) + __double2hiint(d[1]) + __double2loint(d[1]);
  f[0] = __frcp_rn(f[1]) + __fdividef(f[2], f[3]) + __sinf(f[1]) + __saturatef(f[3]) + normf(3, f);
  d[0] = rsqrt(d[0]) + normcdf(d[1]) + __drcp_rn(d[2]) + erfinv(d[3]) + sinpi(d[4]);
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("membar.gl;" ::: "memory");
  o[3] = lane;
}
__global__ void breakpoint() { asm volatile("brkpt;"); }
int main() {}
