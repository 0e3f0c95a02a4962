#include "tracegen/program/ptx_source/registers.h"

#include <algorithm>

#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;

llvm::Type* RegisterType(llvm::LLVMContext& context, const ptx::Type& type, bool is_float) {
  if (type.name == "f32" || (is_float && type.bits == 32)) return llvm::Type::getFloatTy(context);
  if (type.name == "f64" || (is_float && type.bits == 64)) return llvm::Type::getDoubleTy(context);
  return llvm::Type::getIntNTy(context, std::max<unsigned>(1, type.bits));
}

// A bit cast of a bit cast back to the first type is what was there.
void FoldBitCasts(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
    auto* inner = cast != nullptr ? llvm::dyn_cast<llvm::BitCastInst>(cast->getOperand(0)) : nullptr;
    if (inner == nullptr || inner->getOperand(0)->getType() != cast->getType()) continue;
    cast->replaceAllUsesWith(inner->getOperand(0));
    cast->eraseFromParent();
  }
  for (llvm::BasicBlock& block : function) {
    for (auto at = block.rbegin(); at != block.rend();) {
      llvm::Instruction& instruction = *at++;
      if (llvm::isa<llvm::BitCastInst>(instruction) && instruction.use_empty()) instruction.eraseFromParent();
    }
  }
}

}  // namespace

Value* AsType(llvm::IRBuilder<>& b, Value* value, llvm::Type* type) {
  if (value->getType() == type) return value;
  if (value->getType()->isPointerTy()) value = b.CreatePtrToInt(value, b.getInt64Ty());
  if (!value->getType()->isIntegerTy()) {
    value = b.CreateBitCast(value, b.getIntNTy(static_cast<unsigned>(value->getType()->getPrimitiveSizeInBits())));
  }
  if (type->isPointerTy()) return b.CreateIntToPtr(b.CreateZExtOrTrunc(value, b.getInt64Ty()), type);
  const auto bits = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
  value = b.CreateZExtOrTrunc(value, b.getIntNTy(bits));
  return type->isIntegerTy() ? value : b.CreateBitCast(value, type);
}

uint32_t Registers::Component(const ptx::Operand& operand) {
  if (operand.selector == "y" || operand.selector == "g") return 1;
  if (operand.selector == "z") return 2;
  return operand.selector == "w" ? 3 : 0;
}

llvm::AllocaInst* Registers::Make(llvm::Type* type) {
  llvm::IRBuilder<> b(entry_);
  llvm::AllocaInst* made = b.CreateAlloca(type);
  b.CreateStore(llvm::Constant::getNullValue(type), made);
  all_.push_back(made);
  return made;
}

llvm::AllocaInst* Registers::Of(uint32_t number, uint32_t component) {
  llvm::AllocaInst*& found = registers_[{number, component}];
  if (found == nullptr) {
    const bool is_float = number < is_float_.size() && is_float_[number];
    found = Make(RegisterType(entry_->getContext(), source_.RegisterOf(number).type, is_float));
  }
  return found;
}

llvm::AllocaInst* Registers::Carry() {
  if (carry_ == nullptr) carry_ = Make(llvm::Type::getInt1Ty(entry_->getContext()));
  return carry_;
}

void Registers::ChooseTypes() {
  std::map<uint32_t, int> votes;
  for (const ptx::Statement& statement : source_.body) {
    const ptx::Instruction* instruction = statement.instruction();
    if (instruction == nullptr) continue;
    const ptx::Type type = instruction->LastType();
    const bool counts = type.name == "f32" || type.name == "f64";
    const bool against = type.kind == ptx::TypeKind::kSigned || type.kind == ptx::TypeKind::kUnsigned;
    if (!counts && !against) continue;
    for (const ptx::Operand& operand : instruction->operands) {
      if (operand.kind == ptx::Operand::Kind::kRegister) votes[operand.index] += counts ? 1 : -1;
    }
  }
  for (const auto& [number, vote] : votes) {
    const ptx::Type& type = source_.RegisterOf(number).type;
    if (vote <= 0 || type.kind != ptx::TypeKind::kBits || (type.bits != 32 && type.bits != 64)) continue;
    if (number >= is_float_.size()) is_float_.resize(number + 1);
    is_float_[number] = true;
  }
}

void Registers::Promote(llvm::Function& function) {
  llvm::DominatorTree dominators(function);
  llvm::PromoteMemToReg(all_, dominators);
  FoldBitCasts(function);
}

ParameterBlock::ParameterBlock(Registers& registers, llvm::Type* type) {
  llvm::Type* word = type;
  uint64_t count = 1;
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    word = array->getElementType();
    count = array->getNumElements();
  }
  step_ = std::max<uint64_t>(1, word->getIntegerBitWidth() / 8);
  for (uint64_t i = 0; i < count; ++i) words_.push_back(registers.Make(word));
}

