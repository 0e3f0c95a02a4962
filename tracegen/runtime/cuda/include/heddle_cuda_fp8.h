// 8-bit floating-point numbers: 4 bits of exponent and 3 of significand without infinities, or 5 and 2. They are
// formats to store numbers in: all there is are conversions, rounded to the nearest, ties to even.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_FP8_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_FP8_H_

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "heddle_cuda_narrowing.h"

#define HEDDLE_BOTH static __forceinline__ __host__ __device__
#define HEDDLE_MEMBER __forceinline__ __host__ __device__

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
// What becomes of numbers beyond the largest: NaN (E4M3) or infinity (E5M2), or the largest.
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

HEDDLE_BOTH __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float x, const __nv_saturation_t saturate,
                                                     const __nv_fp8_interpretation_t kind) {
  const bool wide = kind == __NV_E4M3;  // of significand
  const unsigned int bits = __builtin_bit_cast(unsigned int, x);
  const unsigned int size = bits & 0x7fffffff;
  const unsigned int sign = bits >> 24 & 0x80;
  const unsigned int nan = 0x7f, largest = wide ? 0x7e : 0x7b, beyond = wide ? nan : 0x7c;
  if (size > 0x7f800000) return static_cast<__nv_fp8_storage_t>(nan);
  const unsigned int shift = wide ? 20 : 21;
  const unsigned int least = wide ? 121u << 23 : 113u << 23;  // normal number
  unsigned int code = 0;
  if (size < least) {
    // In a float whose last place is that of the result's denormals.
    const float places = wide ? 16384.0f : 128.0f;
    const float sum = __builtin_bit_cast(float, size) + places;
    code = __builtin_bit_cast(unsigned int, sum) - __builtin_bit_cast(unsigned int, places);
  } else {
    const unsigned int rounded = size + (1u << (shift - 1)) - 1 + (size >> shift & 1);
    code = (rounded >> shift) - (wide ? 120u << 3 : 112u << 2);
  }
  if (code > largest) code = saturate == __NV_SATFINITE ? largest : beyond;
  return static_cast<__nv_fp8_storage_t>(sign | code);
}

HEDDLE_BOTH __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t x, const __nv_fp8_interpretation_t kind) {
  if (kind == __NV_E5M2) {
    const bool nan = (x & 0x7f) > 0x7c;
    return __half_raw{static_cast<unsigned short>(nan ? 0x7fff : x << 8)};
  }
  if ((x & 0x7f) == 0x7f) return __half_raw{0x7fff};
  // Exponents of half precision have a larger bias, by 8.
  const unsigned short low = static_cast<unsigned short>((x & 0x80) << 8 | (x & 0x7f) << 7);
  const heddle_f16 scaled = __half(__half_raw{low}).value() * static_cast<heddle_f16>(256.0f);
  return __half(scaled);
}

HEDDLE_BOTH __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double x, const __nv_saturation_t saturate,
                                                      const __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(heddle_float_to_odd(x), saturate, kind);
}
HEDDLE_BOTH __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw x, const __nv_saturation_t saturate,
                                                       const __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(static_cast<float>(__half(x)), saturate, kind);
}
HEDDLE_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw x, const __nv_saturation_t saturate,
                                                           const __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(static_cast<float>(__nv_bfloat16(x)), saturate, kind);
}

