// Textures and surfaces over linear memory, rows and arrays, compared with what the host computes by the
// rules of the programming guide's appendix on fetching.
//
// Shows: launches that only compute fuse beside kernels that read textures, which themselves stay unfused
// from the launch that writes the memory behind the texture; that memory stays written although no kernel
// has a pointer to it any more.
//
// expect: 12 launches -> 11
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

static int failures = 0;

static void check(const char *what, float got, float expected, float tolerance = 0) {
  if (!(std::fabs(got - expected) <= tolerance)) {
    if (failures++ < 20) printf("%s: %g instead of %g\n", what, got, expected);
  }
}

static void succeed(cudaError_t error, const char *what) {
  if (error != cudaSuccess) {
    printf("%s: %s\n", what, cudaGetErrorString(error));
    failures++;
  }
}

__global__ void twice(float *values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = 2 * values[i];
}

__global__ void fetch(float *out, cudaTextureObject_t texture, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(texture, i - 1);
}

__global__ void sample_row(float *out, cudaTextureObject_t texture, float first, float step, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1D<float>(texture, first + i * step);
}

__global__ void sample_plane(float *out, cudaTextureObject_t texture, float2 first, float2 step, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<float>(texture, first.x + x * step.x, first.y + y * step.y);
}

__global__ void sample_space(float *out, cudaTextureObject_t texture, int4 extent) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int x = i % extent.x, y = i / extent.x % extent.y, z = i / extent.x / extent.y;
  if (z < extent.z) out[i] = tex3D<float>(texture, (x + 1.0f) / extent.x, (y + 0.5f) / extent.y, (z + 0.5f) / extent.z);
}

__global__ void sample_layer(uchar4 *out, cudaTextureObject_t texture, int width, int height, int layer) {
  int x = threadIdx.x, y = threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2DLayered<uchar4>(texture, x + 0.5f, y + 0.5f, layer);
}

__global__ void sample_cube(float *out, cudaTextureObject_t texture) {
  const float3 directions[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  float3 at = directions[threadIdx.x];
  out[threadIdx.x] = texCubemap<float>(texture, at.x, at.y, at.z);
}

__global__ void gather(int4 *out, cudaTextureObject_t texture) { out[0] = tex2Dgather<int4>(texture, 2, 1, 0); }

__global__ void transpose_surface(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float2 value;
    surf2Dread(&value, from, x * (int)sizeof(float2), y);
    surf2Dwrite(value, to, y * (int)sizeof(float2), x);
  }
}

// Both reads are of the same place, with a write in between.
__global__ void count_on_surface(int *out, cudaSurfaceObject_t surface) {
  int before = surf1Dread<int>(surface, 16);
  surf1Dwrite(before + 1, surface, 16);
  int after = surf1Dread<int>(surface, 16);
  out[0] = before;
  out[1] = after;
}

__global__ void beyond_surface(int *out, cudaSurfaceObject_t surface) {
  out[0] = surf1Dread<int>(surface, 400, cudaBoundaryModeZero);
  out[1] = surf1Dread<int>(surface, 400, cudaBoundaryModeClamp);
  surf1Dwrite(7, surface, -4, cudaBoundaryModeZero);
  surf1Dwrite(8, surface, -4, cudaBoundaryModeClamp);
}

static cudaTextureDesc description(cudaTextureAddressMode mode, bool linear, bool normalised,
                                   cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc description;
  memset(&description, 0, sizeof description);
  for (auto &each : description.addressMode) each = mode;
  description.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
  description.readMode = read;
  description.normalizedCoords = normalised;
  return description;
}

static cudaTextureObject_t of_array(cudaArray_t array, const cudaTextureDesc &description) {
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureObject_t texture = 0;
  succeed(cudaCreateTextureObject(&texture, &resource, &description, nullptr), "cudaCreateTextureObject");
  return texture;
}

static cudaSurfaceObject_t surface_of(cudaArray_t array) {
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  succeed(cudaCreateSurfaceObject(&surface, &resource), "cudaCreateSurfaceObject");
  return surface;
}

