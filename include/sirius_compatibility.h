/*
 * Included by sirius-rs before every CUDA source, after clang's own CUDA wrapper: what nvcc, or an
 * older CUDA toolkit, gives to every program and clang with a current toolkit does not.
 *
 * Everything here is an inline function with the meaning that CUDA's manuals give. Functions that
 * clang has, but as inline PTX that no analysis sees through, are declared a second time with
 * enable_if, which overload resolution prefers to clang's own.
 */
#ifndef SIRIUS_COMPATIBILITY_H
#define SIRIUS_COMPATIBILITY_H

#if defined(__cplusplus) && defined(__CUDACC__)

#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <math.h>
#include <time.h>
#include <type_traits>
#include <cuda_runtime.h>

/* ---- nvcc's name for a compiler of CUDA is a number, which programs test with #if; clang's is empty. ---- */

#undef __CUDACC__
#define __CUDACC__ 1

/*
 * ---- nvcc's version, which programs test. Its name, __NVCC__, is defined below: CUDA's own headers
 * take it for a compiler with nvcc's built-in functions. The folder clang_view keeps it from those of
 * cub, thrust, libcu++ and cooperative groups that test it.
 */

#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)
#define __CUDACC_VER_BUILD__ 0
#endif
#ifndef __CUDA_API_VER_MAJOR__
#define __CUDA_API_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDA_API_VER_MINOR__ (CUDART_VERSION % 1000 / 10)
#endif

/* ---- Runtime calls that CUDA 13 dropped after a decade of deprecation. ---- */

#if CUDART_VERSION >= 13000
static inline __host__ cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
static inline __host__ cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }

/*
 * cuCtxCreate without a structure of parameters. The driver's header, which may come later, makes the
 * name one of four parameters; that function is found when a call of this template is compiled.
 */
#if __cplusplus >= 201103L
struct CUctx_st;
struct CUctxCreateParams_st;
template <class Flags>
static inline __host__ auto cuCtxCreate_v4(CUctx_st **context, Flags flags, int device)
    -> decltype(cuCtxCreate_v4(context, static_cast<CUctxCreateParams_st *>(nullptr), flags, device)) {
  return cuCtxCreate_v4(context, static_cast<CUctxCreateParams_st *>(nullptr), flags, device);
}
#endif
#endif

/* ---- min and max on the host: nvcc declares these for both sides, clang for the device. ---- */

#define SIRIUS_MINIMUM_MAXIMUM(result, left, right)                                                \
  static inline __host__ result min(left a, right b) {                                             \
    return static_cast<result>(b) < static_cast<result>(a) ? static_cast<result>(b)                \
                                                           : static_cast<result>(a);               \
  }                                                                                                \
  static inline __host__ result max(left a, right b) {                                             \
    return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(b)                \
                                                           : static_cast<result>(a);               \
  }
#define SIRIUS_MINIMUM_MAXIMUM_OF_INTEGERS(type)                                                   \
  SIRIUS_MINIMUM_MAXIMUM(type, type, type)                                                         \
  SIRIUS_MINIMUM_MAXIMUM(unsigned type, unsigned type, unsigned type)                              \
  SIRIUS_MINIMUM_MAXIMUM(unsigned type, type, unsigned type)                                       \
  SIRIUS_MINIMUM_MAXIMUM(unsigned type, unsigned type, type)
SIRIUS_MINIMUM_MAXIMUM_OF_INTEGERS(int)
SIRIUS_MINIMUM_MAXIMUM_OF_INTEGERS(long)
SIRIUS_MINIMUM_MAXIMUM_OF_INTEGERS(long long)
#undef SIRIUS_MINIMUM_MAXIMUM_OF_INTEGERS
#undef SIRIUS_MINIMUM_MAXIMUM

/* Of a number and a NaN, CUDA's functions give the number, as fmin and fmax do. */
#define SIRIUS_MINIMUM_MAXIMUM(result, left, right, smaller, larger)                               \
  static inline __host__ result min(left a, right b) { return smaller(a, b); }                     \
  static inline __host__ result max(left a, right b) { return larger(a, b); }
