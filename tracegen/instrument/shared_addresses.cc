#include "tracegen/instrument/shared_addresses.h"

#include <cstdint>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/KnownBits.h"

namespace heddle::tracegen {
namespace {

using llvm::dyn_cast;
using llvm::isa;

constexpr unsigned kSharedSpace = 3;
static_assert((kSharedBase & kSharedAddressMask) == 0);

bool IsShared(const llvm::Value& value) {
  return value.getType()->isPointerTy() && value.getType()->getPointerAddressSpace() == kSharedSpace;
}

// Whether a constant expression makes a number of a shared address that `constant` is part of.
bool IsNumberOf(const llvm::Constant& constant) {
  for (const llvm::User* user : constant.users()) {
    const auto* expression = dyn_cast<llvm::ConstantExpr>(user);
    if (expression == nullptr) continue;
    if (expression->getOpcode() == llvm::Instruction::PtrToInt && IsShared(*expression->getOperand(0))) return true;
    if (IsNumberOf(*expression)) return true;
  }
  return false;
}

class Wrapping {
 public:
  explicit Wrapping(KernelPass& pass) : pass_(pass) {}

  void Function(llvm::Function& function) {
    std::vector<llvm::Instruction*> all;
    for (llvm::Instruction& instruction : llvm::instructions(function)) all.push_back(&instruction);
    for (llvm::Instruction* instruction : all) {
      if (auto* number = dyn_cast<llvm::PtrToIntInst>(instruction)) {
        if (IsShared(*number->getPointerOperand())) ShortenNumber(*number);
      } else if (auto* comparison = dyn_cast<llvm::ICmpInst>(instruction)) {
        CompareAsNumber(*comparison);
      } else if (UsesAddresses(*instruction)) {
        // Moved in space, a null pointer to shared memory is the address of its first byte, as on devices.
        for (llvm::Use& operand : instruction->operands()) {
          if (IsShared(*operand)) operand.set(Wrapped(operand.get(), function));
        }
      } else {
        // A bound that an optimizer may rely on is none here: the address wraps back into the array.
        auto* offset = dyn_cast<llvm::GetElementPtrInst>(instruction);
        if (offset != nullptr && IsShared(*offset)) offset->setNoWrapFlags(llvm::GEPNoWrapFlags::none());
      }
    }
    wrapped_.clear();
  }

 private:
  // Accesses, and what leaves the address space. (Inline PTX: see KernelPass::AddressOf.)
  static bool UsesAddresses(const llvm::Instruction& instruction) {
    if (const auto* call = dyn_cast<llvm::CallBase>(&instruction)) {
      const llvm::Function* callee = call->getCalledFunction();
      return isa<llvm::MemIntrinsic>(call) || (callee != nullptr && callee->getName().starts_with("llvm.nvvm."));
    }
    if (const auto* store = dyn_cast<llvm::StoreInst>(&instruction)) return IsShared(*store->getPointerOperand());
    return isa<llvm::LoadInst>(instruction) || isa<llvm::AtomicRMWInst>(instruction) ||
           isa<llvm::AtomicCmpXchgInst>(instruction) || isa<llvm::AddrSpaceCastInst>(instruction);
  }

  // As a number an address counts from the start of shared memory.
  void ShortenNumber(llvm::PtrToIntInst& number) const {
    const unsigned bits = number.getType()->getScalarSizeInBits();
    if (bits <= 32) return;
    llvm::IRBuilder<> builder(number.getNextNode());
    auto* offset = llvm::cast<llvm::Instruction>(
        llvm::BinaryOperator::CreateAnd(&number, llvm::ConstantInt::get(number.getType(), kSharedAddressMask)));
    builder.Insert(offset);
    number.replaceUsesWithIf(offset, [offset](const llvm::Use& use) { return use.getUser() != offset; });
  }

  // A number that is compared with a constant may have become a pointer that is.
  void CompareAsNumber(llvm::ICmpInst& comparison) const {
    for (const unsigned side : {0u, 1u}) {
      llvm::Value* pointer = comparison.getOperand(1 - side);
      const auto* constant = dyn_cast<llvm::ConstantExpr>(comparison.getOperand(side));
      if (constant == nullptr || constant->getOpcode() != llvm::Instruction::IntToPtr || !IsShared(*constant)) continue;
      const auto* number = dyn_cast<llvm::ConstantInt>(constant->getOperand(0));
      if (number == nullptr || (number->getZExtValue() & ~kSharedAddressMask) == kSharedBase) continue;
      llvm::IRBuilder<> builder(&comparison);
      llvm::Value* offset = builder.CreateAnd(builder.CreatePtrToInt(pointer, pass_.i64()), ~kSharedBase);
      comparison.setOperand(1 - side, builder.CreateIntToPtr(offset, pointer->getType()));
    }
  }

  // The pointer within the window, computed where the pointer is.
  llvm::Value* Wrapped(llvm::Value* pointer, llvm::Function& function) {
    const llvm::KnownBits known = llvm::computeKnownBits(pointer, pass_.module->getDataLayout());
    if ((known.One.getZExtValue() & ~kSharedAddressMask) == kSharedBase &&
        (known.Zero.getZExtValue() & ~kSharedAddressMask) == (~kSharedBase & ~kSharedAddressMask)) {
      return pointer;
    }
    llvm::Value*& wrapped = wrapped_[pointer];
    if (wrapped != nullptr) return wrapped;
    auto* from = dyn_cast<llvm::Instruction>(pointer);
    llvm::BasicBlock::iterator at = function.getEntryBlock().getFirstInsertionPt();
    if (from != nullptr) {
      at = isa<llvm::PHINode>(from) ? from->getParent()->getFirstInsertionPt() : std::next(from->getIterator());
    }
    llvm::IRBuilder<> builder(&*at);
    if (from != nullptr) builder.SetCurrentDebugLocation(from->getDebugLoc());
    llvm::Value* low =
        builder.CreateZExt(builder.CreateTrunc(builder.CreatePtrToInt(pointer, pass_.i64()), pass_.i32()), pass_.i64());
    wrapped = builder.CreateIntToPtr(builder.CreateOr(low, builder.getInt64(kSharedBase)), pointer->getType());
    return wrapped;
  }

  KernelPass& pass_;
  llvm::DenseMap<llvm::Value*, llvm::Value*> wrapped_;  // of the function
};

}  // namespace

void ExpandSharedNumbers(KernelPass& pass) {
  std::vector<llvm::Constant*> variables;
  for (llvm::GlobalVariable& variable : pass.module->globals()) {
    if (variable.getAddressSpace() == kSharedSpace && IsNumberOf(variable)) variables.push_back(&variable);
  }
  if (!variables.empty()) llvm::convertUsersOfConstantsToInstructions(variables);
}

void WrapSharedAddresses(KernelPass& pass) {
  for (llvm::Function* function : pass.functions) Wrapping(pass).Function(*function);
}

}  // namespace heddle::tracegen
