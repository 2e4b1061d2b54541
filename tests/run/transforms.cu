// cuFFT: plans of one to three dimensions, of complex and real numbers, against sums on the host.
//
// Shows: kernels before and after a transform of the library stay in order with it, and fuse with each
// other where nothing of the library's lies between.
//
// expect: 4 launches -> 2
#include <cmath>
#include <complex>
#include <cstdio>
#include <cuda_runtime.h>
#include <cufft.h>
#include <vector>

typedef std::complex<double> Number;

static int failures = 0;

static void check(const char *what, double got, double expected, double tolerance) {
  if (!(std::fabs(got - expected) <= tolerance) && failures++ < 20) printf("%s: %g instead of %g\n", what, got, expected);
}

static void check(const char *what, Number got, Number expected, double tolerance = 1e-3) {
  check(what, got.real(), expected.real(), tolerance);
  check(what, got.imag(), expected.imag(), tolerance);
}

static void succeed(const char *what, int result) {
  if (result != 0) {
    printf("%s: %d\n", what, result);
    failures++;
  }
}

// A transform by its definition; rows are of so many numbers.
static std::vector<Number> expected(const std::vector<Number> &in, int slices, int rows, int columns, int sign) {
  std::vector<Number> out(in.size());
  for (int z = 0; z < slices; z++)
    for (int y = 0; y < rows; y++)
      for (int x = 0; x < columns; x++) {
        Number sum = 0;
        for (int c = 0; c < slices; c++)
          for (int b = 0; b < rows; b++)
            for (int a = 0; a < columns; a++) {
              double turn = (double)x * a / columns + (double)y * b / rows + (double)z * c / slices;
              sum += in[(c * rows + b) * columns + a] * std::polar(1.0, sign * 2 * M_PI * turn);
            }
        out[(z * rows + y) * columns + x] = sum;
      }
  return out;
}

static std::vector<Number> numbers(int count, bool real) {
  std::vector<Number> all(count);
  for (int i = 0; i < count; i++) all[i] = Number(i * 7 % 11 - 4, real ? 0 : i * 5 % 13 - 6);
  return all;
}

template <typename T> static T *on_device(const std::vector<T> &values, size_t bytes = 0) {
  T *memory;
  if (bytes < values.size() * sizeof(T)) bytes = values.size() * sizeof(T);
  cudaMalloc(&memory, bytes);
  cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}

template <typename T> static std::vector<T> back(const T *memory, int count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}

__global__ void scale(cufftComplex *values, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i].x *= by, values[i].y *= by;
}

// Twice forward and once backward, with kernels around.
static void lines() {
  const int n = 30, batch = 3;
  std::vector<Number> in = numbers(n * batch, false);
  std::vector<cufftComplex> values(in.size());
  for (size_t i = 0; i < in.size(); i++) values[i] = make_cuComplex((float)in[i].real(), (float)in[i].imag());
  cufftComplex *memory = on_device(values);
  cufftHandle plan;
  succeed("cufftPlan1d", cufftPlan1d(&plan, n, CUFFT_C2C, batch));
  scale<<<1, 128>>>(memory, 2, n * batch);
  scale<<<1, 128>>>(memory, 3, n * batch);
  succeed("cufftExecC2C", cufftExecC2C(plan, memory, memory, CUFFT_FORWARD));
  std::vector<cufftComplex> got = back(memory, n * batch);
  for (int b = 0; b < batch; b++) {
    std::vector<Number> line(in.begin() + b * n, in.begin() + (b + 1) * n), all = expected(line, 1, 1, n, -1);
    for (int i = 0; i < n; i++) check("line", Number(got[b * n + i].x, got[b * n + i].y), 6.0 * all[i]);
  }
  succeed("back", cufftExecC2C(plan, memory, memory, CUFFT_INVERSE));
  scale<<<1, 128>>>(memory, 1.0f / n, n * batch);
  scale<<<1, 128>>>(memory, 1.0f / 6, n * batch);
  got = back(memory, n * batch);
  for (int i = 0; i < n * batch; i++) check("there and back", Number(got[i].x, got[i].y), in[i]);
  succeed("cufftDestroy", cufftDestroy(plan));
  check("a plan that is gone", cufftExecC2C(plan, memory, memory, CUFFT_FORWARD), CUFFT_INVALID_PLAN, 0);
  cudaFree(memory);
}

