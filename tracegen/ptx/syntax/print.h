// Writes a syntax tree as PTX text again.
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_PRINT_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_PRINT_H_

#include <string>

#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen::ptx {

// Text that ParseModule reads to the same tree, but for lines; ptxas takes it as it takes the original.
std::string Print(const Module& module);
// One instruction on one line, without its end: "@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8];". For messages too.
std::string Print(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_PRINT_H_
