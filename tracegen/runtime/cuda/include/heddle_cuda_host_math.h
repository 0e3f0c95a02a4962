// CUDA's additions to the host's mathematics in .cu files: functions that the C library does not have.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_HOST_MATH_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_HOST_MATH_H_

#define HEDDLE_HOST static inline __host__

HEDDLE_HOST float rsqrtf(float x) { return 1.0f / ::sqrtf(x); }
HEDDLE_HOST float rsqrt(float x) { return 1.0f / ::sqrtf(x); }
HEDDLE_HOST double rsqrt(double x) { return 1.0 / ::sqrt(x); }
HEDDLE_HOST float rcbrtf(float x) { return 1.0f / ::cbrtf(x); }
HEDDLE_HOST float rcbrt(float x) { return 1.0f / ::cbrtf(x); }
HEDDLE_HOST double rcbrt(double x) { return 1.0 / ::cbrt(x); }
HEDDLE_HOST float sinpif(float x) { return static_cast<float>(::sin(x * 3.14159265358979323846)); }
HEDDLE_HOST float sinpi(float x) { return sinpif(x); }
HEDDLE_HOST double sinpi(double x) { return ::sin(x * 3.14159265358979323846); }
HEDDLE_HOST float cospif(float x) { return static_cast<float>(::cos(x * 3.14159265358979323846)); }
HEDDLE_HOST float cospi(float x) { return cospif(x); }
HEDDLE_HOST double cospi(double x) { return ::cos(x * 3.14159265358979323846); }
HEDDLE_HOST void sincospif(float x, float* s, float* c) {
  *s = sinpif(x);
  *c = cospif(x);
}
HEDDLE_HOST void sincospi(float x, float* s, float* c) { sincospif(x, s, c); }
HEDDLE_HOST void sincospi(double x, double* s, double* c) {
  *s = sinpi(x);
  *c = cospi(x);
}
HEDDLE_HOST void sincos(float x, float* s, float* c) {
  *s = ::sinf(x);
  *c = ::cosf(x);
}

HEDDLE_HOST float exp10(float x) { return ::exp10f(x); }
HEDDLE_HOST float j0(float x) { return ::j0f(x); }
HEDDLE_HOST float j1(float x) { return ::j1f(x); }
HEDDLE_HOST float jn(int n, float x) { return ::jnf(n, x); }
HEDDLE_HOST float y0(float x) { return ::y0f(x); }
HEDDLE_HOST float y1(float x) { return ::y1f(x); }
HEDDLE_HOST float yn(int n, float x) { return ::ynf(n, x); }

// exp(x * x) * erfc(x). Far out the asymptotic series, as erfc vanishes there.
HEDDLE_HOST double erfcx(double x) {
  if (x > 12.0) {
    const double t = 0.5 / (x * x);
    const double series = 1.0 - t * (1.0 - 3.0 * t * (1.0 - 5.0 * t * (1.0 - 7.0 * t * (1.0 - 9.0 * t))));
    return series / (x * 1.7724538509055160273);
  }
  const double square = x * x;
  const double rest = ::fma(x, x, -square);  // what the rounded square lacks
  const double power = ::exp(square);
  return power > 1.0e300 ? ::exp(square) * ::erfc(x) : power * (1.0 + rest) * ::erfc(x);
}
HEDDLE_HOST double erfcinv(double y);
// The solution of erf(t) = x by Newton's method; where erf is flat, that of erfc.
HEDDLE_HOST double erfinv(double x) {
  if (::fabs(x) > 0.5) return x < 0.0 ? -erfcinv(1.0 + x) : erfcinv(1.0 - x);
  double t = 0.88622692545275801365 * x;
  for (int i = 0; i < 6; ++i) t -= (::erf(t) - x) * 0.88622692545275801365 * ::exp(t * t);
  return t;
}
HEDDLE_HOST double erfcinv(double y) {
  if (!(y >= 0.0 && y <= 2.0)) return __builtin_nan("");
  if (y == 0.0 || y == 2.0) return y == 0.0 ? __builtin_inf() : -__builtin_inf();
  if (y > 1.5) return -erfcinv(2.0 - y);
  if (y >= 0.5) return erfinv(1.0 - y);
  double t = ::sqrt(-::log(y));
  for (int i = 0; i < 12; ++i) t += ::log(::erfc(t) / y) * 0.88622692545275801365 * erfcx(t);
  return t;
}
HEDDLE_HOST double normcdf(double x) { return 0.5 * ::erfc(-0.70710678118654752440 * x); }
HEDDLE_HOST double normcdfinv(double y) { return -1.41421356237309504880 * erfcinv(2.0 * y); }
#define HEDDLE_SINGLE(name)                                                                       \
  HEDDLE_HOST float name##f(float x) { return static_cast<float>(name(static_cast<double>(x))); } \
  HEDDLE_HOST float name(float x) { return name##f(x); }
HEDDLE_SINGLE(erfcx)
HEDDLE_SINGLE(erfinv)
HEDDLE_SINGLE(erfcinv)
HEDDLE_SINGLE(normcdf)
HEDDLE_SINGLE(normcdfinv)
#undef HEDDLE_SINGLE

#define HEDDLE_SIDE HEDDLE_HOST
#include "heddle_cuda_min_max.h"
#undef HEDDLE_SIDE

#undef HEDDLE_HOST

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_HOST_MATH_H_
