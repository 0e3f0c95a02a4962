// bfloat16: the upper half of a float. Arithmetic is single precision, rounded to the nearest even, as on devices
// before sm_90, which have no other.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_BFLOAT16_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_BFLOAT16_H_

#include "heddle_cuda_narrowing.h"
#include "vector_types.h"

#define HEDDLE_BOTH static __forceinline__ __host__ __device__
#define HEDDLE_MEMBER __forceinline__ __host__ __device__

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat162_raw {
  unsigned short x, y;
};

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short __x;

  __nv_bfloat16() = default;
  HEDDLE_MEMBER __nv_bfloat16(const __nv_bfloat16_raw& raw) : __x(raw.x) {}
  HEDDLE_MEMBER __nv_bfloat16(float value) {
    const unsigned int bits = __builtin_bit_cast(unsigned int, value);
    const unsigned int rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    __x = static_cast<unsigned short>((bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded);
  }
  HEDDLE_MEMBER __nv_bfloat16(double value) : __nv_bfloat16(heddle_float_to_odd(value)) {}
  HEDDLE_MEMBER __nv_bfloat16(short value) : __nv_bfloat16(static_cast<float>(value)) {}
  HEDDLE_MEMBER __nv_bfloat16(unsigned short value) : __nv_bfloat16(static_cast<float>(value)) {}
  HEDDLE_MEMBER __nv_bfloat16(int value) : __nv_bfloat16(static_cast<double>(value)) {}
  HEDDLE_MEMBER __nv_bfloat16(unsigned int value) : __nv_bfloat16(static_cast<double>(value)) {}
  HEDDLE_MEMBER __nv_bfloat16(long value) : __nv_bfloat16(heddle_double_of_whole(static_cast<long long>(value))) {}
  HEDDLE_MEMBER __nv_bfloat16(unsigned long value)
      : __nv_bfloat16(heddle_double_of_whole(static_cast<unsigned long long>(value))) {}
  HEDDLE_MEMBER __nv_bfloat16(long long value) : __nv_bfloat16(heddle_double_of_whole(value)) {}
  HEDDLE_MEMBER __nv_bfloat16(unsigned long long value) : __nv_bfloat16(heddle_double_of_whole(value)) {}

  HEDDLE_MEMBER operator float() const { return __builtin_bit_cast(float, static_cast<unsigned int>(__x) << 16); }
  HEDDLE_MEMBER operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
  HEDDLE_MEMBER explicit operator bool() const { return (__x & 0x7fff) != 0; }
};
typedef __nv_bfloat16 nv_bfloat16;

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;

  __nv_bfloat162() = default;
  HEDDLE_MEMBER __nv_bfloat162(const __nv_bfloat16& low, const __nv_bfloat16& high) : x(low), y(high) {}
  HEDDLE_MEMBER __nv_bfloat162(const __nv_bfloat162_raw& raw)
      : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
  HEDDLE_MEMBER operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{x.__x, y.__x}; }
};
typedef __nv_bfloat162 nv_bfloat162;

// --- what heddle_cuda_narrow_float.h builds on

HEDDLE_BOTH bool heddle_equal(__nv_bfloat16 x, __nv_bfloat16 y) {
  return static_cast<float>(x) == static_cast<float>(y);
}
HEDDLE_BOTH bool heddle_less(__nv_bfloat16 x, __nv_bfloat16 y) { return static_cast<float>(x) < static_cast<float>(y); }
HEDDLE_BOTH bool heddle_less_equal(__nv_bfloat16 x, __nv_bfloat16 y) {
  return static_cast<float>(x) <= static_cast<float>(y);
}
#define HEDDLE_ARITHMETIC(symbol, name)                                               \
  HEDDLE_BOTH __nv_bfloat16 __h##name(__nv_bfloat16 x, __nv_bfloat16 y) {             \
    return __nv_bfloat16(static_cast<float>(x) symbol static_cast<float>(y));         \
  }                                                                                   \
  HEDDLE_BOTH __nv_bfloat162 heddle_pair_##name(__nv_bfloat162 x, __nv_bfloat162 y) { \
    return __nv_bfloat162(__h##name(x.x, y.x), __h##name(x.y, y.y));                  \
  }
