#include "tracegen/ptx/inline_ptx_operands.h"

#include <initializer_list>
#include <optional>
#include <tuple>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;
using Kind = InlineOperand::Kind;

}  // namespace

std::optional<PtxType> ParsePtxType(absl::string_view part) {
  if (part == "pred") return PtxType{1, false, false};
  uint32_t bits = 0;
  if (part.size() < 2 || absl::string_view("busf").find(part[0]) == absl::string_view::npos) return std::nullopt;
  if (!absl::SimpleAtoi(part.substr(1), &bits)) return std::nullopt;
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return std::nullopt;
  return PtxType{bits, part[0] == 's', part[0] == 'f'};
}

InlinePtxOperands::InlinePtxOperands(llvm::CallInst& call) : builder_(&call), call_(call) { ReadArguments(); }

void InlinePtxOperands::Take(const InlineInstruction& instruction) {
  types_.clear();
  for (size_t i = 1; i < instruction.parts.size(); ++i) {
    if (std::optional<PtxType> type = ParsePtxType(instruction.parts[i])) types_.push_back(*type);
  }
  at_ = &instruction;
  guard_ = instruction.guard ? Read(*instruction.guard, builder_.getInt1Ty()) : nullptr;
}

void InlinePtxOperands::ReadArguments() {
  auto* assembly = llvm::cast<llvm::InlineAsm>(call_.getCalledOperand());
  unsigned input = 0;
  for (const llvm::InlineAsm::ConstraintInfo& constraint : assembly->ParseConstraints()) {
    if (constraint.Type == llvm::InlineAsm::isClobber) continue;
    if (constraint.Type == llvm::InlineAsm::isOutput) {
      ++outputs_;
      arguments_.push_back(nullptr);
      continue;
    }
    Value* value = call_.getArgOperand(input++);
    // An input that shares its register with an output ("+r") is that output's first value.
    unsigned tied = 0;
    if (!constraint.Codes.empty() && absl::SimpleAtoi(constraint.Codes[0], &tied) && tied < outputs_) {
      arguments_[tied] = value;
    }
    arguments_.push_back(value);
  }
}

llvm::Type* InlinePtxOperands::OutputType(unsigned i) const {
  if (auto* record = llvm::dyn_cast<llvm::StructType>(call_.getType())) return record->getElementType(i);
  return call_.getType();
}

llvm::Type* InlinePtxOperands::TypeOf(const PtxType& type) {
  if (!type.is_float) return builder_.getIntNTy(type.bits);
  return type.bits == 64 ? builder_.getDoubleTy() : type.bits == 32 ? builder_.getFloatTy() : builder_.getHalfTy();
}

Value* InlinePtxOperands::As(Value* value, llvm::Type* type) {
  if (value->getType() == type) return value;
  if (value->getType()->isPointerTy()) value = builder_.CreatePtrToInt(value, builder_.getInt64Ty());
  if (value->getType()->isFloatingPointTy()) {
    value = builder_.CreateBitCast(value, builder_.getIntNTy(value->getType()->getPrimitiveSizeInBits()));
  }
  if (type->isPointerTy())
    return builder_.CreateIntToPtr(builder_.CreateZExtOrTrunc(value, builder_.getInt64Ty()), type);
  const unsigned bits = type->getPrimitiveSizeInBits();
  value = builder_.CreateZExtOrTrunc(value, builder_.getIntNTy(bits));
  return type->isFloatingPointTy() ? builder_.CreateBitCast(value, type) : value;
}

Value* InlinePtxOperands::Number(const InlineOperand& operand, llvm::Type* type) {
  if (operand.float_bits != 0) {
    llvm::Type* bits = builder_.getIntNTy(operand.float_bits);
    return As(llvm::ConstantInt::get(bits, operand.number), type);
  }
  const unsigned width = type->getPrimitiveSizeInBits();
  return As(llvm::ConstantInt::get(builder_.getIntNTy(width), operand.number), type);
}

