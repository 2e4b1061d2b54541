// Texture references, which CUDA 12 dropped: programs that are older than that read and bind them as ever.
//
// Shows: what is bound is memory that changes between launches, so launches that read it keep their place
// beside those that write what it shows; launches that only compute fuse beside them.
//
// expect: 10 launches -> 9
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

static int failures = 0;

static void check(const char *what, double got, double expected, double tolerance = 0) {
  if (!(std::fabs(got - expected) <= tolerance) && failures++ < 20)
    printf("%s: %g instead of %g\n", what, got, expected);
}

static void succeed(cudaError_t error, const char *what) {
  if (error != cudaSuccess && failures++ < 20) printf("%s: %s\n", what, cudaGetErrorString(error));
}

texture<float, 1, cudaReadModeElementType> row;
static texture<uchar4, 2, cudaReadModeNormalizedFloat> colours(0, cudaFilterModePoint, cudaAddressModeClamp);
texture<float, cudaTextureType2D> plane;
texture<short2, 3> space;
texture<unsigned char, 1, cudaReadModeNormalizedFloat> bytes;
struct named {
  static texture<int4, 1> numbers;
};
texture<int4, 1> named::numbers;

__global__ void twice(float *values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = 2 * values[i];
}

__global__ void plus_one(float *values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = values[i] + 1;
}

__global__ void fetch(float *out, int first, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch(row, first + i);
}

template <class Reference> __device__ float2 both(const Reference &reference, int i) {
  float4 texel = tex2D(reference, i % 8, i / 8);
  return make_float2(texel.x, texel.w);
}

__global__ void sample_colours(float2 *out) { out[threadIdx.x] = both(colours, threadIdx.x); }

__global__ void sample_plane(float *out, float x, float y, float step) {
  out[threadIdx.x] = tex2D(plane, x + step * threadIdx.x, y);
}

__global__ void sample_space(short2 *out) {
  int i = threadIdx.x;
  out[i] = tex3D(space, i % 4 + 0.5f, i / 4 % 4 + 0.5f, i / 16 + 0.5f);
}

template <class Holder> __global__ void sum(int *out, const float *unused) {
  int4 part = tex1Dfetch(Holder::numbers, threadIdx.x);
  out[threadIdx.x] = part.x + part.y + part.z + part.w;
}

__global__ void level(float *out) { out[threadIdx.x] = tex1Dfetch(bytes, threadIdx.x); }

static std::vector<float> read(const float *memory, int n) {
  std::vector<float> values(n);
  succeed(cudaMemcpy(values.data(), memory, n * sizeof(float), cudaMemcpyDeviceToHost), "read");
  return values;
}

