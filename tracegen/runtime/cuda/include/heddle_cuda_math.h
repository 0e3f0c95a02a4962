// CUDA's mathematical functions in single and double precision. What a PTX instruction computes becomes that
// instruction; everything else stays a call of one function without side effects, so that capture sees one
// special-function operation and no branches of a software version. (Rounding variants, conversions and integer
// functions are in heddle_cuda_intrinsics.h.)
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_MATH_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_MATH_H_

#define HEDDLE_DEVICE static __forceinline__ __device__
#define HEDDLE_CALL extern "C" __device__ __attribute__((const, nothrow))

// With -use_fast_math some functions of single precision are the fast ones.
#ifdef __CLANG_GPU_APPROX_TRANSCENDENTALS__
#define HEDDLE_FAST(name) __nv_fast_##name##f
#else
#define HEDDLE_FAST(name) __nv_##name##f
#endif

// name(double), name(float), namef(float).
#define HEDDLE_MATH1(name)                                           \
  HEDDLE_CALL float __nv_##name##f(float);                           \
  HEDDLE_CALL double __nv_##name(double);                            \
  HEDDLE_DEVICE float name##f(float x) { return __nv_##name##f(x); } \
  HEDDLE_DEVICE float name(float x) { return __nv_##name##f(x); }    \
  HEDDLE_DEVICE double name(double x) { return __nv_##name(x); }
#define HEDDLE_MATH1_FAST(name)                                               \
  HEDDLE_CALL float __nv_##name##f(float);                                    \
  HEDDLE_CALL float __nv_fast_##name##f(float);                               \
  HEDDLE_CALL double __nv_##name(double);                                     \
  HEDDLE_DEVICE float __##name##f(float x) { return __nv_fast_##name##f(x); } \
  HEDDLE_DEVICE float name##f(float x) { return HEDDLE_FAST(name)(x); }       \
  HEDDLE_DEVICE float name(float x) { return HEDDLE_FAST(name)(x); }          \
  HEDDLE_DEVICE double name(double x) { return __nv_##name(x); }
#define HEDDLE_MATH2(name)                                                       \
  HEDDLE_CALL float __nv_##name##f(float, float);                                \
  HEDDLE_CALL double __nv_##name(double, double);                                \
  HEDDLE_DEVICE float name##f(float x, float y) { return __nv_##name##f(x, y); } \
  HEDDLE_DEVICE float name(float x, float y) { return __nv_##name##f(x, y); }    \
  HEDDLE_DEVICE double name(double x, double y) { return __nv_##name(x, y); }
HEDDLE_MATH1_FAST(sin)
HEDDLE_MATH1_FAST(cos)
HEDDLE_MATH1_FAST(tan)
HEDDLE_MATH1_FAST(exp)
HEDDLE_MATH1_FAST(exp10)
HEDDLE_MATH1_FAST(log)
HEDDLE_MATH1_FAST(log2)
HEDDLE_MATH1_FAST(log10)
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
HEDDLE_MATH1(exp2)
HEDDLE_MATH1(expm1)
HEDDLE_MATH1(log1p)
HEDDLE_MATH1(logb)
HEDDLE_MATH1(cbrt)
HEDDLE_MATH1(rcbrt)
HEDDLE_MATH1(rsqrt)
HEDDLE_MATH1(erf)
HEDDLE_MATH1(erfc)
HEDDLE_MATH1(erfinv)
HEDDLE_MATH1(erfcinv)
HEDDLE_MATH1(erfcx)
HEDDLE_MATH1(normcdf)
HEDDLE_MATH1(normcdfinv)
HEDDLE_MATH1(tgamma)
HEDDLE_MATH1(lgamma)
HEDDLE_MATH1(j0)
HEDDLE_MATH1(j1)
HEDDLE_MATH1(y0)
HEDDLE_MATH1(y1)
HEDDLE_MATH1(cyl_bessel_i0)
HEDDLE_MATH1(cyl_bessel_i1)
HEDDLE_MATH2(atan2)
HEDDLE_MATH2(fmod)
HEDDLE_MATH2(hypot)
HEDDLE_MATH2(rhypot)
HEDDLE_MATH2(remainder)
HEDDLE_MATH2(nextafter)
#undef HEDDLE_MATH1
#undef HEDDLE_MATH1_FAST
#undef HEDDLE_MATH2

HEDDLE_CALL float __nv_powf(float, float);
HEDDLE_CALL double __nv_pow(double, double);
HEDDLE_CALL float __nv_fast_powf(float, float);
HEDDLE_CALL float __nv_powif(float, int);
HEDDLE_CALL double __nv_powi(double, int);
HEDDLE_CALL float __nv_fast_fdividef(float, float);
HEDDLE_DEVICE float __powf(float x, float y) { return __nv_fast_powf(x, y); }
HEDDLE_DEVICE float powf(float x, float y) { return HEDDLE_FAST(pow)(x, y); }
HEDDLE_DEVICE float pow(float x, float y) { return HEDDLE_FAST(pow)(x, y); }
HEDDLE_DEVICE double pow(double x, double y) { return __nv_pow(x, y); }
HEDDLE_DEVICE float pow(float x, int y) { return __nv_powif(x, y); }
HEDDLE_DEVICE double pow(double x, int y) { return __nv_powi(x, y); }
HEDDLE_DEVICE double pow(double x, float y) { return __nv_pow(x, y); }
HEDDLE_DEVICE double pow(float x, double y) { return __nv_pow(x, y); }
HEDDLE_DEVICE float powif(float x, int y) { return __nv_powif(x, y); }
HEDDLE_DEVICE double powi(double x, int y) { return __nv_powi(x, y); }
HEDDLE_DEVICE float __fdividef(float x, float y) { return __nv_fast_fdividef(x, y); }
HEDDLE_DEVICE float fdividef(float x, float y) { return x / y; }
HEDDLE_DEVICE double fdivide(double x, double y) { return x / y; }
HEDDLE_DEVICE float fdivide(float x, float y) { return x / y; }
HEDDLE_DEVICE float __tanhf(float x) { return __nv_tanhf(x); }

HEDDLE_DEVICE void sincosf(float x, float* s, float* c) {
  *s = sinf(x);
  *c = cosf(x);
}
HEDDLE_DEVICE void __sincosf(float x, float* s, float* c) {
  *s = __sinf(x);
  *c = __cosf(x);
}
HEDDLE_DEVICE void sincos(float x, float* s, float* c) { sincosf(x, s, c); }
HEDDLE_DEVICE void sincos(double x, double* s, double* c) {
  *s = __nv_sin(x);
  *c = __nv_cos(x);
}
HEDDLE_DEVICE void sincospif(float x, float* s, float* c) {
  *s = __nv_sinpif(x);
  *c = __nv_cospif(x);
}
HEDDLE_DEVICE void sincospi(float x, float* s, float* c) { sincospif(x, s, c); }
HEDDLE_DEVICE void sincospi(double x, double* s, double* c) {
  *s = __nv_sinpi(x);
  *c = __nv_cospi(x);
}

HEDDLE_CALL float __nv_jnf(int, float);
HEDDLE_CALL double __nv_jn(int, double);
HEDDLE_CALL float __nv_ynf(int, float);
HEDDLE_CALL double __nv_yn(int, double);
HEDDLE_DEVICE float jnf(int n, float x) { return __nv_jnf(n, x); }
HEDDLE_DEVICE double jn(int n, double x) { return __nv_jn(n, x); }
HEDDLE_DEVICE float ynf(int n, float x) { return __nv_ynf(n, x); }
HEDDLE_DEVICE double yn(int n, double x) { return __nv_yn(n, x); }

#define HEDDLE_NORMS(type, suffix)                                                                                \
  HEDDLE_CALL type __nv_norm3d##suffix(type, type, type);                                                         \
  HEDDLE_CALL type __nv_norm4d##suffix(type, type, type, type);                                                   \
  HEDDLE_CALL type __nv_rnorm3d##suffix(type, type, type);                                                        \
  HEDDLE_CALL type __nv_rnorm4d##suffix(type, type, type, type);                                                  \
  HEDDLE_DEVICE type norm3d##suffix(type x, type y, type z) { return __nv_norm3d##suffix(x, y, z); }              \
  HEDDLE_DEVICE type norm4d##suffix(type x, type y, type z, type w) { return __nv_norm4d##suffix(x, y, z, w); }   \
  HEDDLE_DEVICE type rnorm3d##suffix(type x, type y, type z) { return __nv_rnorm3d##suffix(x, y, z); }            \
  HEDDLE_DEVICE type rnorm4d##suffix(type x, type y, type z, type w) { return __nv_rnorm4d##suffix(x, y, z, w); } \
  HEDDLE_DEVICE type norm##suffix(int n, const type* p) {                                                         \
    type sum = 0;                                                                                                 \
    for (int i = 0; i < n; ++i) sum += p[i] * p[i];                                                               \
    return __builtin_sqrt##suffix(sum);                                                                           \
  }                                                                                                               \
  HEDDLE_DEVICE type rnorm##suffix(int n, const type* p) { return 1 / norm##suffix(n, p); }
HEDDLE_NORMS(float, f)
HEDDLE_NORMS(double, )
#undef HEDDLE_NORMS

// Exponents and fractions. Functions with two results are two operations; what goes through a pointer is a store of the
// program's.
#define HEDDLE_PARTS(type, suffix)                                                                         \
  HEDDLE_CALL type __nv_ldexp##suffix(type, int);                                                          \
  HEDDLE_CALL int __nv_ilogb##suffix(type);                                                                \
  HEDDLE_CALL int __nv_frexp_exponent##suffix(type);                                                       \
  HEDDLE_CALL type __nv_frexp_fraction##suffix(type);                                                      \
  HEDDLE_CALL int __nv_remquo_quotient##suffix(type, type);                                                \
  HEDDLE_DEVICE type ldexp##suffix(type x, int n) { return __nv_ldexp##suffix(x, n); }                     \
  HEDDLE_DEVICE type scalbn##suffix(type x, int n) { return __nv_ldexp##suffix(x, n); }                    \
  HEDDLE_DEVICE type scalbln##suffix(type x, long n) {                                                     \
    return __nv_ldexp##suffix(x, static_cast<int>(n < -100000 ? -100000 : n > 100000 ? 100000 : n));       \
  }                                                                                                        \
  HEDDLE_DEVICE int ilogb##suffix(type x) { return __nv_ilogb##suffix(x); }                                \
  HEDDLE_DEVICE type frexp##suffix(type x, int* exponent) {                                                \
    *exponent = __nv_frexp_exponent##suffix(x);                                                            \
    return __nv_frexp_fraction##suffix(x);                                                                 \
  }                                                                                                        \
  HEDDLE_DEVICE type modf##suffix(type x, type* whole) {                                                   \
    *whole = __builtin_trunc##suffix(x);                                                                   \
    return __builtin_copysign##suffix(__builtin_isinf(x) ? 0 : x - __builtin_trunc##suffix(x), x);         \
  }                                                                                                        \
  HEDDLE_DEVICE type remquo##suffix(type x, type y, int* quotient) {                                       \
    *quotient = __nv_remquo_quotient##suffix(x, y);                                                        \
    return __nv_remainder##suffix(x, y);                                                                   \
  }                                                                                                        \
  HEDDLE_DEVICE type fdim##suffix(type x, type y) { return x > y ? x - y : x == x && y == y ? 0 : x + y; } \
  HEDDLE_DEVICE type nan##suffix(const char*) { return __builtin_nan##suffix(""); }                        \
  HEDDLE_DEVICE bool isnan(type x) { return __builtin_isnan(x); }                                          \
  HEDDLE_DEVICE bool isinf(type x) { return __builtin_isinf(x); }                                          \
  HEDDLE_DEVICE bool isfinite(type x) { return __builtin_isfinite(x); }                                    \
  HEDDLE_DEVICE bool isnormal(type x) { return __builtin_isnormal(x); }                                    \
  HEDDLE_DEVICE bool signbit(type x) { return __builtin_signbit(x); }                                      \
  HEDDLE_DEVICE bool isunordered(type x, type y) { return __builtin_isunordered(x, y); }                   \
  HEDDLE_DEVICE bool isgreater(type x, type y) { return __builtin_isgreater(x, y); }                       \
  HEDDLE_DEVICE bool isgreaterequal(type x, type y) { return __builtin_isgreaterequal(x, y); }             \
  HEDDLE_DEVICE bool isless(type x, type y) { return __builtin_isless(x, y); }                             \
  HEDDLE_DEVICE bool islessequal(type x, type y) { return __builtin_islessequal(x, y); }                   \
  HEDDLE_DEVICE bool islessgreater(type x, type y) { return __builtin_islessgreater(x, y); }
