// cuBLAS: vectors whose types are named, matrices of bytes, and matrices of half precision by their addresses.
//
// expect: 1 launches -> 1
#include <cmath>
#include <cstdio>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

static int failures = 0;

static void check(const char *what, double got, double expected, double tolerance = 0) {
  if (!(std::fabs(got - expected) <= tolerance) && failures++ < 20) printf("%s: %g instead of %g\n", what, got, expected);
}

const int N = 64, M = 8, K = 8;

__global__ void fill(float *x, double *d, __half *h, __nv_bfloat16 *b, __nv_bfloat16 *other, signed char *bytes, int *sums) {
  int i = threadIdx.x;
  x[i] = i * 0.5f - 3, d[i] = 1.0 / (i + 1), h[i] = __float2half(i * 0.25f), b[i] = __float2bfloat16(1 - i % 3), other[i] = __float2bfloat16(x[i]);
  bytes[i] = (signed char)(i * 37), sums[i] = 1000 * i;
}

int main() {
  float *x; double *d; __half *h; __nv_bfloat16 *b, *other; signed char *bytes; int *sums; void *result;
  cudaMallocManaged(&x, N * 4), cudaMallocManaged(&d, N * 8), cudaMallocManaged(&h, N * 2);
  cudaMallocManaged(&b, N * 2), cudaMallocManaged(&other, N * 2), cudaMallocManaged(&bytes, N), cudaMallocManaged(&sums, N * 4);
  cudaMallocManaged(&result, 8);
  fill<<<1, N>>>(x, d, h, b, other, bytes, sums);
  cudaDeviceSynchronize();
  cublasHandle_t handle;
  cublasCreate(&handle);
  // Every fourth half, from the last one down, by the first ones in order.
  check("DotEx", cublasDotEx(handle, N / 4, h, CUDA_R_16F, -4, h, CUDA_R_16F, 1, result, CUDA_R_16F, CUDA_R_32F), 0);
  double expected = 0, squares = 0;
  for (int i = 0; i < N / 4; i++) expected += (N / 4 - 1 - i) * 0.25 * i;
  check("dot", __half2float(*(__half *)result), expected);
  check("Nrm2Ex", cublasNrm2Ex(handle, N, d, CUDA_R_64F, 1, result, CUDA_R_64F, CUDA_R_64F), 0);
  for (int i = 0; i < N; i++) squares += d[i] * d[i];
  check("norm", *(double *)result, std::sqrt(squares), 1e-15);
  float two = 2;
  check("ScalEx", cublasScalEx(handle, N, &two, CUDA_R_32F, h, CUDA_R_16F, 1, CUDA_R_32F), 0);
  check("AxpyEx", cublasAxpyEx(handle, N, &two, CUDA_R_32F, b, CUDA_R_16BF, 1, other, CUDA_R_16BF, 1, CUDA_R_32F), 0);
  cudaDeviceSynchronize();
  for (int i = 0; i < N; i++) {
    check("scaled", __half2float(h[i]), i * 0.5);
    check("added", __bfloat162float(other[i]), i * 0.5f - 3 + 2 * (1 - i % 3));
  }
  // Vectors have one type, and a factor that in which is computed.
  check("half by bfloat16", cublasDotEx(handle, N, h, CUDA_R_16F, 1, b, CUDA_R_16BF, 1, result, CUDA_R_32F, CUDA_R_32F), CUBLAS_STATUS_NOT_SUPPORTED);
  check("bfloat16 to float", cublasAxpyEx(handle, N, &two, CUDA_R_32F, b, CUDA_R_16BF, 1, x, CUDA_R_32F, 1, CUDA_R_32F), CUBLAS_STATUS_NOT_SUPPORTED);
  check("a factor of half", cublasScalEx(handle, N, h, CUDA_R_16F, h, CUDA_R_16F, 1, CUDA_R_32F), CUBLAS_STATUS_NOT_SUPPORTED);
  check("mixed", cublasDotEx(handle, N, d, CUDA_R_64F, 1, x, CUDA_R_32F, 1, result, CUDA_R_64F, CUDA_R_64F), CUBLAS_STATUS_NOT_SUPPORTED);
  // M x K bytes by columns, times M x K bytes turned. Columns begin at multiples of four bytes.
  int three = 3, one = 1;
  check("GemmEx", cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, M, M, K, &three, bytes, CUDA_R_8I, M, bytes, CUDA_R_8I, M,
                               &one, sums, CUDA_R_32I, M, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT), 0);
  // The type that is computed in, by the name that it had before CUDA 11.
  check("GemmEx once more", cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, M, M, K, &three, bytes, CUDA_R_8I, M, bytes, CUDA_R_8I, M,
                               &one, sums, CUDA_R_32I, M, CUDA_R_32I, CUBLAS_GEMM_DEFAULT), 0);
  cudaDeviceSynchronize();
  for (int column = 0; column < M; column++)
    for (int row = 0; row < M; row++) {
      int sum = 0;
      for (int k = 0; k < K; k++) sum += bytes[k * M + row] * bytes[k * M + column];
      check("bytes", sums[column * M + row], 6 * sum + 1000 * (column * M + row));
    }
  check("bytes, five a column", cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, 5, 5, 7, &three, bytes, CUDA_R_8I, 5, bytes, CUDA_R_8I, 5,
                               &one, sums, CUDA_R_32I, 5, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT), CUBLAS_STATUS_NOT_SUPPORTED);
  // Two products of 2 x 2 halves.
  __half **addresses;
  cudaMallocManaged(&addresses, 6 * sizeof *addresses);
  for (int i = 0; i < 6; i++) addresses[i] = h + 4 * i;
  __half unit = __float2half(1), zero = __float2half(0);
  check("HgemmBatched", cublasHgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &unit, addresses, 2, addresses + 2, 2,
                                           &zero, addresses + 4, 2, 2), 0);
  cudaDeviceSynchronize();
  for (int i = 0; i < 2; i++)
    for (int at = 0; at < 4; at++) {
      double sum = 0;
      for (int k = 0; k < 2; k++)
        sum += __half2float(addresses[i][2 * k + at % 2]) * __half2float(addresses[2 + i][at / 2 * 2 + k]);
      check("halves", __half2float(addresses[4 + i][at]), sum);
    }
  // They differ from run to run, and what memory holds at the end is compared.
  cudaMemset(addresses, 0, 6 * sizeof *addresses);
  cublasDestroy(handle);
  printf("%s\n", failures ? "FAIL" : "PASS");
  return failures != 0;
}
