// cuRAND's host generators: the numbers that kernels draw by curand_kernel.h, in the order of the manual,
// and distributions by their moments.
//
// Shows: kernels that read what a generator wrote come after it, and fuse with each other.
//
// expect: 9 launches -> 7
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <curand.h>
#include <curand_kernel.h>
#include <vector>

static int failures = 0;

static void check(const char *what, double got, double expected, double tolerance) {
  if (!(std::fabs(got - expected) <= tolerance) && failures++ < 20) printf("%s: %g instead of %g\n", what, got, expected);
}

static void succeed(const char *what, int result) {
  if (result != 0) {
    printf("%s: %d\n", what, result);
    failures++;
  }
}

const int SEQUENCES = 4096;

// Sequence by sequence, as the n-th number is number n / 4096 of sequence n % 4096.
template <typename State>
__global__ void draw(unsigned *out, float *fractions, unsigned long long seed, int sequence, int count) {
  State state;
  curand_init(seed, sequence, 0, &state);
  for (int i = 0; i < count; i++) out[i] = curand(&state);
  curand_init(seed, sequence, 0, &state);
  for (int i = 0; i < count; i++) fractions[i] = curand_uniform(&state);
}

__global__ void shift(float *values, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += by;
}

template <typename State>
static void compare(const char *what, curandRngType kind, unsigned long long seed, int sequence, bool in_sequences) {
  const int rows = 5, n = in_sequences ? rows * SEQUENCES : 64, each = in_sequences ? rows : n;
  unsigned *all, *own, numbers[64];
  float *fractions, *own_fractions, floats[64];
  cudaMalloc(&all, n * sizeof(unsigned));
  cudaMalloc(&fractions, n * sizeof(float));
  cudaMalloc(&own, sizeof numbers);
  cudaMalloc(&own_fractions, sizeof floats);
  curandGenerator_t generator;
  succeed("curandCreateGenerator", curandCreateGenerator(&generator, kind));
  succeed("seed", curandSetPseudoRandomGeneratorSeed(generator, seed));
  succeed("curandGenerate", curandGenerate(generator, all, n));
  succeed("seed", curandSetPseudoRandomGeneratorSeed(generator, seed));
  succeed("curandGenerateUniform", curandGenerateUniform(generator, fractions, n / 2));
  succeed("curandGenerateUniform", curandGenerateUniform(generator, fractions + n / 2, n - n / 2));
  draw<State><<<1, 1>>>(own, own_fractions, seed, sequence, each);
  cudaMemcpy(numbers, own, each * sizeof(unsigned), cudaMemcpyDeviceToHost);
  cudaMemcpy(floats, own_fractions, each * sizeof(float), cudaMemcpyDeviceToHost);
  std::vector<unsigned> got(n);
  std::vector<float> got_fractions(n);
  cudaMemcpy(got.data(), all, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
  cudaMemcpy(got_fractions.data(), fractions, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < each; i++) {
    int at = in_sequences ? i * SEQUENCES + sequence : i;
    check(what, got[at], numbers[i], 0);
    check(what, got_fractions[at], floats[i], 0);
  }
  // From the middle.
  const int skipped = in_sequences ? 2 * SEQUENCES + 77 : 13, rest = n - skipped;
  succeed("offset", curandSetGeneratorOffset(generator, skipped));
  succeed("curandGenerate", curandGenerate(generator, all, rest));
  std::vector<unsigned> later(rest);
  cudaMemcpy(later.data(), all, rest * sizeof(unsigned), cudaMemcpyDeviceToHost);
  for (int i = 0; i < rest; i++) check("offset", later[i], got[skipped + i], 0);
  succeed("curandDestroyGenerator", curandDestroyGenerator(generator));
  cudaFree(all);
  cudaFree(own);
  cudaFree(fractions);
  cudaFree(own_fractions);
}

template <typename T>
static void moments(const char *what, const std::vector<T> &values, double mean, double deviation) {
  double sum = 0, squares = 0;
  for (T value : values) sum += (double)value;
  double got = sum / values.size();
  for (T value : values) squares += ((double)value - got) * ((double)value - got);
  check(what, got, mean, 0.05 * deviation);
  check(what, std::sqrt(squares / values.size()), deviation, 0.05 * deviation);
}

static void distributions(curandRngType kind) {
  const int n = 20000;
  curandGenerator_t generator;
  succeed("curandCreateGenerator", curandCreateGenerator(&generator, kind));
  succeed("seed", curandSetPseudoRandomGeneratorSeed(generator, 12345));
  float *floats;
  double *doubles;
  unsigned *counts;
  cudaMalloc(&floats, n * sizeof(float));
  cudaMalloc(&doubles, n * sizeof(double));
  cudaMalloc(&counts, n * sizeof(unsigned));
  std::vector<float> some(n);
  std::vector<double> double_values(n);
  std::vector<unsigned> numbers(n);
  succeed("normal", curandGenerateNormal(generator, floats, n, 3, 2));
  shift<<<(n + 255) / 256, 256>>>(floats, 1, n);
  shift<<<(n + 255) / 256, 256>>>(floats, 2, n);
  cudaMemcpy(some.data(), floats, n * sizeof(float), cudaMemcpyDeviceToHost);
  moments("normal", some, 6, 2);
  succeed("log-normal", curandGenerateLogNormal(generator, floats, n, 0, 0.5f));
  cudaMemcpy(some.data(), floats, n * sizeof(float), cudaMemcpyDeviceToHost);
  moments("log-normal", some, std::exp(0.125), std::sqrt((std::exp(0.25) - 1) * std::exp(0.25)));
  succeed("normal doubles", curandGenerateNormalDouble(generator, doubles, n, -1, 0.1));
  cudaMemcpy(double_values.data(), doubles, n * sizeof(double), cudaMemcpyDeviceToHost);
  moments("normal doubles", double_values, -1, 0.1);
  succeed("doubles", curandGenerateUniformDouble(generator, doubles, n));
  cudaMemcpy(double_values.data(), doubles, n * sizeof(double), cudaMemcpyDeviceToHost);
  moments("doubles", double_values, 0.5, std::sqrt(1.0 / 12));
  for (double expected : {0.7, 40.0, 3000.0}) {
    succeed("Poisson", curandGeneratePoisson(generator, counts, n, expected));
    cudaMemcpy(numbers.data(), counts, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
    moments("Poisson", numbers, expected, std::sqrt(expected));
  }
  check("an odd number of normals", curandGenerateNormal(generator, floats, 7, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE, 0);
  check("memory of the host", curandGenerateUniform(generator, some.data(), n), CURAND_STATUS_LAUNCH_FAILURE, 0);
  curandDestroyGenerator(generator);
  curandGenerator_t on_host;
  succeed("curandCreateGeneratorHost", curandCreateGeneratorHost(&on_host, kind));
  succeed("on the host", curandGenerateUniform(on_host, some.data(), n));
  moments("on the host", some, 0.5, std::sqrt(1.0 / 12));
  curandDestroyGenerator(on_host);
  cudaFree(floats);
  cudaFree(doubles);
  cudaFree(counts);
}

int main() {
  compare<curandStateXORWOW_t>("XORWOW", CURAND_RNG_PSEUDO_DEFAULT, 1234567890123ull, 0, true);
  compare<curandStateXORWOW_t>("XORWOW", CURAND_RNG_PSEUDO_XORWOW, 42, 4095, true);
  compare<curandStateMRG32k3a_t>("MRG32k3a", CURAND_RNG_PSEUDO_MRG32K3A, 0, 17, true);
  compare<curandStateMRG32k3a_t>("MRG32k3a", CURAND_RNG_PSEUDO_MRG32K3A, 99, 3000, true);
  compare<curandStatePhilox4_32_10_t>("Philox", CURAND_RNG_PSEUDO_PHILOX4_32_10, 5ull << 33 | 7, 0, false);
  distributions(CURAND_RNG_PSEUDO_DEFAULT);
  distributions(CURAND_RNG_PSEUDO_MT19937);
  printf(failures ? "FAIL\n" : "PASS\n");
  return failures != 0;
}
