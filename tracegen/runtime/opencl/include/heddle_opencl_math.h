// Math functions of OpenCL C on scalars and vectors of float and double.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_MATH_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_MATH_H_

// With -cl-fast-relaxed-math clang warns of every isinf() here; warnings are for the program, which may use -Werror.
#pragma clang system_header

#define HEDDLE_EXTERNAL __attribute__((const, nothrow))

// Vector versions, from a scalar version and halves.
#define HEDDLE_VECTORS1(name, type)                                                        \
  HEDDLE_CL type##2 name(type##2 x) { return (type##2)(name(x.x), name(x.y)); }            \
  HEDDLE_CL type##3 name(type##3 x) { return (type##3)(name(x.x), name(x.y), name(x.z)); } \
  HEDDLE_CL type##4 name(type##4 x) { return (type##4)(name(x.lo), name(x.hi)); }          \
  HEDDLE_CL type##8 name(type##8 x) { return (type##8)(name(x.lo), name(x.hi)); }          \
  HEDDLE_CL type##16 name(type##16 x) { return (type##16)(name(x.lo), name(x.hi)); }
#define HEDDLE_VECTORS2(name, type)                                                                                  \
  HEDDLE_CL type##2 name(type##2 x, type##2 y) { return (type##2)(name(x.x, y.x), name(x.y, y.y)); }                 \
  HEDDLE_CL type##3 name(type##3 x, type##3 y) { return (type##3)(name(x.x, y.x), name(x.y, y.y), name(x.z, y.z)); } \
  HEDDLE_CL type##4 name(type##4 x, type##4 y) { return (type##4)(name(x.lo, y.lo), name(x.hi, y.hi)); }             \
  HEDDLE_CL type##8 name(type##8 x, type##8 y) { return (type##8)(name(x.lo, y.lo), name(x.hi, y.hi)); }             \
  HEDDLE_CL type##16 name(type##16 x, type##16 y) { return (type##16)(name(x.lo, y.lo), name(x.hi, y.hi)); }
#define HEDDLE_VECTORS3(name, type)                                                  \
  HEDDLE_CL type##2 name(type##2 x, type##2 y, type##2 z) {                          \
    return (type##2)(name(x.x, y.x, z.x), name(x.y, y.y, z.y));                      \
  }                                                                                  \
  HEDDLE_CL type##3 name(type##3 x, type##3 y, type##3 z) {                          \
    return (type##3)(name(x.x, y.x, z.x), name(x.y, y.y, z.y), name(x.z, y.z, z.z)); \
  }                                                                                  \
  HEDDLE_CL type##4 name(type##4 x, type##4 y, type##4 z) {                          \
    return (type##4)(name(x.lo, y.lo, z.lo), name(x.hi, y.hi, z.hi));                \
  }                                                                                  \
  HEDDLE_CL type##8 name(type##8 x, type##8 y, type##8 z) {                          \
    return (type##8)(name(x.lo, y.lo, z.lo), name(x.hi, y.hi, z.hi));                \
  }                                                                                  \
  HEDDLE_CL type##16 name(type##16 x, type##16 y, type##16 z) {                      \
    return (type##16)(name(x.lo, y.lo, z.lo), name(x.hi, y.hi, z.hi));               \
  }

