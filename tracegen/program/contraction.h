// Fusion of multiplications and additions, decided once for the PTX and the execution.
#ifndef HEDDLE_TRACEGEN_PROGRAM_CONTRACTION_H_
#define HEDDLE_TRACEGEN_PROGRAM_CONTRACTION_H_

#include "llvm/IR/Function.h"

namespace heddle::tracegen {

// Makes one `llvm.fma` of every single- or double-precision sum or difference that may be contracted with a product of
// its block, whether or not that product is also used elsewhere, and takes the permission from all instructions: no
// code generator fuses anything of its own. Choices follow LLVM's NVPTX back end. Half-precision stays unfused, since
// the host cannot round such a fused operation once. Products that nobody needs any more are left to dead code
// elimination.
void FuseMultiplyAdds(llvm::Function& function);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_CONTRACTION_H_