HEDDLE_PARTS(float, f)
HEDDLE_PARTS(double, )
#undef HEDDLE_PARTS
HEDDLE_DEVICE float ldexp(float x, int n) { return __nv_ldexpf(x, n); }
HEDDLE_DEVICE float scalbn(float x, int n) { return __nv_ldexpf(x, n); }
HEDDLE_DEVICE float scalbln(float x, long n) { return scalblnf(x, n); }
HEDDLE_DEVICE int ilogb(float x) { return __nv_ilogbf(x); }
HEDDLE_DEVICE float frexp(float x, int* exponent) { return frexpf(x, exponent); }
HEDDLE_DEVICE float modf(float x, float* whole) { return modff(x, whole); }
HEDDLE_DEVICE float remquo(float x, float y, int* quotient) { return remquof(x, y, quotient); }
HEDDLE_DEVICE float fdim(float x, float y) { return fdimf(x, y); }
HEDDLE_DEVICE int __isnanf(float x) { return __builtin_isnan(x); }
HEDDLE_DEVICE int __isinff(float x) { return __builtin_isinf(x); }
HEDDLE_DEVICE int __finitef(float x) { return __builtin_isfinite(x); }
HEDDLE_DEVICE int __isnan(double x) { return __builtin_isnan(x); }
HEDDLE_DEVICE int __isinf(double x) { return __builtin_isinf(x); }
HEDDLE_DEVICE int __finite(double x) { return __builtin_isfinite(x); }
HEDDLE_DEVICE int __signbitf(float x) { return __builtin_signbitf(x); }
HEDDLE_DEVICE int __signbitd(double x) { return __builtin_signbit(x); }
HEDDLE_DEVICE int __signbit(double x) { return __builtin_signbit(x); }

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

