// Half precision: the types __half and __half2 with their operators and functions. Arithmetic is clang's own, which
// becomes PTX's instructions on f16 and f16x2; the host has the conversions and the operators, too.
#ifndef HEDDLE_CUDA_HALF_H_
#define HEDDLE_CUDA_HALF_H_

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
  HEDDLE_MEMBER __half(long long value) : __half(static_cast<heddle_f16>(value)) {}
  HEDDLE_MEMBER __half(unsigned long long value) : __half(static_cast<heddle_f16>(value)) {}

  HEDDLE_MEMBER heddle_f16 value() const { return __builtin_bit_cast(heddle_f16, __x); }
  HEDDLE_MEMBER operator float() const { return static_cast<float>(value()); }
  HEDDLE_MEMBER operator __half_raw() const { return __half_raw{__x}; }
  HEDDLE_MEMBER explicit operator int() const { return static_cast<int>(value()); }
  HEDDLE_MEMBER explicit operator unsigned int() const { return static_cast<unsigned int>(value()); }
  HEDDLE_MEMBER explicit operator short() const { return static_cast<short>(value()); }
  HEDDLE_MEMBER explicit operator unsigned short() const { return static_cast<unsigned short>(value()); }
  HEDDLE_MEMBER explicit operator long long() const { return static_cast<long long>(value()); }
  HEDDLE_MEMBER explicit operator unsigned long long() const { return static_cast<unsigned long long>(value()); }
  HEDDLE_MEMBER explicit operator bool() const { return (__x & 0x7fff) != 0; }
};
typedef __half half;

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

// --- conversions

HEDDLE_BOTH __half __float2half(float x) { return __half(x); }
HEDDLE_BOTH __half __float2half_rn(float x) { return __half(x); }
HEDDLE_BOTH __half __double2half(double x) { return __half(x); }
HEDDLE_BOTH float __half2float(__half x) { return static_cast<float>(x.value()); }
HEDDLE_BOTH __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
HEDDLE_BOTH __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
HEDDLE_BOTH __half2 __float22half2_rn(float2 x) { return __half2(__half(x.x), __half(x.y)); }
HEDDLE_BOTH float2 __half22float2(__half2 x) { return float2{__half2float(x.x), __half2float(x.y)}; }
HEDDLE_BOTH float __low2float(__half2 x) { return __half2float(x.x); }
HEDDLE_BOTH float __high2float(__half2 x) { return __half2float(x.y); }
HEDDLE_BOTH __half __ushort_as_half(unsigned short x) { return __half(__half_raw{x}); }
HEDDLE_BOTH __half __short_as_half(short x) { return __half(__half_raw{static_cast<unsigned short>(x)}); }
HEDDLE_BOTH unsigned short __half_as_ushort(__half x) { return x.__x; }
HEDDLE_BOTH short __half_as_short(__half x) { return static_cast<short>(x.__x); }
// Toward zero, down and up: the nearest half, moved by one step where it lies on the wrong side.
HEDDLE_BOTH __half heddle_half_step(__half x, bool away) {
  return __ushort_as_half(static_cast<unsigned short>(away ? x.__x + 1 : x.__x - 1));
}
HEDDLE_BOTH __half __float2half_rz(float x) {
  const __half near = __half(x);
  return __builtin_fabsf(__half2float(near)) > __builtin_fabsf(x) ? heddle_half_step(near, false) : near;
}
HEDDLE_BOTH __half __float2half_rd(float x) {
  const __half toward = __float2half_rz(x);
  return __half2float(toward) > x ? heddle_half_step(toward, true) : toward;
}
HEDDLE_BOTH __half __float2half_ru(float x) {
  const __half toward = __float2half_rz(x);
  return __half2float(toward) < x ? heddle_half_step(toward, true) : toward;
}
#define HEDDLE_TO_HALF(name, type) \
  HEDDLE_BOTH __half __##name##2half_rn(type x) { return __half(static_cast<heddle_f16>(x)); }
HEDDLE_TO_HALF(int, int)
HEDDLE_TO_HALF(uint, unsigned int)
HEDDLE_TO_HALF(short, short)
HEDDLE_TO_HALF(ushort, unsigned short)
HEDDLE_TO_HALF(ll, long long)
HEDDLE_TO_HALF(ull, unsigned long long)
#undef HEDDLE_TO_HALF

HEDDLE_BOTH __half2 make_half2(__half x, __half y) { return __half2(x, y); }
HEDDLE_BOTH __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
HEDDLE_BOTH __half2 __half2half2(__half x) { return __half2(x, x); }
HEDDLE_BOTH __half __low2half(__half2 x) { return x.x; }
HEDDLE_BOTH __half __high2half(__half2 x) { return x.y; }
HEDDLE_BOTH __half2 __low2half2(__half2 x) { return __half2(x.x, x.x); }
HEDDLE_BOTH __half2 __high2half2(__half2 x) { return __half2(x.y, x.y); }
HEDDLE_BOTH __half2 __lowhigh2highlow(__half2 x) { return __half2(x.y, x.x); }
HEDDLE_BOTH __half2 __lows2half2(__half2 x, __half2 y) { return __half2(x.x, y.x); }
HEDDLE_BOTH __half2 __highs2half2(__half2 x, __half2 y) { return __half2(x.y, y.y); }

