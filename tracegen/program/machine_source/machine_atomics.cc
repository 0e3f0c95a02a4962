// Atomic operations of machine code.
#include <optional>

#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "tracegen/machine/meaning/emission.h"
#include "tracegen/machine/meaning/ptx_operation.h"
#include "tracegen/program/machine_source/machine_step.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using llvm::Value;
using Op = llvm::AtomicRMWInst;

constexpr auto kOrder = llvm::AtomicOrdering::Monotonic;

bool IsWide(const machine::Emission& e) { return e.Has("64") || e.Has("U64") || e.Has("S64") || e.Has("F64"); }
bool IsFloat(const machine::Emission& e) { return e.Has("F32") || e.Has("F64"); }

std::optional<Op::BinOp> OperationOf(const machine::Emission& e) {
  const bool is_signed = e.Has("S32") || e.Has("S64");
  if (e.Has("EXCH")) return Op::Xchg;
  if (e.Has("AND")) return Op::And;
  if (e.Has("OR")) return Op::Or;
  if (e.Has("XOR")) return Op::Xor;
  if (e.Has("INC")) return Op::UIncWrap;
  if (e.Has("DEC")) return Op::UDecWrap;
  if (e.Has("ADD")) return IsFloat(e) ? Op::FAdd : Op::Add;
  if (IsFloat(e)) return std::nullopt;
  if (e.Has("MIN")) return is_signed ? Op::Min : Op::UMin;
  if (e.Has("MAX")) return is_signed ? Op::Max : Op::UMax;
  return std::nullopt;
}

// With which the operation changes nothing; null if there is none, or if it is not known.
Value* NothingOf(MachineStepContext& step) {
  const std::optional<Op::BinOp> operation = OperationOf(step.e);
  if (!operation) return nullptr;
  const unsigned bits = IsWide(step.e) ? 64 : 32;
  switch (*operation) {
    case Op::FAdd:  // -0
    case Op::Max:
      return step.b.getInt(llvm::APInt::getSignedMinValue(bits));
    case Op::Min:
      return step.b.getInt(llvm::APInt::getSignedMaxValue(bits));
    case Op::UMin:
    case Op::And:
      return step.b.getInt(llvm::APInt::getAllOnes(bits));
    case Op::Add:
    case Op::UMax:
    case Op::Or:
    case Op::Xor:
      return step.b.getInt(llvm::APInt::getZero(bits));
    default:
      return nullptr;
  }
}

// Sums of two numbers of 16 bits. One thread runs at a time, so a load and a store are one operation.
void AddPair(MachineStepContext& step, Value* pointer, llvm::Instruction** access) {
  llvm::IRBuilder<>& b = step.b;
  machine::Emission& e = step.e;
  if (!e.Has("ADD")) {
    e.Fail("this atomic operation");
    return;
  }
  const llvm::Align align(4);
  llvm::LoadInst* old = b.CreateAlignedLoad(b.getInt32Ty(), pointer, align);
  *access = old;
  const char* add = e.Has("F16x2") ? "add.f16x2" : "add.rn.bf16x2";
  b.CreateAlignedStore(machine::PtxOperation(e, add, {old, e.In(0)}), pointer, align);
  e.Out(old);
}

Value* OperandOf(MachineStepContext& step, size_t k) { return IsWide(step.e) ? step.e.InWide(k, false) : step.e.In(k); }

}  // namespace

void LowerMachineAtomic(MachineStepContext& step, llvm::Instruction** access) {
  llvm::IRBuilder<>& b = step.b;
  machine::Emission& e = step.e;
  Value* pointer = MachinePointer(step);
  // Whether it was done. Of some operations generic addresses have to be of global memory, and the code that follows
  // does the others in steps.
  const machine::Operand* done = e.Find('p');
  Value* is_done = nullptr;
  if (done != nullptr && !done->use.reg.is_constant) {
    if (step.instruction.space != v1::SPACE_GENERIC || NothingOf(step) == nullptr) {
      e.Fail("an atomic operation with a predicate of its own");
      return;
    }
    is_done = e.Intrinsic("llvm.nvvm.isspacep.global", {pointer});
  }
  const llvm::Align align(IsWide(e) ? 8 : 4);
  if (e.Has("F16x2") || e.Has("BF16x2")) return AddPair(step, pointer, access);
  if (e.Has("POPC")) {
    // Adds the number of threads that execute it together: one for each.
    const machine::Operand* to = e.Find('d');
    if (to != nullptr && !to->use.reg.is_constant) {
      e.Fail("the result of a count of threads");
      return;
    }
    *access = b.CreateAtomicRMW(Op::Add, pointer, b.getInt32(1), align, kOrder);
    return;
  }
  if (e.Has("CAST")) {
    // Stores if the place has the value that was read there before, and says so with 1.
    Value* pair = b.CreateAtomicCmpXchg(pointer, OperandOf(step, 0), OperandOf(step, 1), align, kOrder, kOrder);
    *access = llvm::cast<llvm::Instruction>(pair);
    e.Out(b.CreateZExt(b.CreateExtractValue(pair, 1), b.getIntNTy(IsWide(e) ? 64 : 32)));
    return;
  }
  if (e.Has("CAS")) {
    Value* pair = b.CreateAtomicCmpXchg(pointer, OperandOf(step, 0), OperandOf(step, 1), align, kOrder, kOrder);
    *access = llvm::cast<llvm::Instruction>(pair);
    e.Out(b.CreateExtractValue(pair, 0));
    return;
  }
  const std::optional<Op::BinOp> operation = OperationOf(e);
  if (!operation) {
    e.Fail("this atomic operation");
    return;
  }
  Value* value = OperandOf(step, 0);
  if (is_done != nullptr) value = b.CreateSelect(is_done, value, NothingOf(step));
  if (*operation == Op::FAdd) value = b.CreateBitCast(value, IsWide(e) ? b.getDoubleTy() : b.getFloatTy());
  Op* update = b.CreateAtomicRMW(*operation, pointer, value, align, kOrder);
  *access = update;
  e.Out(b.CreateBitCast(update, b.getIntNTy(IsWide(e) ? 64 : 32)));
  if (is_done != nullptr) e.OutPredicate(0, is_done);
}

}  // namespace heddle::tracegen