SIRIUS_MINIMUM_MAXIMUM(float, float, float, ::fminf, ::fmaxf)
SIRIUS_MINIMUM_MAXIMUM(double, double, double, ::fmin, ::fmax)
SIRIUS_MINIMUM_MAXIMUM(double, float, double, ::fmin, ::fmax)
SIRIUS_MINIMUM_MAXIMUM(double, double, float, ::fmin, ::fmax)
#undef SIRIUS_MINIMUM_MAXIMUM

static inline __host__ unsigned umin(unsigned a, unsigned b) { return min(a, b); }
static inline __host__ unsigned umax(unsigned a, unsigned b) { return max(a, b); }
static inline __host__ long long llmin(long long a, long long b) { return min(a, b); }
static inline __host__ long long llmax(long long a, long long b) { return max(a, b); }
static inline __host__ unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
static inline __host__ unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

/* ---- Functions of float on the host that nvcc declares for both sides; without these they would be of double. ---- */

static inline __host__ float exp10(float a) { return ::exp10f(a); }
static inline __host__ float j0(float a) { return ::j0f(a); }
static inline __host__ float j1(float a) { return ::j1f(a); }
static inline __host__ float jn(int n, float a) { return ::jnf(n, a); }
static inline __host__ float y0(float a) { return ::y0f(a); }
static inline __host__ float y1(float a) { return ::y1f(a); }
static inline __host__ float yn(int n, float a) { return ::ynf(n, a); }
static inline __host__ float erfinv(float a) { return ::erfinvf(a); }
static inline __host__ void sincos(float a, float *sine, float *cosine) { ::sincosf(a, sine, cosine); }

/* ---- What clang declares for the device with another type than nvcc. ---- */

#define SIRIUS_PREFERRED __attribute__((enable_if(true, "")))
static inline __device__ double pow(float base, int exponent) SIRIUS_PREFERRED { return ::powi(base, exponent); }
static inline __device__ clock_t clock() SIRIUS_PREFERRED { return static_cast<int>(__nvvm_read_ptx_sreg_clock()); }
namespace std {
using ::pow;
}

/* ---- Loads and stores with a cache hint: a hint changes no value, so they are plain here. ---- */

#define SIRIUS_LOAD(name, type)                                                                    \
  static inline __device__ type name(const type *pointer) SIRIUS_PREFERRED { return *pointer; }
#define SIRIUS_STORE(name, type)                                                                   \
  static inline __device__ void name(type *pointer, type value) SIRIUS_PREFERRED {                 \
    *pointer = value;                                                                              \
  }
#define SIRIUS_CACHE_HINTS(type)                                                                   \
  SIRIUS_LOAD(__ldca, type)                                                                        \
  SIRIUS_LOAD(__ldcg, type)                                                                        \
  SIRIUS_LOAD(__ldcs, type)                                                                        \
  SIRIUS_LOAD(__ldlu, type)                                                                        \
  SIRIUS_STORE(__stcg, type)                                                                       \
  SIRIUS_STORE(__stcs, type)                                                                       \
  SIRIUS_STORE(__stwb, type)                                                                       \
  SIRIUS_STORE(__stwt, type)
