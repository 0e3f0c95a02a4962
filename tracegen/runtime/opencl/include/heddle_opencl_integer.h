// Integer functions of OpenCL C (1.2 specification, 6.12.3), on scalars and vectors.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_INTEGER_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_INTEGER_H_

// Vector versions whose result has another element type.
#define HEDDLE_VECTORS1_TO(result, name, type)                                                 \
  HEDDLE_CL result##2 name(type##2 x) { return (result##2)(name(x.x), name(x.y)); }            \
  HEDDLE_CL result##3 name(type##3 x) { return (result##3)(name(x.x), name(x.y), name(x.z)); } \
  HEDDLE_CL result##4 name(type##4 x) { return (result##4)(name(x.lo), name(x.hi)); }          \
  HEDDLE_CL result##8 name(type##8 x) { return (result##8)(name(x.lo), name(x.hi)); }          \
  HEDDLE_CL result##16 name(type##16 x) { return (result##16)(name(x.lo), name(x.hi)); }
#define HEDDLE_VECTORS2_TO(result, name, type)                                                               \
  HEDDLE_CL result##2 name(type##2 x, type##2 y) { return (result##2)(name(x.x, y.x), name(x.y, y.y)); }     \
  HEDDLE_CL result##3 name(type##3 x, type##3 y) {                                                           \
    return (result##3)(name(x.x, y.x), name(x.y, y.y), name(x.z, y.z));                                      \
  }                                                                                                          \
  HEDDLE_CL result##4 name(type##4 x, type##4 y) { return (result##4)(name(x.lo, y.lo), name(x.hi, y.hi)); } \
  HEDDLE_CL result##8 name(type##8 x, type##8 y) { return (result##8)(name(x.lo, y.lo), name(x.hi, y.hi)); } \
  HEDDLE_CL result##16 name(type##16 x, type##16 y) { return (result##16)(name(x.lo, y.lo), name(x.hi, y.hi)); }
// f(vector, scalar), of all widths.
#define HEDDLE_VECTOR_SCALAR(name, type)                                      \
  HEDDLE_CL type##2 name(type##2 x, type y) { return name(x, (type##2)(y)); } \
  HEDDLE_CL type##3 name(type##3 x, type y) { return name(x, (type##3)(y)); } \
  HEDDLE_CL type##4 name(type##4 x, type y) { return name(x, (type##4)(y)); } \
  HEDDLE_CL type##8 name(type##8 x, type y) { return name(x, (type##8)(y)); } \
  HEDDLE_CL type##16 name(type##16 x, type y) { return name(x, (type##16)(y)); }
#define HEDDLE_VECTOR_SCALARS(name, type)                                                           \
  HEDDLE_CL type##2 name(type##2 x, type y, type z) { return name(x, (type##2)(y), (type##2)(z)); } \
  HEDDLE_CL type##3 name(type##3 x, type y, type z) { return name(x, (type##3)(y), (type##3)(z)); } \
  HEDDLE_CL type##4 name(type##4 x, type y, type z) { return name(x, (type##4)(y), (type##4)(z)); } \
  HEDDLE_CL type##8 name(type##8 x, type y, type z) { return name(x, (type##8)(y), (type##8)(z)); } \
  HEDDLE_CL type##16 name(type##16 x, type y, type z) { return name(x, (type##16)(y), (type##16)(z)); }

