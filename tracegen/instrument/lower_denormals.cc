// Code compiled with denormals flushed to zero (-use_fast_math, -ftz=true): every single-precision PTX instruction has
// .ftz then, which takes denormal operands as zero of their sign and turns denormal results into one (PTX ISA, 9.7.3).
// The host's processor could do that only for double precision as well, which PTX does not flush.
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "tracegen/instrument/kernel_pass.h"
#include "tracegen/program/ptx_source/inline_lowering.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;

bool IsSingle(const Value* value) { return value->getType()->isFloatTy(); }

Value* FlushDenormal(llvm::IRBuilder<>& builder, Value* value) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantFP>(value); known != nullptr && !known->getValueAPF().isDenormal()) {
    return value;
  }
  Value* bits = builder.CreateBitCast(value, builder.getInt32Ty());
  Value* tiny = builder.CreateICmpULT(builder.CreateAnd(bits, 0x7fffffff), builder.getInt32(0x00800000));
  Value* zero = builder.CreateAnd(bits, 0x80000000);
  return builder.CreateBitCast(builder.CreateSelect(tiny, zero, bits), value->getType());
}

// Arithmetic of PTX on single precision. Moves, selections, bit casts and memory keep denormals; so do calls of math
// functions, whose results depend on the device's library anyway.
bool Flushes(const llvm::Instruction& instruction) {
  if (instruction.hasMetadata(kAsWrittenMetadata)) return false;  // inline PTX, which says .ftz where it flushes
  switch (instruction.getOpcode()) {
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FSub:
    case llvm::Instruction::FMul:
    case llvm::Instruction::FDiv:
    case llvm::Instruction::FNeg:
    case llvm::Instruction::FCmp:
    case llvm::Instruction::FPExt:
    case llvm::Instruction::FPTrunc:
    case llvm::Instruction::FPToSI:
    case llvm::Instruction::FPToUI:
      return true;
    case llvm::Instruction::Call:
      break;
    default:
      return false;
  }
  auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (intrinsic == nullptr) return false;
  switch (intrinsic->getIntrinsicID()) {
    case llvm::Intrinsic::fma:
    case llvm::Intrinsic::sqrt:
    case llvm::Intrinsic::fabs:
    case llvm::Intrinsic::minnum:
    case llvm::Intrinsic::maxnum:
    case llvm::Intrinsic::floor:
    case llvm::Intrinsic::ceil:
    case llvm::Intrinsic::trunc:
    case llvm::Intrinsic::rint:
    case llvm::Intrinsic::nearbyint:
    case llvm::Intrinsic::roundeven:
      return true;
    default:
      break;
  }
  return false;  // the .ftz forms of intrinsics say so themselves (lower_float.cc)
}

}  // namespace

void LowerDenormals(KernelPass& pass) {
  for (llvm::Function* function : pass.functions) {
    if (!function->hasFnAttribute(kFlushAttribute)) continue;
    std::vector<llvm::Instruction*> work;
    for (llvm::Instruction& instruction : llvm::instructions(*function)) {
      if (Flushes(instruction)) work.push_back(&instruction);
    }
    for (llvm::Instruction* instruction : work) {
      llvm::IRBuilder<> builder(instruction);
      for (unsigned i = 0; i < instruction->getNumOperands(); ++i) {
        if (!IsSingle(instruction->getOperand(i))) continue;
        instruction->setOperand(i, FlushDenormal(builder, instruction->getOperand(i)));
      }
      if (!IsSingle(instruction) || instruction->use_empty()) continue;
      builder.SetInsertPoint(instruction->getNextNode());
      llvm::SmallVector<llvm::Use*, 8> uses;
      for (llvm::Use& use : instruction->uses()) uses.push_back(&use);
      Value* flushed = FlushDenormal(builder, instruction);
      for (llvm::Use* use : uses) use->set(flushed);
    }
  }
}

}  // namespace heddle::tracegen
