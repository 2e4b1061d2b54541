// cuFFT's extended interface: plans by types, descriptors on one device, and device functions that load elements and
// store results. All is compared with sums written out.
//
// Shows: a call of the library that may run device functions of the program stays a fence.
//
// expect: 2 launches -> 2
// expect-missed: fence
#include <cmath>
#include <complex>
#include <cstdio>
#include <cuda_runtime.h>
#include <cufftXt.h>
#include <vector>

static int failures = 0;
using Complex = std::complex<double>;

static void same(const char *what, long long got, long long expected) {
  if (got != expected && failures++ < 20) printf("%s: %lld instead of %lld\n", what, got, expected);
}

static void close(const char *what, Complex got, Complex expected, double tolerance) {
  if (!(std::abs(got - expected) <= tolerance) && failures++ < 20)
    printf("%s: %g%+gi instead of %g%+gi\n", what, got.real(), got.imag(), expected.real(), expected.imag());
}

// Rows times columns, in rows; of lines there is one row.
static std::vector<Complex> sums(const std::vector<Complex> &in, int rows, int columns, int sign) {
  std::vector<Complex> out(rows * columns);
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++)
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
          out[r * columns + c] +=
              in[i * columns + j] * std::polar(1.0, sign * 2 * M_PI * ((double)r * i / rows + (double)c * j / columns));
  return out;
}

static double value(int i) { return std::sin(i * 0.7) + i % 5; }

struct Factors {
  const float *by_place;
  float scale;
};

static __device__ cufftComplex scaled(void *data, size_t offset, void *info, void *shared) {
  Factors *factors = (Factors *)info;
  cufftComplex in = ((cufftComplex *)data)[offset];
  float factor = factors->by_place[offset] * factors->scale;
  return make_cuComplex(in.x * factor, in.y * factor);
}
static __device__ cufftReal from_byte(void *data, size_t offset, void *, void *) { return ((unsigned char *)data)[offset]; }
static __device__ cufftDoubleComplex swapped(void *data, size_t offset, void *, void *shared) {
  double *scratch = (double *)shared;
  scratch[threadIdx.x] = ((double *)data)[2 * offset];
  return make_cuDoubleComplex(((double *)data)[2 * offset + 1], scratch[threadIdx.x]);
}
static __device__ cufftDoubleReal halved(void *data, size_t offset, void *, void *) { return ((double *)data)[offset] / 2; }
static __device__ void conjugated(void *data, size_t offset, cufftComplex element, void *, void *) {
  ((cufftComplex *)data)[offset] = make_cuComplex(element.x, -element.y);
}
static __device__ void reversed(void *data, size_t offset, cufftDoubleComplex element, void *info, void *) {
  ((cufftDoubleComplex *)data)[*(int *)info - 1 - offset] = element;
}
static __device__ void in_double(void *data, size_t offset, cufftReal element, void *info, void *) { ((double *)info)[offset] = element; }
static __device__ void added(void *data, size_t offset, cufftDoubleReal element, void *, void *) { ((double *)data)[offset] += element; }

__device__ cufftCallbackLoadC load_complex = scaled;
__device__ cufftCallbackLoadR load_real = from_byte;
__device__ cufftCallbackLoadZ load_wide_complex = swapped;
__device__ cufftCallbackLoadD load_wide_real = halved;
__device__ cufftCallbackStoreC store_complex = conjugated;
__device__ cufftCallbackStoreZ store_wide_complex = reversed;
__device__ cufftCallbackStoreR store_real = in_double;
__device__ cufftCallbackStoreD store_wide_real = added;

__global__ void add(float *values, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += by;
}

template <typename T>
static T *on_device(const std::vector<T> &values) {
  T *data;
  cudaMalloc(&data, values.size() * sizeof(T));
  cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return data;
}

template <typename T>
static std::vector<T> from_device(const void *data, int count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}

template <typename F>
static void set(cufftHandle plan, const F &symbol, cufftXtCallbackType type, void *info) {
  F function, nothing = nullptr;
  cudaMemcpyFromSymbol(&function, symbol, sizeof function);
  // Where functions are differs from run to run, and all memory is compared at the end.
  cudaMemcpyToSymbol(symbol, &nothing, sizeof function);
  same("callback", cufftXtSetCallback(plan, (void **)&function, type, &info), 0);
}

