/*
 * Surface references, which CUDA 12 dropped, over surface objects, as sirius_texture_references.h has textures':
 * a structure on the host, on the device the object that is bound now, as a variable.
 */
#ifndef SIRIUS_SURFACE_REFERENCES_H
#define SIRIUS_SURFACE_REFERENCES_H

struct surfaceReference {
  /* The variable on the device, which sirius-rs sets before the program begins. */
  const void *sirius_symbol;
  cudaChannelFormatDesc channelDesc;
  /* What is bound. */
  mutable cudaSurfaceObject_t sirius_object;
  mutable int sirius_device;
};

template <class Texel, int dimensions = cudaSurfaceType1D>
struct __attribute__((device_builtin_surface_type)) surface : surfaceReference {
  /* The first member and what is bound stay as they are. */
  __host__ surface() {}
};

namespace sirius_surface {

template <class Reference> static inline __device__ cudaSurfaceObject_t bound(const Reference &reference) {
  return reinterpret_cast<const cudaSurfaceObject_t &>(reference);
}

/* Makes an object of an array, and lets kernels see it. */
static inline __host__ cudaError_t bind(const surfaceReference *reference, cudaArray_const_t array) {
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  bool was_bound_here = reference->sirius_object != 0 && reference->sirius_device == device;
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = const_cast<cudaArray_t>(array);
  cudaSurfaceObject_t object = 0;
  error = cudaCreateSurfaceObject(&object, &resource);
  if (error != cudaSuccess) return error;
  /* Launches before this one use what was bound when they were issued, in whatever stream. */
  error = cudaDeviceSynchronize();
  if (error == cudaSuccess)
    error = ::cudaMemcpyToSymbol(reference->sirius_symbol, &object, sizeof object, 0,
                                 cudaMemcpyHostToDevice);
  if (error != cudaSuccess) {
    cudaDestroySurfaceObject(object);
    return error;
  }
  cudaSurfaceObject_t before = reference->sirius_object;
  reference->sirius_object = object;
  reference->sirius_device = device;
  return was_bound_here ? cudaDestroySurfaceObject(before) : cudaSuccess;
}

} // namespace sirius_surface

/* ---- What kernels call: older programs give the texel's bytes as well. ---- */

#define SIRIUS_PASS(...) __VA_ARGS__
#define SIRIUS_SURFACE(shape, dimensions, parameters, arguments)                                   \
  template <class Value>                                                                           \
  static inline __device__ Value surf##shape##read(                                                \
      const surface<void, dimensions> &reference, SIRIUS_PASS parameters,                          \
      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                       \
    Value value;                                                                                   \
    ::surf##shape##read(&value, sirius_surface::bound(reference), SIRIUS_PASS arguments, mode);    \
    return value;                                                                                  \
  }                                                                                                \
  template <class Value>                                                                           \
  static inline __device__ void surf##shape##read(                                                 \
      Value *value, const surface<void, dimensions> &reference, SIRIUS_PASS parameters,            \
      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                       \
    ::surf##shape##read(value, sirius_surface::bound(reference), SIRIUS_PASS arguments, mode);     \
  }                                                                                                \
  template <class Value>                                                                           \
  static inline __device__ void surf##shape##read(                                                 \
      Value *value, const surface<void, dimensions> &reference, SIRIUS_PASS parameters, int,       \
      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                       \
    ::surf##shape##read(value, sirius_surface::bound(reference), SIRIUS_PASS arguments, mode);     \
  }                                                                                                \
  template <class Value>                                                                           \
  static inline __device__ void surf##shape##write(                                                \
      Value value, const surface<void, dimensions> &reference, SIRIUS_PASS parameters,             \
      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                       \
    ::surf##shape##write(value, sirius_surface::bound(reference), SIRIUS_PASS arguments, mode);    \
  }                                                                                                \
  template <class Value>                                                                           \
  static inline __device__ void surf##shape##write(                                                \
      Value value, const surface<void, dimensions> &reference, SIRIUS_PASS parameters, int,        \
      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                       \
    ::surf##shape##write(value, sirius_surface::bound(reference), SIRIUS_PASS arguments, mode);    \
  }
SIRIUS_SURFACE(1D, cudaSurfaceType1D, (int x), (x))
SIRIUS_SURFACE(2D, cudaSurfaceType2D, (int x, int y), (x, y))
SIRIUS_SURFACE(3D, cudaSurfaceType3D, (int x, int y, int z), (x, y, z))
SIRIUS_SURFACE(1DLayered, cudaSurfaceType1DLayered, (int x, int layer), (x, layer))
SIRIUS_SURFACE(2DLayered, cudaSurfaceType2DLayered, (int x, int y, int layer), (x, y, layer))
SIRIUS_SURFACE(Cubemap, cudaSurfaceTypeCubemap, (int x, int y, int face), (x, y, face))
SIRIUS_SURFACE(CubemapLayered, cudaSurfaceTypeCubemapLayered, (int x, int y, int layer), (x, y, layer))
#undef SIRIUS_SURFACE
#undef SIRIUS_PASS

/* ---- Binding. ---- */

static inline __host__ cudaError_t cudaBindSurfaceToArray(const surfaceReference *reference,
                                                          cudaArray_const_t array,
                                                          const cudaChannelFormatDesc *channels) {
  if (reference == nullptr) return cudaErrorInvalidSurface;
  if (array == nullptr || channels == nullptr) return cudaErrorInvalidValue;
  return sirius_surface::bind(reference, array);
}
template <class Texel, int dimensions>
static inline __host__ cudaError_t
cudaBindSurfaceToArray(const surface<Texel, dimensions> &reference, cudaArray_const_t array,
                       const cudaChannelFormatDesc &channels) {
  return cudaBindSurfaceToArray(static_cast<const surfaceReference *>(&reference), array, &channels);
}
template <class Texel, int dimensions>
static inline __host__ cudaError_t
cudaBindSurfaceToArray(const surface<Texel, dimensions> &reference, cudaArray_const_t array) {
  cudaChannelFormatDesc channels;
  cudaError_t error = cudaGetChannelDesc(&channels, array);
  return error != cudaSuccess ? error : cudaBindSurfaceToArray(reference, array, channels);
}
static inline __host__ cudaError_t cudaGetSurfaceReference(const surfaceReference **reference,
                                                           const void *symbol) {
  if (symbol == nullptr) return cudaErrorInvalidSurface;
  *reference = static_cast<const surfaceReference *>(symbol);
  return cudaSuccess;
}

#endif
