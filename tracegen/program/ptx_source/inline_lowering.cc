#include "tracegen/program/ptx_source/inline_lowering.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "tracegen/program/ptx_source/function_lowering.h"
#include "tracegen/program/ptx_source/layout.h"
#include "tracegen/program/ptx_source/place_table.h"
#include "tracegen/program/ptx_source/variables.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

absl::Status CheckInstructions(const ptx::Function& statement) {
  for (const ptx::Statement& at : statement.body) {
    const ptx::Instruction* instruction = at.instruction();
    if (instruction == nullptr) continue;
    const std::string_view opcode = instruction->opcode();
    if (opcode != "ret" && opcode != "call") continue;
    return absl::UnimplementedError(
        absl::StrCat("PTX line ", at.line, ": ", opcode == "ret" ? "a return" : "a call", " within a statement"));
  }
  return absl::OkStatus();
}

// A statement as a function of a module.
class StatementFunction {
 public:
  StatementFunction(const ptx::Module& source, const llvm::CallInst& call, llvm::Module& module)
      : source_(source), module_(module) {
    function_ = llvm::Function::Create(call.getFunctionType(), llvm::GlobalValue::InternalLinkage, "asm", module);
  }
  ~StatementFunction() { function_->eraseFromParent(); }
  StatementFunction(const StatementFunction&) = delete;
  StatementFunction& operator=(const StatementFunction&) = delete;

  absl::Status Lower(LoweringPurpose purpose) {
    HEDDLE_RETURN_IF_ERROR(CheckInstructions(source_.functions[0]));
    PtxVariables variables(source_, module_);
    HEDDLE_RETURN_IF_ERROR(variables.Declare());
    PlaceTable places(source_);
    places.BeginText("asm");
    HEDDLE_ASSIGN_OR_RETURN(const Layout layout, LayOut(source_, source_.functions[0], places));
    const ModuleContext context{source_, module_, variables, {function_}, purpose};
    HEDDLE_RETURN_IF_ERROR(LowerFunction(context, 0, layout, nullptr, &links_));
    for (llvm::BasicBlock& block : llvm::make_early_inc_range(*function_)) llvm::MergeBlockIntoPredecessor(&block);
    return absl::OkStatus();
  }

  // Puts the function's body, which is one block, in front of the call and takes the call away.
  absl::Status Splice(llvm::CallInst& call) {
    if (function_->size() != 1) return absl::InternalError("inline PTX with control flow where there can be none");
    for (unsigned i = 0; i < function_->arg_size(); ++i) {
      function_->getArg(i)->replaceAllUsesWith(call.getArgOperand(i));
    }
    llvm::BasicBlock& body = function_->getEntryBlock();
    auto* end = llvm::cast<llvm::ReturnInst>(body.getTerminator());
    llvm::Value* result = end->getReturnValue();
    end->eraseFromParent();
    for (llvm::Instruction& instruction : body) instruction.setDebugLoc(call.getDebugLoc());
    call.getParent()->splice(call.getIterator(), &body, body.begin(), body.end());
    new llvm::UnreachableInst(body.getContext(), &body);
    if (result != nullptr) call.replaceAllUsesWith(result);
    call.eraseFromParent();
    return absl::OkStatus();
  }

  // Calls the function, and puts the body in the place of that call.
  absl::Status Inline(llvm::CallInst& call) {
    if (function_->size() == 1 && llvm::isa<llvm::ReturnInst>(function_->front().getTerminator())) return Splice(call);
    llvm::IRBuilder<> b(&call);
    llvm::SmallVector<llvm::Value*, 8> arguments(call.args());
    llvm::CallInst* direct = b.CreateCall(function_, arguments);
    call.replaceAllUsesWith(direct);
    call.eraseFromParent();
    llvm::InlineFunctionInfo info;
    const llvm::InlineResult inlined = llvm::InlineFunction(*direct, info, /*MergeAttributes=*/false,
                                                            /*CalleeAAR=*/nullptr, /*InsertLifetime=*/false);
    if (!inlined.isSuccess()) return absl::InternalError(inlined.getFailureReason());
    return absl::OkStatus();
  }

  std::vector<llvm::Instruction*> Accesses() const {
    std::vector<std::pair<uint32_t, llvm::Instruction*>> placed;
    for (const auto& [access, flow] : links_.accesses) {
      for (const FlowAccess& column : flow) {
        placed.emplace_back(column.position, const_cast<llvm::Instruction*>(access));  // of our own function
      }
    }
    std::sort(placed.begin(), placed.end());
    std::vector<llvm::Instruction*> accesses;
    for (const auto& [position, access] : placed) accesses.push_back(access);
    return accesses;
  }

  llvm::Function& function() { return *function_; }

 private:
  const ptx::Module& source_;
  llvm::Module& module_;
  llvm::Function* function_;
  FunctionLinks links_;
};

// `exit` and `trap`, which the program goes on behind for all that its IR says.
const ptx::Instruction* LoneEnd(const ptx::Module& source) {
  for (const ptx::Statement& at : source.functions[0].body) {
    const ptx::Instruction* instruction = at.instruction();
    if (instruction == nullptr) continue;
    return instruction->opcode() == "exit" || instruction->opcode() == "trap" ? instruction : nullptr;
  }
  return nullptr;
}

}  // namespace

absl::Status CutInlinePtx(llvm::CallInst& call, const ptx::Module& source) {
  StatementFunction statement(source, call, *call.getModule());
  HEDDLE_RETURN_IF_ERROR(statement.Lower(LoweringPurpose::kCodeGenerator));
  return statement.Inline(call);
}

absl::Status ExecuteInlinePtx(llvm::CallInst& call, const ptx::Module& source,
                              std::vector<llvm::Instruction*>* accesses) {
  if (const ptx::Instruction* end = LoneEnd(source)) {
    llvm::IRBuilder<> b(&call);
    const llvm::Intrinsic::ID id = end->opcode() == "exit"
                                       ? static_cast<llvm::Intrinsic::ID>(llvm::Intrinsic::nvvm_exit)
                                       : static_cast<llvm::Intrinsic::ID>(llvm::Intrinsic::trap);
    b.CreateIntrinsic(id, {}, {});
    call.eraseFromParent();
    return absl::OkStatus();
  }
  StatementFunction statement(source, call, *call.getModule());
  HEDDLE_RETURN_IF_ERROR(statement.Lower(LoweringPurpose::kExecution));
  llvm::MDNode* mark = llvm::MDNode::get(call.getContext(), {});
  for (llvm::Instruction& instruction : llvm::instructions(statement.function())) {
    instruction.setMetadata(kAsWrittenMetadata, mark);
  }
  *accesses = statement.Accesses();
  // The host's compiler keeps what the program asked for.
  for (llvm::Instruction* access : *accesses) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(access)) load->setVolatile(true);
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(access)) store->setVolatile(true);
  }
  return statement.Splice(call);
}

absl::Status TryInlinePtx(const llvm::CallInst& call, const ptx::Module& source) {
  if (LoneEnd(source) != nullptr) return absl::OkStatus();
  llvm::Module scratch("asm", call.getContext());
  scratch.setDataLayout(call.getModule()->getDataLayout());
  StatementFunction statement(source, call, scratch);
  HEDDLE_RETURN_IF_ERROR(statement.Lower(LoweringPurpose::kExecution));
  return statement.function().size() == 1 ? absl::OkStatus()
                                          : absl::InternalError("control flow where there can be none");
}

}  // namespace heddle::tracegen
