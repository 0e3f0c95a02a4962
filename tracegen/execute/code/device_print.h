// printf of device code.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CODE_DEVICE_PRINT_H_
#define HEDDLE_TRACEGEN_EXECUTE_CODE_DEVICE_PRINT_H_

#include <cstdint>
#include <string>

namespace heddle::tracegen {

// What a format and its arguments print. `arguments` are packed one after the other, each at a multiple of its own
// size, as clang lays them out for vprintf: integers and pointers as wide as the conversion says (int unless h, l, ll,
// z, t or j stand before it), floating-point numbers as double. OpenCL's vectors (v2, v3, v4, v8, v16 with hh, h, hl or
// l) are printed with commas between the elements (OpenCL 1.2 specification, 6.12.13). Text that is no conversion is
// kept as it stands; %n stores nothing. `conversions` counts the arguments that were printed.
std::string FormatDeviceText(const char* format, const char* arguments, uint32_t* conversions);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CODE_DEVICE_PRINT_H_
