// What nvcc's headers bring into every .cu file for host code: the standard headers that device functions share names
// with, and CUDA's additions to them in host versions.
#ifndef HEDDLE_CUDA_HOST_H_
#define HEDDLE_CUDA_HOST_H_

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>

#define HEDDLE_HOST_MIN_MAX(type)                                                             \
  static inline __host__ type min(type x, type y) { return x < y ? x : y; }                  \
  static inline __host__ type max(type x, type y) { return x > y ? x : y; }
HEDDLE_HOST_MIN_MAX(int)
HEDDLE_HOST_MIN_MAX(unsigned int)
HEDDLE_HOST_MIN_MAX(long)
HEDDLE_HOST_MIN_MAX(unsigned long)
HEDDLE_HOST_MIN_MAX(long long)
HEDDLE_HOST_MIN_MAX(unsigned long long)
#undef HEDDLE_HOST_MIN_MAX
static inline __host__ unsigned int min(int x, unsigned int y) { return min(static_cast<unsigned int>(x), y); }
static inline __host__ unsigned int min(unsigned int x, int y) { return min(x, static_cast<unsigned int>(y)); }
static inline __host__ unsigned int max(int x, unsigned int y) { return max(static_cast<unsigned int>(x), y); }
static inline __host__ unsigned int max(unsigned int x, int y) { return max(x, static_cast<unsigned int>(y)); }
static inline __host__ float min(float x, float y) { return ::fminf(x, y); }
static inline __host__ float max(float x, float y) { return ::fmaxf(x, y); }
static inline __host__ double min(double x, double y) { return ::fmin(x, y); }
static inline __host__ double max(double x, double y) { return ::fmax(x, y); }
static inline __host__ double min(float x, double y) { return ::fmin(static_cast<double>(x), y); }
static inline __host__ double min(double x, float y) { return ::fmin(x, static_cast<double>(y)); }
static inline __host__ double max(float x, double y) { return ::fmax(static_cast<double>(x), y); }
static inline __host__ double max(double x, float y) { return ::fmax(x, static_cast<double>(y)); }

static inline __host__ float rsqrtf(float x) { return 1.0f / ::sqrtf(x); }
static inline __host__ float rsqrt(float x) { return 1.0f / ::sqrtf(x); }
static inline __host__ double rsqrt(double x) { return 1.0 / ::sqrt(x); }
static inline __host__ float rcbrtf(float x) { return 1.0f / ::cbrtf(x); }
static inline __host__ double rcbrt(double x) { return 1.0 / ::cbrt(x); }
static inline __host__ float sinpif(float x) { return static_cast<float>(::sin(x * 3.14159265358979323846)); }
static inline __host__ double sinpi(double x) { return ::sin(x * 3.14159265358979323846); }
static inline __host__ float cospif(float x) { return static_cast<float>(::cos(x * 3.14159265358979323846)); }
static inline __host__ double cospi(double x) { return ::cos(x * 3.14159265358979323846); }

#endif  // HEDDLE_CUDA_HOST_H_
