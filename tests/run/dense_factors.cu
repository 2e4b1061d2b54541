// cuSOLVER and cuBLAS: factors of dense matrices, systems with them, least squares, singular values and
// eigenvalues, real and complex, by products on the host.
//
// expect: 2 launches -> 1
#include <complex>
#include <cstdio>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>
#include <vector>

static int failures = 0;

static void check(const char *what, double error, double tolerance = 1e-9) {
  if (!(error <= tolerance) && failures++ < 20) printf("%s: %g off\n", what, error);
}

#define SUCCEED(call)                                                                                                  \
  do {                                                                                                                 \
    int status = call;                                                                                                 \
    if (status) printf("%s: %d\n", #call, status), failures++;                                                         \
  } while (0)

const int N = 12, M = 17;
typedef std::complex<double> Complex;
typedef std::vector<Complex> Matrix;

static Matrix numbers(int rows, int columns, int seed) {
  Matrix matrix(rows * columns);
  for (size_t i = 0; i < matrix.size(); i++) {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff;
    matrix[i] = Complex((seed >> 8) % 200 / 100.0 - 1, (seed >> 17) % 200 / 100.0 - 1);
  }
  return matrix;
}

static Matrix product(const Matrix &a, const Matrix &b, int rows, int inner, int columns) {
  Matrix c(rows * columns);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      for (int k = 0; k < inner; k++) c[j * rows + i] += a[k * rows + i] * b[j * inner + k];
  return c;
}

static Matrix adjoint(const Matrix &a, int rows, int columns) {
  Matrix b(a.size());
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) b[i * columns + j] = std::conj(a[j * rows + i]);
  return b;
}

static double distance(const Matrix &a, const Matrix &b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); i++) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

static Matrix identity(int size) {
  Matrix one(size * size);
  for (int i = 0; i < size; i++) one[i * size + i] = 1;
  return one;
}

// Device memory with numbers of type T.
template <typename T> static void put(T &to, Complex from) { to = T(from.real()); }
static void put(cuDoubleComplex &to, Complex from) { to = {from.real(), from.imag()}; }
static Complex get(double from) { return from; }
static Complex get(cuDoubleComplex from) { return {from.x, from.y}; }

