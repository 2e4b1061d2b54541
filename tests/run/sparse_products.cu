// cuSPARSE: products of matrices by rows, by columns and by coordinates with vectors and matrices, against
// sums on the host.
//
// Shows: what a kernel writes before a product is there when the library reads it through descriptors, and
// kernels after it read what it wrote.
//
// expect: 4 launches -> 2
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <cusparse.h>
#include <vector>

static int failures = 0;

static void check(const char *what, double got, double expected, double tolerance = 1e-4) {
  if (!(std::fabs(got - expected) <= tolerance) && failures++ < 20) printf("%s: %g instead of %g\n", what, got, expected);
}

static void succeed(const char *what, cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS) {
    printf("%s: %s\n", what, cusparseGetErrorName(status));
    failures++;
  }
}

const int ROWS = 40, COLUMNS = 30;

template <typename T> static T *on_device(const std::vector<T> &values) {
  T *memory;
  cudaMalloc(&memory, values.size() * sizeof(T));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}

template <typename T> static std::vector<T> back(const T *memory, size_t count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}

// Counted from 1 in the offsets and indices.
struct Matrix {
  std::vector<double> dense;
  std::vector<int> offsets, rows, columns;
  std::vector<float> values;

  Matrix() : dense(ROWS * COLUMNS), offsets(1, 1) {
    for (int i = 0; i < ROWS; i++) {
      for (int j = 0; j < COLUMNS; j++)
        if ((i * 7 + j * 3) % 5 == 0) {
          float value = (float)((i + 2 * j) % 9) - 3.5f;
          dense[i * COLUMNS + j] = value;
          rows.push_back(i + 1);
          columns.push_back(j + 1);
          values.push_back(value);
        }
      offsets.push_back((int)values.size() + 1);
    }
  }
};

__global__ void scale(float *values, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= by;
}