// Functions that stay calls.
#define HEDDLE_CALL1(name, external)                              \
  HEDDLE_EXTERNAL float __nv_##external##f(float);                \
  HEDDLE_EXTERNAL double __nv_##external(double);                 \
  HEDDLE_CL float name(float x) { return __nv_##external##f(x); } \
  HEDDLE_CL double name(double x) { return __nv_##external(x); }  \
  HEDDLE_VECTORS1(name, float)                                    \
  HEDDLE_VECTORS1(name, double)
#define HEDDLE_CALL2(name, external)                                          \
  HEDDLE_EXTERNAL float __nv_##external##f(float, float);                     \
  HEDDLE_EXTERNAL double __nv_##external(double, double);                     \
  HEDDLE_CL float name(float x, float y) { return __nv_##external##f(x, y); } \
  HEDDLE_CL double name(double x, double y) { return __nv_##external(x, y); } \
  HEDDLE_VECTORS2(name, float)                                                \
  HEDDLE_VECTORS2(name, double)
HEDDLE_CALL1(sin, sin)
HEDDLE_CALL1(cos, cos)
HEDDLE_CALL1(tan, tan)
HEDDLE_CALL1(sinpi, sinpi)
HEDDLE_CALL1(cospi, cospi)
HEDDLE_CALL1(asin, asin)
HEDDLE_CALL1(acos, acos)
HEDDLE_CALL1(atan, atan)
HEDDLE_CALL1(sinh, sinh)
HEDDLE_CALL1(cosh, cosh)
HEDDLE_CALL1(tanh, tanh)
HEDDLE_CALL1(exp, exp)
HEDDLE_CALL1(exp2, exp2)
HEDDLE_CALL1(exp10, exp10)
HEDDLE_CALL1(expm1, expm1)
HEDDLE_CALL1(log, log)
HEDDLE_CALL1(log2, log2)
HEDDLE_CALL1(log10, log10)
HEDDLE_CALL1(log1p, log1p)
HEDDLE_CALL1(cbrt, cbrt)
HEDDLE_CALL1(rsqrt, rsqrt)
HEDDLE_CALL1(erf, erf)
HEDDLE_CALL1(erfc, erfc)
HEDDLE_CALL1(tgamma, tgamma)
HEDDLE_CALL1(lgamma, lgamma)
HEDDLE_CALL2(pow, pow)
HEDDLE_CALL2(powr, pow)
HEDDLE_CALL2(atan2, atan2)
HEDDLE_CALL2(fmod, fmod)
HEDDLE_CALL2(hypot, hypot)
HEDDLE_CALL2(remainder, remainder)
HEDDLE_CL float pown(float x, int y) { return __nv_powf(x, (float)y); }
HEDDLE_CL double pown(double x, int y) { return __nv_pow(x, (double)y); }

// Versions of lower precision, float only.
#define HEDDLE_NATIVE1(name)                                                \
  HEDDLE_EXTERNAL float __nv_fast_##name##f(float);                         \
  HEDDLE_CL float native_##name(float x) { return __nv_fast_##name##f(x); } \
  HEDDLE_CL float half_##name(float x) { return __nv_fast_##name##f(x); }   \
  HEDDLE_VECTORS1(native_##name, float)                                     \
  HEDDLE_VECTORS1(half_##name, float)
HEDDLE_NATIVE1(sin)
HEDDLE_NATIVE1(cos)
HEDDLE_NATIVE1(tan)
HEDDLE_NATIVE1(exp)
HEDDLE_NATIVE1(exp10)
HEDDLE_NATIVE1(log)
HEDDLE_NATIVE1(log2)
HEDDLE_NATIVE1(log10)
#define HEDDLE_SAME1(name, other)                    \
  HEDDLE_CL float name(float x) { return other(x); } \
  HEDDLE_VECTORS1(name, float)
HEDDLE_SAME1(native_exp2, __nv_exp2f)
HEDDLE_SAME1(half_exp2, __nv_exp2f)
HEDDLE_SAME1(native_rsqrt, __nv_rsqrtf)
HEDDLE_SAME1(half_rsqrt, __nv_rsqrtf)
HEDDLE_SAME1(native_sqrt, __builtin_sqrtf)
HEDDLE_SAME1(half_sqrt, __builtin_sqrtf)
HEDDLE_EXTERNAL float __nv_fast_powf(float, float);
HEDDLE_EXTERNAL float __nv_fast_fdividef(float, float);
HEDDLE_CL float native_powr(float x, float y) { return __nv_fast_powf(x, y); }
HEDDLE_CL float half_powr(float x, float y) { return __nv_fast_powf(x, y); }
HEDDLE_CL float native_divide(float x, float y) { return __nv_fast_fdividef(x, y); }
HEDDLE_CL float half_divide(float x, float y) { return __nv_fast_fdividef(x, y); }
HEDDLE_CL float native_recip(float x) { return __nv_fast_fdividef(1.0f, x); }
HEDDLE_CL float half_recip(float x) { return __nv_fast_fdividef(1.0f, x); }
HEDDLE_VECTORS2(native_powr, float)
HEDDLE_VECTORS2(native_divide, float)
HEDDLE_VECTORS1(native_recip, float)

// PTX instructions, or short sequences without branches.
#define HEDDLE_PLAIN1(name)                                        \
  HEDDLE_CL float name(float x) { return __builtin_##name##f(x); } \
  HEDDLE_CL double name(double x) { return __builtin_##name(x); }  \
  HEDDLE_VECTORS1(name, float)                                     \
  HEDDLE_VECTORS1(name, double)
HEDDLE_PLAIN1(sqrt)
HEDDLE_PLAIN1(fabs)
HEDDLE_PLAIN1(floor)
HEDDLE_PLAIN1(ceil)
HEDDLE_PLAIN1(trunc)
HEDDLE_PLAIN1(round)
HEDDLE_PLAIN1(rint)
#define HEDDLE_PLAIN2(name)                                                    \
  HEDDLE_CL float name(float x, float y) { return __builtin_##name##f(x, y); } \
  HEDDLE_CL double name(double x, double y) { return __builtin_##name(x, y); } \
  HEDDLE_VECTORS2(name, float)                                                 \
  HEDDLE_VECTORS2(name, double)
HEDDLE_PLAIN2(fmin)
HEDDLE_PLAIN2(fmax)
HEDDLE_PLAIN2(copysign)
#define HEDDLE_FLOATING(type, suffix)                                                                 \
  HEDDLE_CL type fma(type x, type y, type z) { return __builtin_fma##suffix(x, y, z); }               \
  HEDDLE_CL type mad(type x, type y, type z) { return __builtin_fma##suffix(x, y, z); }               \
  HEDDLE_CL type fdim(type x, type y) { return x > y ? x - y : (type)0; }                             \
  HEDDLE_CL type min(type x, type y) { return __builtin_fmin##suffix(x, y); }                         \
  HEDDLE_CL type max(type x, type y) { return __builtin_fmax##suffix(x, y); }                         \
  HEDDLE_CL type clamp(type x, type y, type z) { return min(max(x, y), z); }                          \
  HEDDLE_CL type mix(type x, type y, type a) { return x + (y - x) * a; }                              \
  HEDDLE_CL type step(type edge, type x) { return x < edge ? (type)0 : (type)1; }                     \
  HEDDLE_CL type smoothstep(type low, type high, type x) {                                            \
    const type t = clamp((x - low) / (high - low), (type)0, (type)1);                                 \
    return t * t * ((type)3 - (type)2 * t);                                                           \
  }                                                                                                   \
  HEDDLE_CL type sign(type x) { return x > 0 ? (type)1 : x < 0 ? (type) - 1 : x == x ? x : (type)0; } \
  HEDDLE_CL type degrees(type x) { return x * (type)57.29577951308232; }                              \
  HEDDLE_CL type radians(type x) { return x * (type)0.017453292519943295; }                           \
  HEDDLE_CL int isnan(type x) { return x != x; }                                                      \
  HEDDLE_CL int isinf(type x) { return __builtin_isinf(x) != 0; }                                     \
  HEDDLE_CL int isfinite(type x) { return __builtin_isfinite(x) != 0; }                               \
  HEDDLE_CL int isequal(type x, type y) { return x == y; }                                            \
  HEDDLE_CL int isnotequal(type x, type y) { return x != y; }                                         \
  HEDDLE_CL int isless(type x, type y) { return x < y; }                                              \
  HEDDLE_CL int isgreater(type x, type y) { return x > y; }                                           \
  HEDDLE_VECTORS3(fma, type)                                                                          \
  HEDDLE_VECTORS3(mad, type)                                                                          \
  HEDDLE_VECTORS2(min, type)                                                                          \
  HEDDLE_VECTORS2(max, type)                                                                          \
  HEDDLE_VECTORS3(clamp, type)                                                                        \
  HEDDLE_VECTORS3(mix, type)                                                                          \
  HEDDLE_VECTORS2(step, type)                                                                         \
  HEDDLE_VECTORS1(sign, type)                                                                         \
  HEDDLE_CL type##2 clamp(type##2 x, type y, type z) { return clamp(x, (type##2)y, (type##2)z); }     \
  HEDDLE_CL type##4 clamp(type##4 x, type y, type z) { return clamp(x, (type##4)y, (type##4)z); }     \
  HEDDLE_CL type##2 mix(type##2 x, type##2 y, type a) { return x + (y - x) * a; }                     \
  HEDDLE_CL type##4 mix(type##4 x, type##4 y, type a) { return x + (y - x) * a; }                     \
  HEDDLE_CL type dot(type x, type y) { return x * y; }                                                \
  HEDDLE_CL type dot(type##2 x, type##2 y) { return x.x * y.x + x.y * y.y; }                          \
  HEDDLE_CL type dot(type##3 x, type##3 y) { return x.x * y.x + x.y * y.y + x.z * y.z; }              \
  HEDDLE_CL type dot(type##4 x, type##4 y) { return dot(x.lo, y.lo) + dot(x.hi, y.hi); }              \
  HEDDLE_CL type length(type x) { return fabs(x); }                                                   \
  HEDDLE_CL type length(type##2 x) { return sqrt(dot(x, x)); }                                        \
  HEDDLE_CL type length(type##3 x) { return sqrt(dot(x, x)); }                                        \
  HEDDLE_CL type length(type##4 x) { return sqrt(dot(x, x)); }                                        \
  HEDDLE_CL type distance(type##2 x, type##2 y) { return length(x - y); }                             \
  HEDDLE_CL type distance(type##3 x, type##3 y) { return length(x - y); }                             \
  HEDDLE_CL type distance(type##4 x, type##4 y) { return length(x - y); }                             \
  HEDDLE_CL type##2 normalize(type##2 x) { return x * rsqrt(dot(x, x)); }                             \
  HEDDLE_CL type##3 normalize(type##3 x) { return x * rsqrt(dot(x, x)); }                             \
  HEDDLE_CL type##4 normalize(type##4 x) { return x * rsqrt(dot(x, x)); }                             \
  HEDDLE_CL type##3 cross(type##3 x, type##3 y) {                                                     \
    return (type##3)(x.y * y.z - x.z * y.y, x.z * y.x - x.x * y.z, x.x * y.y - x.y * y.x);            \
  }
HEDDLE_FLOATING(float, f)
HEDDLE_FLOATING(double, )
HEDDLE_CL float fast_length(float2 x) { return length(x); }
HEDDLE_CL float fast_length(float4 x) { return length(x); }
HEDDLE_CL float4 fast_normalize(float4 x) { return normalize(x); }

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_MATH_H_