template <typename T> static T *on_device(const Matrix &values) {
  std::vector<T> host(values.size());
  for (size_t i = 0; i < host.size(); i++) put(host[i], values[i]);
  T *memory;
  cudaMalloc(&memory, host.size() * sizeof(T));
  cudaMemcpy(memory, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}

template <typename T> static Matrix back(const T *memory, size_t count) {
  std::vector<T> host(count);
  cudaMemcpy(host.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost);
  Matrix values(count);
  for (size_t i = 0; i < count; i++) values[i] = get(host[i]);
  return values;
}

// Cleared at the end: addresses differ from run to run.
static std::vector<std::pair<void *, size_t>> arrays;

template <typename T> static T **addresses(std::vector<T *> pointers) {
  T **memory;
  cudaMalloc(&memory, pointers.size() * sizeof(T *));
  cudaMemcpy(memory, pointers.data(), pointers.size() * sizeof(T *), cudaMemcpyHostToDevice);
  arrays.push_back({memory, pointers.size() * sizeof(T *)});
  return memory;
}

// Larger than what any of these calls asks for. Nobody says what is left in it.
const int WORK = 1 << 16;
template <typename T> static T *workspace() {
  T *memory;
  cudaMalloc(&memory, WORK * sizeof(T));
  arrays.push_back({memory, WORK * sizeof(T)});
  return memory;
}

__global__ void scale(double *values, double by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= by;
}

template <typename T> struct Calls;
#define CALLS(T, R, L, MQR, GQR, EVD)                                                                                  \
  template <> struct Calls<T> {                                                                                        \
    typedef R Real;                                                                                                    \
    static constexpr auto potrf = cusolverDn##L##potrf;                                                                \
    static constexpr auto potrs = cusolverDn##L##potrs;                                                                \
    static constexpr auto getrf = cusolverDn##L##getrf;                                                                \
    static constexpr auto getrs = cusolverDn##L##getrs;                                                                \
    static constexpr auto geqrf = cusolverDn##L##geqrf;                                                                \
    static constexpr auto mqr = cusolverDn##L##MQR;                                                                    \
    static constexpr auto gqr = cusolverDn##L##GQR;                                                                    \
    static constexpr auto gesvd = cusolverDn##L##gesvd;                                                                \
    static constexpr auto evd = cusolverDn##L##EVD;                                                                    \
    static constexpr auto trsm = cublas##L##trsm_v2;                                                                   \
    static constexpr auto dgmm = cublas##L##dgmm;                                                                      \
    static constexpr auto getrfBatched = cublas##L##getrfBatched;                                                      \
    static constexpr auto getrsBatched = cublas##L##getrsBatched;                                                      \
    static constexpr auto getriBatched = cublas##L##getriBatched;                                                      \
    static constexpr auto matinvBatched = cublas##L##matinvBatched;                                                    \
    static constexpr auto gelsBatched = cublas##L##gelsBatched;                                                        \
    static constexpr auto gemvBatched = cublas##L##gemvBatched;                                                        \
    static constexpr auto gemvStridedBatched = cublas##L##gemvStridedBatched;                                          \
    static constexpr auto type = sizeof(T) == sizeof(R) ? CUDA_R_64F : CUDA_C_64F;                                     \
  }
CALLS(double, double, D, ormqr, orgqr, syevd);
CALLS(cuDoubleComplex, double, Z, unmqr, ungqr, heevd);

template <typename T> static void factors(cusolverDnHandle_t solver, cublasHandle_t blas) {
  typedef Calls<T> C;
  typedef typename C::Real Real;
  const bool real = std::is_same<T, double>::value;
  auto numbers = [&](int rows, int columns, int seed) {
    Matrix matrix = ::numbers(rows, columns, seed);
    if (real)
      for (Complex &value : matrix) value = value.real();
    return matrix;
  };
  const Matrix a = numbers(N, N, 1), b = numbers(N, 3, 2), tall = numbers(M, N, 3), tall_b = numbers(M, 3, 4);
  Matrix positive = product(a, adjoint(a, N, N), N, N, N);
  for (int i = 0; i < N; i++) positive[i * N + i] += 1;
  int *info, *exchanges, found;
  T *work = workspace<T>();
  cudaMalloc(&info, 4 * sizeof(int));
  cudaMalloc(&exchanges, 2 * N * sizeof(int));
  auto told = [&](int expected = 0) {
    cudaMemcpy(&found, info, sizeof(int), cudaMemcpyDeviceToHost);
    if (found != expected) printf("found %d, not %d\n", found, expected), failures++;
  };

  // Cholesky, with both triangles.
  for (auto fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    T *da = on_device<T>(positive), *db = on_device<T>(b);
    SUCCEED(C::potrf(solver, fill, N, da, N, work, WORK, info));
    told();
    SUCCEED(C::potrs(solver, fill, N, 3, da, N, db, N, info));
    check("potrs", distance(product(positive, back(db, N * 3), N, N, 3), b));
    Matrix negative = positive;
    negative[4 * N + 4] = -1;
    T *dn = on_device<T>(negative);
    SUCCEED(C::potrf(solver, fill, N, dn, N, work, WORK, info));
    told(5);
  }

  // L and U, and systems with each form of the matrix.
  T *lu = on_device<T>(a);
  SUCCEED(C::getrf(solver, N, N, lu, N, work, exchanges, info));
  told();
  for (auto operation : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
    Matrix form = a;
    if (operation != CUBLAS_OP_N) form = adjoint(a, N, N);
    if (operation == CUBLAS_OP_T)
      for (Complex &value : form) value = std::conj(value);
    T *db = on_device<T>(b);
    SUCCEED(C::getrs(solver, operation, N, 3, lu, N, exchanges, db, N, info));
    check("getrs", distance(product(form, back(db, N * 3), N, N, 3), b));
    // Triangles, from both sides.
    for (auto fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER})
      for (auto diagonal : {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT}) {
        Matrix triangle(N * N);
        for (int i = 0; i < N; i++)
          for (int j = 0; j < N; j++)
            if (i == j) triangle[j * N + i] = diagonal == CUBLAS_DIAG_UNIT ? 1.0 : a[j * N + i] + 2.5;
            else if ((j > i) == (fill == CUBLAS_FILL_MODE_UPPER)) triangle[j * N + i] = a[j * N + i] * 0.3;
        Matrix stored = triangle;
        for (int i = 0; i < N; i++)
          for (int j = 0; j < N; j++)
            if (i == j ? diagonal == CUBLAS_DIAG_UNIT : (j > i) != (fill == CUBLAS_FILL_MODE_UPPER)) stored[j * N + i] = 77;
        Matrix turned = triangle;
        if (operation != CUBLAS_OP_N) turned = adjoint(triangle, N, N);
        if (operation == CUBLAS_OP_T)
          for (Complex &value : turned) value = std::conj(value);
        T *dt = on_device<T>(stored), *dl = on_device<T>(b), *dr = on_device<T>(adjoint(b, N, 3)), alpha;
        put(alpha, 2);
        SUCCEED(C::trsm(blas, CUBLAS_SIDE_LEFT, fill, operation, diagonal, N, 3, &alpha, dt, N, dl, N));
        SUCCEED(C::trsm(blas, CUBLAS_SIDE_RIGHT, fill, operation, diagonal, 3, N, &alpha, dt, N, dr, 3));
        Matrix twice = b;
        for (Complex &value : twice) value *= 2;
        check("trsm", distance(product(turned, back(dl, N * 3), N, N, 3), twice));
        check("trsm right", distance(product(back(dr, N * 3), turned, 3, N, N), adjoint(twice, N, 3)));
      }
  }
  Matrix singular = a;
  for (int i = 0; i < N; i++) singular[3 * N + i] = 0;
  T *ds = on_device<T>(singular);
  SUCCEED(C::getrf(solver, N, N, ds, N, work, exchanges, info));
  told(4);

  // Q and R.
  T *qr = on_device<T>(tall), *scales = on_device<T>(Matrix(N)), *db = on_device<T>(tall_b);
  SUCCEED(C::geqrf(solver, M, N, qr, M, scales, work, WORK, info));
  Matrix r(N * N), packed = back(qr, M * N);
  for (int i = 0; i < N; i++)
    for (int j = i; j < N; j++) r[j * N + i] = packed[j * M + i];
  SUCCEED(C::mqr(solver, CUBLAS_SIDE_LEFT, real ? CUBLAS_OP_T : CUBLAS_OP_C, M, 3, N, qr, M, scales, db, M, work, WORK, info));
  T *dright = on_device<T>(adjoint(tall_b, M, 3));
  SUCCEED(C::mqr(solver, CUBLAS_SIDE_RIGHT, CUBLAS_OP_N, 3, M, N, qr, M, scales, dright, 3, work, WORK, info));
  check("both sides", distance(adjoint(back(dright, M * 3), 3, M), back(db, M * 3)));
  SUCCEED(C::gqr(solver, M, N, N, qr, M, scales, work, WORK, info));
  Matrix q = back(qr, M * N);
  check("Q * R", distance(product(q, r, M, N, N), tall));
  check("Q' * Q", distance(product(adjoint(q, M, N), q, N, M, N), identity(N)));
  Matrix projected = product(adjoint(q, M, N), tall_b, N, M, 3), applied = back(db, M * 3);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < 3; j++) check("Q' * B", std::abs(projected[j * N + i] - applied[j * M + i]));

  // Batches of two.
  Matrix other = numbers(N, N, 9);
  T *first = on_device<T>(a), *second = on_device<T>(other), *x = on_device<T>(b), *y = on_device<T>(b);
  T *inverse = on_device<T>(a), *inverse_too = on_device<T>(a);
  T **both = addresses<T>({first, second}), **rights = addresses<T>({x, y});
  T **inverses = addresses<T>({inverse, inverse_too});
  SUCCEED(C::matinvBatched(blas, N, both, N, inverses, N, info, 2));
  check("inverse", distance(product(a, back(inverse, N * N), N, N, N), identity(N)));
  SUCCEED(C::getrfBatched(blas, N, both, N, exchanges, info, 2));
  told();
  SUCCEED(C::getrsBatched(blas, CUBLAS_OP_N, N, 3, both, N, exchanges, rights, N, &found, 2));
  check("solution", distance(product(other, back(y, N * 3), N, N, 3), b));
  SUCCEED(C::getriBatched(blas, N, both, N, exchanges, inverses, N, info, 2));
  check("inverse of factors", distance(product(other, back(inverse_too, N * N), N, N, N), identity(N)));
  // Without exchanges the factors are those of the matrix itself.
  T *plain = on_device<T>(positive);
  SUCCEED(C::getrfBatched(blas, N, addresses<T>({plain}), N, nullptr, info, 1));
  Matrix l = identity(N), u(N * N), kept = back(plain, N * N);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) (j >= i ? u : l)[j * N + i] = kept[j * N + i];
  check("L * U", distance(product(l, u, N, N, N), positive));

  // Least squares: the rest is at right angles to all columns.
  T *left = on_device<T>(tall), *right = on_device<T>(tall_b);
  SUCCEED(C::gelsBatched(blas, CUBLAS_OP_N, M, N, 3, addresses<T>({left}), M, addresses<T>({right}), M, &found, info, 1));
  told();
  Matrix solution(N * 3), all = back(right, M * 3), rest = tall_b;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < 3; j++) solution[j * N + i] = all[j * M + i];
  Matrix near = product(tall, solution, M, N, 3);
  for (size_t i = 0; i < rest.size(); i++) rest[i] -= near[i];
  check("least squares", distance(product(adjoint(tall, M, N), rest, N, M, 3), Matrix(N * 3)));

  // Diagonals.
  T *diagonal = on_device<T>(tall), *vector = on_device<T>(b);
  SUCCEED(C::dgmm(blas, CUBLAS_SIDE_RIGHT, M, N, diagonal, M, vector, -1, diagonal, M));
  Matrix scaled = back(diagonal, M * N);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) check("dgmm", std::abs(scaled[j * M + i] - tall[j * M + i] * b[N - 1 - j]));

  // Singular values and eigenvalues.
  T *dt = on_device<T>(tall), *du = on_device<T>(Matrix(M * M)), *dv = on_device<T>(Matrix(N * N));
  Real *dsv = on_device<Real>(Matrix(N)), *dw = on_device<Real>(Matrix(N));
  SUCCEED(C::gesvd(solver, 'A', 'S', M, N, dt, M, dsv, du, M, dv, N, work, WORK, nullptr, info));
  told();
  Matrix uu = back(du, M * M), s = back(dsv, N), v = back(dv, N * N), us(M * N);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) us[j * M + i] = uu[j * M + i] * s[j];
  check("U * S * V'", distance(product(us, v, M, N, N), tall));
  check("U' * U", distance(product(adjoint(uu, M, M), uu, M, M, M), identity(M)));
  for (int i = 1; i < N; i++) check("descending", s[i].real() - s[i - 1].real(), 0);
  T *de = on_device<T>(positive);
  SUCCEED(C::evd(solver, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, N, de, N, dw, work, WORK, info));
  told();
  Matrix vectors = back(de, N * N), w = back(dw, N), stretched = vectors;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) stretched[j * N + i] *= w[j];
  check("A * V", distance(product(positive, vectors, N, N, N), stretched), 1e-8);
  for (int i = 1; i < N; i++) check("ascending", w[i - 1].real() - w[i].real(), 0);

  // The same by functions that are told the types.
  cusolverDnParams_t params;
  SUCCEED(cusolverDnCreateParams(&params));
  SUCCEED(cusolverDnSetAdvOptions(params, CUSOLVERDN_GETRF, CUSOLVER_ALG_0));
  size_t bytes = 0, host_bytes = 1;
  T *dx = on_device<T>(positive);
  Real *dxw = on_device<Real>(Matrix(N));
  const auto vectors_too = CUSOLVER_EIG_MODE_VECTOR;
  SUCCEED(cusolverDnXsyevd_bufferSize(solver, params, vectors_too, CUBLAS_FILL_MODE_UPPER, N, C::type, dx, N, CUDA_R_64F, dxw,
                                      C::type, &bytes, &host_bytes));
  SUCCEED(cusolverDnXsyevd(solver, params, vectors_too, CUBLAS_FILL_MODE_UPPER, N, C::type, dx, N, CUDA_R_64F, dxw, C::type,
                           work, WORK, nullptr, host_bytes, info));
  told();
  check("vectors by types", distance(back(dx, N * N), vectors), 0);
  check("values by types", distance(back(dxw, N), w), 0);
  if (cusolverDnXsyevd(solver, params, vectors_too, CUBLAS_FILL_MODE_UPPER, N, C::type, dx, N, CUDA_R_32F, dxw, C::type, work,
                       WORK, nullptr, 0, info) == CUSOLVER_STATUS_SUCCESS)
    printf("values of another type\n"), failures++;
  T *dxa = on_device<T>(positive), *dxb = on_device<T>(b);
  SUCCEED(cusolverDnXpotrf_bufferSize(solver, params, CUBLAS_FILL_MODE_LOWER, N, C::type, dxa, N, C::type, &bytes, &host_bytes));
  SUCCEED(cusolverDnXpotrf(solver, params, CUBLAS_FILL_MODE_LOWER, N, C::type, dxa, N, C::type, work, bytes, nullptr, host_bytes,
                           info));
  SUCCEED(cusolverDnXpotrs(solver, params, CUBLAS_FILL_MODE_LOWER, N, 3, C::type, dxa, N, C::type, dxb, N, info));
  check("potrs by types", distance(product(positive, back(dxb, N * 3), N, N, 3), b));
  SUCCEED(cusolverDnDestroyParams(params));

  // Matrices with vectors, two with one call: columns 0 and 1 of `b`, then 1 and 2.
  T *da = on_device<T>(a), *dvectors = on_device<T>(b), *sums = on_device<T>(Matrix(N * 4)), once, nothing;
  put(once, 1), put(nothing, 0);
  SUCCEED(C::gemvBatched(blas, CUBLAS_OP_N, N, N, &once, addresses<T>({da, da}), N, addresses<T>({dvectors, dvectors + N}), 1,
                         &nothing, addresses<T>({sums, sums + N}), 1, 2));
  SUCCEED(C::gemvStridedBatched(blas, CUBLAS_OP_N, N, N, &once, da, N, 0, dvectors + N, 1, N, &nothing, sums + 2 * N, 1, N, 2));
  Matrix columns = product(a, b, N, N, 3), summed = back(sums, N * 4);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < 4; j++) check("gemv", std::abs(summed[j * N + i] - columns[(j - j / 2) * N + i]));
}

