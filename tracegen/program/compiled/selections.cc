#include "tracegen/program/compiled/selections.h"

#include <optional>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace heddle::tracegen {
namespace {

// The comparison by which a minimum or maximum takes its first operand.
std::optional<llvm::CmpInst::Predicate> ComparisonOf(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (call == nullptr || call->getType()->isVectorTy()) return std::nullopt;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::smax:
      return llvm::CmpInst::ICMP_SGT;
    case llvm::Intrinsic::smin:
      return llvm::CmpInst::ICMP_SLT;
    case llvm::Intrinsic::umax:
      return llvm::CmpInst::ICMP_UGT;
    case llvm::Intrinsic::umin:
      return llvm::CmpInst::ICMP_ULT;
    default:
      return std::nullopt;
  }
}

bool IsSelection(const llvm::Instruction& instruction) {
  const auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction);
  if (select == nullptr) return ComparisonOf(instruction).has_value();
  return !select->getCondition()->getType()->isVectorTy();
}

void Lower(llvm::Instruction& selection) {
  llvm::IRBuilder<> builder(&selection);
  llvm::Value* condition = nullptr;
  llvm::Value* taken = nullptr;
  llvm::Value* other = nullptr;
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&selection)) {
    condition = select->getCondition();
    taken = select->getTrueValue();
    other = select->getFalseValue();
  } else {
    taken = selection.getOperand(0);
    other = selection.getOperand(1);
    condition = builder.CreateICmp(*ComparisonOf(selection), taken, other);
  }
  // A branch on a value that may be poison would be undefined where the selection is not.
  condition = builder.CreateFreeze(condition);
  llvm::BasicBlock* const head = selection.getParent();
  llvm::Instruction* const end = llvm::SplitBlockAndInsertIfThen(condition, selection.getIterator(), false);
  llvm::PHINode* const value = llvm::PHINode::Create(selection.getType(), 2, "", selection.getIterator());
  value->addIncoming(taken, end->getParent());
  value->addIncoming(other, head);
  value->setDebugLoc(selection.getDebugLoc());
  selection.replaceAllUsesWith(value);
  selection.eraseFromParent();
}

}  // namespace

void LowerSelections(llvm::Module& module) {
  for (llvm::Function& function : module) {
    std::vector<llvm::Instruction*> selections;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (IsSelection(instruction)) selections.push_back(&instruction);
    }
    for (llvm::Instruction* selection : selections) Lower(*selection);
  }
}

}  // namespace heddle::tracegen