// The texel that stands for an index along an axis.
static int index_of(int i, int n, cudaTextureAddressMode mode, bool normalised) {
  if (mode == cudaAddressModeBorder) return i < 0 || i >= n ? -1 : i;
  if (normalised && mode == cudaAddressModeWrap) return (i % n + n) % n;
  if (normalised && mode == cudaAddressModeMirror) {
    int turn = (i % (2 * n) + 2 * n) % (2 * n);
    return turn < n ? turn : 2 * n - 1 - turn;
  }
  return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static float expected_row(const std::vector<float> &texels, float x, cudaTextureAddressMode mode, bool linear, bool normalised) {
  int n = (int)texels.size();
  auto texel = [&](int i) {
    int index = index_of(i, n, mode, normalised);
    return index < 0 ? 0.0f : texels[index];
  };
  float place = normalised ? x * n : x;
  if (!linear) return texel((int)std::floor(place));
  place -= 0.5f;
  float first = std::floor(place), weight = std::round((place - first) * 256) / 256;
  float between = (1 - weight) * texel((int)first) + weight * texel((int)first + 1);
  // To a GPU a row is the middle of a plane of one row: with a border, half of what it takes is border.
  return mode == cudaAddressModeBorder ? between / 2 : between;
}

// A kernel writes the memory of which the next reads a texture; they must stay unfused.
static void linear_memory() {
  const int n = 1000;
  std::vector<float> values(n), got(n);
  for (int i = 0; i < n; i++) values[i] = i * 0.5f;
  float *memory, *out;
  cudaMalloc(&memory, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(memory, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = (n - 10) * sizeof(float);
  cudaTextureDesc how = description(cudaAddressModeClamp, false, false);
  cudaTextureObject_t texture;
  succeed(cudaCreateTextureObject(&texture, &resource, &how, nullptr), "linear memory");
  twice<<<8, 128>>>(memory, n);
  twice<<<8, 128>>>(memory, n);
  fetch<<<8, 128>>>(out, texture, n);
  cudaMemcpy(got.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) check("tex1Dfetch", got[i], i < 1 || i > n - 10 ? 0 : (i - 1) * 2.0f);
  succeed(cudaDestroyTextureObject(texture), "cudaDestroyTextureObject");
  cudaFree(memory);
  cudaFree(out);
}

static void rows() {
  const int n = 16, samples = 200;
  std::vector<float> texels(n), got(samples);
  for (int i = 0; i < n; i++) texels[i] = (i * 7 % 5) + 0.25f * i;
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  succeed(cudaMallocArray(&array, &format, n), "cudaMallocArray");
  succeed(cudaMemcpy2DToArray(array, 0, 0, texels.data(), n * sizeof(float), n * sizeof(float), 1, cudaMemcpyHostToDevice),
          "cudaMemcpy2DToArray");
  float *out;
  cudaMalloc(&out, samples * sizeof(float));
  const cudaTextureAddressMode modes[] = {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror,
                                          cudaAddressModeBorder};
  for (auto mode : modes)
    for (int linear = 0; linear < 2; linear++)
      for (int normalised = 0; normalised < 2; normalised++) {
        cudaTextureObject_t texture = of_array(array, description(mode, linear, normalised));
        float first = normalised ? -1.5f : -5.0f, step = normalised ? 0.02f : 0.15f;
        sample_row<<<2, 128>>>(out, texture, first, step, samples);
        cudaMemcpy(got.data(), out, samples * sizeof(float), cudaMemcpyDeviceToHost);
        for (int i = 0; i < samples; i++) {
          float x = std::fma((float)i, step, first);
          // Near the border of two texels either may be meant.
          float place = normalised ? x * n : x;
          if (std::fabs(place - std::round(place)) < 1e-3f && !linear) continue;
          check("tex1D", got[i], expected_row(texels, x, mode, linear, normalised), linear ? 0.02f : 0);
        }
        cudaDestroyTextureObject(texture);
      }
  cudaFree(out);
  succeed(cudaFreeArray(array), "cudaFreeArray");
}

static void pitched_bytes() {
  const int width = 20, height = 6;
  std::vector<unsigned char> texels(width * height);
  for (int i = 0; i < width * height; i++) texels[i] = (unsigned char)(i * 37);
  unsigned char *memory;
  size_t pitch;
  cudaMallocPitch(&memory, &pitch, width, height);
  cudaMemcpy2D(memory, pitch, texels.data(), width, width, height, cudaMemcpyHostToDevice);
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = memory;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  cudaTextureDesc how = description(cudaAddressModeClamp, true, false, cudaReadModeNormalizedFloat);
  cudaTextureObject_t texture;
  succeed(cudaCreateTextureObject(&texture, &resource, &how, nullptr), "rows of bytes");
  float *out;
  cudaMalloc(&out, width * height * sizeof(float));
  sample_plane<<<dim3(2, 1), dim3(16, 8)>>>(out, texture, make_float2(1, 0.5f), make_float2(1, 1), width, height);
  std::vector<float> got(width * height);
  cudaMemcpy(got.data(), out, got.size() * sizeof(float), cudaMemcpyDeviceToHost);
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      int next = x + 1 < width ? x + 1 : x;
      float mean = (texels[y * width + x] + texels[y * width + next]) / 510.0f;
      check("tex2D", got[y * width + x], mean, 1e-5f);
    }
  how = description(cudaAddressModeClamp, true, false);
  cudaTextureObject_t none;
  check("filtered integers", cudaCreateTextureObject(&none, &resource, &how, nullptr) == cudaErrorInvalidFilterSetting, 1);
  cudaGetLastError();
  cudaDestroyTextureObject(texture);
  cudaFree(out);
  cudaFree(memory);
}

static void space() {
  const int4 extent = {8, 4, 3, 0};
  const int n = extent.x * extent.y * extent.z;
  std::vector<float> texels(n), got(n);
  for (int i = 0; i < n; i++) texels[i] = (float)(i * i % 31);
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaExtent size = make_cudaExtent(extent.x, extent.y, extent.z);
  succeed(cudaMalloc3DArray(&array, &format, size), "cudaMalloc3DArray");
  cudaMemcpy3DParms copy;
  memset(&copy, 0, sizeof copy);
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), extent.x * sizeof(float), extent.x, extent.y);
  copy.dstArray = array;
  copy.extent = size;
  copy.kind = cudaMemcpyHostToDevice;
  succeed(cudaMemcpy3D(&copy), "cudaMemcpy3D");
  cudaTextureObject_t texture = of_array(array, description(cudaAddressModeWrap, true, true));
  float *out;
  cudaMalloc(&out, n * sizeof(float));
  sample_space<<<1, n>>>(out, texture, extent);
  cudaMemcpy(got.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) {
    int x = i % extent.x, row = i - x;
    check("tex3D", got[i], (texels[row + x] + texels[row + (x + 1) % extent.x]) / 2, 1e-4f);
  }
  // A part of it comes back.
  std::vector<float> part(2 * 2 * 2);
  memset(&copy, 0, sizeof copy);
  copy.srcArray = array;
  copy.srcPos = make_cudaPos(3, 1, 1);
  copy.dstPtr = make_cudaPitchedPtr(part.data(), 2 * sizeof(float), 2, 2);
  copy.extent = make_cudaExtent(2, 2, 2);
  copy.kind = cudaMemcpyDeviceToHost;
  succeed(cudaMemcpy3D(&copy), "cudaMemcpy3D back");
  for (int i = 0; i < 8; i++) {
    int x = 3 + i % 2, y = 1 + i / 2 % 2, z = 1 + i / 4;
    check("part", part[i], texels[(z * extent.y + y) * extent.x + x]);
  }
  copy.srcPos = make_cudaPos(7, 1, 1);
  check("part outside", cudaMemcpy3D(&copy) == cudaErrorInvalidValue, 1);
  cudaGetLastError();
  cudaDestroyTextureObject(texture);
  cudaFreeArray(array);
  cudaFree(out);
}