// Pairs: the first number is in the lower byte.
HEDDLE_BOTH __nv_fp8x2_storage_t heddle_fp8_pair(__nv_fp8_storage_t x, __nv_fp8_storage_t y) {
  return static_cast<__nv_fp8x2_storage_t>(x | y << 8);
}
HEDDLE_BOTH __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(const float2 x, const __nv_saturation_t saturate,
                                                          const __nv_fp8_interpretation_t kind) {
  return heddle_fp8_pair(__nv_cvt_float_to_fp8(x.x, saturate, kind), __nv_cvt_float_to_fp8(x.y, saturate, kind));
}
HEDDLE_BOTH __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(const double2 x, const __nv_saturation_t saturate,
                                                           const __nv_fp8_interpretation_t kind) {
  return heddle_fp8_pair(__nv_cvt_double_to_fp8(x.x, saturate, kind), __nv_cvt_double_to_fp8(x.y, saturate, kind));
}
HEDDLE_BOTH __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(const __half2_raw x, const __nv_saturation_t saturate,
                                                            const __nv_fp8_interpretation_t kind) {
  return heddle_fp8_pair(__nv_cvt_halfraw_to_fp8(__half_raw{x.x}, saturate, kind),
                         __nv_cvt_halfraw_to_fp8(__half_raw{x.y}, saturate, kind));
}
HEDDLE_BOTH __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(const __nv_bfloat162_raw x,
                                                                const __nv_saturation_t saturate,
                                                                const __nv_fp8_interpretation_t kind) {
  return heddle_fp8_pair(__nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.x}, saturate, kind),
                         __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.y}, saturate, kind));
}
HEDDLE_BOTH __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t x, const __nv_fp8_interpretation_t kind) {
  return __half2_raw{__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x & 0xff), kind).x,
                     __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x >> 8), kind).x};
}

// Types of numbers. Conversions to them saturate.
#define HEDDLE_FP8_FROM(type, T) \
  HEDDLE_MEMBER explicit type(T value) : type(static_cast<double>(value)) {}
#define HEDDLE_FP8_TO(T) \
  HEDDLE_MEMBER explicit operator T() const { return static_cast<T>(static_cast<float>(*this)); }
#define HEDDLE_FP8(type, kind)                                                                                 \
  struct type {                                                                                                \
    __nv_fp8_storage_t __x;                                                                                    \
    type() = default;                                                                                          \
    HEDDLE_MEMBER explicit type(float value) : __x(__nv_cvt_float_to_fp8(value, __NV_SATFINITE, kind)) {}      \
    HEDDLE_MEMBER explicit type(double value) : __x(__nv_cvt_double_to_fp8(value, __NV_SATFINITE, kind)) {}    \
    HEDDLE_MEMBER explicit type(__half value) : type(static_cast<float>(value)) {}                             \
    HEDDLE_MEMBER explicit type(__nv_bfloat16 value) : type(static_cast<float>(value)) {}                      \
    HEDDLE_FP8_FROM(type, short)                                                                               \
    HEDDLE_FP8_FROM(type, unsigned short)                                                                      \
    HEDDLE_FP8_FROM(type, int)                                                                                 \
    HEDDLE_FP8_FROM(type, unsigned int)                                                                        \
    HEDDLE_MEMBER explicit type(long value) : type(heddle_double_of_whole(static_cast<long long>(value))) {}   \
    HEDDLE_MEMBER explicit type(unsigned long value)                                                           \
        : type(heddle_double_of_whole(static_cast<unsigned long long>(value))) {}                              \
    HEDDLE_MEMBER explicit type(long long value) : type(heddle_double_of_whole(value)) {}                      \
    HEDDLE_MEMBER explicit type(unsigned long long value) : type(heddle_double_of_whole(value)) {}             \
    HEDDLE_MEMBER explicit operator __half() const { return __half(__nv_cvt_fp8_to_halfraw(__x, kind)); }      \
    HEDDLE_MEMBER explicit operator float() const { return static_cast<float>(static_cast<__half>(*this)); }   \
    HEDDLE_MEMBER explicit operator __nv_bfloat16() const { return __nv_bfloat16(static_cast<float>(*this)); } \
    HEDDLE_MEMBER explicit operator bool() const { return (__x & 0x7f) != 0; }                                 \
    HEDDLE_FP8_TO(double)                                                                                      \
    HEDDLE_FP8_TO(char)                                                                                        \
    HEDDLE_FP8_TO(signed char)                                                                                 \
    HEDDLE_FP8_TO(unsigned char)                                                                               \
    HEDDLE_FP8_TO(short)                                                                                       \
    HEDDLE_FP8_TO(unsigned short)                                                                              \
    HEDDLE_FP8_TO(int)                                                                                         \
    HEDDLE_FP8_TO(unsigned int)                                                                                \
    HEDDLE_FP8_TO(long)                                                                                        \
    HEDDLE_FP8_TO(unsigned long)                                                                               \
    HEDDLE_FP8_TO(long long)                                                                                   \
    HEDDLE_FP8_TO(unsigned long long)                                                                          \
  };
