// Inline PTX of device code, before code is generated.
#ifndef HEDDLE_TRACEGEN_PROGRAM_COMPILED_INLINE_PTX_H_
#define HEDDLE_TRACEGEN_PROGRAM_COMPILED_INLINE_PTX_H_

#include <string>

#include "absl/status/status.h"
#include "llvm/IR/Module.h"

namespace heddle::tracegen {

// Some intrinsics become statements first (intrinsic_statements.h). Cuts the asm statements that cannot stay as they
// are written (tracegen/ptx/inline_ptx.h says which), and makes sure that the others can be executed. `target`: such as
// "sm_70". Errors: statements that cannot be read, or have no meaning yet, with the source's line, the text and the
// line in it.
absl::Status TranslateInlinePtx(llvm::Module& module, const std::string& target);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_COMPILED_INLINE_PTX_H_