static void layers_and_faces() {
  const int width = 6, height = 5, layers = 3;
  std::vector<uchar4> texels(width * height * layers), got(width * height);
  for (int i = 0; i < (int)texels.size(); i++)
    texels[i] = make_uchar4(i, i * 3, 255 - i, i % width);
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  succeed(cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, layers), cudaArrayLayered), "layers");
  cudaMemcpy3DParms copy;
  memset(&copy, 0, sizeof copy);
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), width * sizeof(uchar4), width, height);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(width, height, layers);
  copy.kind = cudaMemcpyHostToDevice;
  succeed(cudaMemcpy3D(&copy), "cudaMemcpy3D of layers");
  cudaTextureObject_t texture = of_array(array, description(cudaAddressModeClamp, false, false));
  uchar4 *out;
  cudaMalloc(&out, width * height * sizeof(uchar4));
  sample_layer<<<1, dim3(8, 8)>>>(out, texture, width, height, 2);
  cudaMemcpy(got.data(), out, got.size() * sizeof(uchar4), cudaMemcpyDeviceToHost);
  check("tex2DLayered", (float)memcmp(got.data(), &texels[2 * width * height], got.size() * sizeof(uchar4)), 0);
  cudaDestroyTextureObject(texture);
  cudaFreeArray(array);
  cudaFree(out);

  const int side = 4;
  std::vector<float> faces(side * side * 6), centres(6);
  for (int i = 0; i < (int)faces.size(); i++) faces[i] = (float)(i / (side * side));
  format = cudaCreateChannelDesc<float>();
  succeed(cudaMalloc3DArray(&array, &format, make_cudaExtent(side, side, 6), cudaArrayCubemap), "cube");
  memset(&copy, 0, sizeof copy);
  copy.srcPtr = make_cudaPitchedPtr(faces.data(), side * sizeof(float), side, side);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(side, side, 6);
  copy.kind = cudaMemcpyHostToDevice;
  succeed(cudaMemcpy3D(&copy), "cudaMemcpy3D of faces");
  texture = of_array(array, description(cudaAddressModeClamp, true, true));
  float *values;
  cudaMalloc(&values, 6 * sizeof(float));
  sample_cube<<<1, 6>>>(values, texture);
  cudaMemcpy(centres.data(), values, 6 * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 6; i++) check("texCubemap", centres[i], (float)i);
  cudaDestroyTextureObject(texture);
  cudaFreeArray(array);
  cudaFree(values);
}

