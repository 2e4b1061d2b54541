// Sobol's sequences by cuRAND's host generators, direction vectors and kernels. The numbers to compare with are what
// NVIDIA's library gives for host memory; normal numbers are rounded once here.
//
// Shows: a kernel that reads direction vectors draws what a generator writes.
//
// expect: 3 launches -> 2
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <curand.h>
#include <curand_kernel.h>
#include <vector>

static int failures = 0;

template <typename T>
static void same(const char *what, T got, T expected) {
  if (got == expected || failures++ > 20) return;
  printf("%s: %.17g instead of %.17g\n", what, (double)got, (double)expected);
}

static void near(const char *what, double got, double expected, double tolerance) {
  if (std::fabs(got - expected) <= tolerance * std::fabs(expected) || failures++ > 20) return;
  printf("%s: %.17g instead of %.17g\n", what, got, expected);
}

template <typename T>
static T hash(const T *values, int count) {
  T hash = 0;
  for (int i = 0; i < count; i++) hash = hash * 31 + values[i];
  return hash;
}

const int DIMENSIONS = 3, POINTS = 1000;

__global__ void draw(curandDirectionVectors32_t *vectors, unsigned *out, float *fractions, unsigned offset) {
  curandStateSobol32_t state;
  curand_init(vectors[threadIdx.x], offset, &state);
  for (int i = 0; i < POINTS; i++) out[threadIdx.x * POINTS + i] = curand(&state);
  curand_init(vectors[threadIdx.x], offset, &state);
  for (int i = 0; i < POINTS; i++) fractions[threadIdx.x * POINTS + i] = curand_uniform(&state);
}

__global__ void shift(float *values, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += by;
}

static void vectors() {
  curandDirectionVectors32_t *narrow;
  curandDirectionVectors64_t *wide;
  same("vectors of 32 bits", (int)curandGetDirectionVectors32(&narrow, CURAND_DIRECTION_VECTORS_32_JOEKUO6), 0);
  same("vectors of 64 bits", (int)curandGetDirectionVectors64(&wide, CURAND_DIRECTION_VECTORS_64_JOEKUO6), 0);
  same("all vectors of 32 bits", hash(&narrow[0][0], 20000 * 32), 0x3f253474u);
  same("all vectors of 64 bits", hash(&wide[0][0], 20000 * 64), 0xaf6c4a74b1ad47f0ull);
  same("another set", (int)curandGetDirectionVectors32(&narrow, (curandDirectionVectorSet_t)99), 104);

  curandDirectionVectors32_t *on_device;
  unsigned *numbers;
  float *fractions;
  const int n = DIMENSIONS * POINTS;
  cudaMalloc(&on_device, DIMENSIONS * sizeof *on_device);
  cudaMalloc(&numbers, 2 * n * sizeof(unsigned));
  cudaMalloc(&fractions, 2 * n * sizeof(float));
  cudaMemcpy(on_device, narrow, DIMENSIONS * sizeof *on_device, cudaMemcpyHostToDevice);
  draw<<<1, DIMENSIONS>>>(on_device, numbers, fractions, 77);
  curandGenerator_t generator;
  curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL32);
  same("dimensions", (int)curandSetQuasiRandomGeneratorDimensions(generator, DIMENSIONS), 0);
  curandSetGeneratorOffset(generator, 77);
  same("numbers", (int)curandGenerate(generator, numbers + n, n), 0);
  curandSetGeneratorOffset(generator, 77);
  same("fractions", (int)curandGenerateUniform(generator, fractions + n, n), 0);
  shift<<<(2 * n + 255) / 256, 256>>>(fractions, 1, 2 * n);
  shift<<<(2 * n + 255) / 256, 256>>>(fractions, -1, 2 * n);
  std::vector<unsigned> got(2 * n);
  std::vector<float> parts(2 * n);
  cudaMemcpy(got.data(), numbers, 2 * n * sizeof(unsigned), cudaMemcpyDeviceToHost);
  cudaMemcpy(parts.data(), fractions, 2 * n * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) {
    same("a kernel's number", got[n + i], got[i]);
    same("a kernel's fraction", parts[n + i], parts[i]);
  }
  curandDestroyGenerator(generator);
  cudaFree(on_device);
  cudaFree(numbers);
  cudaFree(fractions);
}

