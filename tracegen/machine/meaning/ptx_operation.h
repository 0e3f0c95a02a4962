// What machine instructions have in common with PTX is computed by the meaning of the PTX instruction.
#ifndef HEDDLE_TRACEGEN_MACHINE_MEANING_PTX_OPERATION_H_
#define HEDDLE_TRACEGEN_MACHINE_MEANING_PTX_OPERATION_H_

#include <string_view>

#include "tracegen/machine/meaning/emission.h"

namespace heddle::tracegen::machine {

// The result of a PTX instruction with one result, such as "add.rm.ftz.f32", of these values in the place of its
// registers; integers may be wider than what it takes of them. Emission::failure says so if it has no meaning.
llvm::Value* PtxOperation(Emission& e, std::string_view mnemonic, llvm::ArrayRef<llvm::Value*> inputs);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_MEANING_PTX_OPERATION_H_
