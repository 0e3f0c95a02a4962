// Conversions without rounding mode, and vector loads and stores of OpenCL C.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_DATA_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_DATA_H_

// convert_T(x): to the nearest towards zero for integers, to nearest even for floating point.
#define HEDDLE_CONVERT(to, from)                                                           \
  HEDDLE_CL to convert_##to(from x) { return (to)x; }                                      \
  HEDDLE_CL to##2 convert_##to##2(from##2 x) { return __builtin_convertvector(x, to##2); } \
  HEDDLE_CL to##3 convert_##to##3(from##3 x) { return __builtin_convertvector(x, to##3); } \
  HEDDLE_CL to##4 convert_##to##4(from##4 x) { return __builtin_convertvector(x, to##4); } \
  HEDDLE_CL to##8 convert_##to##8(from##8 x) { return __builtin_convertvector(x, to##8); } \
  HEDDLE_CL to##16 convert_##to##16(from##16 x) { return __builtin_convertvector(x, to##16); }
#define HEDDLE_CONVERTS(to)  \
  HEDDLE_CONVERT(to, char)   \
  HEDDLE_CONVERT(to, uchar)  \
  HEDDLE_CONVERT(to, short)  \
  HEDDLE_CONVERT(to, ushort) \
  HEDDLE_CONVERT(to, int)    \
  HEDDLE_CONVERT(to, uint)   \
  HEDDLE_CONVERT(to, long)   \
  HEDDLE_CONVERT(to, ulong)  \
  HEDDLE_CONVERT(to, float)  \
  HEDDLE_CONVERT(to, double)
HEDDLE_CONVERTS(char)
HEDDLE_CONVERTS(uchar)
HEDDLE_CONVERTS(short)
HEDDLE_CONVERTS(ushort)
HEDDLE_CONVERTS(int)
HEDDLE_CONVERTS(uint)
HEDDLE_CONVERTS(long)
HEDDLE_CONVERTS(ulong)
HEDDLE_CONVERTS(float)
HEDDLE_CONVERTS(double)
// Elements need only their own alignment.
#define HEDDLE_VLOAD(type, space)                                                                                     \
  HEDDLE_CL type##2 vload2(size_t i, const space type *p) { return (type##2)(p[2 * i], p[2 * i + 1]); }               \
  HEDDLE_CL type##3 vload3(size_t i, const space type *p) { return (type##3)(p[3 * i], p[3 * i + 1], p[3 * i + 2]); } \
  HEDDLE_CL type##4 vload4(size_t i, const space type *p) {                                                           \
    return (type##4)(p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3]);                                             \
  }                                                                                                                   \
  HEDDLE_CL type##8 vload8(size_t i, const space type *p) {                                                           \
    return (type##8)(vload4(2 * i, p), vload4(2 * i + 1, p));                                                         \
  }                                                                                                                   \
  HEDDLE_CL type##16 vload16(size_t i, const space type *p) {                                                         \
    return (type##16)(vload8(2 * i, p), vload8(2 * i + 1, p));                                                        \
  }
#define HEDDLE_VSTORE(type, space)                               \
  HEDDLE_CL void vstore2(type##2 v, size_t i, space type *p) {   \
    p[2 * i] = v.x;                                              \
    p[2 * i + 1] = v.y;                                          \
  }                                                              \
  HEDDLE_CL void vstore3(type##3 v, size_t i, space type *p) {   \
    p[3 * i] = v.x;                                              \
    p[3 * i + 1] = v.y;                                          \
    p[3 * i + 2] = v.z;                                          \
  }                                                              \
  HEDDLE_CL void vstore4(type##4 v, size_t i, space type *p) {   \
    vstore2(v.lo, 2 * i, p);                                     \
    vstore2(v.hi, 2 * i + 1, p);                                 \
  }                                                              \
  HEDDLE_CL void vstore8(type##8 v, size_t i, space type *p) {   \
    vstore4(v.lo, 2 * i, p);                                     \
    vstore4(v.hi, 2 * i + 1, p);                                 \
  }                                                              \
  HEDDLE_CL void vstore16(type##16 v, size_t i, space type *p) { \
    vstore8(v.lo, 2 * i, p);                                     \
    vstore8(v.hi, 2 * i + 1, p);                                 \
  }
#define HEDDLE_VECTOR_MEMORY(type) \
  HEDDLE_VLOAD(type, __global)     \
  HEDDLE_VLOAD(type, __local)      \
  HEDDLE_VLOAD(type, __constant)   \
  HEDDLE_VLOAD(type, __private)    \
  HEDDLE_VSTORE(type, __global)    \
  HEDDLE_VSTORE(type, __local)     \
  HEDDLE_VSTORE(type, __private)
HEDDLE_VECTOR_MEMORY(char)
HEDDLE_VECTOR_MEMORY(uchar)
HEDDLE_VECTOR_MEMORY(short)
HEDDLE_VECTOR_MEMORY(ushort)
HEDDLE_VECTOR_MEMORY(int)
HEDDLE_VECTOR_MEMORY(uint)
HEDDLE_VECTOR_MEMORY(long)
HEDDLE_VECTOR_MEMORY(ulong)
HEDDLE_VECTOR_MEMORY(float)
HEDDLE_VECTOR_MEMORY(double)

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_DATA_H_
