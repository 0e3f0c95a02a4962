// Inline PTX that stands in the program as it is written: what it means on the host. This comes first, so that all
// later steps see loads, stores and atomic operations, whoever wrote them.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "tracegen/instrument/kernel_pass.h"
#include "tracegen/program/ptx_source/inline_lowering.h"
#include "tracegen/ptx/inline_ptx.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

absl::Status LowerStatement(KernelPass& pass, llvm::CallInst& call) {
  const auto linked = pass.links.accesses.find(&call);
  const auto links = linked == pass.links.accesses.end() ? decltype(linked->second)() : linked->second;
  HEDDLE_ASSIGN_OR_RETURN(const ptx::Module source, ReadInlinePtx(call));
  if (links.size() != InlineAccessesOf(call).size()) {
    return absl::InternalError("accesses that the PTX of the program does not have");
  }
  pass.links.accesses.erase(&call);
  std::vector<llvm::Instruction*> accesses;
  HEDDLE_RETURN_IF_ERROR(ExecuteInlinePtx(call, source, &accesses));
  for (size_t i = 0; i < accesses.size(); ++i) pass.links.accesses[accesses[i]].push_back(links[i]);
  return absl::OkStatus();
}

}  // namespace

absl::Status LowerInlinePtx(KernelPass& pass) {
  for (llvm::Function* function : pass.functions) {
    std::vector<llvm::CallInst*> calls;
    for (llvm::Instruction& instruction : llvm::instructions(*function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call != nullptr && call->isInlineAsm()) calls.push_back(call);
    }
    for (llvm::CallInst* call : calls) {
      const absl::Status status = LowerStatement(pass, *call);
      if (status.ok()) continue;
      const std::string text = llvm::cast<llvm::InlineAsm>(call->getCalledOperand())->getAsmString();
      return pass.Unsupported(*call, absl::StrCat("inline PTX '", text, "' (", status.message(), ")"));
    }
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
