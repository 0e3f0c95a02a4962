// Functions that calls of a PTX module go to.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_CALLEE_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_CALLEE_H_

#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen {

// The function that a direct call goes to, aliases resolved; null for calls through registers.
const ptx::Function* CalleeOf(const ptx::Module& module, const ptx::Instruction& call);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_CALLEE_H_
