// Functions that generated code may call, by name.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CODE_MATH_LIBRARY_H_
#define HEDDLE_TRACEGEN_EXECUTE_CODE_MATH_LIBRARY_H_

#include <string>
#include <utility>
#include <vector>

namespace heddle::tracegen {

// Device math (`__nv_...`) bound to SLEEF's functions with the same results on every processor, to exact operations, or
// to functions of our own; directed rounding (`heddle_add_rz`, ...); and what LLVM itself calls (memcpy, fmod, ...).
const std::vector<std::pair<std::string, void*>>& MathLibrary();

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CODE_MATH_LIBRARY_H_
