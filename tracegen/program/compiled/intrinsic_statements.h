// Intrinsics of LLVM that become inline PTX.
#ifndef HEDDLE_TRACEGEN_PROGRAM_COMPILED_INTRINSIC_STATEMENTS_H_
#define HEDDLE_TRACEGEN_PROGRAM_COMPILED_INTRINSIC_STATEMENTS_H_

#include "llvm/IR/Module.h"

namespace heddle::tracegen {

// Asynchronous copies, transaction barriers, barriers of a cluster, and barriers whose number or count is not constant:
// puts the text of the instruction in the place of the intrinsic, so that there is one way for both.
void WriteIntrinsicsAsStatements(llvm::Module& module);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_COMPILED_INTRINSIC_STATEMENTS_H_
