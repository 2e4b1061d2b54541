// cuSPARSE: triangular systems, incomplete factors, products of sparse matrices, sampled products, sparse
// vectors and conversions, against the same on dense matrices on the host.
//
// expect: 2 launches -> 1
#include <cmath>
#include <cuda_runtime.h>
#include <cusparse.h>
#include <vector>

const size_t ROOM = 1 << 20;
static int failures = 0;

static void check(const char *what, double got, double expected, double tolerance = 1e-9) {
  if (!(std::fabs(got - expected) <= tolerance) && failures++ < 20) printf("%s: %g instead of %g\n", what, got, expected);
}

#define SUCCEED(call)                                                                                                  \
  do {                                                                                                                 \
    cusparseStatus_t status = call;                                                                                    \
    if (status != CUSPARSE_STATUS_SUCCESS) printf("%s: %s\n", #call, cusparseGetErrorName(status)), failures++;         \
  } while (0)

const int N = 24;
typedef std::vector<double> Numbers;
const auto N_ = CUSPARSE_OPERATION_NON_TRANSPOSE, T_ = CUSPARSE_OPERATION_TRANSPOSE;

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

__global__ void scale(double *values, double by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= by;
}

// Diagonally dominant and symmetric in its pattern, counted from 1.
struct Matrix {
  Numbers dense, values;
  std::vector<int> offsets, columns;
  int *device_offsets, *device_columns;
  double *device_values;
  cusparseSpMatDescr_t descriptor;

  explicit Matrix(bool symmetric) : dense(N * N), offsets(1, 1) {
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++)
        if (i == j || (i + j) % 4 == 0 || std::abs(i - j) == 3) {
          double value = i == j ? 9 + i % 3 : symmetric ? -0.1 * ((i + j) % 5) - 0.1 : ((i + 2 * j) % 7) * 0.2 - 0.5;
          dense[i * N + j] = value;
          columns.push_back(j + 1);
          values.push_back(value);
        }
      offsets.push_back((int)values.size() + 1);
    }
    device_offsets = on_device(offsets), device_columns = on_device(columns), device_values = on_device(values);
    SUCCEED(cusparseCreateCsr(&descriptor, N, N, count(), device_offsets, device_columns, device_values,
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ONE, CUDA_R_64F));
  }
  int count() const { return (int)values.size(); }
};

// More than what any of these calls asks for.
static void *room() {
  static void *memory = nullptr;
  if (!memory) cudaMalloc(&memory, ROOM);
  return memory;
}