static void by_rows(cusparseHandle_t handle, const Matrix &matrix) {
  int count = (int)matrix.values.size();
  int *offsets = on_device(matrix.offsets), *columns = on_device(matrix.columns);
  float *values = on_device(matrix.values);
  std::vector<float> x(COLUMNS), y(ROWS);
  for (int i = 0; i < COLUMNS; i++) x[i] = 0.5f * i - 3;
  for (int i = 0; i < ROWS; i++) y[i] = (float)i;
  float *vector = on_device(x), *result = on_device(y), alpha = 2, beta = -1;
  cusparseSpMatDescr_t a;
  cusparseDnVecDescr_t b, c;
  succeed("cusparseCreateCsr", cusparseCreateCsr(&a, ROWS, COLUMNS, count, offsets, columns, values, CUSPARSE_INDEX_32I,
                                                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
  succeed("cusparseCreateDnVec", cusparseCreateDnVec(&b, COLUMNS, vector, CUDA_R_32F));
  succeed("cusparseCreateDnVec", cusparseCreateDnVec(&c, ROWS, result, CUDA_R_32F));
  size_t bytes = 0;
  succeed("bufferSize", cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, b, &beta, c,
                                                CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
  void *buffer;
  cudaMalloc(&buffer, bytes);
  scale<<<1, 64>>>(vector, 2, COLUMNS);
  scale<<<1, 64>>>(vector, 2, COLUMNS);
  succeed("cusparseSpMV", cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, b, &beta, c, CUDA_R_32F,
                                       CUSPARSE_SPMV_ALG_DEFAULT, buffer));
  scale<<<1, 64>>>(result, 3, ROWS);
  scale<<<1, 64>>>(result, 0.5f, ROWS);
  std::vector<float> got = back(result, ROWS);
  for (int i = 0; i < ROWS; i++) {
    double sum = 0;
    for (int j = 0; j < COLUMNS; j++) sum += matrix.dense[i * COLUMNS + j] * 4 * x[j];
    check("y", got[i], 1.5 * (2 * sum - y[i]), 1e-2);
  }
  // The other way round.
  beta = 0;
  succeed("transposed", cusparseSpMV(handle, CUSPARSE_OPERATION_TRANSPOSE, &alpha, a, c, &beta, b, CUDA_R_32F,
                                     CUSPARSE_SPMV_ALG_DEFAULT, buffer));
  std::vector<float> turned = back(vector, COLUMNS);
  for (int j = 0; j < COLUMNS; j++) {
    double sum = 0;
    for (int i = 0; i < ROWS; i++) sum += matrix.dense[i * COLUMNS + j] * got[i];
    check("x", turned[j], 2 * sum, 1e-1);
  }
  check("shapes", cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, c, &beta, b, CUDA_R_32F,
                               CUSPARSE_SPMV_ALG_DEFAULT, buffer), CUSPARSE_STATUS_INVALID_VALUE);
  // Rows to row indices and back.
  int *rows, *again;
  cudaMalloc(&rows, count * sizeof(int));
  cudaMalloc(&again, (ROWS + 1) * sizeof(int));
  succeed("cusparseXcsr2coo", cusparseXcsr2coo(handle, offsets, count, ROWS, rows, CUSPARSE_INDEX_BASE_ONE));
  succeed("cusparseXcoo2csr", cusparseXcoo2csr(handle, rows, count, ROWS, again, CUSPARSE_INDEX_BASE_ONE));
  check("rows", back(rows, count) == matrix.rows, 1);
  check("offsets", back(again, ROWS + 1) == matrix.offsets, 1);
  cusparseDestroySpMat(a);
  cusparseDestroyDnVec(b);
  cusparseDestroyDnVec(c);
  for (void *memory : {(void *)offsets, (void *)columns, (void *)values, (void *)vector, (void *)result, buffer,
                       (void *)rows, (void *)again})
    cudaFree(memory);
}

static void by_coordinates(cusparseHandle_t handle, const Matrix &matrix) {
  const int width = 3, leading = 35;
  int count = (int)matrix.values.size();
  std::vector<double> elements(matrix.values.begin(), matrix.values.end()), b(leading * width), c(ROWS * width);
  for (int i = 0; i < leading * width; i++) b[i] = i % 17 - 8;
  int *rows = on_device(matrix.rows), *columns = on_device(matrix.columns);
  double *values = on_device(elements), *factor = on_device(b), *result = on_device(c), alpha = 1, beta = 0;
  cusparseSpMatDescr_t a;
  cusparseDnMatDescr_t dense, product;
  succeed("cusparseCreateCoo", cusparseCreateCoo(&a, ROWS, COLUMNS, count, rows, columns, values, CUSPARSE_INDEX_32I,
                                                 CUSPARSE_INDEX_BASE_ONE, CUDA_R_64F));
  succeed("cusparseCreateDnMat",
          cusparseCreateDnMat(&dense, COLUMNS, width, leading, factor, CUDA_R_64F, CUSPARSE_ORDER_COL));
  succeed("cusparseCreateDnMat",
          cusparseCreateDnMat(&product, ROWS, width, width, result, CUDA_R_64F, CUSPARSE_ORDER_ROW));
  succeed("cusparseSpMM", cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                       &alpha, a, dense, &beta, product, CUDA_R_64F, CUSPARSE_SPMM_ALG_DEFAULT, nullptr));
  std::vector<double> got = back(result, ROWS * width);
  for (int i = 0; i < ROWS; i++)
    for (int k = 0; k < width; k++) {
      double sum = 0;
      for (int j = 0; j < COLUMNS; j++) sum += matrix.dense[i * COLUMNS + j] * b[k * leading + j];
      check("product", got[i * width + k], sum, 1e-9);
    }
  cusparseDestroySpMat(a);
  cusparseDestroyDnMat(dense);
  cusparseDestroyDnMat(product);
  for (void *memory : {(void *)rows, (void *)columns, (void *)values, (void *)factor, (void *)result}) cudaFree(memory);
}

int main() {
  Matrix matrix;
  cusparseHandle_t handle;
  succeed("cusparseCreate", cusparseCreate(&handle));
  by_rows(handle, matrix);
  by_coordinates(handle, matrix);
  succeed("cusparseDestroy", cusparseDestroy(handle));
  printf(failures ? "FAIL\n" : "PASS\n");
  return failures != 0;
}