HEDDLE_ARITHMETIC(+, add)
HEDDLE_ARITHMETIC(-, sub)
HEDDLE_ARITHMETIC(*, mul)
HEDDLE_ARITHMETIC(/, div)
#undef HEDDLE_ARITHMETIC
HEDDLE_DEVICE __nv_bfloat16 __hfma(__nv_bfloat16 x, __nv_bfloat16 y, __nv_bfloat16 z) {
  return __nv_bfloat16(__builtin_fmaf(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)));
}

#define HEDDLE_T __nv_bfloat16
#define HEDDLE_T2 __nv_bfloat162
#define HEDDLE_RAW __nv_bfloat16_raw
#define HEDDLE_INFINITE 0x7f80
#define HEDDLE_NAMED(before, after) before##bfloat16##after
#include "heddle_cuda_narrow_float.h"
#undef HEDDLE_T
#undef HEDDLE_T2
#undef HEDDLE_RAW
#undef HEDDLE_INFINITE
#undef HEDDLE_NAMED

// --- its own names

HEDDLE_BOTH float __bfloat162float(__nv_bfloat16 x) { return static_cast<float>(x); }
HEDDLE_BOTH __nv_bfloat162 __float2bfloat162_rn(float x) { return __nv_bfloat162(x, x); }
HEDDLE_BOTH __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return __nv_bfloat162(x, y); }
HEDDLE_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 x) { return __nv_bfloat162(x.x, x.y); }
HEDDLE_BOTH float2 __bfloat1622float2(__nv_bfloat162 x) { return float2{x.x, x.y}; }
HEDDLE_BOTH __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
HEDDLE_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return __nv_bfloat162(x, x); }
HEDDLE_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
HEDDLE_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) { return x.x; }
HEDDLE_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) { return x.y; }
HEDDLE_BOTH __nv_bfloat162 __low2bfloat162(__nv_bfloat162 x) { return __nv_bfloat162(x.x, x.x); }
HEDDLE_BOTH __nv_bfloat162 __high2bfloat162(__nv_bfloat162 x) { return __nv_bfloat162(x.y, x.y); }
HEDDLE_BOTH __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 x, __nv_bfloat162 y) { return __nv_bfloat162(x.x, y.x); }
HEDDLE_BOTH __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 x, __nv_bfloat162 y) { return __nv_bfloat162(x.y, y.y); }
HEDDLE_BOTH unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.__x; }
HEDDLE_BOTH short __bfloat16_as_short(__nv_bfloat16 x) { return static_cast<short>(x.__x); }
HEDDLE_BOTH __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16_raw{x}; }
HEDDLE_BOTH __nv_bfloat16 __short_as_bfloat16(short x) { return __nv_bfloat16_raw{static_cast<unsigned short>(x)}; }

// An exchange of the word around until nobody came in between.
HEDDLE_DEVICE __nv_bfloat16 atomicAdd(__nv_bfloat16* address, __nv_bfloat16 value) {
  unsigned short* place = reinterpret_cast<unsigned short*>(address);
  unsigned short old = *place, seen;
  do {
    seen = old;
    old = atomicCAS(place, seen, __hadd(__ushort_as_bfloat16(seen), value).__x);
  } while (old != seen);
  return __ushort_as_bfloat16(old);
}
HEDDLE_DEVICE __nv_bfloat162 atomicAdd(__nv_bfloat162* address, __nv_bfloat162 value) {
  unsigned int* word = reinterpret_cast<unsigned int*>(address);
  unsigned int old = *word, seen;
  do {
    seen = old;
    const __nv_bfloat162 sum = __builtin_bit_cast(__nv_bfloat162, seen) + value;
    old = atomicCAS(word, seen, __builtin_bit_cast(unsigned int, sum));
  } while (old != seen);
  return __builtin_bit_cast(__nv_bfloat162, old);
}

#undef HEDDLE_MEMBER
#undef HEDDLE_BOTH

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_BFLOAT16_H_