static void triangles(cusparseHandle_t handle, const Matrix &matrix) {
  Numbers right(N), other(N * 3);
  for (int i = 0; i < N; i++) right[i] = 1 + i % 5;
  for (int i = 0; i < N * 3; i++) other[i] = i % 11 - 4;
  double *x = on_device(right), *y = on_device(right), *b = on_device(other), *c = on_device(other), alpha = 2;
  scale<<<1, 32>>>(x, 3, N);
  scale<<<1, 32>>>(x, 0.5, N);
  cusparseDnVecDescr_t vx, vy;
  cusparseDnMatDescr_t mb, mc;
  SUCCEED(cusparseCreateDnVec(&vx, N, x, CUDA_R_64F));
  SUCCEED(cusparseCreateDnVec(&vy, N, y, CUDA_R_64F));
  SUCCEED(cusparseCreateDnMat(&mb, N, 3, 3, b, CUDA_R_64F, CUSPARSE_ORDER_ROW));
  SUCCEED(cusparseCreateDnMat(&mc, N, 3, N, c, CUDA_R_64F, CUSPARSE_ORDER_COL));
  for (int which = 0; which < 8; which++) {
    auto fill = which & 1 ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    auto diagonal = which & 2 ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
    auto operation = which & 4 ? T_ : N_;
    SUCCEED(cusparseSpMatSetAttribute(matrix.descriptor, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    SUCCEED(cusparseSpMatSetAttribute(matrix.descriptor, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
    cusparseSpSVDescr_t sv;
    cusparseSpSMDescr_t sm;
    size_t bytes;
    void *buffer;
    SUCCEED(cusparseSpSV_createDescr(&sv));
    SUCCEED(cusparseSpSV_bufferSize(handle, operation, &alpha, matrix.descriptor, vx, vy, CUDA_R_64F,
                                    CUSPARSE_SPSV_ALG_DEFAULT, sv, &bytes));
    cudaMalloc(&buffer, bytes);
    SUCCEED(cusparseSpSV_analysis(handle, operation, &alpha, matrix.descriptor, vx, vy, CUDA_R_64F,
                                  CUSPARSE_SPSV_ALG_DEFAULT, sv, buffer));
    SUCCEED(cusparseSpSV_solve(handle, operation, &alpha, matrix.descriptor, vx, vy, CUDA_R_64F,
                               CUSPARSE_SPSV_ALG_DEFAULT, sv));
    SUCCEED(cusparseSpSV_destroyDescr(sv));
    SUCCEED(cusparseSpSM_createDescr(&sm));
    SUCCEED(cusparseSpSM_analysis(handle, operation, N_, &alpha, matrix.descriptor, mb, mc, CUDA_R_64F,
                                  CUSPARSE_SPSM_ALG_DEFAULT, sm, buffer));
    SUCCEED(cusparseSpSM_solve(handle, operation, N_, &alpha, matrix.descriptor, mb, mc, CUDA_R_64F,
                               CUSPARSE_SPSM_ALG_DEFAULT, sm));
    SUCCEED(cusparseSpSM_destroyDescr(sm));
    auto element = [&](int i, int j) {
      if (operation == T_) std::swap(i, j);
      if (i == j) return diagonal == CUSPARSE_DIAG_TYPE_UNIT ? 1.0 : matrix.dense[i * N + i];
      return (j > i) == (fill == CUSPARSE_FILL_MODE_UPPER) ? matrix.dense[i * N + j] : 0.0;
    };
    Numbers solution = back(y, N), solutions = back(c, N * 3);
    for (int i = 0; i < N; i++) {
      double sum = 0, sums[3] = {};
      for (int j = 0; j < N; j++) {
        sum += element(i, j) * solution[j];
        for (int k = 0; k < 3; k++) sums[k] += element(i, j) * solutions[k * N + j];
      }
      check("SpSV", sum, 2 * 1.5 * right[i], 1e-6);
      for (int k = 0; k < 3; k++) check("SpSM", sums[k], 2 * other[i * 3 + k], 1e-6);
    }
    cudaFree(buffer);
  }
  check("shapes", cusparseSpSM_solve(handle, T_, T_, &alpha, matrix.descriptor, mb, mc, CUDA_R_64F,
                                     CUSPARSE_SPSM_ALG_DEFAULT, nullptr), CUSPARSE_STATUS_INVALID_VALUE);
}

static void factors(cusparseHandle_t handle, const Matrix &general, const Matrix &symmetric) {
  cusparseMatDescr_t settings;
  SUCCEED(cusparseCreateMatDescr(&settings));
  SUCCEED(cusparseSetMatIndexBase(settings, CUSPARSE_INDEX_BASE_ONE));
  auto policy = CUSPARSE_SOLVE_POLICY_NO_LEVEL;
  csrilu02Info_t lu;
  csric02Info_t ll;
  int bytes, row;
  void *buffer = room();
  SUCCEED(cusparseCreateCsrilu02Info(&lu));
  SUCCEED(cusparseCreateCsric02Info(&ll));
  double *values = on_device(general.values), *roots = on_device(symmetric.values);
  SUCCEED(cusparseDcsrilu02_bufferSize(handle, N, general.count(), settings, values, general.device_offsets,
                                       general.device_columns, lu, &bytes));
  SUCCEED(cusparseDcsrilu02_analysis(handle, N, general.count(), settings, values, general.device_offsets,
                                     general.device_columns, lu, policy, buffer));
  SUCCEED(cusparseDcsrilu02(handle, N, general.count(), settings, values, general.device_offsets,
                            general.device_columns, lu, policy, buffer));
  SUCCEED(cusparseXcsrilu02_zeroPivot(handle, lu, &row));
  check("pivot", row, -1);
  SUCCEED(cusparseDcsric02_bufferSize(handle, N, symmetric.count(), settings, roots, symmetric.device_offsets,
                                      symmetric.device_columns, ll, &bytes));
  SUCCEED(cusparseDcsric02_analysis(handle, N, symmetric.count(), settings, roots, symmetric.device_offsets,
                                    symmetric.device_columns, ll, policy, buffer));
  SUCCEED(cusparseDcsric02(handle, N, symmetric.count(), settings, roots, symmetric.device_offsets,
                           symmetric.device_columns, ll, policy, buffer));
  SUCCEED(cusparseXcsric02_zeroPivot(handle, ll, &row));
  Numbers factored = back(values, general.count()), rooted = back(roots, symmetric.count());
  Numbers both(N * N), root(N * N);
  for (int i = 0; i < N; i++)
    for (int at = general.offsets[i] - 1; at < general.offsets[i + 1] - 1; at++) {
      int j = general.columns[at] - 1;
      both[i * N + j] = factored[at];
      if (j <= i) root[i * N + j] = rooted[at];
    }
  for (int i = 0; i < N; i++)
    for (int at = general.offsets[i] - 1; at < general.offsets[i + 1] - 1; at++) {
      int j = general.columns[at] - 1;
      double product = 0, square = 0;
      for (int k = 0; k <= std::min(i, j); k++) {
        product += (k == i ? 1 : both[i * N + k]) * both[k * N + j];
        square += root[i * N + k] * root[j * N + k];
      }
      check("L * U", product, general.values[at], 1e-6);
      if (j <= i) check("L * L'", square, symmetric.values[at], 1e-6);
    }
  // A row of zeros has no pivot.
  cudaMemset(values, 0, general.count() * sizeof(double));
  SUCCEED(cusparseDcsrilu02(handle, N, general.count(), settings, values, general.device_offsets,
                            general.device_columns, lu, policy, buffer));
  check("zero", cusparseXcsrilu02_zeroPivot(handle, lu, &row), CUSPARSE_STATUS_ZERO_PIVOT);
  check("row", row, 0);
}

static void products(cusparseHandle_t handle, const Matrix &a, const Matrix &b) {
  int *offsets;
  cudaMalloc(&offsets, (N + 1) * sizeof(int));
  cusparseSpMatDescr_t c;
  cusparseSpGEMMDescr_t product;
  double alpha = 2, beta = 0;
  size_t bytes;
  int64_t rows, columns, count;
  void *buffer, *second;
  SUCCEED(cusparseCreateCsr(&c, N, N, 0, offsets, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  SUCCEED(cusparseSpGEMM_createDescr(&product));
  auto step = [&](auto function, auto... more) {
    SUCCEED(function(handle, N_, N_, &alpha, a.descriptor, b.descriptor, &beta, c, CUDA_R_64F, CUSPARSE_SPGEMM_DEFAULT,
                     product, more...));
  };
  step(cusparseSpGEMM_workEstimation, &bytes, nullptr);
  cudaMalloc(&buffer, bytes);
  step(cusparseSpGEMM_workEstimation, &bytes, buffer);
  step(cusparseSpGEMM_compute, &bytes, nullptr);
  cudaMalloc(&second, bytes);
  step(cusparseSpGEMM_compute, &bytes, second);
  SUCCEED(cusparseSpMatGetSize(c, &rows, &columns, &count));
  int *indices;
  double *values;
  cudaMalloc(&indices, count * sizeof(int));
  cudaMalloc(&values, count * sizeof(double));
  SUCCEED(cusparseCsrSetPointers(c, offsets, indices, values));
  step(cusparseSpGEMM_copy);
  SUCCEED(cusparseSpGEMM_destroyDescr(product));
  buffer = room();
  // Back to a dense matrix, by columns.
  double *dense;
  cudaMalloc(&dense, N * N * sizeof(double));
  cusparseDnMatDescr_t d;
  SUCCEED(cusparseCreateDnMat(&d, N, N, N, dense, CUDA_R_64F, CUSPARSE_ORDER_COL));
  SUCCEED(cusparseSparseToDense(handle, c, d, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, buffer));
  Numbers got = back(dense, N * N);
  int64_t filled = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      bool any = false;
      for (int k = 0; k < N; k++) {
        sum += a.dense[i * N + k] * b.dense[k * N + j];
        any |= a.dense[i * N + k] != 0 && b.dense[k * N + j] != 0;
      }
      filled += any;
      check("A * B", got[j * N + i], 2 * sum);
    }
  check("elements", count, filled);
  // And to a sparse one, by coordinates.
  int *counts;
  cudaMalloc(&counts, N * sizeof(int));
  int total;
  cusparseMatDescr_t settings;
  SUCCEED(cusparseCreateMatDescr(&settings));
  SUCCEED(cusparseDnnz(handle, CUSPARSE_DIRECTION_ROW, N, N, settings, dense, N, counts, &total));
  std::vector<int> of_row = back(counts, N);
  cusparseSpMatDescr_t coordinates;
  SUCCEED(cusparseCreateCoo(&coordinates, N, N, 0, nullptr, nullptr, nullptr, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  SUCCEED(cusparseDenseToSparse_analysis(handle, d, coordinates, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
  SUCCEED(cusparseSpMatGetSize(coordinates, &rows, &columns, &count));
  check("counted", count, total);
  int *at_rows, *at_columns;
  cudaMalloc(&at_rows, total * sizeof(int));
  cudaMalloc(&at_columns, total * sizeof(int));
  SUCCEED(cusparseCooSetPointers(coordinates, at_rows, at_columns, values));
  SUCCEED(cusparseDenseToSparse_convert(handle, d, coordinates, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
  std::vector<int> i = back(at_rows, total), j = back(at_columns, total);
  Numbers value = back(values, total);
  for (int at = 0; at < total; at++) {
    check("coordinates", value[at], got[j[at] * N + i[at]]);
    of_row[i[at]]--;
  }
  for (int row = 0; row < N; row++) check("of a row", of_row[row], 0);
  // Sorted by column, with their order.
  int *order;
  cudaMalloc(&order, total * sizeof(int));
  SUCCEED(cusparseCreateIdentityPermutation(handle, total, order));
  SUCCEED(cusparseXcoosortByColumn(handle, N, N, total, at_rows, at_columns, order, buffer));
  std::vector<int> sorted_i = back(at_rows, total), sorted_j = back(at_columns, total), moved = back(order, total);
  for (int at = 0; at < total; at++) {
    check("row", sorted_i[at], i[moved[at]]), check("column", sorted_j[at], j[moved[at]]);
    if (at > 0) check("ascending", sorted_j[at] * N + sorted_i[at] > sorted_j[at - 1] * N + sorted_i[at - 1], 1);
  }
  // Turned.
  int *turned_offsets, *turned_rows;
  double *turned_values;
  cudaMalloc(&turned_offsets, (N + 1) * sizeof(int));
  cudaMalloc(&turned_rows, a.count() * sizeof(int));
  cudaMalloc(&turned_values, a.count() * sizeof(double));
  SUCCEED(cusparseCsr2cscEx2(handle, N, N, a.count(), a.device_values, a.device_offsets, a.device_columns, turned_values,
                             turned_offsets, turned_rows, CUDA_R_64F, CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ONE,
                             CUSPARSE_CSR2CSC_ALG1, buffer));
  std::vector<int> starts = back(turned_offsets, N + 1), turned = back(turned_rows, a.count());
  Numbers turned_value = back(turned_values, a.count());
  for (int column = 0; column < N; column++)
    for (int at = starts[column] - 1; at < starts[column + 1] - 1; at++)
      check("turned", turned_value[at], a.dense[(turned[at] - 1) * N + column]);
}

static void samples(cusparseHandle_t handle, const Matrix &matrix) {
  const int INNER = 5;
  Numbers left(2 * N * INNER), right(2 * N * INNER), before(2 * matrix.count(), 1);
  for (size_t i = 0; i < left.size(); i++) left[i] = (double)(i % 7) - 3, right[i] = (double)(i % 5) - 1;
  double *a = on_device(left), *b = on_device(right), *c = on_device(before), alpha = 2, beta = 3;
  cusparseDnMatDescr_t da, db;
  cusparseSpMatDescr_t dc;
  SUCCEED(cusparseCreateDnMat(&da, N, INNER, INNER, a, CUDA_R_64F, CUSPARSE_ORDER_ROW));
  SUCCEED(cusparseCreateDnMat(&db, N, INNER, INNER, b, CUDA_R_64F, CUSPARSE_ORDER_ROW));
  SUCCEED(cusparseCreateCsr(&dc, N, N, matrix.count(), matrix.device_offsets, matrix.device_columns, c, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ONE, CUDA_R_64F));
  SUCCEED(cusparseDnMatSetStridedBatch(da, 2, N * INNER));
  SUCCEED(cusparseDnMatSetStridedBatch(db, 2, N * INNER));
  // All of the batch have the same offsets and columns, so that only one can have values of its own.
  SUCCEED(cusparseSDDMM(handle, N_, T_, &alpha, da, db, &beta, dc, CUDA_R_64F, CUSPARSE_SDDMM_ALG_DEFAULT, room()) ==
                  CUSPARSE_STATUS_INVALID_VALUE
              ? CUSPARSE_STATUS_SUCCESS
              : CUSPARSE_STATUS_INTERNAL_ERROR);
  SUCCEED(cusparseDnMatSetStridedBatch(da, 1, 0));
  SUCCEED(cusparseDnMatSetStridedBatch(db, 1, 0));
  SUCCEED(cusparseSDDMM(handle, N_, T_, &alpha, da, db, &beta, dc, CUDA_R_64F, CUSPARSE_SDDMM_ALG_DEFAULT, room()));
  Numbers got = back(c, matrix.count());
  for (int i = 0; i < N; i++)
    for (int at = matrix.offsets[i] - 1; at < matrix.offsets[i + 1] - 1; at++) {
      double sum = 0;
      for (int k = 0; k < INNER; k++) sum += left[i * INNER + k] * right[(matrix.columns[at] - 1) * INNER + k];
      check("sampled", got[at], 2 * sum + 3);
    }
}

static void vectors(cusparseHandle_t handle) {
  std::vector<int> places = {2, 3, 11, 20};
  std::vector<float> numbers = {1.5f, -2, 4, 0.5f}, all(N);
  for (int i = 0; i < N; i++) all[i] = i * 0.25f;
  int *indices = on_device(places);
  float *values = on_device(numbers), *dense = on_device(all), alpha = 2, beta = 3, product;
  cusparseSpVecDescr_t x;
  cusparseDnVecDescr_t y;
  SUCCEED(cusparseCreateSpVec(&x, N, 4, indices, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  SUCCEED(cusparseCreateDnVec(&y, N, dense, CUDA_R_32F));
  SUCCEED(cusparseAxpby(handle, &alpha, x, &beta, y));
  std::vector<float> got = back(dense, N), expected(N);
  for (int i = 0; i < N; i++) expected[i] = 3 * all[i];
  for (int at = 0; at < 4; at++) expected[places[at]] += 2 * numbers[at];
  double sum = 0;
  for (int at = 0; at < 4; at++) sum += numbers[at] * expected[places[at]];
  for (int i = 0; i < N; i++) check("axpby", got[i], expected[i]);
  SUCCEED(cusparseSpVV(handle, N_, x, y, &product, CUDA_R_32F, room()));
  check("product", product, sum, 1e-4);
  SUCCEED(cusparseGather(handle, y, x));
  std::vector<float> gathered = back(values, 4);
  for (int at = 0; at < 4; at++) check("gathered", gathered[at], expected[places[at]]);
  cudaMemset(dense, 0, N * sizeof(float));
  SUCCEED(cusparseScatter(handle, x, y));
  got = back(dense, N);
  for (int at = 0; at < 4; at++) check("scattered", got[places[at]], expected[places[at]]);
  check("nothing else", got[4], 0);
}

int main() {
  cusparseHandle_t handle;
  SUCCEED(cusparseCreate(&handle));
  // Of a matrix of which one triangle counts, there are no products of sparse ones.
  Matrix general(false), symmetric(true), whole(false);
  triangles(handle, general);
  factors(handle, general, symmetric);
  products(handle, whole, symmetric);
  samples(handle, whole);
  vectors(handle);
  // Nobody says what is left in it.
  cudaMemset(room(), 0, ROOM);
  SUCCEED(cusparseDestroy(handle));
  printf(failures ? "FAIL: %d\n" : "PASS\n", failures);
  return failures != 0;
}
