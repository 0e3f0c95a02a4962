#include "tracegen/machine/meaning/emission.h"

#include <span>

#include "absl/strings/str_cat.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "tracegen/machine/forms/pattern.h"

namespace heddle::tracegen::machine {

using llvm::Value;
using Kind = Operand::Kind;

namespace {

Register Behind(const Register& first, uint32_t offset) {
  if (first.is_constant) return first;
  return {first.file, static_cast<uint8_t>(first.number + offset), false};
}

bool IsPredicate(const Register& reg) {
  return reg.file == RegisterFile::kPredicate || reg.file == RegisterFile::kUniformPredicate;
}

}  // namespace

const Operand* Emission::Find(char kind, size_t k) const {
  const std::span<const OperandPlace> places = OperandPlaces(*at.form);
  for (size_t place = 0; place < places.size(); ++place) {
    if (places[place].kind != kind || k-- != 0) continue;
    for (size_t i = 0; i < at.operands.size(); ++i) {
      if (at.places[i] == place) return &at.operands[i];
    }
    return nullptr;
  }
  return nullptr;
}

Value* Emission::Bits(const Operand& operand, uint32_t offset) {
  switch (operand.kind) {
    case Kind::kRegister:
      if (!operand.use.part.empty()) return Fail("the part of a register");
      if (IsPredicate(operand.use.reg)) return Fail("a predicate in the place of a number");
      return state.Read(Behind(operand.use.reg, offset));
    case Kind::kConstant: {
      Value* value = state.Constant(operand, 4 * offset);
      return value != nullptr ? value : Fail("this place of a constant bank");
    }
    case Kind::kImmediate:
      if (operand.is_float) return Fail("a floating-point number in the place of an integer");
      return b.getInt32(static_cast<uint32_t>(offset == 0 ? operand.value : operand.value >> 32));
    default:
      return Fail("an operand of this kind");
  }
}

Value* Emission::Plain(size_t k) {
  const Operand* operand = Find('s', k);
  return operand != nullptr ? Bits(*operand) : Fail("an operand that is left out");
}

char Emission::Sign(size_t k) const {
  const Operand* operand = Find('s', k);
  return operand != nullptr ? operand->use.sign : 0;
}

Value* Emission::In(size_t k) {
  Value* value = Plain(k);
  const Operand* operand = Find('s', k);
  if (operand != nullptr && operand->use.absolute) return Fail("the absolute value of an integer");
  switch (Sign(k)) {
    case '-':
      return b.CreateNeg(value);
    case '~':
      return b.CreateNot(value);
    case 0:
      return value;
    default:
      return Fail("a sign that integers do not have");
  }
}

Value* Emission::InPart(size_t k) {
  const Operand* operand = Find('s', k);
  if (operand == nullptr || operand->kind != Kind::kRegister || operand->use.part.empty()) return In(k);
  const std::string& part = operand->use.part;
  const bool is_byte = part.size() == 2 && part[0] == 'B' && part[1] >= '0' && part[1] <= '3';
  const bool is_half = part == "H0" || part == "H1";
  if ((!is_byte && !is_half) || operand->use.sign != 0) return Fail("the part of a register");
  return b.CreateLShr(state.Read(operand->use.reg), static_cast<uint64_t>(part[1] - '0') * (is_byte ? 8 : 16));
}

Value* Emission::InWide(size_t k, bool is_signed) {
  const Operand* operand = Find('s', k);
  if (operand == nullptr) return Fail("an operand that is left out", 64);
  Value* low = Bits(*operand);
  Value* value = nullptr;
  if (operand->kind == Kind::kImmediate) {
    value = is_signed ? b.CreateSExt(low, b.getInt64Ty()) : b.CreateZExt(low, b.getInt64Ty());
  } else {
    Value* high = b.CreateShl(b.CreateZExt(Bits(*operand, 1), b.getInt64Ty()), 32);
    value = b.CreateOr(b.CreateZExt(low, b.getInt64Ty()), high);
  }
  if (operand->use.absolute) return Fail("the absolute value of an integer", 64);
  if (operand->use.sign == '-') return b.CreateNeg(value);
  if (operand->use.sign == '~') return b.CreateNot(value);
  return value;
}

Value* Emission::InPredicate(size_t k, bool otherwise) {
  const Operand* operand = Find('q', k);
  if (operand == nullptr) return b.getInt1(otherwise);
  Value* value = nullptr;
  if (operand->use.part == "SIGN") {
    Operand whole = *operand;
    whole.use.part.clear();
    value = b.CreateICmpSLT(Bits(whole), Zero());
  } else if (operand->kind == Kind::kRegister && IsPredicate(operand->use.reg)) {
    value = state.Read(operand->use.reg);
  } else {
    return Fail("no predicate", 1);
  }
  return operand->use.sign == '!' ? b.CreateNot(value) : value;
}

uint32_t Emission::Number(size_t k) const {
  const Operand* operand = Find('i', k);
  return operand != nullptr ? static_cast<uint32_t>(operand->value) : 0;
}

void Emission::Out(Value* value) {
  const Operand* operand = Find('d');
  if (operand == nullptr) return;
  const Register& first = operand->use.reg;
  if (value->getType()->isIntegerTy(64)) {
    state.Write(first, b.CreateTrunc(value, b.getInt32Ty()));
    state.Write(Behind(first, 1), b.CreateTrunc(b.CreateLShr(value, 32), b.getInt32Ty()));
    return;
  }
  state.Write(first, value);
}

void Emission::OutPredicate(size_t k, Value* value) {
  const Operand* operand = Find('p', k);
  if (operand != nullptr) state.Write(operand->use.reg, value);
}

Value* Emission::Intrinsic(const std::string& name, llvm::ArrayRef<Value*> arguments) {
  const llvm::Intrinsic::ID id = llvm::Function::lookupIntrinsicID(name);
  if (id == llvm::Intrinsic::not_intrinsic) return Fail(absl::StrCat("the operation ", name));
  return b.CreateCall(llvm::Intrinsic::getDeclaration(b.GetInsertBlock()->getModule(), id), arguments);
}

Value* Emission::Fail(const std::string& what, unsigned bits) {
  if (failure.empty()) failure = what;
  return llvm::UndefValue::get(b.getIntNTy(bits));
}

}  // namespace heddle::tracegen::machine
