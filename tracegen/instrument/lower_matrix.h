// Matrix instructions, at which the threads of a warp meet with several registers each.
#ifndef HEDDLE_TRACEGEN_INSTRUMENT_LOWER_MATRIX_H_
#define HEDDLE_TRACEGEN_INSTRUMENT_LOWER_MATRIX_H_

#include "llvm/IR/Instructions.h"
#include "tracegen/instrument/kernel_pass.h"

namespace heddle::tracegen {

// Puts stores of operands, a call of the runtime and loads of results (LaneRegisters) in the place of a call of
// kMatrixFunction (ptx_source/windows.h).
void LowerMatrixOperation(KernelPass& pass, llvm::CallInst& call);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_INSTRUMENT_LOWER_MATRIX_H_
