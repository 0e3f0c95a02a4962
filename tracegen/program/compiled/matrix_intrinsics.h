// LLVM's intrinsics of matrix instructions, which clang makes of its built-in functions.
#ifndef HEDDLE_TRACEGEN_PROGRAM_COMPILED_MATRIX_INTRINSICS_H_
#define HEDDLE_TRACEGEN_PROGRAM_COMPILED_MATRIX_INTRINSICS_H_

#include "llvm/IR/Module.h"

namespace heddle::tracegen {

// Puts the instruction, as a statement of inline PTX, in the place of each call of llvm.nvvm.wmma.*, llvm.nvvm.mma.*
// and llvm.nvvm.ldmatrix.*; from there on there is one way for all. Forms that are not executed stay: they are refused
// later.
void TranslateMatrixIntrinsics(llvm::Module& module);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_COMPILED_MATRIX_INTRINSICS_H_
