// Math functions of OpenCL C (1.2 specification, 6.12.2) that are made of others, that write a second result through a
// pointer, or that take integers.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_MORE_MATH_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_MORE_MATH_H_

HEDDLE_CALL1(asinh, asinh)
HEDDLE_CALL1(acosh, acosh)
HEDDLE_CALL1(atanh, atanh)
HEDDLE_CALL1(logb, logb)

#define HEDDLE_PI 3.14159265358979323846
#define HEDDLE_MADE1(name, type, expression)         \
  HEDDLE_CL type name(type x) { return expression; } \
  HEDDLE_VECTORS1(name, type)
#define HEDDLE_MADE2(name, type, expression)                 \
  HEDDLE_CL type name(type x, type y) { return expression; } \
  HEDDLE_VECTORS2(name, type)
#define HEDDLE_MADE(type)                                                                \
  HEDDLE_MADE1(asinpi, type, asin(x) / (type)HEDDLE_PI)                                  \
  HEDDLE_MADE1(acospi, type, acos(x) / (type)HEDDLE_PI)                                  \
  HEDDLE_MADE1(atanpi, type, atan(x) / (type)HEDDLE_PI)                                  \
  HEDDLE_MADE1(tanpi, type, sinpi(x) / cospi(x))                                         \
  HEDDLE_MADE2(atan2pi, type, atan2(x, y) / (type)HEDDLE_PI)                             \
  HEDDLE_MADE2(maxmag, type, fabs(x) > fabs(y) ? x : fabs(y) > fabs(x) ? y : fmax(x, y)) \
  HEDDLE_MADE2(minmag, type, fabs(x) < fabs(y) ? x : fabs(y) < fabs(x) ? y : fmin(x, y))
HEDDLE_MADE(float)
HEDDLE_MADE(double)
#undef HEDDLE_MADE
#undef HEDDLE_MADE2
#undef HEDDLE_MADE1
#undef HEDDLE_PI

HEDDLE_VECTORS2(half_powr, float)
HEDDLE_VECTORS2(half_divide, float)
HEDDLE_VECTORS1(half_recip, float)

HEDDLE_EXTERNAL float __nv_ldexpf(float, int);
HEDDLE_EXTERNAL double __nv_ldexp(double, int);
HEDDLE_EXTERNAL int __nv_ilogbf(float);
HEDDLE_EXTERNAL int __nv_ilogb(double);

// (floating, integer) -> floating, element by element; the integer may be one for all.
#define HEDDLE_FLOAT_INT(name, type, expression)                                                                  \
  HEDDLE_CL type name(type x, int y) { return expression; }                                                       \
  HEDDLE_CL type##2 name(type##2 x, int2 y) { return (type##2)(name(x.x, y.x), name(x.y, y.y)); }                 \
  HEDDLE_CL type##3 name(type##3 x, int3 y) { return (type##3)(name(x.x, y.x), name(x.y, y.y), name(x.z, y.z)); } \
  HEDDLE_CL type##4 name(type##4 x, int4 y) { return (type##4)(name(x.lo, y.lo), name(x.hi, y.hi)); }             \
  HEDDLE_CL type##8 name(type##8 x, int8 y) { return (type##8)(name(x.lo, y.lo), name(x.hi, y.hi)); }             \
  HEDDLE_CL type##16 name(type##16 x, int16 y) { return (type##16)(name(x.lo, y.lo), name(x.hi, y.hi)); }
#define HEDDLE_FLOAT_ONE_INT(name, type)                                  \
  HEDDLE_CL type##2 name(type##2 x, int y) { return name(x, (int2)(y)); } \
  HEDDLE_CL type##3 name(type##3 x, int y) { return name(x, (int3)(y)); } \
  HEDDLE_CL type##4 name(type##4 x, int y) { return name(x, (int4)(y)); } \
  HEDDLE_CL type##8 name(type##8 x, int y) { return name(x, (int8)(y)); } \
  HEDDLE_CL type##16 name(type##16 x, int y) { return name(x, (int16)(y)); }
HEDDLE_FLOAT_INT(ldexp, float, __nv_ldexpf(x, y))
HEDDLE_FLOAT_INT(ldexp, double, __nv_ldexp(x, y))
HEDDLE_FLOAT_ONE_INT(ldexp, float)
HEDDLE_FLOAT_ONE_INT(ldexp, double)
// The y-th root: of a negative number only for odd y.
HEDDLE_FLOAT_INT(rootn, float,
                 (y & 1) != 0 ? copysign(__nv_powf(fabs(x), 1.0f / (float)y), x) : __nv_powf(x, 1.0f / (float)y))
