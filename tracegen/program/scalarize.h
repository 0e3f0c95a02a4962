// A second form of canonical IR, for functions whose vectors PTX takes apart in ways that cannot be followed.
#ifndef HEDDLE_TRACEGEN_PROGRAM_SCALARIZE_H_
#define HEDDLE_TRACEGEN_PROGRAM_SCALARIZE_H_

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Function.h"
#include "llvm/Target/TargetMachine.h"
#include "tracegen/program/static_program.h"

namespace heddle::tracegen {

// Takes apart what the code generator would: operations on vectors, and accesses to vectors that are not aligned to
// their size (`vload3` of bytes). Each part is an instruction of its own then, whose access has a number of its own.
// Aligned accesses stay whole, as PTX has them. All instructions of the module are numbered anew.
void ScalarizeVectors(CanonicalModule& canonical, const llvm::DenseSet<const llvm::Function*>& functions,
                      llvm::TargetMachine& machine);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_SCALARIZE_H_