static void sequences() {
  curandGenerator_t narrow, wide;
  std::vector<unsigned> numbers(80000);
  std::vector<unsigned long long> wide_numbers(80000);
  same("narrow", (int)curandCreateGeneratorHost(&narrow, CURAND_RNG_QUASI_SOBOL32), 0);
  same("wide", (int)curandCreateGeneratorHost(&wide, CURAND_RNG_QUASI_SOBOL64), 0);
  same("dimensions", (int)curandSetQuasiRandomGeneratorDimensions(narrow, 20000), 0);
  same("dimensions", (int)curandSetQuasiRandomGeneratorDimensions(wide, 20000), 0);
  // Two points before the end of 32 bits and two behind it.
  same("offset", (int)curandSetGeneratorOffset(narrow, 4294967294ull), 0);
  same("offset", (int)curandSetGeneratorOffset(wide, 123456789012345ull), 0);
  same("numbers", (int)curandGenerate(narrow, numbers.data(), 80000), 0);
  same("numbers", (int)curandGenerateLongLong(wide, wide_numbers.data(), 80000), 0);
  same("all numbers", hash(numbers.data(), 80000), 0x5309a900u);
  same("all numbers", hash(wide_numbers.data(), 80000), 0x1e7d822e1b000000ull);
  same("others of 64 bits", (int)curandGenerateLongLong(narrow, wide_numbers.data(), 20000), 103);
  same("others of 32 bits", (int)curandGenerate(wide, numbers.data(), 20000), 103);
  same("half a point", (int)curandGenerate(narrow, numbers.data(), 10000), 105);
  same("a seed", (int)curandSetPseudoRandomGeneratorSeed(narrow, 1), 103);
  same("an order", (int)curandSetGeneratorOrdering(narrow, CURAND_ORDERING_PSEUDO_BEST), 104);
  same("an order", (int)curandSetGeneratorOrdering(narrow, CURAND_ORDERING_QUASI_DEFAULT), 0);
  same("no dimension", (int)curandSetQuasiRandomGeneratorDimensions(narrow, 0), 104);
  same("one too many", (int)curandSetQuasiRandomGeneratorDimensions(narrow, 20001), 104);
  curandDestroyGenerator(narrow);
  curandDestroyGenerator(wide);
  same("a pseudorandom one", (int)curandCreateGeneratorHost(&narrow, CURAND_RNG_PSEUDO_XORWOW), 0);
  same("its dimensions", (int)curandSetQuasiRandomGeneratorDimensions(narrow, 1), 103);
  same("its numbers of 64 bits", (int)curandGenerateLongLong(narrow, wide_numbers.data(), 2), 103);
  curandDestroyGenerator(narrow);
}

static void distributions() {
  // Three numbers of each of three dimensions, then one more point.
  const unsigned whole[9] = {0, 0x80000000, 0xc0000000, 0, 0x80000000, 0x40000000, 0, 0x80000000, 0x40000000};
  const double normal[9] = {-6.3379577545537904, 2.9180993729166229e-10, 0.67448975056242511, -6.3379577545537904, 2.9180993729166229e-10,
                            -0.67448974982973842, -6.3379577545537904, 2.9180993729166229e-10, -0.67448974982973842};
  unsigned numbers[9];
  double doubles[9];
  float floats[9];
  curandGenerator_t generator;
  for (curandRngType kind : {CURAND_RNG_QUASI_DEFAULT, CURAND_RNG_QUASI_SOBOL64}) {
    bool wide = kind == CURAND_RNG_QUASI_SOBOL64;
    curandCreateGeneratorHost(&generator, kind);
    curandSetQuasiRandomGeneratorDimensions(generator, 3);
    if (!wide) {
      curandGenerate(generator, numbers, 9);
      for (int i = 0; i < 9; i++) same("whole", numbers[i], whole[i]);
      curandGenerate(generator, numbers, 3);
      const unsigned next[3] = {0x40000000, 0xc0000000, 0xc0000000};
      for (int i = 0; i < 3; i++) same("the next point", numbers[i], next[i]);
    }
    curandSetGeneratorOffset(generator, 0);
    curandGenerateUniformDouble(generator, doubles, 9);
    same("uniform", doubles[0], wide ? 5.5511151231257827e-17 : 2.3283064365386963e-10);
    same("uniform", doubles[1], wide ? 0.5 : 0.50000000023283064);
    same("uniform", doubles[5], wide ? 0.25000000000000006 : 0.25000000023283064);
    curandSetGeneratorOffset(generator, 0);
    curandGenerateNormalDouble(generator, doubles, 9, 10, 100);
    if (wide) {
      near("normal", (doubles[0] - 10) / 100, -8.2923610758135933, 1e-14);
      near("normal", (doubles[2] - 10) / 100, 0.67448975019608182, 1e-14);
      near("normal", (doubles[8] - 10) / 100, -0.67448975019608159, 1e-14);
    } else {
      for (int i = 0; i < 9; i++) near("normal", doubles[i], 10 + 100 * normal[i], 1e-14);
    }
    curandSetGeneratorOffset(generator, 0);
    same("an odd number", (int)curandGenerateNormal(generator, floats, 9, 0, 1), 0);
    near("normal float", floats[0], -6.33795738, 3e-7);
    near("normal float", floats[2], 0.674489737, 3e-7);
    near("normal float", floats[5], -0.674489737, 3e-7);
    curandSetGeneratorOffset(generator, 0);
    curandGenerateLogNormal(generator, floats, 9, 1, 2);
    near("log-normal", floats[0], 8.49600292e-06, 1e-5);
    near("log-normal", floats[1], 2.71828175, 1e-6);
    near("log-normal", floats[2], 10.4748745, 1e-6);
    near("log-normal", floats[8], 0.705407619, 1e-6);
    curandSetGeneratorOffset(generator, 0);
    curandGeneratePoisson(generator, numbers, 9, 5);
    const unsigned events[9] = {0, 5, 6, 0, 5, 3, 0, 5, 3};
    for (int i = 0; i < 9; i++) same("Poisson", numbers[i], events[i]);
    curandSetGeneratorOffset(generator, 0);
    curandGeneratePoisson(generator, numbers, 9, 5000);
    const unsigned many[3] = {5000, 5048, 4952};
    for (int i = 0; i < 3; i++) same("many of Poisson's", numbers[3 * i + 1], many[0]);
    same("many of Poisson's", numbers[2], many[1]);
    same("many of Poisson's", numbers[8], many[2]);
    curandDestroyGenerator(generator);
  }
}

int main() {
  vectors();
  sequences();
  distributions();
  printf(failures ? "FAIL\n" : "PASS\n");
  return failures != 0;
}
