// Variables of a PTX module as global variables of LLVM IR.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_VARIABLES_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_VARIABLES_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"
#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen {

class PtxVariables {
 public:
  PtxVariables(const ptx::Module& source, llvm::Module& module) : source_(source), module_(module) {}

  // Declares all variables outside the local state space, those of function bodies included, in the order of the text.
  // Variables of `source` without an item are those of that name which `module` has already.
  // Errors: variables of a kind that is not supported.
  absl::Status Declare();
  // Gives them their initial values. `functions`: by Module::functions.
  absl::Status Initialize(const std::vector<llvm::Function*>& functions);

  // Null for variables of the local and parameter state spaces.
  llvm::GlobalVariable* Global(uint32_t index) const { return globals_[index]; }
  llvm::GlobalVariable* OfBody(uint32_t function, uint32_t index) const;

 private:
  absl::Status Error(const ptx::Variable& variable, absl::string_view what) const;
  absl::StatusOr<llvm::GlobalVariable*> Make(const ptx::Variable& variable);
  absl::StatusOr<llvm::Constant*> Value(const ptx::Variable& variable, const std::vector<llvm::Function*>& functions);

  const ptx::Module& source_;
  llvm::Module& module_;
  std::vector<llvm::GlobalVariable*> globals_;
  std::map<std::pair<uint32_t, uint32_t>, llvm::GlobalVariable*> of_bodies_;  // by function and index
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_VARIABLES_H_
