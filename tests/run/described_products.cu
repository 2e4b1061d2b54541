// cuBLASLt: products that descriptors describe, with a bias and an activation behind them, in a batch, of halves
// and of bytes; kernels before and after them stay where they are.
//
// expect: 2 launches -> 2
#include <cmath>
#include <cstdio>
#include <cublasLt.h>
#include <cuda_fp16.h>

static int failures = 0;

static void check(const char *what, double got, double expected, double tolerance = 0) {
  if (!(std::fabs(got - expected) <= tolerance) && failures++ < 20) printf("%s: %g instead of %g\n", what, got, expected);
}

const int M = 6, N = 5, K = 4, BATCH = 2;

__global__ void fill(float *a, float *b, float *c, float *bias, __half *h, signed char *bytes) {
  int i = threadIdx.x;
  a[i] = i % 7 - 3.0f, b[i] = i % 5 - 2.0f, c[i] = i % 3, bias[i] = i * 0.5f - 1;
  h[i] = __float2half(i % 9 - 4.0f), bytes[i] = (signed char)(i * 29);
}

__global__ void negate(float *d) { d[threadIdx.x] = -d[threadIdx.x]; }

// C and D differ; A is stored K x M, turned.
static double sum_of(const float *a, const float *b, const float *c, int batch, int row, int column) {
  double sum = 0;
  for (int k = 0; k < K; k++) sum += a[batch * K * M + row * K + k] * b[batch * K * N + column * K + k];
  return 2 * sum + 3 * c[batch * M * N + column * M + row];
}

int main() {
  const int count = 64;
  float *a, *b, *c, *d, *bias;
  __half *h, *product;
  signed char *bytes;
  int *words;
  cudaMallocManaged(&a, count * 4), cudaMallocManaged(&b, count * 4), cudaMallocManaged(&c, count * 4);
  cudaMallocManaged(&d, count * 4), cudaMallocManaged(&bias, count * 4), cudaMallocManaged(&h, count * 2);
  cudaMallocManaged(&product, count * 2), cudaMallocManaged(&bytes, count), cudaMallocManaged(&words, count * 4);
  fill<<<1, count>>>(a, b, c, bias, h, bytes);
  cudaDeviceSynchronize();
  cublasLtHandle_t handle;
  cublasLtCreate(&handle);
  cublasLtMatmulDesc_t operation;
  check("DescCreate", cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F), 0);
  cublasOperation_t turned = CUBLAS_OP_T;
  check("transposed", cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned), 0);
  check("size", cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &turned, 1), CUBLAS_STATUS_INVALID_VALUE);
  cublasLtMatrixLayout_t of_a, of_b;
  cublasLtMatrixLayoutOpaque_t of_c = {};
  cublasLtMatrixLayoutCreate(&of_a, CUDA_R_32F, K, M, K);
  cublasLtMatrixLayoutCreate(&of_b, CUDA_R_32F, K, N, K);
  check("LayoutInit", cublasLtMatrixLayoutInit(&of_c, CUDA_R_32F, M, N, M), 0);
  int batch = BATCH;
  int64_t strides[] = {K * M, K * N, M * N};
  cublasLtMatrixLayout_t layouts[] = {of_a, of_b, &of_c};
  for (int i = 0; i < 3; i++) {
    cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
    cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, strides + i, 8);
  }
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulPreferenceCreate(&preference);
  size_t workspace = 1 << 20;
  void *room;
  cudaMalloc(&room, workspace);
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace);
  cublasLtMatmulHeuristicResult_t found;
  int results = 0;
  float two = 2, three = 3;
  for (int epilogue : {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU}) {
    cublasLtEpilogue_t chosen = (cublasLtEpilogue_t)epilogue;
    cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &chosen, sizeof chosen);
    cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    check("heuristic", cublasLtMatmulAlgoGetHeuristic(handle, operation, of_a, of_b, &of_c, &of_c, preference, 1, &found, &results), 0);
    check("found", results, 1);
    check("Matmul", cublasLtMatmul(handle, operation, &two, a, of_a, b, of_b, &three, c, &of_c, d, &of_c, &found.algo, room, workspace, 0), 0);
    cudaDeviceSynchronize();
    for (int i = 0; i < BATCH * M * N; i++) {
      double expected = sum_of(a, b, c, i / (M * N), i % M, i % (M * N) / M);
      if (epilogue == CUBLASLT_EPILOGUE_RELU_BIAS) expected = std::fmax(expected + bias[i % M], 0);
      if (epilogue == CUBLASLT_EPILOGUE_GELU)
        expected *= 0.5 * (1 + std::tanh(0.7978845608028654 * (expected + 0.044715 * expected * expected * expected)));
      check("element", d[i], expected, std::fabs(expected) * 1e-6);
    }
  }
  float before = d[0];
  negate<<<1, M * N>>>(d);
  cudaDeviceSynchronize();
  check("negated", d[0], -before);
  // Halves by halves, K x K, and bytes, which wrap in words.
  cublasLtMatrixLayoutOpaque_t square = {};
  cublasLtMatrixLayoutInit(&square, CUDA_R_16F, K, K, K);
  cublasLtMatmulDescOpaque_t plain = {};
  check("DescInit", cublasLtMatmulDescInit(&plain, CUBLAS_COMPUTE_32F, CUDA_R_32F), 0);
  float one = 1, zero = 0;
  check("halves", cublasLtMatmul(handle, &plain, &one, h, &square, h + 16, &square, &zero, product, &square, product, &square, nullptr, room, workspace, 0), 0);
  cublasLtMatrixLayoutOpaque_t of_bytes = {}, of_words = {};
  cublasLtMatrixLayoutInit(&of_bytes, CUDA_R_8I, K, K, K);
  cublasLtMatrixLayoutInit(&of_words, CUDA_R_32I, K, K, K);
  cublasLtMatmulDescInit(&plain, CUBLAS_COMPUTE_32I, CUDA_R_32I);
  int unit = 1, nought = 0;
  check("bytes", cublasLtMatmul(handle, &plain, &unit, bytes, &of_bytes, bytes + 16, &of_bytes, &nought, words, &of_words, words, &of_words, nullptr, room, workspace, 0), 0);
  cudaDeviceSynchronize();
  for (int i = 0; i < K * K; i++) {
    double halves = 0;
    int sum = 0;
    for (int k = 0; k < K; k++) {
      halves += __half2float(h[k * K + i % K]) * __half2float(h[16 + i / K * K + k]);
      sum += bytes[k * K + i % K] * bytes[16 + i / K * K + k];
    }
    check("half", __half2float(product[i]), halves);
    check("word", words[i], sum);
  }
  check("refused", cublasLtMatmul(handle, &plain, &unit, bytes, &of_bytes, h, &square, &nought, words, &of_words, words, &of_words, nullptr, room, workspace, 0), CUBLAS_STATUS_INVALID_VALUE);
  // Nobody says what is left in it.
  cudaMemset(room, 0, workspace);
  cublasLtMatmulPreferenceDestroy(preference), cublasLtMatrixLayoutDestroy(of_a), cublasLtMatrixLayoutDestroy(of_b);
  cublasLtMatmulDescDestroy(operation), cublasLtDestroy(handle);
  printf("%s\n", failures ? "FAIL" : "PASS");
  return failures != 0;
}