// Whole numbers, to the nearest (even) or away from zero.
HEDDLE_DEVICE long lrintf(float x) { return static_cast<long>(__nvvm_f2ll_rn(x)); }
HEDDLE_DEVICE long lrint(float x) { return static_cast<long>(__nvvm_f2ll_rn(x)); }
HEDDLE_DEVICE long lrint(double x) { return static_cast<long>(__nvvm_d2ll_rn(x)); }
HEDDLE_DEVICE long long llrintf(float x) { return __nvvm_f2ll_rn(x); }
HEDDLE_DEVICE long long llrint(float x) { return __nvvm_f2ll_rn(x); }
HEDDLE_DEVICE long long llrint(double x) { return __nvvm_d2ll_rn(x); }
HEDDLE_DEVICE long lroundf(float x) { return static_cast<long>(__builtin_roundf(x)); }
HEDDLE_DEVICE long lround(float x) { return static_cast<long>(__builtin_roundf(x)); }
HEDDLE_DEVICE long lround(double x) { return static_cast<long>(__builtin_round(x)); }
HEDDLE_DEVICE long long llroundf(float x) { return static_cast<long long>(__builtin_roundf(x)); }
HEDDLE_DEVICE long long llround(float x) { return static_cast<long long>(__builtin_roundf(x)); }
HEDDLE_DEVICE long long llround(double x) { return static_cast<long long>(__builtin_round(x)); }

