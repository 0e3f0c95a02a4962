#include "tracegen/program/compiled/inline_ptx.h"

#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "tracegen/program/compiled/intrinsic_statements.h"
#include "tracegen/program/device_calls.h"
#include "tracegen/program/prepare.h"
#include "tracegen/program/ptx_source/inline_lowering.h"
#include "tracegen/ptx/inline_ptx.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

// Whether a comment of the text reads like one of the code generator's own, by which the text that it prints is read.
bool Misleads(absl::string_view text) {
  for (const absl::string_view mark : {"%bb.", "inline asm", "callseq "}) {
    if (absl::StrContains(text, mark)) return true;
  }
  return false;
}

class Translation {
 public:
  explicit Translation(const std::string& target) {
    if (target.starts_with("sm_")) capability_ = static_cast<unsigned>(std::strtoul(target.c_str() + 3, nullptr, 10));
  }

  absl::Status Statement(llvm::CallInst& call) {
    HEDDLE_ASSIGN_OR_RETURN(const ptx::Module source, ReadInlinePtx(call, /*fold=*/true));
    HEDDLE_RETURN_IF_ERROR(CheckTarget(source.functions[0]));
    const auto* assembly = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
    if (!StaysAsWritten(source.functions[0]) || Misleads(assembly->getAsmString())) {
      return CutInlinePtx(call, source);
    }
    // Libraries have the same statement many times.
    if (!tried_.emplace(assembly, call.getFunctionType()).second) return absl::OkStatus();
    return TryInlinePtx(call, source);
  }

 private:
  // What the code generator writes anew has to exist on the target; so have copies and barriers of newer devices.
  absl::Status CheckTarget(const ptx::Function& statement) const {
    for (const ptx::Statement& at : statement.body) {
      const ptx::Instruction* instruction = at.instruction();
      if (instruction == nullptr) continue;
      const std::string_view opcode = instruction->opcode();
      const bool accesses_cluster = instruction->Has("shared::cluster") && opcode != "isspacep" && opcode != "cvta";
      const bool is_new = instruction->Has("cluster") || accesses_cluster || instruction->Has("try_wait") ||
                          opcode == "elect" || opcode == "mapa" || opcode == "getctarank";
      const unsigned needed = is_new && instruction->form->op != trace::v1::OP_FENCE        ? 90
                              : opcode == "redux" || opcode == "cp" || opcode == "mbarrier" ? 80
                              : opcode == "match"                                           ? 70
                                                                                            : 0;
      if (capability_ == 0 || capability_ >= needed) continue;
      return absl::UnimplementedError(absl::StrCat("PTX line ", at.line, ": ", instruction->Mnemonic(),
                                                   ", which needs compute capability ", needed / 10, ".", needed % 10));
    }
    return absl::OkStatus();
  }

  unsigned capability_ = 0;  // 0: not known
  std::set<std::pair<const llvm::InlineAsm*, const llvm::FunctionType*>> tried_;
};

}  // namespace

absl::Status TranslateInlinePtx(llvm::Module& module, const std::string& target) {
  WriteIntrinsicsAsStatements(module);
  std::vector<llvm::CallInst*> calls;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call != nullptr && call->isInlineAsm()) calls.push_back(call);
    }
  }
  Translation translation(target);
  for (llvm::CallInst* call : calls) {
    const absl::Status status = translation.Statement(*call);
    if (status.ok()) continue;
    const std::string text = llvm::cast<llvm::InlineAsm>(call->getCalledOperand())->getAsmString();
    return RefuseAt(*call, ExplainInlinePtx(text, status.message()));
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
