// CUDA's vector types and dim3, for C, C++ and CUDA. Sizes and alignments are those of the language (CUDA C++
// Programming Guide, "Built-in Vector Types").
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#include "host_defines.h"

#define HEDDLE_VECTOR(name, type, align1, align2, align3, align4)       \
  struct __attribute__((aligned(align1))) name##1 { type x; };          \
  struct __attribute__((aligned(align2))) name##2 { type x, y; };       \
  struct __attribute__((aligned(align3))) name##3 { type x, y, z; };    \
  struct __attribute__((aligned(align4))) name##4 { type x, y, z, w; }; \
  typedef struct name##1 name##1;                                       \
  typedef struct name##2 name##2;                                       \
  typedef struct name##3 name##3;                                       \
  typedef struct name##4 name##4;

HEDDLE_VECTOR(char, signed char, 1, 2, 1, 4)
HEDDLE_VECTOR(uchar, unsigned char, 1, 2, 1, 4)
HEDDLE_VECTOR(short, short, 2, 4, 2, 8)
HEDDLE_VECTOR(ushort, unsigned short, 2, 4, 2, 8)
HEDDLE_VECTOR(int, int, 4, 8, 4, 16)
HEDDLE_VECTOR(uint, unsigned int, 4, 8, 4, 16)
HEDDLE_VECTOR(long, long, 8, 16, 8, 16)
HEDDLE_VECTOR(ulong, unsigned long, 8, 16, 8, 16)
HEDDLE_VECTOR(longlong, long long, 8, 16, 8, 16)
HEDDLE_VECTOR(ulonglong, unsigned long long, 8, 16, 8, 16)
HEDDLE_VECTOR(float, float, 4, 8, 4, 16)
HEDDLE_VECTOR(double, double, 8, 16, 8, 16)
#undef HEDDLE_VECTOR

struct dim3 {
  unsigned int x, y, z;
#ifdef __cplusplus
  __host__ __device__ constexpr dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1) : x(a), y(b), z(c) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};
typedef struct dim3 dim3;

#endif  // __VECTOR_TYPES_H__