Value* InlinePtxOperands::Special(const InlineOperand& operand, llvm::Type* type) {
  // Halves of a counter of 64 bits.
  for (const auto& [half, whole, shift] : std::initializer_list<std::tuple<const char*, const char*, int>>{
           {"clock_hi", "clock64", 32}, {"globaltimer_lo", "globaltimer", 0}, {"globaltimer_hi", "globaltimer", 32}}) {
    if (operand.name != half) continue;
    Value* counter = Intrinsic(absl::StrCat("llvm.nvvm.read.ptx.sreg.", whole), {});
    return counter == nullptr ? Fail(type) : As(builder_.CreateLShr(counter, shift), type);
  }
  const std::string name = absl::StrCat("llvm.nvvm.read.ptx.sreg.", absl::StrReplaceAll(operand.name, {{"_", "."}}));
  Value* value = Intrinsic(name, {});
  return value == nullptr ? Fail(type) : As(value, type);
}

Value* InlinePtxOperands::Fail(llvm::Type* type) {
  failed_ = true;
  return llvm::PoisonValue::get(type);
}

Value* InlinePtxOperands::Read(const InlineOperand& operand, llvm::Type* type) {
  Value* value = nullptr;
  switch (operand.kind) {
    case Kind::kArgument:
      if (operand.argument < arguments_.size()) value = arguments_[operand.argument];
      break;
    case Kind::kRegister:
      if (auto found = registers_.find(operand.name); found != registers_.end()) value = found->second;
      break;
    case Kind::kNumber:
      value = Number(operand, type);
      break;
    case Kind::kSpecial:
      value = Special(operand, type);
      break;
    default:
      break;
  }
  if (value == nullptr) return Fail(type);
  value = As(value, type);
  return operand.negated ? builder_.CreateNot(value) : value;
}

Value* InlinePtxOperands::Read(size_t i, const PtxType& type) {
  return i < at_->operands.size() ? Read(at_->operands[i], TypeOf(type)) : Fail(TypeOf(type));
}

bool InlinePtxOperands::Write(const InlineOperand& operand, Value* value) {
  // Where the guard is false, what was there before stays; if nothing was, it may be anything.
  auto guarded = [&](Value* before, Value* now) {
    return guard_ == nullptr || before == nullptr ? now
                                                  : builder_.CreateSelect(guard_, now, As(before, now->getType()));
  };
  if (operand.kind == Kind::kRegister) {
    if (operand.name == "_") return true;
    Value*& place = registers_[operand.name];
    place = guarded(place, value);
  } else if (operand.kind == Kind::kArgument && operand.argument < outputs_) {
    Value*& place = arguments_[operand.argument];
    place = guarded(place, As(value, OutputType(operand.argument)));
  } else {
    return false;
  }
  return true;
}

Value* InlinePtxOperands::Result() {
  if (call_.getType()->isVoidTy()) return nullptr;
  auto get = [&](unsigned i) -> Value* {
    return arguments_[i] != nullptr ? As(arguments_[i], OutputType(i)) : llvm::UndefValue::get(OutputType(i));
  };
  if (!call_.getType()->isStructTy()) return get(0);
  Value* whole = llvm::PoisonValue::get(call_.getType());
  for (unsigned i = 0; i < outputs_; ++i) whole = builder_.CreateInsertValue(whole, get(i), i);
  return whole;
}

Value* InlinePtxOperands::Integer(unsigned bits, uint64_t value) {
  return llvm::ConstantInt::get(builder_.getIntNTy(bits), value);
}

Value* InlinePtxOperands::Intrinsic(const std::string& name, llvm::ArrayRef<Value*> arguments) {
  const llvm::Intrinsic::ID id = llvm::Function::lookupIntrinsicID(name);
  if (id == llvm::Intrinsic::not_intrinsic || llvm::Intrinsic::isOverloaded(id)) return nullptr;
  llvm::Function* function = llvm::Intrinsic::getDeclaration(call_.getModule(), id);
  if (function->arg_size() != arguments.size()) return nullptr;
  llvm::SmallVector<Value*, 8> converted;
  for (unsigned i = 0; i < arguments.size(); ++i) converted.push_back(As(arguments[i], function->getArg(i)->getType()));
  return builder_.CreateCall(function, converted);
}

}  // namespace heddle::tracegen
