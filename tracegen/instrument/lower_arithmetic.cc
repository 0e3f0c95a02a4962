// Where PTX defines what LLVM IR leaves undefined and x86 does otherwise (PTX ISA 9.7.1, 9.7.8, 9.7.9.21).
#include <cstddef>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "tracegen/instrument/kernel_pass.h"

namespace heddle::tracegen {
namespace {

using llvm::dyn_cast;
using llvm::isa;
using llvm::Value;

// Counts of the width or more shift everything out.
void LowerShift(llvm::BinaryOperator* shift) {
  llvm::Type* type = shift->getType();
  if (isa<llvm::Constant>(shift->getOperand(1))) return;
  unsigned width = type->getScalarSizeInBits();
  llvm::IRBuilder<> builder(shift);
  Value* count = builder.CreateFreeze(shift->getOperand(1));
  Value* all = builder.CreateICmpUGE(count, llvm::ConstantInt::get(type, width));
  bool arithmetic = shift->getOpcode() == llvm::Instruction::AShr;
  Value* safe = builder.CreateSelect(all, llvm::ConstantInt::get(type, arithmetic ? width - 1 : 0), count);
  Value* result = builder.CreateBinOp(shift->getOpcode(), shift->getOperand(0), safe);
  if (!arithmetic) result = builder.CreateSelect(all, llvm::Constant::getNullValue(type), result);
  shift->replaceAllUsesWith(result);
  shift->eraseFromParent();
}

// Out of range saturates, NaN gives 0. PTX has no conversion to 8 bits: it saturates to 16 and drops the rest.
void LowerConversion(llvm::CastInst* cast) {
  llvm::Type* type = cast->getType();
  llvm::Type* from = cast->getOperand(0)->getType();
  unsigned width = type->getScalarSizeInBits();
  llvm::IRBuilder<> builder(cast);
  llvm::Type* wide = width < 16 ? type->getWithNewType(builder.getInt16Ty()) : type;
  llvm::Intrinsic::ID id = isa<llvm::FPToSIInst>(cast) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  Value* result = builder.CreateIntrinsic(id, {wide, from}, {cast->getOperand(0)});
  if (wide != type) result = builder.CreateTrunc(result, type);
  cast->replaceAllUsesWith(result);
  cast->eraseFromParent();
}

// Division by zero gives all ones, the remainder the dividend, and neither traps; nor does the lowest number by -1.
void LowerDivision(KernelPass& pass, llvm::BinaryOperator* division) {
  llvm::Type* type = division->getType();
  bool is_signed = division->getOpcode() == llvm::Instruction::SDiv || division->getOpcode() == llvm::Instruction::SRem;
  bool remainder = division->getOpcode() == llvm::Instruction::URem || division->getOpcode() == llvm::Instruction::SRem;
  Value* a = division->getOperand(0);
  Value* b = division->getOperand(1);
  if (auto* known = dyn_cast<llvm::ConstantInt>(b)) {
    if (!known->isZero() && !(is_signed && known->isMinusOne())) return;
  }
  if (type->isVectorTy()) return;
  unsigned width = type->getIntegerBitWidth();
  llvm::IRBuilder<> builder(division);
  b = builder.CreateFreeze(b);
  Value* zero = builder.CreateICmpEQ(b, llvm::Constant::getNullValue(type));
  Value* unsafe = zero;
  if (is_signed) {
    Value* lowest = builder.CreateICmpEQ(a, llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(width)));
    Value* minus_one = builder.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(type));
    unsafe = builder.CreateOr(zero, builder.CreateAnd(lowest, minus_one));
  }
  Value* divisor = builder.CreateSelect(unsafe, llvm::ConstantInt::get(type, 1), b);
  Value* result = builder.CreateBinOp(division->getOpcode(), a, divisor);
  result = builder.CreateSelect(zero, remainder ? a : llvm::Constant::getAllOnesValue(type), result);
  division->replaceAllUsesWith(result);
  // Behind a branch, so that who does not divide by zero does not wait for memory at every division.
  builder.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(zero, division, /*Unreachable=*/false, pass.unlikely()));
  Value* site = builder.getInt32(pass.AddSite(*division) + 1);
  pass.StoreField(builder, offsetof(ThreadContext, division_by_zero), site);
  division->eraseFromParent();
}

}  // namespace

void LowerArithmetic(KernelPass& pass) {
  for (llvm::Function* function : pass.functions) {
    std::vector<llvm::Instruction*> work;
    for (llvm::Instruction& instruction : llvm::instructions(*function)) work.push_back(&instruction);
    for (llvm::Instruction* instruction : work) {
      switch (instruction->getOpcode()) {
        case llvm::Instruction::Shl:
        case llvm::Instruction::LShr:
        case llvm::Instruction::AShr:
          LowerShift(llvm::cast<llvm::BinaryOperator>(instruction));
          break;
        case llvm::Instruction::FPToSI:
        case llvm::Instruction::FPToUI:
          LowerConversion(llvm::cast<llvm::CastInst>(instruction));
          break;
        case llvm::Instruction::SDiv:
        case llvm::Instruction::UDiv:
        case llvm::Instruction::SRem:
        case llvm::Instruction::URem:
          LowerDivision(pass, llvm::cast<llvm::BinaryOperator>(instruction));
          break;
        default:
          break;
      }
    }
  }
}

}  // namespace heddle::tracegen
