// Half precision: the types __half and __half2 with their operators and functions. Arithmetic is clang's own, which
// becomes PTX's instructions on f16 and f16x2; the host has conversions, comparisons and operators, too.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_HALF_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_HALF_H_

#include "heddle_cuda_narrowing.h"
#include "vector_types.h"

typedef _Float16 heddle_f16;
typedef heddle_f16 heddle_f16x2 __attribute__((ext_vector_type(2)));

#define HEDDLE_BOTH static __forceinline__ __host__ __device__
#define HEDDLE_MEMBER __forceinline__ __host__ __device__

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};

struct __attribute__((aligned(2))) __half {
  unsigned short __x;

  __half() = default;
  HEDDLE_MEMBER __half(const __half_raw& raw) : __x(raw.x) {}
  HEDDLE_MEMBER __half(heddle_f16 value) : __x(__builtin_bit_cast(unsigned short, value)) {}
  HEDDLE_MEMBER __half(float value) : __half(static_cast<heddle_f16>(value)) {}
  HEDDLE_MEMBER __half(double value) : __half(static_cast<heddle_f16>(value)) {}
  HEDDLE_MEMBER __half(int value) : __half(static_cast<heddle_f16>(value)) {}
  HEDDLE_MEMBER __half(unsigned int value) : __half(static_cast<heddle_f16>(value)) {}
  HEDDLE_MEMBER __half(short value) : __half(static_cast<heddle_f16>(value)) {}
  HEDDLE_MEMBER __half(unsigned short value) : __half(static_cast<heddle_f16>(value)) {}
  HEDDLE_MEMBER __half(long value) : __half(static_cast<heddle_f16>(value)) {}
  HEDDLE_MEMBER __half(unsigned long value) : __half(static_cast<heddle_f16>(value)) {}
  HEDDLE_MEMBER __half(long long value) : __half(static_cast<heddle_f16>(value)) {}
  HEDDLE_MEMBER __half(unsigned long long value) : __half(static_cast<heddle_f16>(value)) {}

  HEDDLE_MEMBER heddle_f16 value() const { return __builtin_bit_cast(heddle_f16, __x); }
  HEDDLE_MEMBER operator float() const { return static_cast<float>(value()); }
  HEDDLE_MEMBER operator __half_raw() const { return __half_raw{__x}; }
  HEDDLE_MEMBER explicit operator signed char() const { return static_cast<signed char>(value()); }
  HEDDLE_MEMBER explicit operator unsigned char() const { return static_cast<unsigned char>(value()); }
  HEDDLE_MEMBER explicit operator char() const { return static_cast<char>(value()); }
  HEDDLE_MEMBER explicit operator int() const { return static_cast<int>(value()); }
  HEDDLE_MEMBER explicit operator unsigned int() const { return static_cast<unsigned int>(value()); }
  HEDDLE_MEMBER explicit operator short() const { return static_cast<short>(value()); }
  HEDDLE_MEMBER explicit operator unsigned short() const { return static_cast<unsigned short>(value()); }
  HEDDLE_MEMBER explicit operator long() const { return static_cast<long>(value()); }
  HEDDLE_MEMBER explicit operator unsigned long() const { return static_cast<unsigned long>(value()); }
  HEDDLE_MEMBER explicit operator long long() const { return static_cast<long long>(value()); }
  HEDDLE_MEMBER explicit operator unsigned long long() const { return static_cast<unsigned long long>(value()); }
  HEDDLE_MEMBER explicit operator bool() const { return (__x & 0x7fff) != 0; }
};
typedef __half half;
typedef __half __nv_half;
typedef __half nv_half;

struct __attribute__((aligned(4))) __half2 {
  __half x, y;

