// What functions of the device's mathematical library take and return. PTX that declares them tells sizes only.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_LIBDEVICE_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_LIBDEVICE_H_

#include <string_view>

namespace heddle::tracegen {

// One letter for the result and one for each argument: v nothing, h 16, i 32, l 64 bits of an integer, f float, d
// double, p an address. Empty if the library has no function of this name. `__nv_powf` is "fff".
std::string_view LibdeviceSignature(std::string_view function);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_LIBDEVICE_H_
