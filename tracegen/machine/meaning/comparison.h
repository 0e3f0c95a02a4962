// Comparisons of floating-point numbers, by the modifier that names them.
#ifndef HEDDLE_TRACEGEN_MACHINE_MEANING_COMPARISON_H_
#define HEDDLE_TRACEGEN_MACHINE_MEANING_COMPARISON_H_

#include "tracegen/machine/meaning/emission.h"

namespace heddle::tracegen::machine {

// An i1. The comparison is one of the instruction's modifiers: LT, GEU, NUM, ...
llvm::Value* ComparedFloats(Emission& e, llvm::Value* a, llvm::Value* c);
// Two predicates combined as AND, OR or XOR says.
llvm::Value* Combined(Emission& e, llvm::Value* result, llvm::Value* other);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_MEANING_COMPARISON_H_
