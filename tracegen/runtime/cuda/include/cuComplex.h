// Complex numbers of single and double precision, for C, C++ and CUDA. Products are the plain ones; quotients and
// absolute values are scaled, so that nothing overflows that the result does not.
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#ifndef __CUDACC_RTC__
#include <math.h>
#endif

#include "vector_types.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define HEDDLE_COMPLEX static __inline__ __host__ __device__
#define HEDDLE_COMPLEX_FUNCTIONS(type, real, f, absolute, root)                                                       \
  HEDDLE_COMPLEX type make_##type(real x, real y) {                                                                   \
    type z;                                                                                                           \
    z.x = x;                                                                                                          \
    z.y = y;                                                                                                          \
    return z;                                                                                                         \
  }                                                                                                                   \
  HEDDLE_COMPLEX real cuCreal##f(type z) { return z.x; }                                                              \
  HEDDLE_COMPLEX real cuCimag##f(type z) { return z.y; }                                                              \
  HEDDLE_COMPLEX type cuConj##f(type z) { return make_##type(z.x, -z.y); }                                            \
  HEDDLE_COMPLEX type cuCadd##f(type a, type b) { return make_##type(a.x + b.x, a.y + b.y); }                         \
  HEDDLE_COMPLEX type cuCsub##f(type a, type b) { return make_##type(a.x - b.x, a.y - b.y); }                         \
  HEDDLE_COMPLEX type cuCmul##f(type a, type b) { return make_##type(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); } \
  HEDDLE_COMPLEX type cuCdiv##f(type a, type b) {                                                                     \
    const real scale = 1 / (absolute(b.x) + absolute(b.y));                                                           \
    const real ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;                                \
    const real inverse = 1 / (bx * bx + by * by);                                                                     \
    return make_##type((ax * bx + ay * by) * inverse, (ay * bx - ax * by) * inverse);                                 \
  }                                                                                                                   \
  HEDDLE_COMPLEX real cuCabs##f(type z) {                                                                             \
    const real x = absolute(z.x), y = absolute(z.y);                                                                  \
    const real large = x > y ? x : y, small = x > y ? y : x;                                                          \
    const real ratio = small / large;                                                                                 \
    /* Also if both are zero, or one is infinite or no number. */                                                     \
    if (large == 0 || large - large != 0 || small != small) return x + y;                                             \
    return large * root(1 + ratio * ratio);                                                                           \
  }                                                                                                                   \
  /* a * b + c */                                                                                                     \
  HEDDLE_COMPLEX type cuCfma##f(type a, type b, type c) {                                                             \
    return make_##type(a.x * b.x - a.y * b.y + c.x, a.x * b.y + a.y * b.x + c.y);                                     \
  }
HEDDLE_COMPLEX_FUNCTIONS(cuFloatComplex, float, f, fabsf, sqrtf)
HEDDLE_COMPLEX_FUNCTIONS(cuDoubleComplex, double, , fabs, sqrt)
#undef HEDDLE_COMPLEX_FUNCTIONS

HEDDLE_COMPLEX cuComplex make_cuComplex(float x, float y) { return make_cuFloatComplex(x, y); }
HEDDLE_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return make_cuDoubleComplex(z.x, z.y); }
HEDDLE_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return make_cuFloatComplex((float)z.x, (float)z.y);
}
#undef HEDDLE_COMPLEX

#endif  // CU_COMPLEX_H_
