#include "tracegen/instrument/narrow_addresses.h"

#include <cstdint>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/KnownBits.h"
#include "tracegen/program/operand_marker.h"
#include "tracegen/program/ptx_source/windows.h"

namespace heddle::tracegen {
namespace {

using llvm::dyn_cast;
using llvm::isa;

constexpr unsigned kSharedSpace = 3;
constexpr unsigned kConstantSpace = 4;
constexpr unsigned kLocalSpace = 5;
static_assert((kSharedBase & kNarrowAddressMask) == 0 && (kConstantBase & kNarrowAddressMask) == 0);
// Local memory of a thread does not cross a multiple of 2^32.
static_assert(kLocalBase % kLocalStride == 0 && (kNarrowAddressMask + 1) % kLocalStride == 0);

bool IsShared(const llvm::Value& value) {
  return value.getType()->isPointerTy() && value.getType()->getPointerAddressSpace() == kSharedSpace;
}

bool IsNarrow(const llvm::Value& value) {
  if (!value.getType()->isPointerTy()) return false;
  const unsigned space = value.getType()->getPointerAddressSpace();
  return space == kSharedSpace || space == kConstantSpace || space == kLocalSpace;
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
          if (IsNarrow(*operand)) operand.set(Wrapped(operand.get(), function));
        }
      } else {
        // A bound that an optimizer may rely on is none here: the address wraps back into the array.
        auto* offset = dyn_cast<llvm::GetElementPtrInst>(instruction);
        if (offset != nullptr && IsNarrow(*offset)) offset->setNoWrapFlags(llvm::GEPNoWrapFlags::none());
      }
    }
    wrapped_.clear();
  }

 private:
  // Accesses, and what leaves the address space.
  static bool UsesAddresses(const llvm::Instruction& instruction) {
    if (const auto* call = dyn_cast<llvm::CallBase>(&instruction)) {
      const llvm::Function* callee = call->getCalledFunction();
      return isa<llvm::MemIntrinsic>(call) || IsOperandMarker(*call) ||
             (callee != nullptr &&
              (callee->getName().starts_with("llvm.nvvm.") || callee->getName().starts_with(kMatrixFunction)));
    }
    if (const auto* store = dyn_cast<llvm::StoreInst>(&instruction)) return IsNarrow(*store->getPointerOperand());
    return isa<llvm::LoadInst>(instruction) || isa<llvm::AtomicRMWInst>(instruction) ||
           isa<llvm::AtomicCmpXchgInst>(instruction) || isa<llvm::AddrSpaceCastInst>(instruction);
  }

  // As a number an address counts from the start of shared memory.
  void ShortenNumber(llvm::PtrToIntInst& number) const {
    const unsigned bits = number.getType()->getScalarSizeInBits();
    if (bits <= 32) return;
    llvm::IRBuilder<> builder(number.getNextNode());
    auto* offset = llvm::cast<llvm::Instruction>(
        llvm::BinaryOperator::CreateAnd(&number, llvm::ConstantInt::get(number.getType(), kNarrowAddressMask)));
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
      if (number == nullptr || (number->getZExtValue() & ~kNarrowAddressMask) == kSharedBase) continue;
      llvm::IRBuilder<> builder(&comparison);
      llvm::Value* offset = builder.CreateAnd(builder.CreatePtrToInt(pointer, pass_.i64()), ~kSharedBase);
      comparison.setOperand(1 - side, builder.CreateIntToPtr(offset, pointer->getType()));
    }
  }

  // Whether the upper half of a pointer is that of the window for certain.
  bool StaysIn(uint64_t window, const llvm::Value& pointer) const {
    const llvm::KnownBits known = llvm::computeKnownBits(&pointer, pass_.module->getDataLayout());
    return (known.One.getZExtValue() & ~kNarrowAddressMask) == window &&
           (known.Zero.getZExtValue() & ~kNarrowAddressMask) == (~window & ~kNarrowAddressMask);
  }

  // StaysIn for a pointer into a local variable: its offsets are not negative, and small.
  bool StaysInVariable(const llvm::Value* pointer) const {
    const llvm::DataLayout& layout = pass_.module->getDataLayout();
    uint64_t most = 0;
    while (!isa<llvm::AllocaInst>(pointer)) {
      if (const auto* cast = dyn_cast<llvm::AddrSpaceCastOperator>(pointer)) {
        pointer = cast->getPointerOperand();
        continue;
      }
      const auto* step = dyn_cast<llvm::GEPOperator>(pointer);
      llvm::MapVector<llvm::Value*, llvm::APInt> variable;
      llvm::APInt constant(64, 0);
      if (step == nullptr || !step->collectOffset(layout, 64, variable, constant)) return false;
      const auto add = [&most](const llvm::APInt& scale, const llvm::APInt& factor) {
        if (scale.isNegative() || factor.getActiveBits() + scale.getActiveBits() > 31) return false;
        most += scale.getZExtValue() * factor.getZExtValue();
        return most <= kNarrowAddressMask / 2;
      };
      if (!add(constant, llvm::APInt(64, 1))) return false;
      for (const auto& [index, scale] : variable) {
        const llvm::KnownBits known = llvm::computeKnownBits(index, layout);
        if (!known.isNonNegative() || !add(scale, known.getMaxValue())) return false;
      }
      pointer = step->getPointerOperand();
    }
    return true;
  }

  // The pointer with the upper half of what it points into, computed where the pointer is; itself if that cannot differ
  // or is not known. (OpenCL's constant memory may be a buffer, which lies anywhere.)
  llvm::Value* Wrapped(llvm::Value* pointer, llvm::Function& function) {
    const unsigned space = pointer->getType()->getPointerAddressSpace();
    llvm::Value* const object = llvm::getUnderlyingObject(pointer, /*MaxLookup=*/0);
    if (space == kSharedSpace && StaysIn(kSharedBase, *pointer)) return pointer;
    if (space == kConstantSpace && (!StaysIn(kConstantBase, *object) || StaysIn(kConstantBase, *pointer)))
      return pointer;
    if (space == kLocalSpace && (!isa<llvm::AllocaInst>(object) || StaysInVariable(pointer))) return pointer;
    llvm::Value*& wrapped = wrapped_[pointer];
    if (wrapped != nullptr) return wrapped;
    auto* from = dyn_cast<llvm::Instruction>(pointer);
    llvm::BasicBlock::iterator at = function.getEntryBlock().getFirstInsertionPt();
    if (from != nullptr) {
      at = isa<llvm::PHINode>(from) ? from->getParent()->getFirstInsertionPt() : std::next(from->getIterator());
    }
    llvm::IRBuilder<> builder(&*at);
    if (from != nullptr) builder.SetCurrentDebugLocation(from->getDebugLoc());
    llvm::Value* const upper = space == kLocalSpace
                                   ? builder.CreateAnd(builder.CreatePtrToInt(object, pass_.i64()), ~kNarrowAddressMask)
                                   : builder.getInt64(space == kSharedSpace ? kSharedBase : kConstantBase);
    llvm::Value* const low =
        builder.CreateZExt(builder.CreateTrunc(builder.CreatePtrToInt(pointer, pass_.i64()), pass_.i32()), pass_.i64());
    wrapped = builder.CreateIntToPtr(builder.CreateOr(low, upper), pointer->getType());
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

void WrapNarrowAddresses(KernelPass& pass) {
  for (llvm::Function* function : pass.functions) Wrapping(pass).Function(*function);
}

}  // namespace heddle::tracegen