// --- arithmetic

#define HEDDLE_ARITHMETIC(symbol, name)                                                                \
  HEDDLE_BOTH __half __h##name(__half x, __half y) {                                                   \
    return __half(static_cast<heddle_f16>(x.value() symbol y.value()));                                \
  }                                                                                                    \
  HEDDLE_BOTH __half __h##name##_rn(__half x, __half y) { return __h##name(x, y); }                    \
  HEDDLE_BOTH __half operator symbol(const __half& x, const __half& y) { return __h##name(x, y); }     \
  HEDDLE_BOTH __half& operator symbol##=(__half & x, const __half & y) { return x = __h##name(x, y); } \
  HEDDLE_BOTH __half2 operator symbol(const __half2& x, const __half2& y) {                            \
    return __half2(x.value() symbol y.value());                                                        \
  }                                                                                                    \
  HEDDLE_BOTH __half2& operator symbol##=(__half2 & x, const __half2 & y) { return x = x symbol y; }
HEDDLE_ARITHMETIC(+, add)
HEDDLE_ARITHMETIC(-, sub)
HEDDLE_ARITHMETIC(*, mul)
HEDDLE_ARITHMETIC(/, div)
#undef HEDDLE_ARITHMETIC
HEDDLE_BOTH __half2 __hadd2(__half2 x, __half2 y) { return x + y; }
HEDDLE_BOTH __half2 __hsub2(__half2 x, __half2 y) { return x - y; }
HEDDLE_BOTH __half2 __hmul2(__half2 x, __half2 y) { return x * y; }
HEDDLE_BOTH __half2 __h2div(__half2 x, __half2 y) { return x / y; }
HEDDLE_BOTH __half2 __hadd2_rn(__half2 x, __half2 y) { return x + y; }
HEDDLE_BOTH __half2 __hsub2_rn(__half2 x, __half2 y) { return x - y; }
HEDDLE_BOTH __half2 __hmul2_rn(__half2 x, __half2 y) { return x * y; }
HEDDLE_BOTH __half __hneg(__half x) { return __ushort_as_half(x.__x ^ 0x8000); }
HEDDLE_BOTH __half __habs(__half x) { return __ushort_as_half(x.__x & 0x7fff); }
HEDDLE_BOTH __half2 __hneg2(__half2 x) { return __half2(__hneg(x.x), __hneg(x.y)); }
HEDDLE_BOTH __half2 __habs2(__half2 x) { return __half2(__habs(x.x), __habs(x.y)); }
HEDDLE_BOTH __half operator-(const __half& x) { return __hneg(x); }
HEDDLE_BOTH __half operator+(const __half& x) { return x; }
HEDDLE_BOTH __half2 operator-(const __half2& x) { return __hneg2(x); }
HEDDLE_BOTH __half& operator++(__half& x) { return x = x + __half(1.0f); }
HEDDLE_BOTH __half& operator--(__half& x) { return x = x - __half(1.0f); }
HEDDLE_DEVICE __half __hfma(__half x, __half y, __half z) {
  return __half(static_cast<heddle_f16>(__builtin_fmaf16(x.value(), y.value(), z.value())));
}
HEDDLE_DEVICE __half2 __hfma2(__half2 x, __half2 y, __half2 z) {
  return __half2(__hfma(x.x, y.x, z.x), __hfma(x.y, y.y, z.y));
}
HEDDLE_BOTH __half heddle_saturate(__half x) {
  const float value = __half2float(x);
  return __half(value > 0.0f ? value < 1.0f ? value : 1.0f : 0.0f);
}
HEDDLE_BOTH __half __hadd_sat(__half x, __half y) { return heddle_saturate(__hadd(x, y)); }
HEDDLE_BOTH __half __hsub_sat(__half x, __half y) { return heddle_saturate(__hsub(x, y)); }
HEDDLE_BOTH __half __hmul_sat(__half x, __half y) { return heddle_saturate(__hmul(x, y)); }
HEDDLE_DEVICE __half __hfma_sat(__half x, __half y, __half z) { return heddle_saturate(__hfma(x, y, z)); }

// --- comparisons

#define HEDDLE_COMPARISON(symbol, name)                                                                       \
  HEDDLE_BOTH bool __h##name(__half x, __half y) { return x.value() symbol y.value(); }                       \
  HEDDLE_BOTH bool operator symbol(const __half& x, const __half& y) { return __h##name(x, y); }              \
  HEDDLE_BOTH __half2 __h##name##2(__half2 x, __half2 y) {                                                    \
    return __half2(__half(__h##name(x.x, y.x) ? 1.0f : 0.0f), __half(__h##name(x.y, y.y) ? 1.0f : 0.0f));     \
  }                                                                                                           \
  HEDDLE_BOTH bool __hb##name##2(__half2 x, __half2 y) { return __h##name(x.x, y.x) && __h##name(x.y, y.y); } \
  HEDDLE_BOTH bool operator symbol(const __half2& x, const __half2& y) { return __hb##name##2(x, y); }
HEDDLE_COMPARISON(==, eq)
HEDDLE_COMPARISON(!=, ne)
HEDDLE_COMPARISON(<, lt)
HEDDLE_COMPARISON(<=, le)
HEDDLE_COMPARISON(>, gt)
HEDDLE_COMPARISON(>=, ge)
#undef HEDDLE_COMPARISON
HEDDLE_BOTH bool __hisnan(__half x) { return (x.__x & 0x7fff) > 0x7c00; }
HEDDLE_BOTH int __hisinf(__half x) { return x.__x == 0x7c00 ? 1 : x.__x == 0xfc00 ? -1 : 0; }
HEDDLE_BOTH __half __hmax(__half x, __half y) { return __hisnan(x) ? y : __hisnan(y) ? x : x > y ? x : y; }
HEDDLE_BOTH __half __hmin(__half x, __half y) { return __hisnan(x) ? y : __hisnan(y) ? x : x < y ? x : y; }
HEDDLE_BOTH __half2 __hmax2(__half2 x, __half2 y) { return __half2(__hmax(x.x, y.x), __hmax(x.y, y.y)); }
HEDDLE_BOTH __half2 __hmin2(__half2 x, __half2 y) { return __half2(__hmin(x.x, y.x), __hmin(x.y, y.y)); }

// --- device functions: mathematics in single precision, rounded once more

#define HEDDLE_HALF_MATH(name)                                                        \
  HEDDLE_DEVICE __half h##name(__half x) { return __half(name##f(__half2float(x))); } \
  HEDDLE_DEVICE __half2 h2##name(__half2 x) { return __half2(h##name(x.x), h##name(x.y)); }
HEDDLE_HALF_MATH(sqrt)
HEDDLE_HALF_MATH(rsqrt)
HEDDLE_HALF_MATH(exp)
HEDDLE_HALF_MATH(exp2)
HEDDLE_HALF_MATH(exp10)
HEDDLE_HALF_MATH(log)
HEDDLE_HALF_MATH(log2)
HEDDLE_HALF_MATH(log10)
HEDDLE_HALF_MATH(sin)
HEDDLE_HALF_MATH(cos)
HEDDLE_HALF_MATH(tanh)
HEDDLE_HALF_MATH(floor)
HEDDLE_HALF_MATH(ceil)
HEDDLE_HALF_MATH(trunc)
HEDDLE_HALF_MATH(rint)
#undef HEDDLE_HALF_MATH
HEDDLE_DEVICE __half hrcp(__half x) { return __half(1.0f / __half2float(x)); }
HEDDLE_DEVICE __half2 h2rcp(__half2 x) { return __half2(hrcp(x.x), hrcp(x.y)); }
HEDDLE_DEVICE __half hdiv(__half x, __half y) { return __hdiv(x, y); }
#define HEDDLE_HALF_TO(name, type, round) \
  HEDDLE_DEVICE type __half2##name##_##round(__half x) { return __float2##name##_##round(__half2float(x)); }
#define HEDDLE_HALF_TO_ALL(round)           \
  HEDDLE_HALF_TO(int, int, round)           \
  HEDDLE_HALF_TO(uint, unsigned int, round) \
  HEDDLE_HALF_TO(ll, long long, round)      \
  HEDDLE_HALF_TO(ull, unsigned long long, round)
HEDDLE_HALF_TO_ALL(rn)
HEDDLE_HALF_TO_ALL(rz)
HEDDLE_HALF_TO_ALL(rd)
HEDDLE_HALF_TO_ALL(ru)
#undef HEDDLE_HALF_TO_ALL
#undef HEDDLE_HALF_TO

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
#define HEDDLE_HALF_SHUFFLE(name, offset_type)                                                              \
  HEDDLE_DEVICE __half2 name(unsigned int mask, __half2 value, offset_type offset, int width = 32) {        \
    return __builtin_bit_cast(__half2, name(mask, __builtin_bit_cast(unsigned int, value), offset, width)); \
  }                                                                                                         \
  HEDDLE_DEVICE __half name(unsigned int mask, __half value, offset_type offset, int width = 32) {          \
    return __ushort_as_half(                                                                                \
        static_cast<unsigned short>(name(mask, static_cast<unsigned int>(value.__x), offset, width)));      \
  }
HEDDLE_HALF_SHUFFLE(__shfl_sync, int)
HEDDLE_HALF_SHUFFLE(__shfl_up_sync, unsigned int)
HEDDLE_HALF_SHUFFLE(__shfl_down_sync, unsigned int)
HEDDLE_HALF_SHUFFLE(__shfl_xor_sync, int)
#undef HEDDLE_HALF_SHUFFLE

#undef HEDDLE_MEMBER
#undef HEDDLE_BOTH

#endif  // HEDDLE_CUDA_HALF_H_