  __half2() = default;
  HEDDLE_MEMBER __half2(const __half& low, const __half& high) : x(low), y(high) {}
  HEDDLE_MEMBER __half2(const __half2_raw& raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  HEDDLE_MEMBER __half2(heddle_f16x2 value)
      : x(static_cast<heddle_f16>(value.x)), y(static_cast<heddle_f16>(value.y)) {}
  HEDDLE_MEMBER heddle_f16x2 value() const { return heddle_f16x2{x.value(), y.value()}; }
  HEDDLE_MEMBER operator __half2_raw() const { return __half2_raw{x.__x, y.__x}; }
};
typedef __half2 half2;
typedef __half2 __nv_half2;
typedef __half2 nv_half2;

// --- what heddle_cuda_narrow_float.h builds on

HEDDLE_BOTH bool heddle_equal(__half x, __half y) { return x.value() == y.value(); }
HEDDLE_BOTH bool heddle_less(__half x, __half y) { return x.value() < y.value(); }
HEDDLE_BOTH bool heddle_less_equal(__half x, __half y) { return x.value() <= y.value(); }
#define HEDDLE_ARITHMETIC(symbol, name)                                 \
  HEDDLE_BOTH __half __h##name(__half x, __half y) {                    \
    return __half(static_cast<heddle_f16>(x.value() symbol y.value())); \
  }                                                                     \
  HEDDLE_BOTH __half2 heddle_pair_##name(__half2 x, __half2 y) { return __half2(x.value() symbol y.value()); }
HEDDLE_ARITHMETIC(+, add)
HEDDLE_ARITHMETIC(-, sub)
HEDDLE_ARITHMETIC(*, mul)
HEDDLE_ARITHMETIC(/, div)
#undef HEDDLE_ARITHMETIC
HEDDLE_DEVICE __half __hfma(__half x, __half y, __half z) {
  return __half(static_cast<heddle_f16>(__builtin_fmaf16(x.value(), y.value(), z.value())));
}

#define HEDDLE_T __half
#define HEDDLE_T2 __half2
#define HEDDLE_RAW __half_raw
#define HEDDLE_INFINITE 0x7c00
#define HEDDLE_NAMED(before, after) before##half##after
#include "heddle_cuda_narrow_float.h"
#undef HEDDLE_T
#undef HEDDLE_T2
#undef HEDDLE_RAW
#undef HEDDLE_INFINITE
#undef HEDDLE_NAMED

// --- its own names

HEDDLE_BOTH float __half2float(__half x) { return static_cast<float>(x.value()); }
HEDDLE_BOTH __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
HEDDLE_BOTH __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
HEDDLE_BOTH __half2 __float22half2_rn(float2 x) { return __half2(__half(x.x), __half(x.y)); }
HEDDLE_BOTH float2 __half22float2(__half2 x) { return float2{__half2float(x.x), __half2float(x.y)}; }
HEDDLE_BOTH __half __ushort_as_half(unsigned short x) { return __half(__half_raw{x}); }
HEDDLE_BOTH __half __short_as_half(short x) { return __half(__half_raw{static_cast<unsigned short>(x)}); }
HEDDLE_BOTH unsigned short __half_as_ushort(__half x) { return x.__x; }
HEDDLE_BOTH short __half_as_short(__half x) { return static_cast<short>(x.__x); }
HEDDLE_BOTH __half2 make_half2(__half x, __half y) { return __half2(x, y); }
HEDDLE_BOTH __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
HEDDLE_BOTH __half2 __half2half2(__half x) { return __half2(x, x); }
HEDDLE_BOTH __half __low2half(__half2 x) { return x.x; }
HEDDLE_BOTH __half __high2half(__half2 x) { return x.y; }
HEDDLE_BOTH __half2 __low2half2(__half2 x) { return __half2(x.x, x.x); }
HEDDLE_BOTH __half2 __high2half2(__half2 x) { return __half2(x.y, x.y); }
HEDDLE_BOTH __half2 __lows2half2(__half2 x, __half2 y) { return __half2(x.x, y.x); }
HEDDLE_BOTH __half2 __highs2half2(__half2 x, __half2 y) { return __half2(x.y, y.y); }

// PTX adds halves atomically in one instruction. It has one for pairs as well, which the code generator does not know:
// an exchange until nobody came in between.
HEDDLE_DEVICE __half atomicAdd(__half* address, __half value) {
  return __half(__atomic_fetch_add(reinterpret_cast<heddle_f16*>(address), value.value(), __ATOMIC_RELAXED));
}
HEDDLE_DEVICE __half2 atomicAdd(__half2* address, __half2 value) {
  unsigned int* word = reinterpret_cast<unsigned int*>(address);
  unsigned int old = *word, seen;
  do {
    seen = old;
    const __half2 sum = __builtin_bit_cast(__half2, seen) + value;
    old = atomicCAS(word, seen, __builtin_bit_cast(unsigned int, sum));
  } while (old != seen);
  return __builtin_bit_cast(__half2, old);
}
#undef HEDDLE_MEMBER
#undef HEDDLE_BOTH

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_HALF_H_
