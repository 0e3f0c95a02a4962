// Device bitcode from memory, and several modules linked into one.
#ifndef HEDDLE_TRACEGEN_FRONTEND_BITCODE_H_
#define HEDDLE_TRACEGEN_FRONTEND_BITCODE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace heddle::tracegen {

// Reads LLVM bitcode for nvptx64. `name` stands for it in errors: not LLVM 19 bitcode, broken, for another target.
absl::StatusOr<std::unique_ptr<llvm::Module>> ReadBitcode(std::string_view bitcode, const std::string& name,
                                                          llvm::LLVMContext& context);

// Links separately compiled device code, as nvcc -rdc=true does: a part's external functions and variables are those of
// the part that defines them. With one part this is ReadBitcode. Errors: symbols that are defined twice or not at all.
absl::StatusOr<std::unique_ptr<llvm::Module>> LinkBitcode(const std::vector<std::string_view>& parts,
                                                          const std::string& name, llvm::LLVMContext& context);

// The module as bitcode.
std::string WriteBitcode(const llvm::Module& module);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_FRONTEND_BITCODE_H_