HEDDLE_FLOAT_INT(rootn, double,
                 (y & 1) != 0 ? copysign(__nv_pow(fabs(x), 1.0 / (double)y), x) : __nv_pow(x, 1.0 / (double)y))
#define HEDDLE_POWN(type)                                                                                         \
  HEDDLE_CL type##2 pown(type##2 x, int2 y) { return (type##2)(pown(x.x, y.x), pown(x.y, y.y)); }                 \
  HEDDLE_CL type##3 pown(type##3 x, int3 y) { return (type##3)(pown(x.x, y.x), pown(x.y, y.y), pown(x.z, y.z)); } \
  HEDDLE_CL type##4 pown(type##4 x, int4 y) { return (type##4)(pown(x.lo, y.lo), pown(x.hi, y.hi)); }             \
  HEDDLE_CL type##8 pown(type##8 x, int8 y) { return (type##8)(pown(x.lo, y.lo), pown(x.hi, y.hi)); }             \
  HEDDLE_CL type##16 pown(type##16 x, int16 y) { return (type##16)(pown(x.lo, y.lo), pown(x.hi, y.hi)); }
HEDDLE_POWN(float)
HEDDLE_POWN(double)
#undef HEDDLE_POWN
#undef HEDDLE_FLOAT_ONE_INT
#undef HEDDLE_FLOAT_INT

HEDDLE_CL int ilogb(float x) { return __nv_ilogbf(x); }
HEDDLE_CL int ilogb(double x) { return __nv_ilogb(x); }
HEDDLE_VECTORS1_TO(int, ilogb, float)
HEDDLE_VECTORS1_TO(int, ilogb, double)

HEDDLE_CL float nan(uint code) { return as_float(code | 0x7fc00000u); }
HEDDLE_CL double nan(ulong code) { return as_double(code | 0x7ff8000000000000ul); }

// Vectors of a function with a second result: each half writes its part.
#define HEDDLE_TWO_RESULTS(name, type, other, space)                               \
  HEDDLE_CL type##2 name(type##2 x, space other##2 * y) {                          \
    other a, b;                                                                    \
    const type##2 result = (type##2)(name(x.x, &a), name(x.y, &b));                \
    *y = (other##2)(a, b);                                                         \
    return result;                                                                 \
  }                                                                                \
  HEDDLE_CL type##3 name(type##3 x, space other##3 * y) {                          \
    other a, b, c;                                                                 \
    const type##3 result = (type##3)(name(x.x, &a), name(x.y, &b), name(x.z, &c)); \
    *y = (other##3)(a, b, c);                                                      \
    return result;                                                                 \
  }                                                                                \
  HEDDLE_CL type##4 name(type##4 x, space other##4 * y) {                          \
    other##2 a, b;                                                                 \
    const type##4 result = (type##4)(name(x.lo, &a), name(x.hi, &b));              \
    *y = (other##4)(a, b);                                                         \
    return result;                                                                 \
  }                                                                                \
  HEDDLE_CL type##8 name(type##8 x, space other##8 * y) {                          \
    other##4 a, b;                                                                 \
    const type##8 result = (type##8)(name(x.lo, &a), name(x.hi, &b));              \
    *y = (other##8)(a, b);                                                         \
    return result;                                                                 \
  }                                                                                \
  HEDDLE_CL type##16 name(type##16 x, space other##16 * y) {                       \
    other##8 a, b;                                                                 \
    const type##16 result = (type##16)(name(x.lo, &a), name(x.hi, &b));            \
    *y = (other##16)(a, b);                                                        \
    return result;                                                                 \
  }
// The largest float below 1 keeps fract from reaching it.
#define HEDDLE_SECOND_RESULT(type, space, below_one)       \
  HEDDLE_CL type fract(type x, space type *whole) {        \
    *whole = floor(x);                                     \
    return fmin(x - floor(x), below_one);                  \
  }                                                        \
  HEDDLE_CL type modf(type x, space type *whole) {         \
    *whole = trunc(x);                                     \
    return copysign(isinf(x) ? (type)0 : x - trunc(x), x); \
  }                                                        \
  HEDDLE_CL type sincos(type x, space type *cosine) {      \
    *cosine = cos(x);                                      \
    return sin(x);                                         \
  }                                                        \
  HEDDLE_TWO_RESULTS(fract, type, type, space)             \
  HEDDLE_TWO_RESULTS(modf, type, type, space)              \
  HEDDLE_TWO_RESULTS(sincos, type, type, space)