SIRIUS_CACHE_HINTS(char)
SIRIUS_CACHE_HINTS(signed char)
SIRIUS_CACHE_HINTS(short)
SIRIUS_CACHE_HINTS(int)
SIRIUS_CACHE_HINTS(long)
SIRIUS_CACHE_HINTS(long long)
SIRIUS_CACHE_HINTS(unsigned char)
SIRIUS_CACHE_HINTS(unsigned short)
SIRIUS_CACHE_HINTS(unsigned int)
SIRIUS_CACHE_HINTS(unsigned long)
SIRIUS_CACHE_HINTS(unsigned long long)
SIRIUS_CACHE_HINTS(float)
SIRIUS_CACHE_HINTS(double)
SIRIUS_CACHE_HINTS(char2)
SIRIUS_CACHE_HINTS(char4)
SIRIUS_CACHE_HINTS(short2)
SIRIUS_CACHE_HINTS(short4)
SIRIUS_CACHE_HINTS(int2)
SIRIUS_CACHE_HINTS(int4)
SIRIUS_CACHE_HINTS(longlong2)
SIRIUS_CACHE_HINTS(uchar2)
SIRIUS_CACHE_HINTS(uchar4)
SIRIUS_CACHE_HINTS(ushort2)
SIRIUS_CACHE_HINTS(ushort4)
SIRIUS_CACHE_HINTS(uint2)
SIRIUS_CACHE_HINTS(uint4)
SIRIUS_CACHE_HINTS(ulonglong2)
SIRIUS_CACHE_HINTS(float2)
SIRIUS_CACHE_HINTS(float4)
SIRIUS_CACHE_HINTS(double2)
#undef SIRIUS_CACHE_HINTS
#undef SIRIUS_STORE
#undef SIRIUS_LOAD

/* ---- Funnel shifts: clang's are inline PTX. ---- */

static inline __device__ unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
    SIRIUS_PREFERRED {
  unsigned long long both = (static_cast<unsigned long long>(high) << 32) | low;
  return static_cast<unsigned>((both << (shift & 31)) >> 32);
}
static inline __device__ unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift)
    SIRIUS_PREFERRED {
  unsigned long long both = (static_cast<unsigned long long>(high) << 32) | low;
  return static_cast<unsigned>((both << (shift < 32 ? shift : 32)) >> 32);
}
static inline __device__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
    SIRIUS_PREFERRED {
  unsigned long long both = (static_cast<unsigned long long>(high) << 32) | low;
  return static_cast<unsigned>(both >> (shift & 31));
}
static inline __device__ unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift)
    SIRIUS_PREFERRED {
  unsigned long long both = (static_cast<unsigned long long>(high) << 32) | low;
  return static_cast<unsigned>(both >> (shift < 32 ? shift : 32));
}

/* ---- Functions that CUDA's headers call and nvcc has built in. ---- */