int main() {
  cusolverDnHandle_t solver;
  cublasHandle_t blas;
  SUCCEED(cusolverDnCreate(&solver));
  SUCCEED(cublasCreate(&blas));
  factors<double>(solver, blas);
  factors<cuDoubleComplex>(solver, blas);

  // What kernels store before is what is factored.
  double *a = on_device<double>(identity(N)), *b = on_device<double>(numbers(N, 1, 5));
  int *info;
  cudaMalloc(&info, sizeof(int));
  scale<<<1, 256>>>(a, 4, N * N);
  scale<<<1, 256>>>(a, 4, N * N);
  SUCCEED(cusolverDnDpotrf(solver, CUBLAS_FILL_MODE_LOWER, N, a, N, workspace<double>(), WORK, info));
  SUCCEED(cusolverDnDpotrs(solver, CUBLAS_FILL_MODE_LOWER, N, 1, a, N, b, N, info));
  Matrix got = back(b, N), expected = numbers(N, 1, 5);
  for (int i = 0; i < N; i++) check("a sixteenth", std::abs(got[i] - expected[i].real() / 16));
  for (auto array : arrays) cudaMemset(array.first, 0, array.second);
  SUCCEED(cusolverDnDestroy(solver));
  SUCCEED(cublasDestroy(blas));
  printf(failures ? "FAIL: %d\n" : "PASS\n", failures);
  return failures != 0;
}
