// bfloat16: the upper half of a float. Arithmetic is single precision, rounded to the nearest even, as on devices
// before sm_90, which have no other.
#ifndef HEDDLE_CUDA_BFLOAT16_H_
#define HEDDLE_CUDA_BFLOAT16_H_

#include "vector_types.h"

#define HEDDLE_BOTH static __forceinline__ __host__ __device__
#define HEDDLE_MEMBER __forceinline__ __host__ __device__

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short __x;

  __nv_bfloat16() = default;
  HEDDLE_MEMBER __nv_bfloat16(float value) {
    const unsigned int bits = __builtin_bit_cast(unsigned int, value);
    const unsigned int rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    __x = static_cast<unsigned short>((bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded);
  }
  HEDDLE_MEMBER __nv_bfloat16(double value) : __nv_bfloat16(static_cast<float>(value)) {}
  HEDDLE_MEMBER __nv_bfloat16(int value) : __nv_bfloat16(static_cast<float>(value)) {}
  HEDDLE_MEMBER __nv_bfloat16(unsigned int value) : __nv_bfloat16(static_cast<float>(value)) {}
  HEDDLE_MEMBER operator float() const { return __builtin_bit_cast(float, static_cast<unsigned int>(__x) << 16); }
};
typedef __nv_bfloat16 nv_bfloat16;

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  HEDDLE_MEMBER __nv_bfloat162(const __nv_bfloat16& low, const __nv_bfloat16& high) : x(low), y(high) {}
};
typedef __nv_bfloat162 nv_bfloat162;

HEDDLE_BOTH __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
HEDDLE_BOTH __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
HEDDLE_BOTH float __bfloat162float(__nv_bfloat16 x) { return x; }
HEDDLE_BOTH __nv_bfloat162 __float2bfloat162_rn(float x) { return __nv_bfloat162(x, x); }
HEDDLE_BOTH __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return __nv_bfloat162(x, y); }
HEDDLE_BOTH float2 __bfloat1622float2(__nv_bfloat162 x) { return float2{x.x, x.y}; }
HEDDLE_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return __nv_bfloat162(x, x); }
HEDDLE_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
HEDDLE_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) { return x.x; }
HEDDLE_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) { return x.y; }
HEDDLE_BOTH float __low2float(__nv_bfloat162 x) { return x.x; }
HEDDLE_BOTH float __high2float(__nv_bfloat162 x) { return x.y; }
HEDDLE_BOTH unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.__x; }
HEDDLE_BOTH __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) {
  __nv_bfloat16 value;
  value.__x = x;
  return value;
}

#define HEDDLE_ARITHMETIC(symbol, name)                                                                                \
  HEDDLE_BOTH __nv_bfloat16 operator symbol(const __nv_bfloat16& x, const __nv_bfloat16& y) {                          \
    return __nv_bfloat16(static_cast<float>(x) symbol static_cast<float>(y));                                          \
  }                                                                                                                    \
  HEDDLE_BOTH __nv_bfloat16& operator symbol##=(__nv_bfloat16 & x, const __nv_bfloat16 & y) { return x = x symbol y; } \
  HEDDLE_BOTH __nv_bfloat162 operator symbol(const __nv_bfloat162& x, const __nv_bfloat162& y) {                       \
    return __nv_bfloat162(x.x symbol y.x, x.y symbol y.y);                                                             \
  }                                                                                                                    \
  HEDDLE_BOTH __nv_bfloat16 __h##name(__nv_bfloat16 x, __nv_bfloat16 y) { return x symbol y; }
HEDDLE_ARITHMETIC(+, add)
HEDDLE_ARITHMETIC(-, sub)
HEDDLE_ARITHMETIC(*, mul)
HEDDLE_ARITHMETIC(/, div)
#undef HEDDLE_ARITHMETIC
#define HEDDLE_COMPARISON(symbol, name)                                              \
  HEDDLE_BOTH bool operator symbol(const __nv_bfloat16& x, const __nv_bfloat16& y) { \
    return static_cast<float>(x) symbol static_cast<float>(y);                       \
  }                                                                                  \
  HEDDLE_BOTH bool __h##name(__nv_bfloat16 x, __nv_bfloat16 y) { return x symbol y; }
HEDDLE_COMPARISON(==, eq)
HEDDLE_COMPARISON(!=, ne)
HEDDLE_COMPARISON(<, lt)
HEDDLE_COMPARISON(<=, le)
HEDDLE_COMPARISON(>, gt)
HEDDLE_COMPARISON(>=, ge)
#undef HEDDLE_COMPARISON
HEDDLE_BOTH __nv_bfloat16 __hneg(__nv_bfloat16 x) { return __ushort_as_bfloat16(x.__x ^ 0x8000); }
HEDDLE_BOTH __nv_bfloat16 __habs(__nv_bfloat16 x) { return __ushort_as_bfloat16(x.__x & 0x7fff); }
HEDDLE_BOTH __nv_bfloat16 operator-(const __nv_bfloat16& x) { return __hneg(x); }
HEDDLE_BOTH bool __hisnan(__nv_bfloat16 x) { return (x.__x & 0x7fff) > 0x7f80; }
HEDDLE_BOTH __nv_bfloat16 __hmax(__nv_bfloat16 x, __nv_bfloat16 y) {
  return __hisnan(x) ? y : __hisnan(y) ? x : x > y ? x : y;
}
HEDDLE_BOTH __nv_bfloat16 __hmin(__nv_bfloat16 x, __nv_bfloat16 y) {
  return __hisnan(x) ? y : __hisnan(y) ? x : x < y ? x : y;
}
HEDDLE_BOTH __nv_bfloat162 __hadd2(__nv_bfloat162 x, __nv_bfloat162 y) { return x + y; }
HEDDLE_BOTH __nv_bfloat162 __hsub2(__nv_bfloat162 x, __nv_bfloat162 y) { return x - y; }
HEDDLE_BOTH __nv_bfloat162 __hmul2(__nv_bfloat162 x, __nv_bfloat162 y) { return x * y; }
HEDDLE_DEVICE __nv_bfloat16 __hfma(__nv_bfloat16 x, __nv_bfloat16 y, __nv_bfloat16 z) {
  return __nv_bfloat16(__builtin_fmaf(x, y, z));
}
HEDDLE_DEVICE __nv_bfloat162 __hfma2(__nv_bfloat162 x, __nv_bfloat162 y, __nv_bfloat162 z) {
  return __nv_bfloat162(__hfma(x.x, y.x, z.x), __hfma(x.y, y.y, z.y));
}
// An exchange of the word around until nobody came in between.
HEDDLE_DEVICE __nv_bfloat16 atomicAdd(__nv_bfloat16* address, __nv_bfloat16 value) {
  unsigned short* place = reinterpret_cast<unsigned short*>(address);
  unsigned short old = *place, seen;
  do {
    seen = old;
    old = atomicCAS(place, seen, (__ushort_as_bfloat16(seen) + value).__x);
  } while (old != seen);
  return __ushort_as_bfloat16(old);
}

#undef HEDDLE_MEMBER
#undef HEDDLE_BOTH

#endif  // HEDDLE_CUDA_BFLOAT16_H_