#ifdef __CUDA_ARCH__
#define SIRIUS_SUM_OF_PRODUCTS(name, type, instruction)                                            \
  extern "C" inline __device__ type __nv_i##name##_impl(type a, type b, type sum) {                \
    type result;                                                                                   \
    asm(instruction " %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));                 \
    return result;                                                                                 \
  }
SIRIUS_SUM_OF_PRODUCTS(dp4a_s_s, int, "dp4a.s32.s32")
SIRIUS_SUM_OF_PRODUCTS(dp4a_u_u, unsigned, "dp4a.u32.u32")
SIRIUS_SUM_OF_PRODUCTS(dp2a_lo_s_s, int, "dp2a.lo.s32.s32")
SIRIUS_SUM_OF_PRODUCTS(dp2a_lo_u_u, unsigned, "dp2a.lo.u32.u32")
SIRIUS_SUM_OF_PRODUCTS(dp2a_hi_s_s, int, "dp2a.hi.s32.s32")
SIRIUS_SUM_OF_PRODUCTS(dp2a_hi_u_u, unsigned, "dp2a.hi.u32.u32")
#undef SIRIUS_SUM_OF_PRODUCTS

extern "C" inline __device__ unsigned short __nv_bswap16_impl(unsigned short value) {
  return __builtin_bswap16(value);
}
extern "C" inline __device__ unsigned __nv_bswap32_impl(unsigned value) {
  return __builtin_bswap32(value);
}
extern "C" inline __device__ unsigned long long __nv_bswap64_impl(unsigned long long value) {
  return __builtin_bswap64(value);
}
#endif

/* ---- Functions of kernels that CUDA's newest headers declare, nvcc has built in, and clang does not know. ---- */

#if CUDART_VERSION >= 13000
extern "C" {
__device__ float __nv_fast_tanhf(float);
static inline __device__ float __tanhf(float a) { return __nv_fast_tanhf(a); }
/* Whole turns go first, since they are exact numbers. That of an infinity is none. */
static inline __device__ float __sin2pif(float turns) {
  return turns == 0.0f ? turns : __sinf((turns - ::rintf(turns)) * 6.2831855f);
}
static inline __device__ float __cos2pif(float turns) { return __cosf((turns - ::rintf(turns)) * 6.2831855f); }
static inline __device__ void __sincos2pif(float turns, float *sine, float *cosine) {
  *sine = __sin2pif(turns);
  *cosine = __cos2pif(turns);
}
}
#endif

/*
 * clang's are inline PTX that it believes to change nothing, so that a sum nobody looks at is not made. CUDA promises
 * that each number is added at once, and nothing of all of them.
 */
#if CUDART_VERSION >= 12010 && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)
#define SIRIUS_ADD_NUMBERS(name)                                                                   \
  static inline __device__ float2 name(float2 *address, float2 value) SIRIUS_PREFERRED {           \
    return make_float2(name(&address->x, value.x), name(&address->y, value.y));                    \
  }                                                                                                \
  static inline __device__ float4 name(float4 *address, float4 value) SIRIUS_PREFERRED {           \
    return make_float4(name(&address->x, value.x), name(&address->y, value.y),                     \
                       name(&address->z, value.z), name(&address->w, value.w));                    \
  }
SIRIUS_ADD_NUMBERS(atomicAdd)
SIRIUS_ADD_NUMBERS(atomicAdd_block)
SIRIUS_ADD_NUMBERS(atomicAdd_system)
#undef SIRIUS_ADD_NUMBERS
#endif

/* Arithmetic on two numbers at once. */
#if CUDART_VERSION >= 12090 && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1000)
#define SIRIUS_TWO_NUMBERS(mode)                                                                   \
  static inline __device__ float2 __fadd2_##mode(float2 a, float2 b) {                             \
    return make_float2(__fadd_##mode(a.x, b.x), __fadd_##mode(a.y, b.y));                          \
  }                                                                                                \
  static inline __device__ float2 __fmul2_##mode(float2 a, float2 b) {                             \
    return make_float2(__fmul_##mode(a.x, b.x), __fmul_##mode(a.y, b.y));                          \
  }                                                                                                \
  static inline __device__ float2 __ffma2_##mode(float2 a, float2 b, float2 c) {                   \
    return make_float2(__fmaf_##mode(a.x, b.x, c.x), __fmaf_##mode(a.y, b.y, c.y));                \
  }
SIRIUS_TWO_NUMBERS(rn)
SIRIUS_TWO_NUMBERS(rz)
SIRIUS_TWO_NUMBERS(ru)
SIRIUS_TWO_NUMBERS(rd)
#undef SIRIUS_TWO_NUMBERS
#endif

#undef SIRIUS_PREFERRED

/* ---- Numbers that are none: clang declares these functions and has none. ---- */

#ifdef __CUDA_ARCH__
/* What a text says as a number of base 8, 10 or 16: nothing where it is none, all ones where it is too large. */
static inline __device__ unsigned long long sirius_payload(const char *text) {
  unsigned base = 10;
  unsigned long long payload = 0;
  bool is_too_large = false;
  if (*text == '0') {
    base = 8;
    ++text;
    if (*text == 'x' || *text == 'X') {
      base = 16;
      ++text;
    }
  }
  for (; *text != 0; ++text) {
    const char lower = *text >= 'A' && *text <= 'F' ? *text + ('a' - 'A') : *text;
    const unsigned digit = lower >= 'a' && lower <= 'f' ? lower - 'a' + 10u : lower - '0' + 0u;
    if (digit >= base) {
      return 0;
    }
    is_too_large |= payload > (~0ull - digit) / base;
    payload = payload * base + digit;
  }
  return is_too_large ? ~0ull : payload;
}
static inline __device__ double nan(const char *text) {
  return __longlong_as_double((sirius_payload(text) & 0x000fffffffffffffull) | 0x7ff8000000000000ull);
}
static inline __device__ float nanf(const char *text) {
  return __int_as_float((sirius_payload(text) & 0x007fffffull) | 0x7fc00000ull);
}
#endif

/* ---- What arrays whose length is no constant have in them at first: sirius-rs writes their initialisation so. ---- */

template <class Value>
inline void sirius_fill(Value *first, unsigned long length, std::initializer_list<std::common_type_t<Value>> values) {
  for (unsigned long i = 0; i < length; ++i) {
    first[i] = i < values.size() ? values.begin()[i] : Value();
  }
}
template <class Value>
inline void sirius_fill(Value *first, unsigned long rows, unsigned long length,
                        std::initializer_list<std::initializer_list<std::common_type_t<Value>>> values) {
  for (unsigned long row = 0; row < rows; ++row) {
    using Row = std::initializer_list<std::common_type_t<Value>>;
    sirius_fill(first + row * length, length, row < values.size() ? values.begin()[row] : Row());
  }
}

/* ---- clang leaves __cluster_dims__ out but keeps annotations; sizes are the device side's affair. ---- */

#undef __cluster_dims__
#ifdef __CUDA_ARCH__
#define __cluster_dims__(...) __attribute__((annotate("sirius.cluster_dims", __VA_ARGS__)))
#else
#define __cluster_dims__(...)
#endif

/*
 * ---- clang ignores this attribute with a warning. The section is a mark, from which sirius-rs makes one
 * variable of the host's and the device's.
 */

#undef __managed__
#define __managed__ __attribute__((device, section("sirius_managed")))

/*
 * ---- A shared variable that no constructor runs for. sirius-rs declares those so whose constructors nvcc leaves
 * aside and clang does not.
 */

template <class Contents> union sirius_uninitialised {
  Contents value;
  __host__ __device__ sirius_uninitialised() {}
  __host__ __device__ ~sirius_uninitialised() {}
};

/*
 * ---- What sirius-rs writes into sources in the places that nvcc takes and clang does not. ----
 */

/* An object, or a class, that is known when the template around it is instantiated. */
#if __cplusplus >= 201103L
template <class Dependent, class Object>
__host__ __device__ constexpr Object &&sirius_known_later(Object &&object) noexcept {
  return static_cast<Object &&>(object);
}
template <class Object>
__host__ __device__ constexpr Object &&sirius_known_later_itself(Object &&object) noexcept {
  return static_cast<Object &&>(object);
}
template <class First, class... Last> struct sirius_class_known_later {
  typedef First type;
};
template <class Dependent, class Class> struct sirius_class_known_later<Dependent, Class> {
  typedef Class type;
};
#endif

/* Whether a requirement is met. */
#if __cplusplus >= 202002L
template <bool met> struct sirius_truth {
  static constexpr bool value = met;
};
#endif

/* The template of an asm statement with the text that an operand stands for in it. */
#if __cplusplus >= 201402L
template <unsigned long capacity> struct sirius_assembly_text {
  char text[capacity];
  unsigned long length;
  __host__ __device__ constexpr unsigned long size() const { return length; }
  __host__ __device__ constexpr const char *data() const { return text; }
};
void sirius_assembly_has_a_modifier_before_a_text();
template <unsigned long length, unsigned long inserted>
__host__ __device__ constexpr sirius_assembly_text<length * inserted>
sirius_assembly(const char *assembly, unsigned long end, unsigned operand, const char (&text)[inserted]) {
  sirius_assembly_text<length * inserted> result{};
  for (unsigned long i = 0; i < end;) {
    if (assembly[i] != '%' || i + 1 == end) {
      result.text[result.length++] = assembly[i++];
      continue;
    }
    if (assembly[i + 1] == '%') {
      result.text[result.length++] = assembly[i++];
      result.text[result.length++] = assembly[i++];
      continue;
    }
    unsigned long behind = i + 1;
    const bool is_modified = (assembly[behind] | 32) >= 'a' && (assembly[behind] | 32) <= 'z';
    behind += is_modified ? 1 : 0;
    unsigned number = 0, digits = 0;
    for (; behind < end && assembly[behind] >= '0' && assembly[behind] <= '9'; ++behind, ++digits) {
      number = number * 10 + (assembly[behind] - '0');
    }
    if (digits == 0 || number != operand) {
      result.text[result.length++] = assembly[i++];
      continue;
    }
    if (is_modified) {
      sirius_assembly_has_a_modifier_before_a_text();
    }
    for (unsigned long at = 0; at < inserted && text[at] != 0; ++at) {
      result.text[result.length++] = text[at];
    }
    i = behind;
  }
  return result;
}
template <unsigned long length, unsigned long inserted>
__host__ __device__ constexpr auto sirius_assembly(const char (&assembly)[length], unsigned operand,
                                                   const char (&text)[inserted]) {
  return sirius_assembly<length, inserted>(assembly, length - 1, operand, text);
}
template <unsigned long length, unsigned long inserted>
__host__ __device__ constexpr auto sirius_assembly(const sirius_assembly_text<length> &assembly, unsigned operand,
                                                   const char (&text)[inserted]) {
  return sirius_assembly<length, inserted>(assembly.text, assembly.length, operand, text);
}
#endif

/*
 * ---- nvcc's built-in atomic functions. They take any type of 1 to 8 bytes, so that they are macros here
 * over clang's, which have the same orders; scopes are numbered in another way.
 */

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

/* A cluster's scope is the device's here, which is more. */
#define SIRIUS_SCOPE_NUMBER(scope, ...)                                                            \
  ((scope) == __NV_THREAD_SCOPE_THREAD   ? __MEMORY_SCOPE_SINGLE                                   \
   : (scope) == __NV_THREAD_SCOPE_BLOCK  ? __MEMORY_SCOPE_WRKGRP                                   \
   : (scope) == __NV_THREAD_SCOPE_SYSTEM ? __MEMORY_SCOPE_SYSTEM                                   \
                                         : __MEMORY_SCOPE_DEVICE)
#define SIRIUS_SCOPE(...) SIRIUS_SCOPE_NUMBER(__VA_ARGS__)

#define __nv_atomic_load_n(pointer, order, ...)                                                    \
  __scoped_atomic_load_n(pointer, order, SIRIUS_SCOPE(__VA_ARGS__ __VA_OPT__(, ) 4))
#define __nv_atomic_load(pointer, result, order, ...)                                              \
  __scoped_atomic_load(pointer, result, order, SIRIUS_SCOPE(__VA_ARGS__ __VA_OPT__(, ) 4))
#define __nv_atomic_store_n(pointer, value, order, ...)                                            \
  __scoped_atomic_store_n(pointer, value, order, SIRIUS_SCOPE(__VA_ARGS__ __VA_OPT__(, ) 4))
#define __nv_atomic_store(pointer, value, order, ...)                                              \
  __scoped_atomic_store(pointer, value, order, SIRIUS_SCOPE(__VA_ARGS__ __VA_OPT__(, ) 4))
#define __nv_atomic_exchange_n(pointer, value, order, ...)                                         \
  __scoped_atomic_exchange_n(pointer, value, order, SIRIUS_SCOPE(__VA_ARGS__ __VA_OPT__(, ) 4))
#define __nv_atomic_exchange(pointer, value, result, order, ...)                                   \
  __scoped_atomic_exchange(pointer, value, result, order,                                          \
                           SIRIUS_SCOPE(__VA_ARGS__ __VA_OPT__(, ) 4))
#define __nv_atomic_compare_exchange_n(pointer, expected, value, weak, success, failure, ...)      \
  __scoped_atomic_compare_exchange_n(pointer, expected, value, weak, success, failure,             \
                                     SIRIUS_SCOPE(__VA_ARGS__ __VA_OPT__(, ) 4))
#define __nv_atomic_compare_exchange(pointer, expected, value, weak, success, failure, ...)        \
  __scoped_atomic_compare_exchange(pointer, expected, value, weak, success, failure,               \
                                   SIRIUS_SCOPE(__VA_ARGS__ __VA_OPT__(, ) 4))
#define SIRIUS_ATOMIC_UPDATE(operation, pointer, value, order, ...)                                \
  __scoped_atomic_fetch_##operation(pointer, value, order,                                         \
                                    SIRIUS_SCOPE(__VA_ARGS__ __VA_OPT__(, ) 4))