static void plane_of_doubles() {
  const int rows = 6, columns = 9;
  std::vector<Number> in = numbers(rows * columns, false), all = expected(in, 1, rows, columns, 1);
  std::vector<cufftDoubleComplex> values(in.size());
  for (size_t i = 0; i < in.size(); i++) values[i] = make_cuDoubleComplex(in[i].real(), in[i].imag());
  cufftDoubleComplex *from = on_device(values), *to = on_device(values);
  cufftHandle plan;
  succeed("cufftPlan2d", cufftPlan2d(&plan, rows, columns, CUFFT_Z2Z));
  succeed("cufftExecZ2Z", cufftExecZ2Z(plan, from, to, CUFFT_INVERSE));
  values = back(to, rows * columns);
  for (int i = 0; i < rows * columns; i++) check("plane", Number(values[i].x, values[i].y), all[i], 1e-9);
  cufftDestroy(plan);
  cudaFree(from);
  cudaFree(to);
}

// Real numbers to half of the complex ones and back, in place, where rows have room for both.
static void volume_of_reals() {
  const int slices = 3, rows = 4, columns = 10, half = columns / 2 + 1;
  std::vector<Number> in = numbers(slices * rows * columns, true), all = expected(in, slices, rows, columns, -1);
  std::vector<float> padded(slices * rows * half * 2);
  for (int row = 0; row < slices * rows; row++)
    for (int x = 0; x < columns; x++) padded[row * half * 2 + x] = (float)in[row * columns + x].real();
  float *memory = on_device(padded);
  cufftHandle forward, inverse;
  succeed("cufftPlan3d", cufftPlan3d(&forward, slices, rows, columns, CUFFT_R2C));
  succeed("cufftPlan3d", cufftPlan3d(&inverse, slices, rows, columns, CUFFT_C2R));
  succeed("cufftExecR2C", cufftExecR2C(forward, memory, (cufftComplex *)memory));
  padded = back(memory, (int)padded.size());
  for (int row = 0; row < slices * rows; row++)
    for (int x = 0; x < half; x++)
      check("volume", Number(padded[(row * half + x) * 2], padded[(row * half + x) * 2 + 1]), all[row * columns + x]);
  succeed("cufftExecC2R", cufftExecC2R(inverse, (cufftComplex *)memory, memory));
  padded = back(memory, (int)padded.size());
  for (int row = 0; row < slices * rows; row++)
    for (int x = 0; x < columns; x++)
      check("reals", padded[row * half * 2 + x], slices * rows * columns * in[row * columns + x].real(), 1e-2);
  cufftDestroy(forward);
  cufftDestroy(inverse);
  cudaFree(memory);
}

// Columns of a matrix, whose elements lie a row apart; real numbers to rows of their own.
static void columns_of_a_matrix() {
  int n = 8;
  const int columns = 5, half = n / 2 + 1;
  std::vector<Number> in = numbers(n * columns, true);
  std::vector<double> values(n * columns);
  for (int i = 0; i < n * columns; i++) values[i] = in[i].real();
  double *from = on_device(values);
  cufftDoubleComplex *to = on_device(std::vector<cufftDoubleComplex>(half * columns));
  cufftHandle plan;
  size_t work = 1;
  succeed("cufftCreate", cufftCreate(&plan));
  succeed("cufftMakePlanMany",
          cufftMakePlanMany(plan, 1, &n, &n, columns, 1, &n, 1, half, CUFFT_D2Z, columns, &work));
  succeed("cufftExecD2Z", cufftExecD2Z(plan, from, to));
  std::vector<cufftDoubleComplex> got = back(to, half * columns);
  for (int c = 0; c < columns; c++) {
    std::vector<Number> line(n);
    for (int i = 0; i < n; i++) line[i] = in[i * columns + c];
    line = expected(line, 1, 1, n, -1);
    for (int i = 0; i < half; i++) check("column", Number(got[c * half + i].x, got[c * half + i].y), line[i], 1e-9);
  }
  cufftDestroy(plan);
  cudaFree(from);
  cudaFree(to);
}

int main() {
  lines();
  plane_of_doubles();
  volume_of_reals();
  columns_of_a_matrix();
  printf(failures ? "FAIL\n" : "PASS\n");
  return failures != 0;
}