// The private ones come first: the others' vectors use them.
HEDDLE_SECOND_RESULT(float, __private, 0x1.fffffep-1f)
HEDDLE_SECOND_RESULT(double, __private, 0x1.fffffffffffffp-1)
HEDDLE_SECOND_RESULT(float, __global, 0x1.fffffep-1f)
HEDDLE_SECOND_RESULT(double, __global, 0x1.fffffffffffffp-1)
HEDDLE_SECOND_RESULT(float, __local, 0x1.fffffep-1f)
HEDDLE_SECOND_RESULT(double, __local, 0x1.fffffffffffffp-1)
#undef HEDDLE_SECOND_RESULT

// With an int as the second result: exponent, sign of gamma, bits of the quotient.
// Exponent and fraction are taken from the bits; a denormal number is made a normal one first.
#define HEDDLE_FREXP(type, bits_type, mantissa_bits, exponents, scale, shift)                     \
  HEDDLE_CL type frexp(type x, __private int *exponent) {                                         \
    const int small = fabs(x) < (type)2 / (scale);                                                \
    const bits_type bits = as_##bits_type(small ? x * (scale) : x);                               \
    const int biased = (int)(bits >> mantissa_bits) & exponents;                                  \
    const int none = x == 0 || biased == exponents;                                               \
    const bits_type kept = ~((bits_type)exponents << mantissa_bits);                              \
    *exponent = none ? 0 : biased - (exponents / 2 - 1) - (small ? shift : 0);                    \
    return none ? x : as_##type((bits & kept) | (bits_type)(exponents / 2 - 1) << mantissa_bits); \
  }
HEDDLE_FREXP(float, uint, 23, 255, 0x1p64f, 64)
HEDDLE_FREXP(double, ulong, 52, 2047, 0x1p512, 512)
#undef HEDDLE_FREXP
// The next number towards y: one more or less in the bits.
#define HEDDLE_NEXTAFTER(type, signed_type, nan_code)                                         \
  HEDDLE_CL type nextafter(type x, type y) {                                                  \
    const signed_type bits = as_##signed_type(x);                                             \
    const signed_type moved = (x < y) == (x > 0) ? bits + 1 : bits - 1;                       \
    const type least = copysign(as_##type((signed_type)1), y);                                \
    return x != x || y != y ? nan(nan_code) : x == y ? y : x == 0 ? least : as_##type(moved); \
  }                                                                                           \
  HEDDLE_VECTORS2(nextafter, type)
HEDDLE_NEXTAFTER(float, int, 0u)
HEDDLE_NEXTAFTER(double, long, 0ul)
#undef HEDDLE_NEXTAFTER
// Gamma is negative between -1 and 0, between -3 and -2, and so on.
#define HEDDLE_LGAMMA_R(type)                                                                     \
  HEDDLE_CL type lgamma_r(type x, __private int *sign) {                                          \
    const type below = floor(x);                                                                  \
    *sign = x < 0 && below != x && fmod(below, (type)2) != 0 ? -1 : x <= 0 && below == x ? 0 : 1; \
    return lgamma(x);                                                                             \
  }
HEDDLE_LGAMMA_R(float)
HEDDLE_LGAMMA_R(double)
#undef HEDDLE_LGAMMA_R
#define HEDDLE_REMQUO(type)                                        \
  HEDDLE_CL type remquo(type x, type y, __private int *quotient) { \
    const type rest = remainder(x, y);                             \
    const type bits = fmod(fabs(rint((x - rest) / y)), (type)128); \
    *quotient = (x < 0) != (y < 0) ? -(int)bits : (int)bits;       \
    return rest;                                                   \
  }
HEDDLE_REMQUO(float)
HEDDLE_REMQUO(double)
#undef HEDDLE_REMQUO
#define HEDDLE_IN_SPACE(name, type, space)         \
  HEDDLE_CL type name(type x, space int *second) { \
    int value;                                     \
    const type result = name(x, &value);           \
    *second = value;                               \
    return result;                                 \
  }
#define HEDDLE_INT_RESULT(name, type)            \
  HEDDLE_TWO_RESULTS(name, type, int, __private) \
  HEDDLE_IN_SPACE(name, type, __global)          \
  HEDDLE_IN_SPACE(name, type, __local)           \
  HEDDLE_TWO_RESULTS(name, type, int, __global)  \
  HEDDLE_TWO_RESULTS(name, type, int, __local)
HEDDLE_INT_RESULT(frexp, float)
HEDDLE_INT_RESULT(frexp, double)
HEDDLE_INT_RESULT(lgamma_r, float)
HEDDLE_INT_RESULT(lgamma_r, double)
#undef HEDDLE_INT_RESULT
#undef HEDDLE_IN_SPACE
#undef HEDDLE_TWO_RESULTS

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_MORE_MATH_H_
