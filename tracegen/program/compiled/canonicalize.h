// Device code of our own compilation, made canonical.
#ifndef HEDDLE_TRACEGEN_PROGRAM_COMPILED_CANONICALIZE_H_
#define HEDDLE_TRACEGEN_PROGRAM_COMPILED_CANONICALIZE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "tracegen/program/static_program.h"

namespace heddle::tracegen {

// Brings device bitcode into canonical form and makes its PTX (once per module).
// Errors: code that LLVM's NVPTX back end cannot handle, inline PTX without a meaning, an endless loop without a
// decision; each named with the source line.
absl::StatusOr<CanonicalModule> Canonicalize(std::unique_ptr<llvm::LLVMContext> context,
                                             std::unique_ptr<llvm::Module> module, const std::string& target);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_COMPILED_CANONICALIZE_H_
