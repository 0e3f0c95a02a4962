// Code for machines that cannot select: a choice of two values becomes a branch.
#ifndef HEDDLE_TRACEGEN_PROGRAM_COMPILED_SELECTIONS_H_
#define HEDDLE_TRACEGEN_PROGRAM_COMPILED_SELECTIONS_H_

#include "llvm/IR/Module.h"

namespace heddle::tracegen {

// Turns every selection of a value by a condition of its own, and every minimum and maximum of integers, into a branch
// around a move. Fung's thesis has such code (section 5.3: PISA has no conditional moves). Selections of whole vectors
// stay.
void LowerSelections(llvm::Module& module);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_COMPILED_SELECTIONS_H_