#define __nv_atomic_fetch_add(pointer, value, ...)                                                 \
  SIRIUS_ATOMIC_UPDATE(add, pointer, value, __VA_ARGS__)
#define __nv_atomic_add(pointer, value, ...)                                                       \
  (void)SIRIUS_ATOMIC_UPDATE(add, pointer, value, __VA_ARGS__)
#define __nv_atomic_fetch_sub(pointer, value, ...)                                                 \
  SIRIUS_ATOMIC_UPDATE(sub, pointer, value, __VA_ARGS__)
#define __nv_atomic_sub(pointer, value, ...)                                                       \
  (void)SIRIUS_ATOMIC_UPDATE(sub, pointer, value, __VA_ARGS__)
#define __nv_atomic_fetch_and(pointer, value, ...)                                                 \
  SIRIUS_ATOMIC_UPDATE(and, pointer, value, __VA_ARGS__)
#define __nv_atomic_and(pointer, value, ...)                                                       \
  (void)SIRIUS_ATOMIC_UPDATE(and, pointer, value, __VA_ARGS__)
#define __nv_atomic_fetch_or(pointer, value, ...)                                                  \
  SIRIUS_ATOMIC_UPDATE(or, pointer, value, __VA_ARGS__)
#define __nv_atomic_or(pointer, value, ...)                                                        \
  (void)SIRIUS_ATOMIC_UPDATE(or, pointer, value, __VA_ARGS__)