Value* ParameterBlock::Load(llvm::IRBuilder<>& b, uint64_t offset, unsigned bits) const {
  llvm::Type* type = b.getIntNTy(bits);
  if (memory_ != nullptr) {
    return b.CreateAlignedLoad(type, b.CreatePtrAdd(memory_, b.getInt64(offset)), llvm::Align(1));
  }
  const uint64_t end = offset + std::max(1u, bits / 8);
  if (end > words_.size() * step_) return llvm::PoisonValue::get(type);
  Value* whole = nullptr;
  for (uint64_t at = offset / step_; at * step_ < end; ++at) {
    Value* word = b.CreateLoad(words_[at]->getAllocatedType(), words_[at]);
    if (words_[at]->getAllocatedType() == type && at * step_ == offset) return word;
    // Its place relative to what is read.
    llvm::Type* wide = b.getIntNTy(static_cast<unsigned>(std::max<uint64_t>(bits, step_ * 8) + step_ * 8));
    word = b.CreateZExt(word, wide);
    const int64_t shift = (static_cast<int64_t>(at * step_) - static_cast<int64_t>(offset)) * 8;
    word = shift >= 0 ? b.CreateShl(word, static_cast<uint64_t>(shift))
                      : b.CreateLShr(word, static_cast<uint64_t>(-shift));
    word = b.CreateTrunc(word, type);
    whole = whole == nullptr ? word : b.CreateOr(whole, word);
  }
  return whole;
}

void ParameterBlock::Store(llvm::IRBuilder<>& b, uint64_t offset, Value* value) const {
  if (memory_ != nullptr) {
    b.CreateAlignedStore(value, b.CreatePtrAdd(memory_, b.getInt64(offset)), llvm::Align(1));
    return;
  }
  const auto bits = static_cast<unsigned>(value->getType()->getPrimitiveSizeInBits().getFixedValue());
  value = AsType(b, value, b.getIntNTy(bits));
  const uint64_t end = offset + std::max(1u, bits / 8);
  if (end > words_.size() * step_) return;
  for (uint64_t at = offset / step_; at * step_ < end; ++at) {
    llvm::Type* type = words_[at]->getAllocatedType();
    if (type == value->getType() && at * step_ == offset) {
      b.CreateStore(value, words_[at]);
      return;
    }
    llvm::Type* wide = b.getIntNTy(static_cast<unsigned>(std::max<uint64_t>(bits, step_ * 8) + step_ * 8));
    const int64_t shift = (static_cast<int64_t>(offset) - static_cast<int64_t>(at * step_)) * 8;
    const auto placed = [&](Value* v) {
      v = b.CreateZExt(v, wide);
      v = shift >= 0 ? b.CreateShl(v, static_cast<uint64_t>(shift)) : b.CreateLShr(v, static_cast<uint64_t>(-shift));
      return b.CreateTrunc(v, type);
    };
    Value* mask = placed(llvm::Constant::getAllOnesValue(value->getType()));
    Value* old = b.CreateAnd(b.CreateLoad(type, words_[at]), b.CreateNot(mask));
    b.CreateStore(b.CreateOr(old, placed(value)), words_[at]);
  }
}

Value* ParameterBlock::Whole(llvm::IRBuilder<>& b, llvm::Type* type) const {
  if (memory_ != nullptr) return b.CreateAlignedLoad(type, memory_, llvm::Align(1));
  auto* array = llvm::dyn_cast<llvm::ArrayType>(type);
  if (array == nullptr) return Load(b, 0, type->getIntegerBitWidth());
  Value* whole = llvm::PoisonValue::get(type);
  const unsigned bits = array->getElementType()->getIntegerBitWidth();
  for (unsigned i = 0; i < array->getNumElements(); ++i) {
    whole = b.CreateInsertValue(whole, Load(b, uint64_t{i} * bits / 8, bits), i);
  }
  return whole;
}

void ParameterBlock::SetWhole(llvm::IRBuilder<>& b, Value* value) const {
  if (memory_ != nullptr) {
    b.CreateAlignedStore(value, memory_, llvm::Align(1));
    return;
  }
  auto* array = llvm::dyn_cast<llvm::ArrayType>(value->getType());
  if (array == nullptr) {
    Store(b, 0, value);
    return;
  }
  const unsigned bits = array->getElementType()->getIntegerBitWidth();
  for (unsigned i = 0; i < array->getNumElements(); ++i) {
    Store(b, uint64_t{i} * bits / 8, b.CreateExtractValue(value, i));
  }
}

}  // namespace heddle::tracegen
