// CUDA's arithmetic functions. What a PTX instruction computes becomes that instruction; everything else stays a call
// of one function without side effects, so that capture sees one special-function operation and no branches of a
// software version.
#ifndef HEDDLE_CUDA_MATH_H_
#define HEDDLE_CUDA_MATH_H_

#define HEDDLE_DEVICE static __forceinline__ __device__
#define HEDDLE_CALL extern "C" __device__ __attribute__((const, nothrow))

// name(double), name(float), namef(float).
#define HEDDLE_MATH1(name)                                           \
  HEDDLE_CALL float __nv_##name##f(float);                           \
  HEDDLE_CALL double __nv_##name(double);                            \
  HEDDLE_DEVICE float name##f(float x) { return __nv_##name##f(x); } \
  HEDDLE_DEVICE float name(float x) { return __nv_##name##f(x); }    \
  HEDDLE_DEVICE double name(double x) { return __nv_##name(x); }
#define HEDDLE_MATH2(name)                                                       \
  HEDDLE_CALL float __nv_##name##f(float, float);                                \
  HEDDLE_CALL double __nv_##name(double, double);                                \
  HEDDLE_DEVICE float name##f(float x, float y) { return __nv_##name##f(x, y); } \
  HEDDLE_DEVICE float name(float x, float y) { return __nv_##name##f(x, y); }    \
  HEDDLE_DEVICE double name(double x, double y) { return __nv_##name(x, y); }
HEDDLE_MATH1(sin)
HEDDLE_MATH1(cos)
HEDDLE_MATH1(tan)
HEDDLE_MATH1(sinpi)
HEDDLE_MATH1(cospi)
HEDDLE_MATH1(asin)
HEDDLE_MATH1(acos)
HEDDLE_MATH1(atan)
HEDDLE_MATH1(sinh)
HEDDLE_MATH1(cosh)
HEDDLE_MATH1(tanh)
HEDDLE_MATH1(asinh)
HEDDLE_MATH1(acosh)
HEDDLE_MATH1(atanh)
HEDDLE_MATH1(exp)
HEDDLE_MATH1(exp2)
HEDDLE_MATH1(exp10)
HEDDLE_MATH1(expm1)
HEDDLE_MATH1(log)
HEDDLE_MATH1(log2)
HEDDLE_MATH1(log10)
HEDDLE_MATH1(log1p)
HEDDLE_MATH1(cbrt)
HEDDLE_MATH1(rsqrt)
HEDDLE_MATH1(erf)
HEDDLE_MATH1(erfc)
HEDDLE_MATH1(tgamma)
HEDDLE_MATH1(lgamma)
HEDDLE_MATH2(pow)
HEDDLE_MATH2(atan2)
HEDDLE_MATH2(fmod)
HEDDLE_MATH2(hypot)
HEDDLE_MATH2(remainder)
#undef HEDDLE_MATH1
#undef HEDDLE_MATH2

HEDDLE_DEVICE float pow(float x, int y) { return __nv_powf(x, static_cast<float>(y)); }
HEDDLE_DEVICE double pow(double x, int y) { return __nv_pow(x, static_cast<double>(y)); }
HEDDLE_DEVICE void sincosf(float x, float* s, float* c) {
  *s = __nv_sinf(x);
  *c = __nv_cosf(x);
}
HEDDLE_DEVICE void sincos(double x, double* s, double* c) {
  *s = __nv_sin(x);
  *c = __nv_cos(x);
}

// Fast versions of lower precision.
#define HEDDLE_FAST1(name)                      \
  HEDDLE_CALL float __nv_fast_##name##f(float); \
  HEDDLE_DEVICE float __##name##f(float x) { return __nv_fast_##name##f(x); }
HEDDLE_FAST1(sin)
HEDDLE_FAST1(cos)
HEDDLE_FAST1(tan)
HEDDLE_FAST1(exp)
HEDDLE_FAST1(exp10)
HEDDLE_FAST1(log)
HEDDLE_FAST1(log2)
HEDDLE_FAST1(log10)
#undef HEDDLE_FAST1
HEDDLE_CALL float __nv_fast_powf(float, float);
HEDDLE_CALL float __nv_fast_fdividef(float, float);
HEDDLE_DEVICE float __powf(float x, float y) { return __nv_fast_powf(x, y); }
HEDDLE_DEVICE float __fdividef(float x, float y) { return __nv_fast_fdividef(x, y); }
HEDDLE_DEVICE float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
HEDDLE_DEVICE float __frsqrt_rn(float x) { return __nv_rsqrtf(x); }
HEDDLE_DEVICE float __frcp_rn(float x) { return 1.0f / x; }
HEDDLE_DEVICE float __fdiv_rn(float x, float y) { return x / y; }
HEDDLE_DEVICE float __saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }
HEDDLE_DEVICE float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
HEDDLE_DEVICE double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
#define HEDDLE_ROUNDED(name, type, operation) \
  HEDDLE_DEVICE type name(type x, type y) { _Pragma("clang fp contract(off)") return x operation y; }
HEDDLE_ROUNDED(__fadd_rn, float, +)
HEDDLE_ROUNDED(__fsub_rn, float, -)
HEDDLE_ROUNDED(__fmul_rn, float, *)
HEDDLE_ROUNDED(__dadd_rn, double, +)
HEDDLE_ROUNDED(__dmul_rn, double, *)
#undef HEDDLE_ROUNDED

// PTX instructions, or short sequences without branches.
#define HEDDLE_PLAIN1(name)                                               \
  HEDDLE_DEVICE float name##f(float x) { return __builtin_##name##f(x); } \
  HEDDLE_DEVICE float name(float x) { return __builtin_##name##f(x); }    \
  HEDDLE_DEVICE double name(double x) { return __builtin_##name(x); }
HEDDLE_PLAIN1(sqrt)
HEDDLE_PLAIN1(fabs)
HEDDLE_PLAIN1(floor)
HEDDLE_PLAIN1(ceil)
HEDDLE_PLAIN1(trunc)
HEDDLE_PLAIN1(round)
HEDDLE_PLAIN1(rint)
HEDDLE_PLAIN1(nearbyint)
#undef HEDDLE_PLAIN1
#define HEDDLE_PLAIN2(name)                                                           \
  HEDDLE_DEVICE float name##f(float x, float y) { return __builtin_##name##f(x, y); } \
  HEDDLE_DEVICE float name(float x, float y) { return __builtin_##name##f(x, y); }    \
  HEDDLE_DEVICE double name(double x, double y) { return __builtin_##name(x, y); }
HEDDLE_PLAIN2(fmin)
HEDDLE_PLAIN2(fmax)
HEDDLE_PLAIN2(copysign)
#undef HEDDLE_PLAIN2
HEDDLE_DEVICE float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
HEDDLE_DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
HEDDLE_DEVICE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
HEDDLE_DEVICE float fdimf(float x, float y) { return x > y ? x - y : 0.0f; }
HEDDLE_DEVICE bool isnan(float x) { return __builtin_isnan(x); }
HEDDLE_DEVICE bool isnan(double x) { return __builtin_isnan(x); }
HEDDLE_DEVICE bool isinf(float x) { return __builtin_isinf(x); }
HEDDLE_DEVICE bool isinf(double x) { return __builtin_isinf(x); }
HEDDLE_DEVICE bool isfinite(float x) { return __builtin_isfinite(x); }
HEDDLE_DEVICE bool isfinite(double x) { return __builtin_isfinite(x); }
HEDDLE_DEVICE bool signbit(float x) { return __builtin_signbitf(x); }

HEDDLE_DEVICE int abs(int x) { return x < 0 ? -x : x; }
HEDDLE_DEVICE long abs(long x) { return x < 0 ? -x : x; }
HEDDLE_DEVICE long long abs(long long x) { return x < 0 ? -x : x; }
HEDDLE_DEVICE long long llabs(long long x) { return x < 0 ? -x : x; }
HEDDLE_DEVICE float abs(float x) { return __builtin_fabsf(x); }
HEDDLE_DEVICE double abs(double x) { return __builtin_fabs(x); }

#define HEDDLE_MIN_MAX(type)                                       \
  HEDDLE_DEVICE type min(type x, type y) { return x < y ? x : y; } \
  HEDDLE_DEVICE type max(type x, type y) { return x > y ? x : y; }
HEDDLE_MIN_MAX(int)
HEDDLE_MIN_MAX(unsigned int)
HEDDLE_MIN_MAX(long)
HEDDLE_MIN_MAX(unsigned long)
HEDDLE_MIN_MAX(long long)
HEDDLE_MIN_MAX(unsigned long long)
#undef HEDDLE_MIN_MAX
HEDDLE_DEVICE unsigned int min(int x, unsigned int y) { return min(static_cast<unsigned int>(x), y); }
HEDDLE_DEVICE unsigned int min(unsigned int x, int y) { return min(x, static_cast<unsigned int>(y)); }
HEDDLE_DEVICE unsigned int max(int x, unsigned int y) { return max(static_cast<unsigned int>(x), y); }
HEDDLE_DEVICE unsigned int max(unsigned int x, int y) { return max(x, static_cast<unsigned int>(y)); }
HEDDLE_DEVICE float min(float x, float y) { return __builtin_fminf(x, y); }
HEDDLE_DEVICE float max(float x, float y) { return __builtin_fmaxf(x, y); }
HEDDLE_DEVICE double min(double x, double y) { return __builtin_fmin(x, y); }
HEDDLE_DEVICE double max(double x, double y) { return __builtin_fmax(x, y); }

// Integers and bits.
HEDDLE_DEVICE int __popc(unsigned int x) { return __builtin_popcount(x); }
HEDDLE_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
HEDDLE_DEVICE int __clz(int x) { return x != 0 ? __builtin_clz(x) : 32; }
HEDDLE_DEVICE int __clzll(long long x) { return x != 0 ? __builtin_clzll(x) : 64; }
HEDDLE_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
HEDDLE_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
HEDDLE_DEVICE unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
HEDDLE_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
HEDDLE_DEVICE int __mul24(int x, int y) { return ((x << 8) >> 8) * ((y << 8) >> 8); }
HEDDLE_DEVICE unsigned int __umul24(unsigned int x, unsigned int y) { return (x & 0xffffffu) * (y & 0xffffffu); }
HEDDLE_DEVICE int __mulhi(int x, int y) { return static_cast<int>((static_cast<long long>(x) * y) >> 32); }
HEDDLE_DEVICE unsigned int __umulhi(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) * y) >> 32);
}
HEDDLE_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(x) * y) >> 64);
}
HEDDLE_DEVICE unsigned int __sad(int x, int y, unsigned int z) {
  return (x > y ? static_cast<unsigned int>(x) - y : static_cast<unsigned int>(y) - x) + z;
}
HEDDLE_DEVICE unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) {
  return (x > y ? x - y : y - x) + z;
}
HEDDLE_DEVICE unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int shift) {
  return static_cast<unsigned int>((((static_cast<unsigned long long>(hi) << 32) | lo) << (shift & 31)) >> 32);
}
HEDDLE_DEVICE unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int shift) {
  return static_cast<unsigned int>(((static_cast<unsigned long long>(hi) << 32) | lo) >> (shift & 31));
}

