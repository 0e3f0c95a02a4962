// Loads, stores and atomic operations (PTX ISA: Data Movement, Parallel Synchronization and Communication).
#include <algorithm>
#include <optional>

#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "tracegen/program/ptx_source/step_context.h"
#include "tracegen/ptx/meaning/rounding.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;
using ptx::StateSpace;
using Kind = ptx::Operand::Kind;

// The operand for element i of a vector access.
const ptx::Operand& Element(const ptx::Operand& operand, size_t i) {
  return operand.kind == Kind::kVector && i < operand.elements.size() ? operand.elements[i] : operand;
}

// What a register of this size is moved as.
llvm::Type* MovedType(StepContext& step, const ptx::Operand& operand, unsigned bits) {
  if (operand.kind == Kind::kRegister) {
    llvm::Type* type = step.operands.registers().Of(operand)->getAllocatedType();
    if (type->getPrimitiveSizeInBits().getFixedValue() == bits) return type;
  }
  return step.b.getIntNTy(bits);
}

bool LowerParameterMove(StepContext& step, const ParameterBlock& block, uint64_t offset) {
  const auto bits = static_cast<unsigned>(step.at.LastType().bits);
  const bool loads = step.at.opcode() == "ld";
  const ptx::Operand& values = step.at.operands[loads ? 0 : 1];
  const bool is_signed = ptx::IsSigned(step.at.LastType());
  for (uint32_t i = 0; i < step.at.VectorSize(); ++i) {
    const uint64_t at = offset + uint64_t{i} * bits / 8;
    const ptx::Operand& element = Element(values, i);
    if (loads) {
      step.operands.Write(element, block.Load(step.b, at, bits), is_signed);
      continue;
    }
    Value* value = step.operands.Read(element, step.b.getIntNTy(bits));
    if (Value* guard = step.operands.guard()) {
      value = step.b.CreateSelect(guard, value, block.Load(step.b, at, bits));
    }
    block.Store(step.b, at, value);
  }
  return true;
}

Value* Access(StepContext& step, Value* pointer, llvm::Type* type, Value* stored, llvm::Instruction** access) {
  const uint64_t bytes = type->getPrimitiveSizeInBits().getFixedValue() / 8;
  const llvm::Align align(llvm::bit_ceil(std::max<uint64_t>(1, bytes)));
  const bool is_volatile = step.at.Has("volatile") || step.at.Has("mmio");
  if (stored != nullptr) {
    *access = step.b.CreateAlignedStore(stored, pointer, align, is_volatile);
    return stored;
  }
  llvm::LoadInst* load = step.b.CreateAlignedLoad(type, pointer, align, is_volatile);
  *access = load;
  return load;
}

}  // namespace

bool LowerMemory(StepContext& step, llvm::Instruction** access) {
  const std::string_view op = step.at.opcode();
  const bool loads = op == "ld" || op == "ldu";
  if (!loads && op != "st") return false;
  const ptx::Operand& address = step.at.operands[loads ? 1 : 0];
  if (address.kind != Kind::kAddress || address.elements.size() != 1) return false;
  const StateSpace space = step.at.Space();
  if (space == StateSpace::kParam && address.elements[0].kind == Kind::kSymbol) {
    const SymbolPlace place = step.operands.Place(address.elements[0]);
    if (place.block == nullptr) return false;
    const int64_t offset = address.offset + address.elements[0].offset;
    if (place.block->memory() == nullptr) {
      return offset >= 0 && LowerParameterMove(step, *place.block, static_cast<uint64_t>(offset));
    }
  }
  Value* pointer = step.operands.Pointer(address, space);
  if (pointer == nullptr) return false;
  if (space == StateSpace::kParam && step.operands.source().is_kernel) {
    // The code generator's state space of parameters, whose loads are the same for all threads.
    constexpr unsigned kParameterSpace = 101;
    pointer = step.b.CreateAddrSpaceCast(pointer, llvm::PointerType::get(step.b.getContext(), kParameterSpace));
  }
  const ptx::Type type = step.at.LastType();
  const uint32_t count = step.at.VectorSize();
  const ptx::Operand& values = step.at.operands[loads ? 0 : 1];
  llvm::Type* element = MovedType(step, Element(values, 0), type.bits);
  llvm::Type* whole = count == 1 ? element : static_cast<llvm::Type*>(llvm::FixedVectorType::get(element, count));
  if (loads) {
    Value* value = Access(step, pointer, whole, nullptr, access);
    for (uint32_t i = 0; i < count; ++i) {
      Value* part = count == 1 ? value : step.b.CreateExtractElement(value, i);
      step.operands.Write(Element(values, i), part, ptx::IsSigned(type));
    }
    return true;
  }
  Value* value = count == 1 ? step.operands.Read(Element(values, 0), element) : llvm::PoisonValue::get(whole);
  for (uint32_t i = 0; count > 1 && i < count; ++i) {
    value = step.b.CreateInsertElement(value, step.operands.Read(Element(values, i), element), i);
  }
  Access(step, pointer, whole, value, access);
  return true;
}

namespace {

class Atomics {
 public:
  Atomics(StepContext& step, llvm::Instruction** access)
      : step_(step),
        b_(step.b),
        access_(access),
        returns_(step.at.opcode() == "atom"),
        type_(step.at.LastType()),
        first_(returns_ ? 2 : 1) {}

