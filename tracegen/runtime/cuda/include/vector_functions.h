// Makers of CUDA's vector types, for C, C++ and CUDA.
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "host_defines.h"
#include "vector_types.h"

#define HEDDLE_MAKER static __inline__ __host__ __device__
#define HEDDLE_MAKERS(name, type)                                       \
  HEDDLE_MAKER name##1 make_##name##1(type x) {                         \
    name##1 v = {x};                                                    \
    return v;                                                           \
  }                                                                     \
  HEDDLE_MAKER name##2 make_##name##2(type x, type y) {                 \
    name##2 v = {x, y};                                                 \
    return v;                                                           \
  }                                                                     \
  HEDDLE_MAKER name##3 make_##name##3(type x, type y, type z) {         \
    name##3 v = {x, y, z};                                              \
    return v;                                                           \
  }                                                                     \
  HEDDLE_MAKER name##4 make_##name##4(type x, type y, type z, type w) { \
    name##4 v = {x, y, z, w};                                           \
    return v;                                                           \
  }

HEDDLE_MAKERS(char, signed char)
HEDDLE_MAKERS(uchar, unsigned char)
HEDDLE_MAKERS(short, short)
HEDDLE_MAKERS(ushort, unsigned short)
HEDDLE_MAKERS(int, int)
HEDDLE_MAKERS(uint, unsigned int)
HEDDLE_MAKERS(long, long)
HEDDLE_MAKERS(ulong, unsigned long)
HEDDLE_MAKERS(longlong, long long)
HEDDLE_MAKERS(ulonglong, unsigned long long)
HEDDLE_MAKERS(float, float)
HEDDLE_MAKERS(double, double)
#undef HEDDLE_MAKERS
#undef HEDDLE_MAKER

#endif  // __VECTOR_FUNCTIONS_H__