HEDDLE_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
HEDDLE_DEVICE unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
HEDDLE_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
HEDDLE_DEVICE float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
HEDDLE_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
HEDDLE_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
HEDDLE_DEVICE int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
HEDDLE_DEVICE int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
HEDDLE_DEVICE int __float2int_rz(float x) { return static_cast<int>(x); }
HEDDLE_DEVICE int __float2int_rd(float x) { return static_cast<int>(__builtin_floorf(x)); }
HEDDLE_DEVICE int __float2int_ru(float x) { return static_cast<int>(__builtin_ceilf(x)); }
HEDDLE_DEVICE int __float2int_rn(float x) { return static_cast<int>(__builtin_rintf(x)); }
HEDDLE_DEVICE unsigned int __float2uint_rz(float x) { return static_cast<unsigned int>(x); }
HEDDLE_DEVICE float __int2float_rn(int x) { return static_cast<float>(x); }
HEDDLE_DEVICE float __uint2float_rn(unsigned int x) { return static_cast<float>(x); }
HEDDLE_DEVICE float __double2float_rn(double x) { return static_cast<float>(x); }

template <typename T>
HEDDLE_DEVICE T __ldg(const T* pointer) {
  return *pointer;
}

#undef HEDDLE_CALL
#endif  // HEDDLE_CUDA_MATH_H_
