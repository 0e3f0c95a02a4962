// Half-precision numbers, computed from their bits.
#ifndef HEDDLE_TESTS_TRACEGEN_PROGRAM_PTX_SOURCE_HALF_NUMBER_H_
#define HEDDLE_TESTS_TRACEGEN_PROGRAM_PTX_SOURCE_HALF_NUMBER_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace heddle::tracegen {

inline double HalfToDouble(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  if (exponent == 31) value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
  return bits >> 15 ? -value : value;
}

// To the nearest, of a number that is exact, or close enough to one for no tie to be lost.
inline uint16_t DoubleToHalf(double value) {
  if (std::isnan(value)) return 0x7fff;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int step = std::max(exponent - 11, -24);  // the weight of the last bit
  const double units = std::nearbyint(std::ldexp(magnitude, -step));
  const double rounded = std::ldexp(units, step);
  if (rounded == 0) return sign;
  std::frexp(rounded, &exponent);
  if (exponent - 11 < -24 || rounded < std::ldexp(1, -14)) {
    return static_cast<uint16_t>(sign | static_cast<int>(std::ldexp(rounded, 24)));
  }
  const auto fraction = static_cast<int>(std::ldexp(rounded, 11 - exponent)) - 1024;
  return static_cast<uint16_t>(sign | (exponent + 14) << 10 | fraction);
}

inline bool IsHalfNan(uint16_t bits) { return (bits & 0x7fff) > 0x7c00; }

}  // namespace heddle::tracegen

#endif  // HEDDLE_TESTS_TRACEGEN_PROGRAM_PTX_SOURCE_HALF_NUMBER_H_
