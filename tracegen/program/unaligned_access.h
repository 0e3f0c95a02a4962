// Accesses that are aligned to less than their size.
#ifndef HEDDLE_TRACEGEN_PROGRAM_UNALIGNED_ACCESS_H_
#define HEDDLE_TRACEGEN_PROGRAM_UNALIGNED_ACCESS_H_

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instruction.h"

namespace heddle::tracegen {

// PTX accesses are aligned to their size. Of a load or store of a number, or of a vector of numbers, that is not (what
// remains of memcpy from an array of bytes), the code generator makes several accesses and puts the value together;
// done here, each of them is an instruction of its own. Other instructions, and vectors whose elements are aligned,
// stay as they are. True if `access` has been replaced and deleted.
bool ExpandUnalignedAccess(llvm::Instruction& access, const llvm::DataLayout& layout);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_UNALIGNED_ACCESS_H_
