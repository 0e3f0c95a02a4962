// Arithmetic and conversions that round as an instruction says. Files that use it are compiled with -frounding-math.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CODE_DIRECTED_ROUNDING_H_
#define HEDDLE_TRACEGEN_EXECUTE_CODE_DIRECTED_ROUNDING_H_

#include <cfenv>
#include <cmath>
#include <limits>

namespace heddle::tracegen::rounding {

// The empty assembly keeps the compiler from computing before the mode is set or after it is restored.
template <typename T>
T Opaque(T value) {
  asm volatile("" : "+x"(value));
  return value;
}

// The mode of the host, for as long as the object lives.
class Rounding {
 public:
  explicit Rounding(int mode) : old_(fegetround()) { fesetround(mode); }
  ~Rounding() { fesetround(old_); }

 private:
  int old_;
};

// `kMode`: FE_TONEAREST and the like of <cfenv>.
template <typename T, int kMode>
T Add(T a, T b) {
  Rounding rounding(kMode);
  return Opaque(Opaque(a) + Opaque(b));
}
template <typename T, int kMode>
T Subtract(T a, T b) {
  Rounding rounding(kMode);
  return Opaque(Opaque(a) - Opaque(b));
}
template <typename T, int kMode>
T Multiply(T a, T b) {
  Rounding rounding(kMode);
  return Opaque(Opaque(a) * Opaque(b));
}
template <typename T, int kMode>
T Divide(T a, T b) {
  Rounding rounding(kMode);
  return Opaque(Opaque(a) / Opaque(b));
}
template <typename T, int kMode>
T Reciprocal(T a) {
  Rounding rounding(kMode);
  return Opaque(Opaque(T{1}) / Opaque(a));
}
template <typename T, int kMode>
T SquareRoot(T a) {
  Rounding rounding(kMode);
  return Opaque(std::sqrt(Opaque(a)));
}
template <typename T, int kMode>
T FusedMultiplyAdd(T a, T b, T c) {
  Rounding rounding(kMode);
  return Opaque(std::fma(Opaque(a), Opaque(b), Opaque(c)));
}
template <int kMode>
float Narrow(double a) {
  Rounding rounding(kMode);
  return Opaque(static_cast<float>(Opaque(a)));
}
template <typename To, typename From, int kMode>
To FromInteger(From a) {
  Rounding rounding(kMode);
  asm volatile("" : "+r"(a));
  return Opaque(static_cast<To>(a));
}

// To integers, as PTX does: what is too large becomes the greatest, and what is no number 0.
template <typename To, typename From>
To Saturate(From value) {
  if (std::isnan(value)) return 0;
  constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
  // 2^n is exact where the greatest integer is not.
  From high = std::ldexp(From{1}, std::numeric_limits<To>::digits);
  if (value >= high) return std::numeric_limits<To>::max();
  if (value < kLow) return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}
template <typename To, typename From, int kMode>
To ToInteger(From value) {
  switch (kMode) {
    case FE_TONEAREST:
      return Saturate<To>(std::nearbyint(value));
    case FE_TOWARDZERO:
      return Saturate<To>(std::trunc(value));
    case FE_DOWNWARD:
      return Saturate<To>(std::floor(value));
    default:
      return Saturate<To>(std::ceil(value));
  }
}

}  // namespace heddle::tracegen::rounding

#endif  // HEDDLE_TRACEGEN_EXECUTE_CODE_DIRECTED_ROUNDING_H_
