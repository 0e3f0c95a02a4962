// CUDA's language for device code, included before every CUDA source that is captured. No vendor header is needed.
#ifndef HEDDLE_CUDA_H_
#define HEDDLE_CUDA_H_
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#include <__clang_cuda_builtin_vars.h>
#endif  // HEDDLE_CUDA_H_
