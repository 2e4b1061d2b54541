// cuBLAS: products of matrices of half precision and of bfloat16, which are added up as floats.
//
// Shows: kernels that fill the matrices fuse, and come before the library's product of them.
//
// expect: 2 launches -> 1
#include <cmath>
#include <cstdio>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

static int failures = 0;

static void check(const char *what, double got, double expected, double tolerance) {
  if (!(std::fabs(got - expected) <= tolerance) && failures++ < 20) printf("%s: %g instead of %g\n", what, got, expected);
}

const int M = 13, N = 9, K = 21, BATCH = 2;

static float a_value(int i) { return (float)(i * 5 % 17) / 8 - 1; }
static float b_value(int i) { return (float)(i * 3 % 13) / 4 - 1.5f; }

__global__ void fill(__half *values, int step, int around, float by, float less, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = __float2half((float)(i * step % around) / by - less);
}

// a is M x K by columns, b is stored as N x K.
static double expected(int batch, int row, int column) {
  double sum = 0;
  for (int k = 0; k < K; k++)
    sum += (double)a_value(batch * M * K + k * M + row) * b_value(batch * K * N + k * N + column);
  return sum;
}

int main() {
  cublasHandle_t handle;
  cublasCreate(&handle);
  const int a_count = M * K * BATCH, b_count = K * N * BATCH, c_count = M * N * BATCH;
  __half *a, *b, *c;
  cudaMalloc(&a, a_count * sizeof(__half));
  cudaMalloc(&b, b_count * sizeof(__half));
  cudaMalloc(&c, c_count * sizeof(__half));
  fill<<<5, 128>>>(a, 5, 17, 8, 1, a_count);
  fill<<<5, 128>>>(b, 3, 13, 4, 1.5f, b_count);
  cudaMemset(c, 0, c_count * sizeof(__half));
  __half two = __float2half(2), zero = __float2half(0);
  check("Hgemm", cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, M, N, K, &two, a, M, b, N, &zero, c, M), 0, 0);
  std::vector<__half> halves(c_count);
  cudaMemcpy(halves.data(), c, c_count * sizeof(__half), cudaMemcpyDeviceToHost);
  for (int j = 0; j < N; j++)
    for (int i = 0; i < M; i++) {
      double value = 2 * expected(0, i, j);
      // One rounding, to eleven bits.
      check("half", __half2float(halves[j * M + i]), value, std::fabs(value) / 2048 + 1e-6);
    }
  // Floats of halves, in a batch, added to what is there.
  float *sums, one = 1, three = 3;
  cudaMalloc(&sums, c_count * sizeof(float));
  std::vector<float> floats(c_count, 0.5f);
  cudaMemcpy(sums, floats.data(), c_count * sizeof(float), cudaMemcpyHostToDevice);
  check("GemmStridedBatchedEx",
        cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, M, N, K, &one, a, CUDA_R_16F, M, M * K, b, CUDA_R_16F,
                                   N, K * N, &three, sums, CUDA_R_32F, M, M * N, BATCH, CUBLAS_COMPUTE_32F,
                                   CUBLAS_GEMM_DEFAULT), 0, 0);
  cudaMemcpy(floats.data(), sums, c_count * sizeof(float), cudaMemcpyDeviceToHost);
  for (int batch = 0; batch < BATCH; batch++)
    for (int j = 0; j < N; j++)
      for (int i = 0; i < M; i++)
        check("float", floats[(batch * N + j) * M + i], expected(batch, i, j) + 1.5, 1e-4);
  // The same by addresses on the device.
  const void *pointers[3 * BATCH];
  for (int batch = 0; batch < BATCH; batch++) {
    pointers[batch] = a + batch * M * K;
    pointers[BATCH + batch] = b + batch * K * N;
    pointers[2 * BATCH + batch] = sums + batch * M * N;
  }
  const void **places;
  cudaMalloc(&places, sizeof pointers);
  cudaMemcpy(places, pointers, sizeof pointers, cudaMemcpyHostToDevice);
  check("GemmBatchedEx",
        cublasGemmBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, M, N, K, &one, places, CUDA_R_16F, M, places + BATCH, CUDA_R_16F, N,
                            &one, (void **)(places + 2 * BATCH), CUDA_R_32F, M, BATCH, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        0, 0);
  cudaMemcpy(floats.data(), sums, c_count * sizeof(float), cudaMemcpyDeviceToHost);
  for (int batch = 0; batch < BATCH; batch++)
    for (int j = 0; j < N; j++)
      for (int i = 0; i < M; i++)
        check("float of addresses", floats[(batch * N + j) * M + i], 2 * expected(batch, i, j) + 1.5, 1e-4);
  // Addresses differ from run to run.
  cudaMemset(places, 0, sizeof pointers);
  cudaFree(places);
  // bfloat16.
  std::vector<__nv_bfloat16> small(4), product(1);
  for (int i = 0; i < 4; i++) small[i] = __float2bfloat16(i + 1.0f);
  __nv_bfloat16 *values;
  cudaMalloc(&values, 5 * sizeof(__nv_bfloat16));
  cudaMemcpy(values, small.data(), 4 * sizeof(__nv_bfloat16), cudaMemcpyHostToDevice);
  float none = 0;
  check("GemmEx",
        cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, 4, &one, values, CUDA_R_16BF, 4, values, CUDA_R_16BF, 4, &none,
                     values + 4, CUDA_R_16BF, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT), 0, 0);
  cudaMemcpy(product.data(), values + 4, sizeof(__nv_bfloat16), cudaMemcpyDeviceToHost);
  check("bfloat16", __bfloat162float(product[0]), 30, 0);
  check("too large", cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &two, a, M, b, K, &zero, c, M - 1),
        CUBLAS_STATUS_INVALID_VALUE, 0);
  cublasDestroy(handle);
  for (void *memory : {(void *)a, (void *)b, (void *)c, (void *)sums, (void *)values}) cudaFree(memory);
  printf(failures ? "FAIL\n" : "PASS\n");
  return failures != 0;
}
