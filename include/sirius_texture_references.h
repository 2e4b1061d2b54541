/*
 * Texture references, which CUDA 12 dropped, over texture objects.
 *
 * On the host a reference is a structure of the settings that programs set. On the device it is the object
 * that is bound to it now, as a variable: clang makes one of each reference, and sirius-rs registers it and
 * lets `sirius_symbol` lead there. To bind is to make an object and to copy it into that variable, when
 * everything that was launched before is done.
 */
#ifndef SIRIUS_TEXTURE_REFERENCES_H
#define SIRIUS_TEXTURE_REFERENCES_H

struct textureReference {
  /* The variable on the device, which sirius-rs sets before the program begins. */
  const void *sirius_symbol;
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
  int sRGB;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization;
  /* What is bound: to a reference that the program sees as a constant, too. */
  cudaTextureReadMode sirius_read_mode;
  mutable cudaTextureObject_t sirius_object;
  mutable cudaResourceDesc sirius_resource;
  mutable cudaTextureDesc sirius_description;
  mutable size_t sirius_offset;
  mutable int sirius_device;
};

template <class Texel, int dimensions = cudaTextureType1D,
          cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : textureReference {
  /* The first member and what is bound stay as they are. */
  __host__ texture(int normalised = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
                   cudaTextureAddressMode address = cudaAddressModeClamp)
      : texture(normalised, filter, address, cudaCreateChannelDesc<Texel>()) {}
  __host__ texture(int normalised, cudaTextureFilterMode filter, cudaTextureAddressMode address,
                   cudaChannelFormatDesc channels) {
    normalized = normalised;
    filterMode = filter;
    addressMode[0] = addressMode[1] = addressMode[2] = address;
    channelDesc = channels;
    sirius_read_mode = mode;
  }
};

/* ---- What a fetch gives: the texel, or floats of as many components. ---- */

namespace sirius_texture {

template <int components> struct floats;
template <> struct floats<1> { typedef float type; };
template <> struct floats<2> { typedef float2 type; };
template <> struct floats<4> { typedef float4 type; };

template <class Vector, class First> constexpr int components_of(First Vector::*) {
  return sizeof(Vector) / sizeof(First);
}
template <class Texel, class = void> struct shape { static constexpr int components = 1; };
template <class Texel> struct shape<Texel, decltype(void(&Texel::x))> {
  static constexpr int components = components_of(&Texel::x);
};

template <class Texel, cudaTextureReadMode mode> struct fetched { typedef Texel type; };
template <class Texel> struct fetched<Texel, cudaReadModeNormalizedFloat> {
  typedef typename floats<shape<Texel>::components>::type type;
};

/* The object that is bound. */
template <class Reference> static inline __device__ cudaTextureObject_t bound(const Reference &reference) {
  return reinterpret_cast<const cudaTextureObject_t &>(reference);
}

} // namespace sirius_texture

#define SIRIUS_PASS(...) __VA_ARGS__
#define SIRIUS_FETCH(name, dimensions, parameters, arguments)                                      \
  template <class Texel, cudaTextureReadMode mode>                                                 \
  static inline __device__ typename sirius_texture::fetched<Texel, mode>::type name(               \
      const texture<Texel, dimensions, mode> &reference, SIRIUS_PASS parameters) {                 \
    typedef typename sirius_texture::fetched<Texel, mode>::type Fetched;                           \
    return ::name<Fetched>(sirius_texture::bound(reference), SIRIUS_PASS arguments);               \
  }
SIRIUS_FETCH(tex1Dfetch, cudaTextureType1D, (int x), (x))
SIRIUS_FETCH(tex1D, cudaTextureType1D, (float x), (x))
SIRIUS_FETCH(tex2D, cudaTextureType2D, (float x, float y), (x, y))
SIRIUS_FETCH(tex3D, cudaTextureType3D, (float x, float y, float z), (x, y, z))
SIRIUS_FETCH(tex1DLayered, cudaTextureType1DLayered, (float x, int layer), (x, layer))
SIRIUS_FETCH(tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer), (x, y, layer))
SIRIUS_FETCH(texCubemap, cudaTextureTypeCubemap, (float x, float y, float z), (x, y, z))
SIRIUS_FETCH(texCubemapLayered, cudaTextureTypeCubemapLayered,
             (float x, float y, float z, int layer), (x, y, z, layer))
SIRIUS_FETCH(tex1DLod, cudaTextureType1D, (float x, float level), (x, level))
SIRIUS_FETCH(tex2DLod, cudaTextureType2D, (float x, float y, float level), (x, y, level))
SIRIUS_FETCH(tex3DLod, cudaTextureType3D, (float x, float y, float z, float level), (x, y, z, level))
SIRIUS_FETCH(tex1DLayeredLod, cudaTextureType1DLayered, (float x, int layer, float level),
             (x, layer, level))
