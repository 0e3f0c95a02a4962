// Bitcode that is a part of a program, as PTX that is linked with other PTX.
#ifndef HEDDLE_TRACEGEN_PROGRAM_COMPILED_PART_PTX_H_
#define HEDDLE_TRACEGEN_PROGRAM_COMPILED_PART_PTX_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace heddle::tracegen {

// With the lines of the source. Errors: as those of Canonicalize.
absl::StatusOr<std::string> PtxOfPart(std::unique_ptr<llvm::LLVMContext> context, std::unique_ptr<llvm::Module> module,
                                      const std::string& target);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_COMPILED_PART_PTX_H_
