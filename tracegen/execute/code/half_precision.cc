#include "tracegen/execute/code/half_precision.h"

#include <bit>
#include <cmath>

namespace heddle::tracegen {

float HalfToFloat(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  uint32_t exponent = (half >> 10) & 31;
  uint32_t mantissa = half & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent == 0)
    return std::copysign(std::ldexp(static_cast<float>(mantissa), -24), std::bit_cast<float>(sign | 0x3f800000u));
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}
uint16_t FloatToHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (std::isnan(value)) return 0x7fff;
  float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f) return sign | 0x7c00;
  if (magnitude < 0x1p-14f) return sign | static_cast<uint16_t>(std::nearbyint(magnitude * 0x1p24f));
  int exponent;
  float fraction = std::frexp(magnitude, &exponent);  // [0.5, 1)
  uint32_t mantissa = static_cast<uint32_t>(std::nearbyint(fraction * 2048.0f));
  return sign | static_cast<uint16_t>((static_cast<uint32_t>(exponent + 13) << 10) + mantissa);
}

}  // namespace heddle::tracegen
