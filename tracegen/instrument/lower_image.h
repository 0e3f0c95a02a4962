// Textures and surfaces of NVPTX as calls of the runtime.
#ifndef HEDDLE_TRACEGEN_INSTRUMENT_LOWER_IMAGE_H_
#define HEDDLE_TRACEGEN_INSTRUMENT_LOWER_IMAGE_H_

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "tracegen/instrument/kernel_pass.h"

namespace heddle::tracegen {

// Host code for the intrinsic llvm.nvvm.NAME on textures and surfaces, inserted before `call`; null if it is none.
llvm::Value* LowerImage(KernelPass& pass, llvm::IRBuilder<>& builder, llvm::CallInst& call, llvm::StringRef name);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_INSTRUMENT_LOWER_IMAGE_H_
