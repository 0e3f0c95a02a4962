// What modules of LLVM IR share that are lowered from text, whatever the text is.
#ifndef HEDDLE_TRACEGEN_PROGRAM_LOWERED_MODULE_H_
#define HEDDLE_TRACEGEN_PROGRAM_LOWERED_MODULE_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "tracegen/program/flow.h"

namespace heddle::tracegen {

// Scopes for debug locations, whose lines are numbers of instructions.
class InstructionScopes {
 public:
  explicit InstructionScopes(llvm::Module& module);
  // The scope of a function, which gets it, too.
  llvm::DISubprogram* Add(llvm::Function& function);
  // To be called once, behind the last function.
  void Finish() { builder_.finalize(); }

 private:
  llvm::DIBuilder builder_;
  llvm::DIFile* file_;
  llvm::DISubroutineType* type_;
};

// By node: whether control can come to it.
std::vector<bool> ReachedNodes(const FlowFunction& flow);

// An error if the IR is broken, which is a fault of the lowering; `what` it was made of: "PTX".
absl::Status VerifyLowered(const llvm::Module& module, absl::string_view what);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_LOWERED_MODULE_H_