int main() {
  const int n = 200;
  std::vector<float> ones(n), twos(n);
  for (int i = 0; i < n; i++) ones[i] = i, twos[i] = 1000 + i;
  float *one, *two, *out;
  cudaMalloc(&one, n * sizeof(float));
  cudaMalloc(&two, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(one, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(two, twos.data(), n * sizeof(float), cudaMemcpyHostToDevice);

  // The memory is written, read through the reference, bound to other memory, and read again.
  size_t offset = 77;
  succeed(cudaBindTexture(&offset, row, one, n * sizeof(float)), "bind");
  check("offset", offset, 0);
  twice<<<2, 128>>>(one, n);
  plus_one<<<2, 128>>>(one, n);
  fetch<<<2, 128>>>(out, 0, n);
  std::vector<float> got = read(out, n);
  for (int i = 0; i < n; i++) check("first binding", got[i], 2 * i + 1);
  succeed(cudaBindTexture(nullptr, row, two), "bind all");
  fetch<<<2, 128>>>(out, 0, n);
  got = read(out, n);
  for (int i = 0; i < n; i++) check("second binding", got[i], 1000 + i);

  // In a loop, without anything in between; and from the middle of an allocation.
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  const textureReference *found = nullptr;
  succeed(cudaGetTextureReference(&found, &row), "find");
  for (int turn = 0; turn < 4; turn++) {
    float *shown = turn % 2 == 0 ? one : two;
    succeed(cudaBindTexture(&offset, found, shown + 3 * turn, &floats, (n - 3 * turn) * sizeof(float)), "bind in turn");
    check("offset in turn", offset, 3 * turn * sizeof(float) % 256);
    fetch<<<1, 16>>>(out + 16 * turn, offset / sizeof(float), 16);
    succeed(cudaUnbindTexture(row), "unbind");
  }
  got = read(out, 64);
  for (int turn = 0; turn < 4; turn++)
    for (int i = 0; i < 16; i++)
      check("in turn", got[16 * turn + i], turn % 2 == 0 ? 2 * (3 * turn + i) + 1 : 1000 + 3 * turn + i);
  check("misaligned", cudaBindTexture(nullptr, row, one + 1, 4 * sizeof(float)), cudaErrorInvalidValue);

  // Rows, with settings that the program changes before it binds.
  uchar4 texels[4][8];
  for (int i = 0; i < 32; i++) texels[i / 8][i % 8] = make_uchar4(8 * i, 0, 0, 255 - i);
  void *rows;
  size_t pitch;
  cudaMallocPitch(&rows, &pitch, sizeof texels[0], 4);
  cudaMemcpy2D(rows, pitch, texels, sizeof texels[0], sizeof texels[0], 4, cudaMemcpyHostToDevice);
  succeed(cudaBindTexture2D(nullptr, colours, rows, cudaCreateChannelDesc<uchar4>(), 8, 4, pitch), "bind rows");
  float2 *pairs;
  cudaMalloc(&pairs, 32 * sizeof(float2));
  sample_colours<<<1, 32>>>(pairs);
  got = read((float *)pairs, 64);
  for (int i = 0; i < 32; i++) {
    check("red", got[2 * i], 8 * i / 255.0, 1e-6);
    check("opacity", got[2 * i + 1], (255 - i) / 255.0, 1e-6);
  }

  // Arrays: interpolated, wrapped, then another array of perhaps the same name.
  plane.normalized = true;
  plane.filterMode = cudaFilterModeLinear;
  plane.addressMode[0] = cudaAddressModeWrap;
  for (int turn = 0; turn < 2; turn++) {
    cudaArray_t array;
    cudaMallocArray(&array, &plane.channelDesc, 8, 4);
    cudaMemcpy2DToArray(array, 0, 0, turn ? twos.data() : ones.data(), 8 * sizeof(float), 8 * sizeof(float), 4,
                        cudaMemcpyHostToDevice);
    succeed(cudaBindTextureToArray(plane, array), "bind array");
    sample_plane<<<1, 16>>>(out, 0.5f / 8 + 0.5f / 8, 0.5f / 4, 1.0f / 8);
    got = read(out, 16);
    for (int i = 0; i < 16; i++) {
      int here = i % 8, next = (i + 1) % 8;
      check("wrapped", got[i], (turn ? 1000 : 0) + (here + next) / 2.0, 1e-2);
    }
    cudaFreeArray(array);
  }

  cudaExtent extent = make_cudaExtent(4, 4, 2);
  cudaChannelFormatDesc shorts = cudaCreateChannelDesc<short2>();
  cudaArray_t volume;
  cudaMalloc3DArray(&volume, &shorts, extent);
  short2 voxels[32];
  for (int i = 0; i < 32; i++) voxels[i] = make_short2(i, -i);
  cudaMemcpy3DParms copy;
  memset(&copy, 0, sizeof copy);
  copy.srcPtr = make_cudaPitchedPtr(voxels, 4 * sizeof(short2), 4, 4);
  copy.dstArray = volume;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  succeed(cudaMemcpy3D(&copy), "fill volume");
  succeed(cudaBindTextureToArray(space, volume, shorts), "bind volume");
  sample_space<<<1, 32>>>((short2 *)out);
  short2 sampled[32];
  cudaMemcpy(sampled, out, sizeof sampled, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; i++) check("voxel", sampled[i].x - sampled[i].y, 2 * i);

  int numbers[64], sums[16];
  for (int i = 0; i < 64; i++) numbers[i] = i;
  int *number;
  cudaMalloc(&number, sizeof numbers);
  cudaMemcpy(number, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  succeed(cudaBindTexture(0, named::numbers, number, sizeof numbers), "bind member");
  sum<named><<<1, 16>>>((int *)out, one);
  cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 16; i++) check("sum", sums[i], 16 * i + 6);

  succeed(cudaBindTexture(0, bytes, number, 16), "bind bytes");
  level<<<1, 16>>>(out);
  got = read(out, 16);
  for (int i = 0; i < 16; i++) check("level", got[i], i % 4 == 0 ? i / 4 / 255.0 : 0, 1e-6);

  printf(failures == 0 ? "PASS\n" : "FAIL\n");
  return failures != 0;
}
