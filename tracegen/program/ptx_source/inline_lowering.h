// Inline PTX as LLVM IR, by the lowering that PTX text has.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_INLINE_LOWERING_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_INLINE_LOWERING_H_

#include <vector>

#include "absl/status/status.h"
#include "llvm/IR/Instructions.h"
#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen {

// Of instructions that compute what inline PTX says, to the bit: a function that flushes denormals does not flush
// theirs.
inline constexpr char kAsWrittenMetadata[] = "heddle.as-written";

// `source` is what ReadInlinePtx gives for `call` in all three. Errors: what cannot be executed, with its line and text
// within the statement; the call is unchanged then.

// For the code generator: cuts a statement into blocks, branches and statements of one instruction, in the call's
// place.
absl::Status CutInlinePtx(llvm::CallInst& call, const ptx::Module& source);

// For execution: puts the meaning of a statement that stays as written in the call's place. `accesses` receives what
// makes its accesses to memory, in the order of the text: one for each number that threads record.
absl::Status ExecuteInlinePtx(llvm::CallInst& call, const ptx::Module& source,
                              std::vector<llvm::Instruction*>* accesses);

// Only says whether ExecuteInlinePtx can.
absl::Status TryInlinePtx(const llvm::CallInst& call, const ptx::Module& source);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_INLINE_LOWERING_H_
