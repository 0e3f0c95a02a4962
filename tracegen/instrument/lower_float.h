// Floating-point intrinsics of NVPTX as host code.
#ifndef HEDDLE_TRACEGEN_INSTRUMENT_LOWER_FLOAT_H_
#define HEDDLE_TRACEGEN_INSTRUMENT_LOWER_FLOAT_H_

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "tracegen/instrument/kernel_pass.h"

namespace heddle::tracegen {

// Host code for the intrinsic llvm.nvvm.NAME, inserted before `call`; null if it is not known.
llvm::Value* LowerFloat(KernelPass& pass, llvm::IRBuilder<>& builder, llvm::CallInst& call, llvm::StringRef name);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_INSTRUMENT_LOWER_FLOAT_H_
