// CUDA's language for device code, included before every CUDA source that is captured. No vendor header is needed.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_H_

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __forceinline__ __inline__ __attribute__((always_inline))
// On the host they mean nothing, and the compiler does not know the third one there.
#ifdef __CUDA_ARCH__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#else
#define __launch_bounds__(...)
#endif
#define __align__(n) __attribute__((aligned(n)))

// `__shared__ alignas(16) float tile[64]` is usual in CUDA, but clang takes no alignas behind an attribute, which
// __shared__ is: here it is an attribute of the same meaning. The argument is a number or a type. Of several, as a pack
// has them, the largest counts; 0 asks for nothing.
#if __cplusplus >= 201703L
// The compiler's own alignas says what it is, also where `>` stands between numbers.
#define alignas(...)                             \
  __attribute__((aligned([] {                    \
    struct alignas(__VA_ARGS__) heddle_aligned { \
      char byte;                                 \
    };                                           \
    return alignof(heddle_aligned);              \
  }())))
#else
template <__SIZE_TYPE__ kFirst>
constexpr __host__ __device__ __SIZE_TYPE__ heddle_alignment() {
  return kFirst != 0 ? kFirst : 1;
}
template <__SIZE_TYPE__ kFirst, __SIZE_TYPE__ kSecond, __SIZE_TYPE__... kMore>
constexpr __host__ __device__ __SIZE_TYPE__ heddle_alignment() {
  return heddle_alignment<(kFirst > kSecond ? kFirst : kSecond), kMore...>();
}
template <typename First>
constexpr __host__ __device__ __SIZE_TYPE__ heddle_alignment() {
  return alignof(First);
}
template <typename First, typename Second, typename... More>
constexpr __host__ __device__ __SIZE_TYPE__ heddle_alignment() {
  return alignof(First) > heddle_alignment<Second, More...>() ? alignof(First) : heddle_alignment<Second, More...>();
}
#define alignas(...) __attribute__((aligned(heddle_alignment<__VA_ARGS__>())))
#endif

// Blocks of a cluster, one to three numbers: whoever reads the code finds them behind this name.
#define __cluster_dims__(...) __attribute__((annotate("heddle.cluster", __VA_ARGS__)))

#define __CUDACC__ 1

// clang-format off: the order matters
#include "heddle_cuda_vector_types.h"
#include <__clang_cuda_builtin_vars.h>
// clang-format on

inline __device__ __cuda_builtin_threadIdx_t::operator dim3() const { return dim3(x, y, z); }
inline __device__ __cuda_builtin_threadIdx_t::operator uint3() const { return uint3{x, y, z}; }
inline __device__ __cuda_builtin_blockIdx_t::operator dim3() const { return dim3(x, y, z); }
inline __device__ __cuda_builtin_blockIdx_t::operator uint3() const { return uint3{x, y, z}; }
inline __device__ __cuda_builtin_blockDim_t::operator dim3() const { return dim3(x, y, z); }
inline __device__ __cuda_builtin_blockDim_t::operator uint3() const { return uint3{x, y, z}; }
inline __device__ __cuda_builtin_gridDim_t::operator dim3() const { return dim3(x, y, z); }
inline __device__ __cuda_builtin_gridDim_t::operator uint3() const { return uint3{x, y, z}; }

// What a device's system provides.
extern "C" __device__ int vprintf(const char* format, const char* arguments);
extern "C" __device__ int printf(const char* format, ...);
extern "C" __device__ void* malloc(__SIZE_TYPE__ bytes) __attribute__((malloc, nothrow));
extern "C" __device__ void free(void* pointer) __attribute__((nothrow));

// clang-format off: later ones use earlier ones
#include "heddle_cuda_memory.h"
#include "heddle_cuda_math.h"
#include "heddle_cuda_intrinsics.h"
#include "heddle_cuda_simd.h"
#include "heddle_cuda_dpx.h"
#include "heddle_cuda_atomic.h"
#include "heddle_cuda_sync.h"
#include "heddle_cuda_cluster.h"
#include "heddle_cuda_texture.h"
#include "heddle_cuda_texture_sparse.h"
#ifdef __CUDACC_RTC__
#include "heddle_cuda_rtc.h"
#else
#include <new>  // clang's, with new and delete of device code
#endif
// clang-format on

// Assertion failure ends the run with the place and the expression.
extern "C" __device__ __attribute__((noreturn)) void __assertfail(const char* expression, const char* file,
                                                                  unsigned int line, const char* function,
                                                                  __SIZE_TYPE__ char_size);
static __forceinline__ __device__ __attribute__((noreturn)) void __assert_fail(const char* expression, const char* file,
                                                                               unsigned int line,
                                                                               const char* function) {
  __assertfail(expression, file, line, function, 1);
}
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, __func__, 1))
#endif

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_H_