#define HEDDLE_FP8_PAIR(type, kind)                                                                              \
  struct __attribute__((aligned(2))) type {                                                                      \
    __nv_fp8x2_storage_t __x;                                                                                    \
    type() = default;                                                                                            \
    HEDDLE_MEMBER explicit type(float2 value) : __x(__nv_cvt_float2_to_fp8x2(value, __NV_SATFINITE, kind)) {}    \
    HEDDLE_MEMBER explicit type(double2 value) : __x(__nv_cvt_double2_to_fp8x2(value, __NV_SATFINITE, kind)) {}  \
    HEDDLE_MEMBER explicit type(__half2 value) : __x(__nv_cvt_halfraw2_to_fp8x2(value, __NV_SATFINITE, kind)) {} \
    HEDDLE_MEMBER explicit type(__nv_bfloat162 value)                                                            \
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(value, __NV_SATFINITE, kind)) {}                                    \
    HEDDLE_MEMBER explicit operator __half2() const { return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, kind)); }   \
    HEDDLE_MEMBER explicit operator float2() const { return __half22float2(static_cast<__half2>(*this)); }       \
  };
#define HEDDLE_FP8_FOUR(type, pair)                                                                                \
  struct __attribute__((aligned(4))) type {                                                                        \
    __nv_fp8x4_storage_t __x;                                                                                      \
    type() = default;                                                                                              \
    HEDDLE_MEMBER explicit type(pair low, pair high) : __x(low.__x | static_cast<unsigned int>(high.__x) << 16) {} \
    HEDDLE_MEMBER explicit type(__half2 low, __half2 high) : type(pair(low), pair(high)) {}                        \
    HEDDLE_MEMBER explicit type(__nv_bfloat162 low, __nv_bfloat162 high) : type(pair(low), pair(high)) {}          \
    HEDDLE_MEMBER explicit type(float4 value)                                                                      \
        : type(pair(float2{value.x, value.y}), pair(float2{value.z, value.w})) {}                                  \
    HEDDLE_MEMBER explicit type(double4 value)                                                                     \
        : type(pair(double2{value.x, value.y}), pair(double2{value.z, value.w})) {}                                \
    HEDDLE_MEMBER explicit operator float4() const {                                                               \
      pair low, high;                                                                                              \
      low.__x = static_cast<__nv_fp8x2_storage_t>(__x & 0xffff);                                                   \
      high.__x = static_cast<__nv_fp8x2_storage_t>(__x >> 16);                                                     \
      const float2 x = static_cast<float2>(low), y = static_cast<float2>(high);                                    \
      return float4{x.x, x.y, y.x, y.y};                                                                           \
    }                                                                                                              \
  };
HEDDLE_FP8(__nv_fp8_e4m3, __NV_E4M3)
HEDDLE_FP8(__nv_fp8_e5m2, __NV_E5M2)
HEDDLE_FP8_PAIR(__nv_fp8x2_e4m3, __NV_E4M3)
HEDDLE_FP8_PAIR(__nv_fp8x2_e5m2, __NV_E5M2)
HEDDLE_FP8_FOUR(__nv_fp8x4_e4m3, __nv_fp8x2_e4m3)
HEDDLE_FP8_FOUR(__nv_fp8x4_e5m2, __nv_fp8x2_e5m2)
#undef HEDDLE_FP8
#undef HEDDLE_FP8_PAIR
#undef HEDDLE_FP8_FOUR
#undef HEDDLE_FP8_FROM
#undef HEDDLE_FP8_TO
#undef HEDDLE_MEMBER
#undef HEDDLE_BOTH

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_FP8_H_
