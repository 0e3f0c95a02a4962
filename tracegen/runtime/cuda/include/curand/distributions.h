/* Distributions of the three generators' numbers. Uniform numbers are above 0 and at most 1. Normal ones come in pairs
 * (Box and Muller); calls for one number keep the other, unless the next call is for another distribution. */
#ifndef HEDDLE_CURAND_DISTRIBUTIONS_H_
#define HEDDLE_CURAND_DISTRIBUTIONS_H_

#include "mrg32k3a.h"
#include "philox.h"
#include "xorwow.h"

namespace heddle_curand {

constexpr int kNothingKept = 0, kNormalKept = 1, kLogNormalKept = 2;

constexpr float kTwoPi = 6.2831855f;
constexpr float kTo1 = 2.3283064365386963e-10f;       /* 2^-32 */
constexpr double kDoubleTo1 = 1.1102230246251565e-16; /* 2^-53 */
constexpr double kMrgTo1 = 2.3283065498378288e-10;    /* 1 / the first modulus, and a little less */

static inline __device__ float Uniform(unsigned int x) { return x * kTo1 + kTo1 / 2; }
/* Of 53 bits, from two numbers. */
static inline __device__ unsigned long long Bits53(unsigned int x, unsigned int y) {
  return x ^ static_cast<unsigned long long>(y) << 21;
}
static inline __device__ double UniformDouble(unsigned int x, unsigned int y) {
  return Bits53(x, y) * kDoubleTo1 + kDoubleTo1 / 2;
}

static inline __device__ float2 Pair(float radius_of, float angle) {
  const float radius = sqrtf(-2.0f * logf(radius_of));
  float2 result;
  __sincosf(angle, &result.x, &result.y);
  result.x *= radius;
  result.y *= radius;
  return result;
}
static inline __device__ float2 NormalPair(unsigned int x, unsigned int y) {
  constexpr float kScale = kTo1 * kTwoPi;
  return Pair(Uniform(x), y * kScale + kScale / 2);
}
/* `half_turns`: of the angle. */
static inline __device__ double2 PairDouble(double radius_of, double half_turns) {
  const double radius = sqrt(-2.0 * log(radius_of));
  double2 result;
  sincospi(half_turns, &result.x, &result.y);
  result.x *= radius;
  result.y *= radius;
  return result;
}
static inline __device__ double2 NormalPairDouble(uint4 x) {
  return PairDouble(UniformDouble(x.x, x.y), Bits53(x.z, x.w) * (2 * kDoubleTo1) + kDoubleTo1);
}

template <typename State>
static inline __device__ uint4 Four(State* state) {
  uint4 x;
  x.x = curand(state);
  x.y = curand(state);
  x.z = curand(state);
  x.w = curand(state);
  return x;
}
static inline __device__ uint4 Four(curandStatePhilox4_32_10* state) { return curand4(state); }

template <typename State>
static inline __device__ float2 NextNormals(State* state) {
  const unsigned int x = curand(state);
  return NormalPair(x, curand(state));
}
static inline __device__ float2 NextNormals(curandStateMRG32k3a* state) {
  const float x = static_cast<float>(MrgNext(state) * kMrgTo1);
  return Pair(x, static_cast<float>(MrgNext(state) * kMrgTo1) * kTwoPi);
}
template <typename State>
static inline __device__ double2 NextNormalsDouble(State* state) {
  return NormalPairDouble(Four(state));
}
static inline __device__ double2 NextNormalsDouble(curandStateMRG32k3a* state) {
  const double x = MrgNext(state) * kMrgTo1;
  return PairDouble(x, MrgNext(state) * kMrgTo1 * 2.0);
}

template <typename State>
static inline __device__ float Normal(State* state) {
  if (state->kept_kind == kNormalKept) {
    state->kept_kind = kNothingKept;
    return state->kept;
  }
  const float2 pair = NextNormals(state);
  state->kept_kind = kNormalKept;
  state->kept = pair.y;
  return pair.x;
}
template <typename State>
static inline __device__ double NormalDouble(State* state) {
  if (state->kept_double_kind == kNormalKept) {
    state->kept_double_kind = kNothingKept;
    return state->kept_double;
  }
  const double2 pair = NextNormalsDouble(state);
  state->kept_double_kind = kNormalKept;
  state->kept_double = pair.y;
  return pair.x;
}

static inline __device__ float2 Exponentials(float2 x, float mean, float stddev) {
  return make_float2(expf(mean + stddev * x.x), expf(mean + stddev * x.y));
}
static inline __device__ double2 Exponentials(double2 x, double mean, double stddev) {
  return make_double2(exp(mean + stddev * x.x), exp(mean + stddev * x.y));
}
template <typename State>
static inline __device__ float LogNormal(State* state, float mean, float stddev) {
  if (state->kept_kind == kLogNormalKept) {
    state->kept_kind = kNothingKept;
    return state->kept;
  }
  const float2 pair = Exponentials(NextNormals(state), mean, stddev);
  state->kept_kind = kLogNormalKept;
  state->kept = pair.y;
  return pair.x;
}
template <typename State>
static inline __device__ double LogNormalDouble(State* state, double mean, double stddev) {
  if (state->kept_double_kind == kLogNormalKept) {
    state->kept_double_kind = kNothingKept;
    return state->kept_double;
  }
  const double2 pair = Exponentials(NextNormalsDouble(state), mean, stddev);
  state->kept_double_kind = kLogNormalKept;
  state->kept_double = pair.y;
  return pair.x;
}

} /* namespace heddle_curand */