SIRIUS_FETCH(tex2DLayeredLod, cudaTextureType2DLayered,
             (float x, float y, int layer, float level), (x, y, layer, level))
SIRIUS_FETCH(texCubemapLod, cudaTextureTypeCubemap, (float x, float y, float z, float level),
             (x, y, z, level))
SIRIUS_FETCH(texCubemapLayeredLod, cudaTextureTypeCubemapLayered,
             (float x, float y, float z, int layer, float level), (x, y, z, layer, level))
SIRIUS_FETCH(tex1DGrad, cudaTextureType1D, (float x, float dx, float dy), (x, dx, dy))
SIRIUS_FETCH(tex2DGrad, cudaTextureType2D, (float x, float y, float2 dx, float2 dy),
             (x, y, dx, dy))
SIRIUS_FETCH(tex3DGrad, cudaTextureType3D, (float x, float y, float z, float4 dx, float4 dy),
             (x, y, z, dx, dy))
#undef SIRIUS_FETCH
#undef SIRIUS_PASS

/* Four texels' components: of the texels' type, or floats. */
namespace sirius_texture {
template <class Component, cudaTextureReadMode mode> struct gathered { typedef float4 type; };
#define SIRIUS_GATHERED(component, vector)                                                         \
  template <> struct gathered<component, cudaReadModeElementType> { typedef vector type; };
SIRIUS_GATHERED(char, char4)
SIRIUS_GATHERED(signed char, char4)
SIRIUS_GATHERED(unsigned char, uchar4)
SIRIUS_GATHERED(short, short4)
SIRIUS_GATHERED(unsigned short, ushort4)
SIRIUS_GATHERED(int, int4)
SIRIUS_GATHERED(unsigned, uint4)
#undef SIRIUS_GATHERED
template <class Texel, class = void> struct component { typedef Texel type; };
template <class Vector, class First> First first_of(First Vector::*);
template <class Texel> struct component<Texel, decltype(void(&Texel::x))> {
  typedef decltype(first_of(&Texel::x)) type;
};
} // namespace sirius_texture

template <class Texel, cudaTextureReadMode mode>
static inline __device__
    typename sirius_texture::gathered<typename sirius_texture::component<Texel>::type, mode>::type
    tex2Dgather(const texture<Texel, cudaTextureType2D, mode> &reference, float x, float y,
                int component = 0) {
  typedef typename sirius_texture::component<Texel>::type Component;
  typedef typename sirius_texture::gathered<Component, mode>::type Gathered;
  return ::tex2Dgather<Gathered>(sirius_texture::bound(reference), x, y, component);
}

/* ---- Binding. ---- */

namespace sirius_texture {

/* Makes an object of a resource and the reference's settings, and lets kernels see it. */
static inline __host__ cudaError_t bind(const textureReference *reference,
                                        const cudaResourceDesc &resource) {
  cudaTextureDesc description;
  memset(&description, 0, sizeof description);
  description.readMode = reference->sirius_read_mode;
  if (resource.resType != cudaResourceTypeLinear) {
    for (int axis = 0; axis < 3; axis++) description.addressMode[axis] = reference->addressMode[axis];
    description.filterMode = reference->filterMode;
    description.sRGB = reference->sRGB;
    description.normalizedCoords = reference->normalized;
    description.maxAnisotropy = reference->maxAnisotropy;
    description.mipmapFilterMode = reference->mipmapFilterMode;
    description.mipmapLevelBias = reference->mipmapLevelBias;
    description.minMipmapLevelClamp = reference->minMipmapLevelClamp;
    description.maxMipmapLevelClamp = reference->maxMipmapLevelClamp;
  }
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  bool was_bound_here = reference->sirius_object != 0 && reference->sirius_device == device;
  /* Memory is known by its address; a new array may have the name of an old one. */
  bool named_by_address =
      resource.resType == cudaResourceTypeLinear || resource.resType == cudaResourceTypePitch2D;
  if (named_by_address && was_bound_here &&
      memcmp(&resource, &reference->sirius_resource, sizeof resource) == 0 &&
      memcmp(&description, &reference->sirius_description, sizeof description) == 0)
    return cudaSuccess;
  cudaTextureObject_t object = 0;
  error = cudaCreateTextureObject(&object, &resource, &description, nullptr);
  if (error != cudaSuccess) return error;
  /* Launches before this one read what was bound when they were issued, in whatever stream. */
  error = cudaDeviceSynchronize();
  if (error == cudaSuccess)
    error = ::cudaMemcpyToSymbol(reference->sirius_symbol, &object, sizeof object, 0,
                                 cudaMemcpyHostToDevice);
  if (error != cudaSuccess) {
    cudaDestroyTextureObject(object);
    return error;
  }
  cudaTextureObject_t before = reference->sirius_object;
  reference->sirius_object = object;
  reference->sirius_resource = resource;
  reference->sirius_description = description;
  reference->sirius_offset = 0;
  reference->sirius_device = device;
  return was_bound_here ? cudaDestroyTextureObject(before) : cudaSuccess;
}

/* Moves an address to where a texture may begin; an offset that the caller cannot be told is an error. */
static inline __host__ cudaError_t align(const void *memory, char **begin, size_t *offset,
                                         bool may_have_offset) {
  int device = 0, alignment = 1;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&alignment, cudaDevAttrTextureAlignment, device);
  if (error != cudaSuccess) return error;
  *offset = reinterpret_cast<size_t>(memory) % alignment;
  *begin = static_cast<char *>(const_cast<void *>(memory)) - *offset;
  return *offset != 0 && !may_have_offset ? cudaErrorInvalidValue : cudaSuccess;
}