#define __nv_atomic_fetch_xor(pointer, value, ...)                                                 \
  SIRIUS_ATOMIC_UPDATE(xor, pointer, value, __VA_ARGS__)
#define __nv_atomic_xor(pointer, value, ...)                                                       \
  (void)SIRIUS_ATOMIC_UPDATE(xor, pointer, value, __VA_ARGS__)
#define __nv_atomic_fetch_min(pointer, value, ...)                                                 \
  SIRIUS_ATOMIC_UPDATE(min, pointer, value, __VA_ARGS__)
#define __nv_atomic_min(pointer, value, ...)                                                       \
  (void)SIRIUS_ATOMIC_UPDATE(min, pointer, value, __VA_ARGS__)
#define __nv_atomic_fetch_max(pointer, value, ...)                                                 \
  SIRIUS_ATOMIC_UPDATE(max, pointer, value, __VA_ARGS__)
#define __nv_atomic_max(pointer, value, ...)                                                       \
  (void)SIRIUS_ATOMIC_UPDATE(max, pointer, value, __VA_ARGS__)
#define __nv_atomic_thread_fence(order, ...)                                                       \
  __scoped_atomic_thread_fence(order, SIRIUS_SCOPE(__VA_ARGS__ __VA_OPT__(, ) 4))

/* The references want C++11. */
#if CUDART_VERSION >= 12000 && !defined(SIRIUS_WITHOUT_REFERENCES) && __cplusplus >= 201103L
#include "sirius_surface_references.h"
#include "sirius_texture_references.h"
#endif

/*
 * ---- Questions about lambdas that are marked for the device. clang's are closures like all others, so that
 * nothing which nvcc cannot do with its own need be refused for them. ----
 */
#ifdef SIRIUS_EXTENDED_LAMBDA
#define __CUDACC_EXTENDED_LAMBDA__ 1
#include <functional>
#include <utility>
#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false
#endif

#ifndef __NVCC__
#define __NVCC__ 1
#endif

#endif
#endif
