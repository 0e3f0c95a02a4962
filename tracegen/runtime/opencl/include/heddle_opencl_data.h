// Integer functions, conversions, selection, and vector loads and stores of OpenCL C.
#ifndef HEDDLE_OPENCL_DATA_H_
#define HEDDLE_OPENCL_DATA_H_

#define HEDDLE_INTEGER(type, unsigned_type)                                                     \
  HEDDLE_CL type min(type x, type y) { return x < y ? x : y; }                                  \
  HEDDLE_CL type max(type x, type y) { return x > y ? x : y; }                                  \
  HEDDLE_CL type clamp(type x, type y, type z) { return min(max(x, y), z); }                    \
  HEDDLE_CL unsigned_type abs(type x) { return (unsigned_type)(x < 0 ? -x : x); }               \
  HEDDLE_CL unsigned_type abs_diff(type x, type y) {                                            \
    return x > y ? (unsigned_type)x - (unsigned_type)y : (unsigned_type)y - (unsigned_type)x;   \
  }                                                                                             \
  HEDDLE_CL type rotate(type x, type y) {                                                       \
    const unsigned_type bits = sizeof(type) * 8, by = (unsigned_type)y & (bits - 1);            \
    return (type)(((unsigned_type)x << by) | ((unsigned_type)x >> ((bits - by) & (bits - 1)))); \
  }                                                                                             \
  HEDDLE_VECTORS2(min, type)                                                                    \
  HEDDLE_VECTORS2(max, type)                                                                    \
  HEDDLE_VECTORS3(clamp, type)
HEDDLE_INTEGER(char, uchar)
HEDDLE_INTEGER(uchar, uchar)
HEDDLE_INTEGER(short, ushort)
HEDDLE_INTEGER(ushort, ushort)
HEDDLE_INTEGER(int, uint)
HEDDLE_INTEGER(uint, uint)
HEDDLE_INTEGER(long, ulong)
HEDDLE_INTEGER(ulong, ulong)

HEDDLE_CL int mul24(int x, int y) { return ((x << 8) >> 8) * ((y << 8) >> 8); }
HEDDLE_CL uint mul24(uint x, uint y) { return (x & 0xffffffu) * (y & 0xffffffu); }
HEDDLE_CL int mad24(int x, int y, int z) { return mul24(x, y) + z; }
HEDDLE_CL uint mad24(uint x, uint y, uint z) { return mul24(x, y) + z; }
HEDDLE_CL int mul_hi(int x, int y) { return (int)(((long)x * y) >> 32); }
HEDDLE_CL uint mul_hi(uint x, uint y) { return (uint)(((ulong)x * y) >> 32); }
HEDDLE_CL int mad_hi(int x, int y, int z) { return mul_hi(x, y) + z; }
HEDDLE_CL uint mad_hi(uint x, uint y, uint z) { return mul_hi(x, y) + z; }
HEDDLE_CL int hadd(int x, int y) { return (int)(((long)x + y) >> 1); }
HEDDLE_CL uint hadd(uint x, uint y) { return (uint)(((ulong)x + y) >> 1); }
HEDDLE_CL int clz(int x) { return x != 0 ? __builtin_clz(x) : 32; }
HEDDLE_CL uint clz(uint x) { return x != 0 ? __builtin_clz(x) : 32; }
HEDDLE_CL int popcount(int x) { return __builtin_popcount(x); }
HEDDLE_CL uint popcount(uint x) { return __builtin_popcount(x); }
HEDDLE_CL ulong popcount(ulong x) { return __builtin_popcountl(x); }

#define HEDDLE_SELECT(type, condition)                                     \
  HEDDLE_CL type select(type x, type y, condition c) { return c ? y : x; } \
  HEDDLE_CL type##2 select(type##2 x, type##2 y, condition##2 c) {         \
    return (type##2)(c.x < 0 ? y.x : x.x, c.y < 0 ? y.y : x.y);            \
  }                                                                        \
  HEDDLE_CL type##4 select(type##4 x, type##4 y, condition##4 c) {         \
    return (type##4)(select(x.lo, y.lo, c.lo), select(x.hi, y.hi, c.hi));  \
  }
HEDDLE_SELECT(float, int)
HEDDLE_SELECT(double, long)
HEDDLE_SELECT(int, int)
HEDDLE_SELECT(uint, int)
HEDDLE_SELECT(long, long)
HEDDLE_CL int any(int x) { return x < 0; }
HEDDLE_CL int any(int2 x) { return x.x < 0 || x.y < 0; }
HEDDLE_CL int any(int4 x) { return any(x.lo) || any(x.hi); }
HEDDLE_CL int all(int x) { return x < 0; }
HEDDLE_CL int all(int2 x) { return x.x < 0 && x.y < 0; }
HEDDLE_CL int all(int4 x) { return all(x.lo) && all(x.hi); }

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
HEDDLE_CL int convert_int_rte(float x) { return (int)__builtin_rintf(x); }
HEDDLE_CL int convert_int_rtz(float x) { return (int)x; }
HEDDLE_CL int convert_int_rtn(float x) { return (int)__builtin_floorf(x); }
HEDDLE_CL int convert_int_rtp(float x) { return (int)__builtin_ceilf(x); }
HEDDLE_CL uchar convert_uchar_sat(float x) { return (uchar)clamp(x, 0.0f, 255.0f); }
HEDDLE_CL uchar convert_uchar_sat(int x) { return (uchar)clamp(x, 0, 255); }
HEDDLE_CL uchar4 convert_uchar4_sat(float4 x) { return convert_uchar4(clamp(x, 0.0f, 255.0f)); }

#ifndef as_int
#define as_char(x) __builtin_astype((x), char)
#define as_uchar(x) __builtin_astype((x), uchar)
#define as_short(x) __builtin_astype((x), short)
#define as_ushort(x) __builtin_astype((x), ushort)
#define as_int(x) __builtin_astype((x), int)
#define as_uint(x) __builtin_astype((x), uint)
#define as_long(x) __builtin_astype((x), long)
#define as_ulong(x) __builtin_astype((x), ulong)
#define as_float(x) __builtin_astype((x), float)
#define as_double(x) __builtin_astype((x), double)
#define as_int2(x) __builtin_astype((x), int2)
#define as_int4(x) __builtin_astype((x), int4)
#define as_uint2(x) __builtin_astype((x), uint2)
#define as_uint4(x) __builtin_astype((x), uint4)
#define as_float2(x) __builtin_astype((x), float2)
#define as_float4(x) __builtin_astype((x), float4)
#define as_uchar4(x) __builtin_astype((x), uchar4)
#endif

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

#endif  // HEDDLE_OPENCL_DATA_H_