  bool Run() {
    const ptx::Operand& address = step_.at.operands[returns_ ? 1 : 0];
    Value* pointer = step_.operands.Pointer(address, step_.at.Space());
    if (pointer == nullptr) return false;
    for (uint32_t i = 0; i < step_.at.VectorSize(); ++i) {
      Value* at = i == 0 ? pointer : b_.CreatePtrAdd(pointer, b_.getInt64(uint64_t{i} * type_.bits / 8));
      Value* old = One(at, i);
      if (old == nullptr) return false;
      if (returns_) step_.operands.Write(Element(step_.at.operands[0], i), old, ptx::IsSigned(type_));
    }
    return true;
  }

 private:
  using Op = llvm::AtomicRMWInst;

  Value* Operand(size_t i, uint32_t element) {
    return step_.operands.Read(Element(step_.at.operands[i], element), step_.e.TypeOf(type_));
  }

  std::optional<Op::BinOp> Operation() const {
    const auto has = [&](std::string_view name) { return step_.at.Has(name); };
    const bool is_signed = ptx::IsSigned(type_);
    if (has("exch")) return Op::Xchg;
    if (has("and")) return Op::And;
    if (has("or")) return Op::Or;
    if (has("xor")) return Op::Xor;
    if (has("inc")) return Op::UIncWrap;
    if (has("dec")) return Op::UDecWrap;
    if (has("add")) return ptx::IsFloat(type_) ? Op::FAdd : Op::Add;
    if (has("min")) return is_signed ? Op::Min : Op::UMin;
    if (has("max")) return is_signed ? Op::Max : Op::UMax;
    return std::nullopt;
  }

  void Record(llvm::Instruction* made) {
    if (*access_ == nullptr) *access_ = made;
  }

  Value* One(Value* pointer, uint32_t element) {
    const llvm::Align align(std::max<uint64_t>(1, type_.bits / 8));
    constexpr auto kOrder = llvm::AtomicOrdering::Monotonic;
    if (step_.at.Has("cas")) {
      llvm::Type* bits = b_.getIntNTy(type_.bits);
      const auto number = [&](size_t i) { return step_.operands.Read(Element(step_.at.operands[i], element), bits); };
      Value* pair = b_.CreateAtomicCmpXchg(pointer, number(first_), number(first_ + 1), align, kOrder, kOrder);
      Record(llvm::cast<llvm::Instruction>(pair));
      return b_.CreateExtractValue(pair, 0);
    }
    const std::optional<Op::BinOp> operation = Operation();
    if (!operation) return nullptr;
    const bool single = type_.name == "f32" || type_.name == "f64";
    if (ptx::IsFloat(type_) && *operation != Op::Xchg && !(single && *operation == Op::FAdd)) {
      return Narrow(pointer, element);
    }
    Op* update = b_.CreateAtomicRMW(*operation, pointer, Operand(first_, element), align, kOrder);
    Record(update);
    return update;
  }

  // Half precision, bfloat16 and pairs of them. One thread runs at a time, so a load and a store are one operation.
  Value* Narrow(Value* pointer, uint32_t element) {
    const bool brain = type_.name.starts_with("bf");
    const bool adds = step_.at.Has("add");
    if (!adds && !step_.at.Has("min") && !step_.at.Has("max")) return nullptr;
    if (type_.name != "f16" && type_.name != "bf16" && type_.name != "f16x2" && type_.name != "bf16x2") return nullptr;
    llvm::Type* bits = b_.getIntNTy(type_.bits);
    const llvm::Align align(type_.bits / 8);
    llvm::LoadInst* old = b_.CreateAlignedLoad(bits, pointer, align);
    Record(old);
    Value* value = step_.operands.Read(Element(step_.at.operands[first_], element), bits);
    Value* whole = llvm::ConstantInt::get(bits, 0);
    for (unsigned lane = 0; lane < type_.elements; ++lane) {
      const auto number = [&](Value* v) {
        return ptx::FromNarrow(b_, b_.CreateTrunc(b_.CreateLShr(v, 16 * lane), b_.getInt16Ty()), brain);
      };
      Value* result = adds ? b_.CreateFAdd(number(old), number(value))
                           : ptx::LeastOrMost(b_, step_.at.Has("min"), false, number(old), number(value));
      Value* narrow = ptx::ToNarrow(b_, result, brain, ptx::Round::kNearest);
      whole = b_.CreateOr(whole, b_.CreateShl(b_.CreateZExt(narrow, bits), 16 * lane));
    }
    b_.CreateAlignedStore(whole, pointer, align);
    return old;
  }

  StepContext& step_;
  llvm::IRBuilder<>& b_;
  llvm::Instruction** access_;
  const bool returns_;
  const ptx::Type type_;
  const size_t first_;  // operand behind the result and the address
};

}  // namespace

bool LowerAtomic(StepContext& step, llvm::Instruction** access) {
  if (step.at.opcode() != "atom" && step.at.opcode() != "red") return false;
  if (step.at.Has("async")) return false;
  return Atomics(step, access).Run();
}

}  // namespace heddle::tracegen
