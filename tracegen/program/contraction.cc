#include "tracegen/program/contraction.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;

// Addend of a sum that is a product, maybe negated.
struct Product {
  llvm::BinaryOperator* multiply = nullptr;
  bool negated = false;
};

bool CanFuse(const llvm::Type* type) {
  const llvm::Type* scalar = type->getScalarType();
  return scalar->isFloatTy() || scalar->isDoubleTy();
}

Product ProductIn(Value* addend, const llvm::BasicBlock* block) {
  Product product;
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(addend);
  if (instruction != nullptr && instruction->getOpcode() == llvm::Instruction::FNeg) {
    product.negated = true;
    if (instruction->getParent() != block) return {};
    instruction = llvm::dyn_cast<llvm::Instruction>(instruction->getOperand(0));
  }
  if (instruction == nullptr || instruction->getParent() != block ||
      instruction->getOpcode() != llvm::Instruction::FMul || !instruction->hasAllowContract()) {
    return {};
  }
  // The code generator doubles by addition.
  if (llvm::PatternMatch::match(instruction->getOperand(1), llvm::PatternMatch::m_SpecificFP(2.0))) return {};
  product.multiply = llvm::cast<llvm::BinaryOperator>(instruction);
  return product;
}

// A constant takes the sign for free.
Value* FusedProduct(llvm::IRBuilder<>& builder, const Product& product, Value* addend) {
  Value* a = product.multiply->getOperand(0);
  Value* b = product.multiply->getOperand(1);
  if (product.negated) {
    Value*& signed_one = llvm::isa<llvm::Constant>(b) ? b : a;
    signed_one = builder.CreateFNeg(signed_one);
  }
  return builder.CreateIntrinsic(llvm::Intrinsic::fma, {addend->getType()}, {a, b, addend});
}

void CopyFlags(const llvm::Instruction& from, Value* to) {
  if (auto* result = llvm::dyn_cast<llvm::Instruction>(to); result != nullptr) {
    result->copyFastMathFlags(from.getFastMathFlags());
  }
}

void Replace(llvm::Instruction& instruction, Value* by) {
  CopyFlags(instruction, by);
  instruction.replaceAllUsesWith(by);
  instruction.eraseFromParent();
}

void FuseSum(llvm::Instruction& sum) {
  const bool subtracts = sum.getOpcode() == llvm::Instruction::FSub;
  Product left = ProductIn(sum.getOperand(0), sum.getParent());
  Product right = ProductIn(sum.getOperand(1), sum.getParent());
  if (left.multiply == nullptr && right.multiply == nullptr) return;
  // Of two products, the one with fewer uses: it may go away.
  const bool takes_left = right.multiply == nullptr ||
                          (left.multiply != nullptr && left.multiply->getNumUses() <= right.multiply->getNumUses());
  llvm::IRBuilder<> builder(&sum);
  if (takes_left) {
    Value* addend = sum.getOperand(1);
    Replace(sum, FusedProduct(builder, left, subtracts ? builder.CreateFNeg(addend) : addend));
  } else {
    right.negated ^= subtracts;
    Replace(sum, FusedProduct(builder, right, sum.getOperand(0)));
  }
}

// llvm.fmuladd leaves the choice to the code generator.
void DecideMultiplyAdd(llvm::IntrinsicInst& call) {
  llvm::IRBuilder<> builder(&call);
  Value* a = call.getArgOperand(0);
  Value* b = call.getArgOperand(1);
  Value* c = call.getArgOperand(2);
  if (CanFuse(call.getType())) {
    Replace(call, builder.CreateIntrinsic(llvm::Intrinsic::fma, {call.getType()}, {a, b, c}));
  } else {
    Replace(call, builder.CreateFAdd(builder.CreateFMul(a, b), c));
  }
}

}  // namespace

void FuseMultiplyAdds(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
      if (call->getIntrinsicID() == llvm::Intrinsic::fmuladd) DecideMultiplyAdd(*call);
    } else if (instruction.getOpcode() == llvm::Instruction::FAdd ||
               instruction.getOpcode() == llvm::Instruction::FSub) {
      if (instruction.hasAllowContract() && CanFuse(instruction.getType())) FuseSum(instruction);
    }
  }
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (llvm::isa<llvm::FPMathOperator>(instruction)) instruction.setHasAllowContract(false);
  }
}

}  // namespace heddle::tracegen