static void gathered() {
  const int width = 4, height = 3;
  std::vector<int> texels(width * height);
  for (int i = 0; i < width * height; i++) texels[i] = i - 5;
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaMallocArray(&array, &format, width, height, cudaArrayTextureGather);
  cudaMemcpyToArray(array, 0, 0, texels.data(), texels.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaTextureObject_t texture = of_array(array, description(cudaAddressModeClamp, false, false));
  int4 *out, got;
  cudaMalloc(&out, sizeof(int4));
  gather<<<1, 1>>>(out, texture);
  cudaMemcpy(&got, out, sizeof(int4), cudaMemcpyDeviceToHost);
  check("gather x", got.x, texels[1 * width + 1]);
  check("gather y", got.y, texels[1 * width + 2]);
  check("gather z", got.z, texels[0 * width + 2]);
  check("gather w", got.w, texels[0 * width + 1]);
  cudaDestroyTextureObject(texture);
  cudaFreeArray(array);
  cudaFree(out);
}

static void surfaces() {
  const int width = 24, height = 10;
  std::vector<float2> texels(width * height), got(width * height);
  for (int i = 0; i < width * height; i++) texels[i] = make_float2((float)i, -0.5f * i);
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  cudaArray_t from, to;
  cudaMallocArray(&from, &format, width, height, cudaArraySurfaceLoadStore);
  cudaMallocArray(&to, &format, height, width, cudaArraySurfaceLoadStore);
  size_t row = width * sizeof(float2);
  cudaMemcpy2DToArray(from, 0, 0, texels.data(), row, row, height, cudaMemcpyHostToDevice);
  cudaSurfaceObject_t source = surface_of(from), sink = surface_of(to);
  transpose_surface<<<dim3(3, 2), dim3(8, 8)>>>(source, sink, width, height);
  row = height * sizeof(float2);
  cudaMemcpy2DFromArray(got.data(), row, to, 0, 0, row, width, cudaMemcpyDeviceToHost);
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      check("surface x", got[x * height + y].x, texels[y * width + x].x);
      check("surface y", got[x * height + y].y, texels[y * width + x].y);
    }
  cudaDestroySurfaceObject(source);
  cudaDestroySurfaceObject(sink);
  cudaFreeArray(from);
  cudaFreeArray(to);

  int line[32], ends[2], *out;
  for (int i = 0; i < 32; i++) line[i] = 100 + i;
  format = cudaCreateChannelDesc<int>();
  cudaMallocArray(&from, &format, 32, 0, cudaArraySurfaceLoadStore);
  cudaMemcpy2DToArray(from, 0, 0, line, sizeof line, sizeof line, 1, cudaMemcpyHostToDevice);
  source = surface_of(from);
  cudaMalloc(&out, sizeof ends);
  beyond_surface<<<1, 1>>>(out, source);
  cudaMemcpy(ends, out, sizeof ends, cudaMemcpyDeviceToHost);
  check("left out", ends[0], 0);
  check("clamped", ends[1], 131);
  count_on_surface<<<1, 1>>>(out, source);
  cudaMemcpy(ends, out, sizeof ends, cudaMemcpyDeviceToHost);
  check("read", ends[0], 104);
  check("read again", ends[1], 105);
  cudaMemcpyFromArray(line, from, 0, 0, sizeof line, cudaMemcpyDeviceToHost);
  check("first", line[0], 8);
  check("second", line[1], 101);
  cudaDestroySurfaceObject(source);
  cudaFreeArray(from);
  cudaFree(out);
}

int main() {
  linear_memory();
  rows();
  pitched_bytes();
  space();
  layers_and_faces();
  gathered();
  surfaces();
  succeed(cudaGetLastError(), "the end");
  printf(failures ? "FAIL\n" : "PASS\n");
  return failures != 0;
}