static cufftHandle planned(std::vector<long long> n, cudaDataType in, cudaDataType out, cudaDataType computed, int batch) {
  cufftHandle plan;
  size_t work = 77;
  same("create", cufftCreate(&plan), 0);
  same("plan", cufftXtMakePlanMany(plan, n.size(), n.data(), NULL, 1, 1, in, NULL, 1, 1, out, batch, &work, computed), 0);
  return plan;
}

static void descriptors() {
  const int rows = 6, columns = 5, n = rows * columns;
  cufftHandle plan;
  int devices[2] = {0, 1};
  same("create", cufftCreate(&plan), 0);
  same("two devices", cufftXtSetGPUs(plan, 2, devices), CUFFT_INVALID_DEVICE);
  same("another device", cufftXtSetGPUs(plan, 1, devices + 1), CUFFT_INVALID_DEVICE);
  same("no device", cufftXtSetGPUs(plan, 0, devices), CUFFT_INVALID_VALUE);
  same("one device", cufftXtSetGPUs(plan, 1, devices), 0);
  size_t work[2];
  cudaLibXtDesc *data, *copy;
  same("memory without a plan", cufftXtMalloc(plan, &data, CUFFT_XT_FORMAT_INPLACE), CUFFT_INVALID_PLAN);
  same("plan", cufftMakePlan2d(plan, rows, columns, CUFFT_C2C, work), 0);
  same("memory", cufftXtMalloc(plan, &data, CUFFT_XT_FORMAT_INPLACE), 0);
  same("memory", cufftXtMalloc(plan, &copy, CUFFT_XT_FORMAT_INPLACE), 0);
  same("pieces", data->descriptor->nGPUs, 1);
  same("its device", data->descriptor->GPUs[0], 0);
  same("its size", data->descriptor->size[0], n * sizeof(cufftComplex));
  same("its library", data->library, LIB_FORMAT_CUFFT);
  std::vector<Complex> in(n);
  std::vector<cufftComplex> numbers(n), got(n);
  for (int i = 0; i < n; i++) {
    in[i] = Complex(value(i), value(i + 100));
    numbers[i] = make_cuComplex(in[i].real(), in[i].imag());
  }
  same("to the device", cufftXtMemcpy(plan, data, numbers.data(), CUFFT_COPY_HOST_TO_DEVICE), 0);
  same("forward", cufftXtExecDescriptorC2C(plan, data, data, CUFFT_FORWARD), 0);
  same("in natural order", cufftXtMemcpy(plan, copy, data, CUFFT_COPY_DEVICE_TO_DEVICE), 0);
  same("to the host", cufftXtMemcpy(plan, got.data(), copy, CUFFT_COPY_DEVICE_TO_HOST), 0);
  std::vector<Complex> expected = sums(in, rows, columns, -1);
  for (int i = 0; i < n; i++) close("described", Complex(got[i].x, got[i].y), expected[i], 1e-4);
  same("backward", cufftXtExecDescriptor(plan, copy, copy, CUFFT_INVERSE), 0);
  same("to the host", cufftXtMemcpy(plan, got.data(), copy, CUFFT_COPY_DEVICE_TO_HOST), 0);
  for (int i = 0; i < n; i++) close("there and back", Complex(got[i].x, got[i].y), in[i] * (double)n, 1e-3);
  same("another kind", cufftXtExecDescriptorR2C(plan, copy, copy), CUFFT_INVALID_TYPE);
  same("free", cufftXtFree(data), 0);
  same("free", cufftXtFree(copy), 0);
  cufftDestroy(plan);

  // Real numbers in place have padded rows.
  same("create", cufftCreate(&plan), 0);
  same("plan", cufftMakePlan2d(plan, rows, columns, CUFFT_D2Z, work), 0);
  same("memory", cufftXtMalloc(plan, &data, CUFFT_XT_FORMAT_INPLACE), 0);
  same("padded", data->descriptor->size[0], rows * 3 * sizeof(cufftDoubleComplex));
  std::vector<double> reals(rows * 6);
  for (int i = 0; i < n; i++) reals[i / columns * 6 + i % columns] = value(i), in[i] = value(i);
  same("to the device", cufftXtMemcpy(plan, data, reals.data(), CUFFT_COPY_HOST_TO_DEVICE), 0);
  same("real", cufftXtExecDescriptorD2Z(plan, data, data), 0);
  same("to the host", cufftXtMemcpy(plan, reals.data(), data, CUFFT_COPY_DEVICE_TO_HOST), 0);
  expected = sums(in, rows, columns, -1);
  for (int i = 0; i < rows * 3; i++)
    close("half of it", Complex(reals[2 * i], reals[2 * i + 1]), expected[i / 3 * columns + i % 3], 1e-12);
  same("free", cufftXtFree(data), 0);
  cufftDestroy(plan);
}