/* Bytes from an address to the end of its allocation; the most there can be where that is not known. */
static inline __host__ size_t bytes_behind(const void *memory, const cudaChannelFormatDesc &channels) {
  int device = 0;
  size_t texels = 0, texel_bytes = (channels.x + channels.y + channels.z + channels.w) / 8;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetTexture1DLinearMaxWidth(&texels, &channels, device) != cudaSuccess)
    texels = 1 << 27;
  size_t most = texels * texel_bytes, bytes = 0;
  void *function = nullptr;
  cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 13000
  cudaError_t error = cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &function, 3020,
                                                       cudaEnableDefault, &found);
#else
  cudaError_t error =
      cudaGetDriverEntryPoint("cuMemGetAddressRange", &function, cudaEnableDefault, &found);
#endif
  if (error != cudaSuccess || function == nullptr) return most;
  unsigned long long begin = 0, address = reinterpret_cast<unsigned long long>(memory);
  typedef int (*Range)(unsigned long long *, size_t *, unsigned long long);
  if (reinterpret_cast<Range>(function)(&begin, &bytes, address) != 0) return most;
  bytes -= address - begin;
  return bytes < most ? bytes : most;
}

} // namespace sirius_texture

static inline __host__ cudaError_t cudaBindTexture(size_t *offset, const textureReference *reference,
                                                   const void *memory,
                                                   const cudaChannelFormatDesc *channels,
                                                   size_t bytes = UINT_MAX) {
  if (reference == nullptr) return cudaErrorInvalidTexture;
  if (memory == nullptr || channels == nullptr) return cudaErrorInvalidValue;
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeLinear;
  char *begin = nullptr;
  size_t before = 0;
  cudaError_t error = sirius_texture::align(memory, &begin, &before, offset != nullptr);
  if (error != cudaSuccess) return error;
  if (bytes == UINT_MAX) bytes = sirius_texture::bytes_behind(memory, *channels);
  resource.res.linear.devPtr = begin;
  resource.res.linear.desc = *channels;
  resource.res.linear.sizeInBytes = bytes + before;
  error = sirius_texture::bind(reference, resource);
  if (error != cudaSuccess) return error;
  reference->sirius_offset = before;
  if (offset != nullptr) *offset = before;
  return cudaSuccess;
}

static inline __host__ cudaError_t cudaBindTexture2D(size_t *offset, const textureReference *reference,
                                                     const void *memory,
                                                     const cudaChannelFormatDesc *channels,
                                                     size_t width, size_t height, size_t pitch) {
  if (reference == nullptr) return cudaErrorInvalidTexture;
  if (memory == nullptr || channels == nullptr) return cudaErrorInvalidValue;
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypePitch2D;
  char *begin = nullptr;
  size_t before = 0;
  cudaError_t error = sirius_texture::align(memory, &begin, &before, offset != nullptr);
  if (error != cudaSuccess) return error;
  size_t texel_bytes = (channels->x + channels->y + channels->z + channels->w) / 8;
  resource.res.pitch2D.devPtr = begin;
  resource.res.pitch2D.desc = *channels;
  resource.res.pitch2D.width = width + (texel_bytes == 0 ? 0 : before / texel_bytes);
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  error = sirius_texture::bind(reference, resource);
  if (error != cudaSuccess) return error;
  reference->sirius_offset = before;
  if (offset != nullptr) *offset = before;
  return cudaSuccess;
}

static inline __host__ cudaError_t cudaBindTextureToArray(const textureReference *reference,
                                                          cudaArray_const_t array,
                                                          const cudaChannelFormatDesc *channels) {
  if (reference == nullptr) return cudaErrorInvalidTexture;
  if (array == nullptr || channels == nullptr) return cudaErrorInvalidValue;
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = const_cast<cudaArray_t>(array);
  return sirius_texture::bind(reference, resource);
}