static inline __device__ float curand_uniform(curandStateXORWOW* state) {
  return heddle_curand::Uniform(curand(state));
}
static inline __device__ float curand_uniform(curandStatePhilox4_32_10* state) {
  return heddle_curand::Uniform(curand(state));
}
static inline __device__ float curand_uniform(curandStateMRG32k3a* state) {
  return static_cast<float>(heddle_curand::MrgNext(state) * heddle_curand::kMrgTo1);
}
static inline __device__ float4 curand_uniform4(curandStatePhilox4_32_10* state) {
  using heddle_curand::Uniform;
  const uint4 x = curand4(state);
  return make_float4(Uniform(x.x), Uniform(x.y), Uniform(x.z), Uniform(x.w));
}
static inline __device__ double curand_uniform_double(curandStateXORWOW* state) {
  const unsigned int x = curand(state);
  return heddle_curand::UniformDouble(x, curand(state));
}
/* Of 32 bits, as the vendor's. */
static inline __device__ double curand_uniform_double(curandStatePhilox4_32_10* state) {
  constexpr double kTo1 = 2.3283064365386963e-10;
  return curand(state) * kTo1 + kTo1;
}
static inline __device__ double curand_uniform_double(curandStateMRG32k3a* state) {
  return heddle_curand::MrgNext(state) * heddle_curand::kMrgTo1;
}
static inline __device__ double2 curand_uniform2_double(curandStatePhilox4_32_10* state) {
  const uint4 x = curand4(state);
  return make_double2(heddle_curand::UniformDouble(x.x, x.y), heddle_curand::UniformDouble(x.z, x.w));
}
static inline __device__ double4 curand_uniform4_double(curandStatePhilox4_32_10* state) {
  const double2 x = curand_uniform2_double(state), y = curand_uniform2_double(state);
  return make_double4(x.x, x.y, y.x, y.y);
}

/* Poisson numbers with mean lambda: by products of uniform numbers (Knuth, The Art of Computer Programming, volume 2,
 * 3.4.1) below 64, by rounded normal numbers above 4000, which are the vendor's ways; between them by transformed
 * rejection (Hoermann, "The transformed rejection method for generating Poisson random variables", Insurance:
 * Mathematics and Economics 12, 1993), where the vendor's numbers are others of the same distribution. */
namespace heddle_curand {

template <typename State>
static inline __device__ unsigned int PoissonByProducts(State* state, float lambda) {
  unsigned int number = 0;
  for (float product = expf(lambda) * curand_uniform(state); product > 1; product *= curand_uniform(state)) ++number;
  return number;
}

template <typename State>
static inline __device__ unsigned int PoissonByRejection(State* state, double lambda) {
  const double root = sqrt(lambda), logarithm = log(lambda);
  const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), quick = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = static_cast<double>(curand_uniform(state)) - 0.5, v = curand_uniform(state);
    const double us = 0.5 - fabs(u);
    const double k = floor((2 * a / us + b) * u + lambda + 0.43);
    if (us >= 0.07 && v <= quick) return static_cast<unsigned int>(k);
    if (k < 0 || us <= 0 || (us < 0.013 && v > us)) continue;
    if (log(v * inverse_alpha / (a / (us * us) + b)) <= k * logarithm - lambda - lgamma(k + 1)) {
      return static_cast<unsigned int>(k);
    }
  }
}