static void single() {
  const int n = 12, batch = 3, all = n * batch;
  std::vector<cufftComplex> numbers(all);
  std::vector<float> factors(all), reals(all);
  std::vector<unsigned char> bytes(all);
  for (int i = 0; i < all; i++) {
    numbers[i] = make_cuComplex(value(i), value(i + 50));
    factors[i] = 1 + i % 3;
    bytes[i] = i * 37;
  }
  cufftComplex *data = on_device(numbers), *out = on_device(numbers);
  float *by_place = on_device(factors);
  add<<<1, 64>>>(by_place, 1, all);
  Factors *info = on_device(std::vector<Factors>{{by_place, 0.5f}});
  cufftHandle plan = planned({n}, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, batch);
  set(plan, load_complex, CUFFT_CB_LD_COMPLEX, info);
  set(plan, store_complex, CUFFT_CB_ST_COMPLEX, NULL);
  same("of another type", cufftXtClearCallback(plan, CUFFT_CB_LD_REAL), CUFFT_INVALID_TYPE);
  same("of no type", cufftXtClearCallback(plan, CUFFT_CB_UNDEFINED), CUFFT_INVALID_TYPE);
  same("forward", cufftXtExec(plan, data, out, CUFFT_FORWARD), 0);
  std::vector<cufftComplex> got = from_device<cufftComplex>(out, all);
  same("cleared", cufftXtClearCallback(plan, CUFFT_CB_LD_COMPLEX), 0);
  same("in place", cufftExecC2C(plan, data, data, CUFFT_INVERSE), 0);
  std::vector<cufftComplex> got_plain = from_device<cufftComplex>(data, all);
  for (int b = 0; b < batch; b++) {
    std::vector<Complex> in(n), plain(n);
    for (int i = 0; i < n; i++) {
      plain[i] = Complex(value(b * n + i), value(b * n + i + 50));
      in[i] = plain[i] * (0.5 * (2 + (b * n + i) % 3));
    }
    std::vector<Complex> expected = sums(in, 1, n, -1), back = sums(plain, 1, n, 1);
    for (int i = 0; i < n; i++) {
      cufftComplex one = got[b * n + i], other = got_plain[b * n + i];
      close("complex", Complex(one.x, one.y), std::conj(expected[i]), 1e-4);
      close("one callback", Complex(other.x, other.y), std::conj(back[i]), 1e-4);
    }
  }
  cufftDestroy(plan);

  unsigned char *from = on_device(bytes);
  plan = planned({n}, CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, batch);
  set(plan, load_real, CUFFT_CB_LD_REAL, NULL);
  same("bytes", cufftExecR2C(plan, (cufftReal *)from, out), 0);
  got = from_device<cufftComplex>(out, 7 * batch);
  cufftHandle back = planned({n}, CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, batch);
  double *doubles = on_device(std::vector<double>(all));
  set(back, store_real, CUFFT_CB_ST_REAL, doubles);
  same("to doubles", cufftXtExec(back, out, by_place, CUFFT_FORWARD), 0);
  std::vector<double> got_doubles = from_device<double>(doubles, all);
  for (int b = 0; b < batch; b++) {
    std::vector<Complex> in(n);
    for (int i = 0; i < n; i++) in[i] = bytes[b * n + i];
    std::vector<Complex> expected = sums(in, 1, n, -1);
    for (int i = 0; i < 7; i++) close("of bytes", Complex(got[b * 7 + i].x, got[b * 7 + i].y), expected[i], 1e-3);
    for (int i = 0; i < n; i++) close("bytes again", got_doubles[b * n + i], in[i] * (double)n, 1e-2);
  }
  cufftDestroy(plan);
  cufftDestroy(back);
  add<<<1, 64>>>(by_place, 1, all);
  // An address, too.
  cudaMemset(info, 0, sizeof(Factors));
  cudaFree(data), cudaFree(out), cudaFree(by_place), cudaFree(info), cudaFree(from), cudaFree(doubles);
}

