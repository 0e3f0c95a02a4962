#include "tracegen/program/compiled/intrinsic_statements.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "tracegen/program/ptx_source/statement.h"

namespace heddle::tracegen {
namespace {

bool HasVariableArgument(const llvm::CallInst& call) {
  return llvm::any_of(call.args(), [](const llvm::Use& use) { return !llvm::isa<llvm::ConstantInt>(use.get()); });
}

// The text in which $0 and so on are first the result, if there is one, then the arguments; nothing for other calls.
std::optional<std::string> TextOf(const llvm::CallInst& call, llvm::StringRef name) {
  const unsigned first = call.getType()->isVoidTy() ? 0 : 1;
  const auto argument = [first](unsigned i) { return absl::StrCat("$", first + i); };
  if (name.starts_with("barrier.cluster.")) return absl::StrCat(name.str(), ";");
  if ((name == "barrier.sync" || name == "barrier.n" || name == "bar.sync") && HasVariableArgument(call)) {
    return absl::StrCat(name == "barrier.sync" ? "barrier" : "bar", ".sync ", argument(0), ";");
  }
  if ((name == "barrier.sync.cnt" || name == "barrier") && HasVariableArgument(call)) {
    return absl::StrCat(name == "barrier" ? "bar" : "barrier", ".sync ", argument(0), ", ", argument(1), ";");
  }
  if (name == "cp.async.commit.group") return "cp.async.commit_group;";
  if (name == "cp.async.wait.all") return "cp.async.wait_all;";
  if (name == "cp.async.wait.group") return "cp.async.wait_group $0;";
  if (name.starts_with("cp.async.mbarrier.arrive")) {
    const char* noinc = name.contains(".noinc") ? ".noinc" : "";
    return absl::StrCat("cp.async.mbarrier.arrive", noinc, name.ends_with(".shared") ? ".shared" : "", ".b64 [$0];");
  }
  if (llvm::StringRef rest = name; rest.consume_front("cp.async.")) {
    const bool reads_less = rest.consume_back(".s");
    for (const char* bytes : {"4", "8", "16"}) {
      if (!rest.consume_back(std::string(".") + bytes)) continue;
      return absl::StrCat("cp.async.", rest.str(), " [$0], [$1], ", bytes, reads_less ? ", $2;" : ";");
    }
    return std::nullopt;
  }
  llvm::StringRef operation = name;
  if (!operation.consume_front("mbarrier.")) return std::nullopt;
  if (operation == "pending.count") return "mbarrier.pending_count.b64 $0, $1;";
  const char* space = operation.consume_back(".shared") ? ".shared" : "";
  const std::string written =
      absl::StrReplaceAll(operation.str(), {{"arrive.drop", "arrive_drop"}, {"test.wait", "test_wait"}});
  std::string operands = absl::StrCat(first == 1 ? "$0, " : "", "[", argument(0), "]");
  for (unsigned i = 1; i < call.arg_size(); ++i) absl::StrAppend(&operands, ", ", argument(i));
  return absl::StrCat("mbarrier.", written, space, ".b64 ", operands, ";");
}

void Write(llvm::CallInst& call, const std::string& text) {
  llvm::IRBuilder<> b(&call);
  std::vector<llvm::Value*> arguments;
  std::vector<std::string> constraints;
  llvm::Type* result = call.getType();
  const bool is_predicate = result->isIntegerTy(1);
  if (!result->isVoidTy()) constraints.emplace_back(is_predicate ? "=b" : result->isIntegerTy(64) ? "=l" : "=r");
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    llvm::Value* argument = call.getArgOperand(i);
    if (argument->getType()->isPointerTy()) argument = b.CreatePtrToInt(argument, b.getInt64Ty());
    const bool is_immediate = call.paramHasAttr(i, llvm::Attribute::ImmArg);
    arguments.push_back(argument);
    constraints.emplace_back(is_immediate ? "n" : argument->getType()->isIntegerTy(64) ? "l" : "r");
  }
  constraints.emplace_back("~{memory}");
  llvm::CallInst* statement = EmitStatement(b, text, constraints, result, arguments);
  if (!result->isVoidTy()) call.replaceAllUsesWith(statement);
  call.eraseFromParent();
}

}  // namespace

void WriteIntrinsicsAsStatements(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call == nullptr) continue;
      llvm::StringRef name = call->getCalledFunction()->getName();
      if (!name.consume_front("llvm.nvvm.")) continue;
      if (const std::optional<std::string> text = TextOf(*call, name)) Write(*call, *text);
    }
  }
}

}  // namespace heddle::tracegen