template <typename State>
static inline __device__ unsigned int Poisson(State* state, double lambda) {
  if (!(lambda >= 64)) return PoissonByProducts(state, static_cast<float>(lambda));
  if (lambda > 4000) return static_cast<unsigned int>(sqrt(lambda) * NormalDouble(state) + lambda + 0.5);
  return PoissonByRejection(state, lambda);
}

} /* namespace heddle_curand */

#define HEDDLE_CURAND_DISTRIBUTIONS(State)                                                                          \
  static inline __device__ float curand_normal(State* state) { return heddle_curand::Normal(state); }               \
  static inline __device__ float2 curand_normal2(State* state) { return heddle_curand::NextNormals(state); }        \
  static inline __device__ double curand_normal_double(State* state) { return heddle_curand::NormalDouble(state); } \
  static inline __device__ double2 curand_normal2_double(State* state) {                                            \
    return heddle_curand::NextNormalsDouble(state);                                                                 \
  }                                                                                                                 \
  static inline __device__ float curand_log_normal(State* state, float mean, float stddev) {                        \
    return heddle_curand::LogNormal(state, mean, stddev);                                                           \
  }                                                                                                                 \
  static inline __device__ float2 curand_log_normal2(State* state, float mean, float stddev) {                      \
    return heddle_curand::Exponentials(heddle_curand::NextNormals(state), mean, stddev);                            \
  }                                                                                                                 \
  static inline __device__ double curand_log_normal_double(State* state, double mean, double stddev) {              \
    return heddle_curand::LogNormalDouble(state, mean, stddev);                                                     \
  }                                                                                                                 \
  static inline __device__ double2 curand_log_normal2_double(State* state, double mean, double stddev) {            \
    return heddle_curand::Exponentials(heddle_curand::NextNormalsDouble(state), mean, stddev);                      \
  }                                                                                                                 \
  static inline __device__ unsigned int curand_poisson(State* state, double lambda) {                               \
    return heddle_curand::Poisson(state, lambda);                                                                   \
  }
HEDDLE_CURAND_DISTRIBUTIONS(curandStateXORWOW)
HEDDLE_CURAND_DISTRIBUTIONS(curandStatePhilox4_32_10)
HEDDLE_CURAND_DISTRIBUTIONS(curandStateMRG32k3a)
#undef HEDDLE_CURAND_DISTRIBUTIONS

static inline __device__ float4 curand_normal4(curandStatePhilox4_32_10* state) {
  const uint4 x = curand4(state);
  const float2 first = heddle_curand::NormalPair(x.x, x.y), second = heddle_curand::NormalPair(x.z, x.w);
  return make_float4(first.x, first.y, second.x, second.y);
}
static inline __device__ double4 curand_normal4_double(curandStatePhilox4_32_10* state) {
  const double2 first = curand_normal2_double(state), second = curand_normal2_double(state);
  return make_double4(first.x, first.y, second.x, second.y);
}
static inline __device__ float4 curand_log_normal4(curandStatePhilox4_32_10* state, float mean, float stddev) {
  const float4 x = curand_normal4(state);
  return make_float4(expf(mean + stddev * x.x), expf(mean + stddev * x.y), expf(mean + stddev * x.z),
                     expf(mean + stddev * x.w));
}
static inline __device__ double4 curand_log_normal4_double(curandStatePhilox4_32_10* state, double mean,
                                                           double stddev) {
  const double4 x = curand_normal4_double(state);
  return make_double4(exp(mean + stddev * x.x), exp(mean + stddev * x.y), exp(mean + stddev * x.z),
                      exp(mean + stddev * x.w));
}
static inline __device__ uint4 curand_poisson4(curandStatePhilox4_32_10* state, double lambda) {
  uint4 x;
  x.x = curand_poisson(state, lambda);
  x.y = curand_poisson(state, lambda);
  x.z = curand_poisson(state, lambda);
  x.w = curand_poisson(state, lambda);
  return x;
}

#endif /* HEDDLE_CURAND_DISTRIBUTIONS_H_ */