static inline __host__ cudaError_t
cudaBindTextureToMipmappedArray(const textureReference *reference, cudaMipmappedArray_const_t array,
                                const cudaChannelFormatDesc *channels) {
  if (reference == nullptr) return cudaErrorInvalidTexture;
  if (array == nullptr || channels == nullptr) return cudaErrorInvalidValue;
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = const_cast<cudaMipmappedArray_t>(array);
  return sirius_texture::bind(reference, resource);
}

/* Kernels that still run may read it: its object goes when the next one comes. */
static inline __host__ cudaError_t cudaUnbindTexture(const textureReference *reference) {
  return reference == nullptr ? cudaErrorInvalidTexture : cudaSuccess;
}

static inline __host__ cudaError_t cudaGetTextureAlignmentOffset(size_t *offset,
                                                                 const textureReference *reference) {
  if (reference == nullptr) return cudaErrorInvalidTexture;
  if (reference->sirius_object == 0) return cudaErrorInvalidTextureBinding;
  *offset = reference->sirius_offset;
  return cudaSuccess;
}

static inline __host__ cudaError_t cudaGetTextureReference(const textureReference **reference,
                                                           const void *symbol) {
  if (symbol == nullptr) return cudaErrorInvalidTexture;
  *reference = static_cast<const textureReference *>(symbol);
  return cudaSuccess;
}

template <class Texel, int dimensions, cudaTextureReadMode mode>
static inline __host__ cudaError_t cudaBindTexture(size_t *offset,
                                                   const texture<Texel, dimensions, mode> &reference,
                                                   const void *memory,
                                                   const cudaChannelFormatDesc &channels,
                                                   size_t bytes = UINT_MAX) {
  return cudaBindTexture(offset, &reference, memory, &channels, bytes);
}
template <class Texel, int dimensions, cudaTextureReadMode mode>
static inline __host__ cudaError_t cudaBindTexture(size_t *offset,
                                                   const texture<Texel, dimensions, mode> &reference,
                                                   const void *memory, size_t bytes = UINT_MAX) {
  return cudaBindTexture(offset, &reference, memory, &reference.channelDesc, bytes);
}
template <class Texel, int dimensions, cudaTextureReadMode mode>
static inline __host__ cudaError_t
cudaBindTexture2D(size_t *offset, const texture<Texel, dimensions, mode> &reference, const void *memory,
                  const cudaChannelFormatDesc &channels, size_t width, size_t height, size_t pitch) {
  return cudaBindTexture2D(offset, &reference, memory, &channels, width, height, pitch);
}
template <class Texel, int dimensions, cudaTextureReadMode mode>
static inline __host__ cudaError_t
cudaBindTexture2D(size_t *offset, const texture<Texel, dimensions, mode> &reference, const void *memory,
                  size_t width, size_t height, size_t pitch) {
  return cudaBindTexture2D(offset, &reference, memory, &reference.channelDesc, width, height, pitch);
}
template <class Texel, int dimensions, cudaTextureReadMode mode>
static inline __host__ cudaError_t
cudaBindTextureToArray(const texture<Texel, dimensions, mode> &reference, cudaArray_const_t array,
                       const cudaChannelFormatDesc &channels) {
  return cudaBindTextureToArray(&reference, array, &channels);
}
template <class Texel, int dimensions, cudaTextureReadMode mode>
static inline __host__ cudaError_t
cudaBindTextureToArray(const texture<Texel, dimensions, mode> &reference, cudaArray_const_t array) {
  return cudaBindTextureToArray(&reference, array, &reference.channelDesc);
}
template <class Texel, int dimensions, cudaTextureReadMode mode>
static inline __host__ cudaError_t
cudaBindTextureToMipmappedArray(const texture<Texel, dimensions, mode> &reference,
                                cudaMipmappedArray_const_t array,
                                const cudaChannelFormatDesc &channels) {
  return cudaBindTextureToMipmappedArray(&reference, array, &channels);
}
template <class Texel, int dimensions, cudaTextureReadMode mode>
static inline __host__ cudaError_t
cudaBindTextureToMipmappedArray(const texture<Texel, dimensions, mode> &reference,
                                cudaMipmappedArray_const_t array) {
  return cudaBindTextureToMipmappedArray(&reference, array, &reference.channelDesc);
}
template <class Texel, int dimensions, cudaTextureReadMode mode>
static inline __host__ cudaError_t
cudaUnbindTexture(const texture<Texel, dimensions, mode> &reference) {
  return cudaUnbindTexture(static_cast<const textureReference *>(&reference));
}
template <class Texel, int dimensions, cudaTextureReadMode mode>
static inline __host__ cudaError_t
cudaGetTextureAlignmentOffset(size_t *offset, const texture<Texel, dimensions, mode> &reference) {
  return cudaGetTextureAlignmentOffset(offset, static_cast<const textureReference *>(&reference));
}

#endif