// Scalars of less than 32 bits would be promoted by the built-in functions for saturation, elements of vectors are not.
#define HEDDLE_INTEGER(type, unsigned_type)                                                                      \
  HEDDLE_CL type min(type x, type y) { return x < y ? x : y; }                                                   \
  HEDDLE_CL type max(type x, type y) { return x > y ? x : y; }                                                   \
  HEDDLE_CL type clamp(type x, type y, type z) { return min(max(x, y), z); }                                     \
  HEDDLE_CL unsigned_type abs(type x) { return (unsigned_type)(x < 0 ? -x : x); }                                \
  HEDDLE_CL unsigned_type abs_diff(type x, type y) {                                                             \
    return x > y ? (unsigned_type)x - (unsigned_type)y : (unsigned_type)y - (unsigned_type)x;                    \
  }                                                                                                              \
  HEDDLE_CL type rotate(type x, type y) {                                                                        \
    const unsigned_type bits = sizeof(type) * 8, by = (unsigned_type)y & (bits - 1);                             \
    return (type)(((unsigned_type)x << by) | ((unsigned_type)x >> ((bits - by) & (bits - 1))));                  \
  }                                                                                                              \
  HEDDLE_CL type hadd(type x, type y) { return (type)((x >> 1) + (y >> 1) + (x & y & 1)); }                      \
  HEDDLE_CL type rhadd(type x, type y) { return (type)((x >> 1) + (y >> 1) + ((x | y) & 1)); }                   \
  HEDDLE_CL type add_sat(type x, type y) { return __builtin_elementwise_add_sat((type##2)(x), (type##2)(y)).x; } \
  HEDDLE_CL type sub_sat(type x, type y) { return __builtin_elementwise_sub_sat((type##2)(x), (type##2)(y)).x; } \
  HEDDLE_CL type popcount(type x) { return (type)__builtin_popcountl((ulong)(unsigned_type)x); }                 \
  HEDDLE_VECTORS2(min, type)                                                                                     \
  HEDDLE_VECTORS2(max, type)                                                                                     \
  HEDDLE_VECTORS3(clamp, type)                                                                                   \
  HEDDLE_VECTOR_SCALAR(min, type)                                                                                \
  HEDDLE_VECTOR_SCALAR(max, type)                                                                                \
  HEDDLE_VECTOR_SCALARS(clamp, type)                                                                             \
  HEDDLE_VECTORS1_TO(unsigned_type, abs, type)                                                                   \
  HEDDLE_VECTORS2_TO(unsigned_type, abs_diff, type)                                                              \
  HEDDLE_VECTORS2(rotate, type)                                                                                  \
  HEDDLE_VECTORS2(hadd, type)                                                                                    \
  HEDDLE_VECTORS2(rhadd, type)                                                                                   \
  HEDDLE_VECTORS2(add_sat, type)                                                                                 \
  HEDDLE_VECTORS2(sub_sat, type)                                                                                 \
  HEDDLE_VECTORS1(popcount, type)
HEDDLE_INTEGER(char, uchar)
HEDDLE_INTEGER(uchar, uchar)
HEDDLE_INTEGER(short, ushort)
HEDDLE_INTEGER(ushort, ushort)
HEDDLE_INTEGER(int, uint)
HEDDLE_INTEGER(uint, uint)
HEDDLE_INTEGER(long, ulong)
HEDDLE_INTEGER(ulong, ulong)
#undef HEDDLE_INTEGER

// Leading zeros, counted in 32 or 64 bits: `more` is what the wider type has in front.
#define HEDDLE_CLZ(type, expression)                        \
  HEDDLE_CL type clz(type x) { return (type)(expression); } \
  HEDDLE_VECTORS1(clz, type)
HEDDLE_CLZ(char, x != 0 ? __builtin_clz((uint)(uchar)x) - 24 : 8)
HEDDLE_CLZ(uchar, x != 0 ? __builtin_clz((uint)x) - 24 : 8)
HEDDLE_CLZ(short, x != 0 ? __builtin_clz((uint)(ushort)x) - 16 : 16)
HEDDLE_CLZ(ushort, x != 0 ? __builtin_clz((uint)x) - 16 : 16)
HEDDLE_CLZ(int, x != 0 ? __builtin_clz((uint)x) : 32)
HEDDLE_CLZ(uint, x != 0 ? __builtin_clz(x) : 32)
HEDDLE_CLZ(long, x != 0 ? __builtin_clzl((ulong)x) : 64)
HEDDLE_CLZ(ulong, x != 0 ? __builtin_clzl(x) : 64)
#undef HEDDLE_CLZ

// High half of a product, through a type of twice the bits.
#define HEDDLE_MUL_HI(type, wide, bits)                                                 \
  HEDDLE_CL type mul_hi(type x, type y) { return (type)(((wide)x * (wide)y) >> bits); } \
  HEDDLE_CL type mad_hi(type x, type y, type z) { return (type)(mul_hi(x, y) + z); }    \
  HEDDLE_VECTORS2(mul_hi, type)                                                         \
  HEDDLE_VECTORS3(mad_hi, type)
HEDDLE_MUL_HI(char, int, 8)
HEDDLE_MUL_HI(uchar, uint, 8)
HEDDLE_MUL_HI(short, int, 16)
HEDDLE_MUL_HI(ushort, uint, 16)
HEDDLE_MUL_HI(int, long, 32)
HEDDLE_MUL_HI(uint, ulong, 32)
HEDDLE_MUL_HI(long, __int128_t, 64)
HEDDLE_MUL_HI(ulong, __uint128_t, 64)
#undef HEDDLE_MUL_HI

// x * y + z, saturated.
#define HEDDLE_MAD_SAT(type, wide, low, high)                                                   \
  HEDDLE_CL type mad_sat(type x, type y, type z) {                                              \
    const wide exact = (wide)x * (wide)y + (wide)z;                                             \
    return (type)(exact<(wide)(low) ? (wide)(low) : exact>(wide)(high) ? (wide)(high) : exact); \
  }                                                                                             \
  HEDDLE_VECTORS3(mad_sat, type)
HEDDLE_MAD_SAT(char, int, CHAR_MIN, CHAR_MAX)
HEDDLE_MAD_SAT(uchar, int, 0, UCHAR_MAX)
HEDDLE_MAD_SAT(short, int, SHRT_MIN, SHRT_MAX)
HEDDLE_MAD_SAT(ushort, uint, 0, USHRT_MAX)
HEDDLE_MAD_SAT(int, long, INT_MIN, INT_MAX)
HEDDLE_MAD_SAT(uint, ulong, 0, UINT_MAX)
HEDDLE_MAD_SAT(long, __int128_t, LONG_MIN, LONG_MAX)
HEDDLE_MAD_SAT(ulong, __uint128_t, 0, ULONG_MAX)
#undef HEDDLE_MAD_SAT

HEDDLE_CL int mul24(int x, int y) { return ((x << 8) >> 8) * ((y << 8) >> 8); }
HEDDLE_CL uint mul24(uint x, uint y) { return (x & 0xffffffu) * (y & 0xffffffu); }
HEDDLE_CL int mad24(int x, int y, int z) { return mul24(x, y) + z; }
HEDDLE_CL uint mad24(uint x, uint y, uint z) { return mul24(x, y) + z; }
HEDDLE_VECTORS2(mul24, int)
HEDDLE_VECTORS2(mul24, uint)
HEDDLE_VECTORS3(mad24, int)
HEDDLE_VECTORS3(mad24, uint)

#define HEDDLE_UPSAMPLE(result, high, low, bits)                                                                    \
  HEDDLE_CL result upsample(high x, low y) { return (result)(((result)x << bits) | (result)y); }                    \
  HEDDLE_CL result##2 upsample(high##2 x, low##2 y) { return (result##2)(upsample(x.x, y.x), upsample(x.y, y.y)); } \
  HEDDLE_CL result##3 upsample(high##3 x, low##3 y) {                                                               \
    return (result##3)(upsample(x.x, y.x), upsample(x.y, y.y), upsample(x.z, y.z));                                 \
  }                                                                                                                 \
  HEDDLE_CL result##4 upsample(high##4 x, low##4 y) {                                                               \
    return (result##4)(upsample(x.lo, y.lo), upsample(x.hi, y.hi));                                                 \
  }                                                                                                                 \
  HEDDLE_CL result##8 upsample(high##8 x, low##8 y) {                                                               \
    return (result##8)(upsample(x.lo, y.lo), upsample(x.hi, y.hi));                                                 \
  }                                                                                                                 \
  HEDDLE_CL result##16 upsample(high##16 x, low##16 y) {                                                            \
    return (result##16)(upsample(x.lo, y.lo), upsample(x.hi, y.hi));                                                \
  }
HEDDLE_UPSAMPLE(short, char, uchar, 8)
HEDDLE_UPSAMPLE(ushort, uchar, uchar, 8)
HEDDLE_UPSAMPLE(int, short, ushort, 16)
HEDDLE_UPSAMPLE(uint, ushort, ushort, 16)
HEDDLE_UPSAMPLE(long, int, uint, 32)
HEDDLE_UPSAMPLE(ulong, uint, uint, 32)
#undef HEDDLE_UPSAMPLE

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_INTEGER_H_