// Functions of the standard library with a whole number for an argument compute in double precision.
#define HEDDLE_WHOLE(name)                                                            \
  HEDDLE_DEVICE double name(int x) { return name(static_cast<double>(x)); }           \
  HEDDLE_DEVICE double name(unsigned int x) { return name(static_cast<double>(x)); }  \
  HEDDLE_DEVICE double name(long x) { return name(static_cast<double>(x)); }          \
  HEDDLE_DEVICE double name(unsigned long x) { return name(static_cast<double>(x)); } \
  HEDDLE_DEVICE double name(long long x) { return name(static_cast<double>(x)); }     \
  HEDDLE_DEVICE double name(unsigned long long x) { return name(static_cast<double>(x)); }
HEDDLE_WHOLE(sqrt)
HEDDLE_WHOLE(exp)
HEDDLE_WHOLE(log)
HEDDLE_WHOLE(log2)
HEDDLE_WHOLE(log10)
HEDDLE_WHOLE(sin)
HEDDLE_WHOLE(cos)
HEDDLE_WHOLE(tan)
HEDDLE_WHOLE(floor)
HEDDLE_WHOLE(ceil)
HEDDLE_WHOLE(fabs)
HEDDLE_WHOLE(cbrt)
#undef HEDDLE_WHOLE
HEDDLE_DEVICE double pow(int x, int y) { return __nv_pow(x, y); }
HEDDLE_DEVICE double pow(int x, double y) { return __nv_pow(x, y); }
HEDDLE_DEVICE double pow(int x, float y) { return __nv_pow(x, y); }

HEDDLE_DEVICE int abs(int x) { return x < 0 ? -x : x; }
HEDDLE_DEVICE long abs(long x) { return x < 0 ? -x : x; }
HEDDLE_DEVICE long long abs(long long x) { return x < 0 ? -x : x; }
HEDDLE_DEVICE long labs(long x) { return x < 0 ? -x : x; }
HEDDLE_DEVICE long long llabs(long long x) { return x < 0 ? -x : x; }
HEDDLE_DEVICE float abs(float x) { return __builtin_fabsf(x); }
HEDDLE_DEVICE double abs(double x) { return __builtin_fabs(x); }

#define HEDDLE_SIDE HEDDLE_DEVICE
#include "heddle_cuda_min_max.h"
#undef HEDDLE_SIDE

#undef HEDDLE_CALL
#undef HEDDLE_FAST

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_MATH_H_