static void wide() {
  const int rows = 3, columns = 4, n = rows * columns;
  std::vector<double> numbers(2 * n), zeros(n, 1.0);
  std::vector<Complex> in(n), reals(n);
  for (int i = 0; i < n; i++) {
    numbers[2 * i] = value(i);
    numbers[2 * i + 1] = value(i + 9);
    in[i] = Complex(value(i + 9), value(i));
    reals[i] = numbers[i] / 2;
  }
  double *data = on_device(numbers), *out = on_device(numbers), *sum = on_device(zeros);
  int *count = on_device(std::vector<int>{n});
  cufftHandle plan = planned({rows, columns}, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, 1);
  set(plan, load_wide_complex, CUFFT_CB_LD_COMPLEX_DOUBLE, NULL);
  set(plan, store_wide_complex, CUFFT_CB_ST_COMPLEX_DOUBLE, count);
  same("shared memory", cufftXtSetCallbackSharedSize(plan, CUFFT_CB_LD_COMPLEX_DOUBLE, 16 << 10), 0);
  same("too much", cufftXtSetCallbackSharedSize(plan, CUFFT_CB_LD_COMPLEX_DOUBLE, (16 << 10) + 1), CUFFT_INVALID_VALUE);
  same("wide", cufftXtExec(plan, data, out, CUFFT_INVERSE), 0);
  std::vector<double> got = from_device<double>(out, 2 * n);
  std::vector<Complex> expected = sums(in, rows, columns, 1);
  for (int i = 0; i < n; i++) close("swapped", Complex(got[2 * (n - 1 - i)], got[2 * (n - 1 - i) + 1]), expected[i], 1e-12);
  cufftDestroy(plan);

  plan = planned({rows, columns}, CUDA_R_64F, CUDA_C_64F, CUDA_C_64F, 1);
  set(plan, load_wide_real, CUFFT_CB_LD_REAL_DOUBLE, NULL);
  same("halves", cufftExecD2Z(plan, data, (cufftDoubleComplex *)out), 0);
  got = from_device<double>(out, 2 * rows * 3);
  expected = sums(reals, rows, columns, -1);
  for (int i = 0; i < rows * 3; i++) close("halves", Complex(got[2 * i], got[2 * i + 1]), expected[i / 3 * columns + i % 3], 1e-12);
  cufftDestroy(plan);

  plan = planned({rows, columns}, CUDA_C_64F, CUDA_R_64F, CUDA_C_64F, 1);
  set(plan, store_wide_real, CUFFT_CB_ST_REAL_DOUBLE, NULL);
  same("back", cufftXtExec(plan, out, sum, 0), 0);
  got = from_device<double>(sum, n);
  for (int i = 0; i < n; i++) close("added", got[i], reals[i] * (double)n + 1.0, 1e-12);
  cufftDestroy(plan);
  cudaFree(data), cudaFree(out), cudaFree(sum), cudaFree(count);
}

static void refused() {
  cufftHandle plan;
  long long n = 8;
  size_t work;
  cufftCreate(&plan);
  same("half precision", cufftXtMakePlanMany(plan, 1, &n, NULL, 1, 1, CUDA_C_16F, NULL, 1, 1, CUDA_C_16F, 1, &work, CUDA_C_16F), CUFFT_NOT_SUPPORTED);
  same("mixed", cufftXtMakePlanMany(plan, 1, &n, NULL, 1, 1, CUDA_C_32F, NULL, 1, 1, CUDA_C_32F, 1, &work, CUDA_C_64F), CUFFT_INVALID_TYPE);
  same("no function", cufftXtSetCallback(plan, NULL, CUFFT_CB_LD_COMPLEX, NULL), CUFFT_INVALID_VALUE);
  cufftDestroy(plan);
}

int main() {
  descriptors();
  single();
  wide();
  refused();
  printf(failures ? "FAIL\n" : "PASS\n");
  return failures != 0;
}
