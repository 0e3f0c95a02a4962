// IEEE 754 half precision on the host, rounding to the nearest even.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CODE_HALF_PRECISION_H_
#define HEDDLE_TRACEGEN_EXECUTE_CODE_HALF_PRECISION_H_

#include <cstdint>

namespace heddle::tracegen {

float HalfToFloat(uint16_t half);
uint16_t FloatToHalf(float value);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CODE_HALF_PRECISION_H_
