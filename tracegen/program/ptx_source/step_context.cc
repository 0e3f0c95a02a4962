#include "tracegen/program/ptx_source/step_context.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "tracegen/ptx/inline_ptx.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;
using ptx::StateSpace;
using Kind = ptx::Operand::Kind;

constexpr uint64_t kLowHalf = 0xffff'ffff;

unsigned AddressSpaceOf(StateSpace space) {
  switch (space) {
    case StateSpace::kGlobal:
      return 1;
    case StateSpace::kShared:
      return 3;
    case StateSpace::kConst:
      return 4;
    case StateSpace::kLocal:
      return 5;
    default:
      return 0;
  }
}

}  // namespace

Value* FunctionOperands::Fail(const std::string& what, llvm::Type* type) {
  if (failure.empty()) failure = what;
  return llvm::PoisonValue::get(type);
}

Value* FunctionOperands::Read(const ptx::Operand& operand, llvm::Type* type) {
  switch (operand.kind) {
    case Kind::kRegister: {
      llvm::AllocaInst* variable = registers_.Of(operand);
      Value* value = AsType(b_, b_.CreateLoad(variable->getAllocatedType(), variable), type);
      if (operand.minus) value = type->isIntegerTy() ? b_.CreateNeg(value) : b_.CreateFNeg(value);
      return operand.negated ? b_.CreateNot(value) : value;
    }
    case Kind::kSpecial:
      return Special(operand, type);
    case Kind::kInteger: {
      const auto bits = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
      const bool negative = static_cast<int64_t>(operand.bits) < 0;
      llvm::APInt number = llvm::APInt(64, operand.bits);
      number = negative ? number.sextOrTrunc(bits) : number.zextOrTrunc(bits);
      if (bits == 1) number = llvm::APInt(1, operand.bits != 0);
      Value* value = AsType(b_, b_.getInt(number), type);
      return operand.negated ? b_.CreateNot(value) : value;
    }
    case Kind::kFloat32:
      if (type->isDoubleTy()) {
        llvm::APFloat number(llvm::APFloat::IEEEsingle(), llvm::APInt(32, operand.bits));
        bool ignored = false;
        number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &ignored);
        return llvm::ConstantFP::get(type, number);
      }
      return AsType(b_, b_.getInt32(static_cast<uint32_t>(operand.bits)), type);
    case Kind::kFloat64: {
      const auto bits = type->getPrimitiveSizeInBits().getFixedValue();
      if (bits == 64) return AsType(b_, b_.getInt64(operand.bits), type);
      llvm::APFloat number(llvm::APFloat::IEEEdouble(), llvm::APInt(64, operand.bits));
      bool ignored = false;
      number.convert(bits == 16 ? llvm::APFloat::IEEEhalf() : llvm::APFloat::IEEEsingle(),
                     llvm::APFloat::rmNearestTiesToEven, &ignored);
      return AsType(b_, b_.getInt(number.bitcastToAPInt()), type);
    }
    case Kind::kWarpSize:
      return AsType(b_, b_.getInt64(32), type);
    case Kind::kSymbol:
      return AsType(b_, AddressOf(operand), type);
    default:
      return Fail("an operand of a kind that is not supported here", type);
  }
}

void FunctionOperands::Write(const ptx::Operand& operand, Value* value, bool is_signed) {
  if (operand.kind == Kind::kSink) return;
  if (operand.kind != Kind::kRegister) {
    Fail("a result of a kind that is not supported here", value->getType());
    return;
  }
  llvm::AllocaInst* variable = registers_.Of(operand);
  llvm::Type* type = variable->getAllocatedType();
  const uint64_t wide = type->getPrimitiveSizeInBits().getFixedValue();
  if (is_signed && value->getType()->isIntegerTy() && value->getType()->getIntegerBitWidth() < wide) {
    value = b_.CreateSExt(value, b_.getIntNTy(static_cast<unsigned>(wide)));
  }
  value = AsType(b_, value, type);
  if (guard_ != nullptr) value = b_.CreateSelect(guard_, value, b_.CreateLoad(type, variable));
  b_.CreateStore(value, variable);
}

Value* FunctionOperands::ReadCarry() { return b_.CreateLoad(b_.getInt1Ty(), registers_.Carry()); }

void FunctionOperands::WriteCarry(Value* carry) {
  if (guard_ != nullptr) carry = b_.CreateSelect(guard_, carry, ReadCarry());
  b_.CreateStore(carry, registers_.Carry());
}

Value* FunctionOperands::Special(const ptx::Operand& operand, llvm::Type* type) {
  std::string_view name = operand.text;
  if (name.starts_with('%')) name.remove_prefix(1);
  Value* value = SpecialNumber(name, operand.selector);
  if (value == nullptr) return Fail(absl::StrCat("the special register %", std::string(name)), type);
  return AsType(b_, value, type);
}

Value* FunctionOperands::SpecialNumber(std::string_view name, std::string_view selector) {
  const auto read = [&](const std::string& stem) -> Value* {
    const llvm::Intrinsic::ID id = llvm::Function::lookupIntrinsicID(absl::StrCat("llvm.nvvm.read.ptx.sreg.", stem));
    if (id == llvm::Intrinsic::not_intrinsic) return nullptr;
    return b_.CreateCall(llvm::Intrinsic::getDeclaration(&in_.module, id), {});
  };
  // Halves of a counter of 64 bits.
  if (name == "clock_hi") return b_.CreateLShr(read("clock64"), 32);
  if (name == "globaltimer_lo") return b_.CreateTrunc(read("globaltimer"), b_.getInt32Ty());
  if (name == "globaltimer_hi") return b_.CreateLShr(read("globaltimer"), 32);
  if (name == "WARP_SZ") return b_.getInt32(32);
  if (name.starts_with("pm")) return b_.getInt32(0);  // counters that nobody has set up
  std::string stem(name);
  if (IsUnknownToLlvm(name)) {
    llvm::FunctionType* type = llvm::FunctionType::get(b_.getInt32Ty(), false);
    if (!selector.empty()) absl::StrAppend(&stem, ".", std::string(selector));
    Value* value = b_.CreateCall(in_.module.getOrInsertFunction(absl::StrCat(kSpecialRegisterFunction, stem), type));
    return name == "is_explicit_cluster" ? b_.CreateIsNotNull(value) : value;
  }
  if (!stem.starts_with("lanemask_")) {
    if (!selector.empty()) absl::StrAppend(&stem, ".", std::string(selector));
    return read(stem);
  }
  return read(absl::StrReplaceAll(stem, {{"_", "."}}));
}

SymbolPlace FunctionOperands::Place(const ptx::Operand& symbol) const {
  SymbolPlace place;
  switch (symbol.symbol) {
    case ptx::SymbolKind::kGlobal:
      place.pointer = in_.variables.Global(symbol.index);
      break;
    case ptx::SymbolKind::kFunction:
      place.pointer = in_.functions[symbol.index];
      break;
    case ptx::SymbolKind::kLocal:
      place.pointer = in_.variables.OfBody(index_, symbol.index);
      if (const auto local = locals.find(symbol.index); local != locals.end()) place.number = local->second;
      break;
    default:
      break;
  }
  if (const auto block = blocks.find({symbol.symbol, symbol.index}); block != blocks.end()) {
    place.block = &block->second;
    if (place.block->memory() != nullptr) place.pointer = place.block->memory();
  }
  return place;
}

Value* FunctionOperands::AddressOf(const ptx::Operand& symbol) {
  const SymbolPlace place = Place(symbol);
  Value* number = place.number;
  if (number == nullptr && place.pointer == nullptr)
    return Fail("the address of a symbol that has none", b_.getInt64Ty());
  // Of a texture, sampler or surface reference: the handle of what is bound to it. No access of the program's.
  if (symbol.symbol == ptx::SymbolKind::kGlobal && in_.source.variables[symbol.index].IsReference()) {
    return b_.CreateLoad(b_.getInt64Ty(), place.pointer);
  }
  if (number == nullptr) number = b_.CreatePtrToInt(place.pointer, b_.getInt64Ty());
  return symbol.offset == 0 ? number : b_.CreateAdd(number, b_.getInt64(static_cast<uint64_t>(symbol.offset)));
}

Value* FunctionOperands::Pointer(const ptx::Operand& address, StateSpace space) {
  if (address.elements.empty()) return nullptr;
  const ptx::Operand& base = address.elements[0];
  llvm::PointerType* type = llvm::PointerType::get(b_.getContext(), AddressSpaceOf(space));
  const int64_t offset = address.offset + (base.kind == Kind::kSymbol ? base.offset : 0);
  Value* number = nullptr;
  bool narrow = false;
  if (base.kind == Kind::kSymbol) {
    const SymbolPlace place = Place(base);
    if (place.pointer != nullptr) {
      Value* pointer = place.pointer;
      if (offset != 0) pointer = b_.CreatePtrAdd(pointer, b_.getInt64(static_cast<uint64_t>(offset)));
      if (pointer->getType() == type) return pointer;
      return b_.CreateAddrSpaceCast(pointer, type);
    }
    if (place.number == nullptr) return nullptr;
    number = place.number;
  } else if (base.kind == Kind::kRegister) {
    const auto bits =
        static_cast<unsigned>(registers_.Of(base)->getAllocatedType()->getPrimitiveSizeInBits().getFixedValue());
    // Addresses of these state spaces have 32 bits, whatever the register has.
    narrow = bits == 32 || space == StateSpace::kConst || space == StateSpace::kLocal;
    number = Read(base, b_.getIntNTy(bits));
    number = b_.CreateZExtOrTrunc(number, b_.getInt64Ty());
  } else {
    number = Read(base, b_.getInt64Ty());
  }
  if (offset != 0) number = b_.CreateAdd(number, b_.getInt64(static_cast<uint64_t>(offset)));
  if (narrow && space == StateSpace::kConst) {
    number = b_.CreateOr(b_.CreateAnd(number, kLowHalf), b_.getInt64(kPtxConstantWindow));
  }
  if (narrow && space == StateSpace::kLocal && !locals.empty()) {
    Value* window = b_.CreateAnd(locals.begin()->second, ~kLowHalf);
    number = b_.CreateOr(b_.CreateAnd(number, kLowHalf), window);
  }
  return b_.CreateIntToPtr(number, type);
}

namespace {

// mapa: the same place in the shared memory of the block with that rank; getctarank: whose it is. Addresses are
// generic, or count from the start of shared memory.
bool LowerClusterAddress(StepContext& step) {
  llvm::IRBuilder<>& b = step.b;
  const bool maps = step.at.opcode() == "mapa";
  Value* number = step.operands.Read(step.at.operands[1], b.getInt64Ty());
  if (step.at.Has("shared::cluster")) {
    number = b.CreateOr(b.CreateAnd(number, kLowHalf), b.getInt64(kPtxSharedWindow));
  }
  llvm::SmallVector<Value*, 2> arguments = {b.CreateIntToPtr(number, b.getPtrTy())};
  if (maps) arguments.push_back(step.e.In32(2));
  Value* result = step.e.Intrinsic(maps ? "llvm.nvvm.mapa" : "llvm.nvvm.getctarank", arguments);
  if (result == nullptr) return false;
  if (maps) {
    result = b.CreatePtrToInt(result, b.getInt64Ty());
    if (step.at.Has("shared::cluster")) result = b.CreateAnd(result, kLowHalf);
    result = b.CreateTrunc(result, b.getIntNTy(static_cast<unsigned>(step.at.LastType().bits)));
  }
  step.operands.Write(step.at.operands[0], result, false);
  return true;
}

}  // namespace

bool LowerMove(StepContext& step) {
  llvm::IRBuilder<>& b = step.b;
  const std::string_view op = step.at.opcode();
  if (op == "cvta") {
    const ptx::Type type = step.at.LastType();
    const ptx::Operand& from = step.at.operands[1];
    const auto bits = static_cast<unsigned>(type.bits);
    Value* number = step.operands.Read(from, b.getInt64Ty());
    if (step.at.Space() == StateSpace::kShared) {
      number = b.CreateAnd(number, kLowHalf);
      if (!step.at.Has("to")) number = b.CreateOr(number, b.getInt64(kPtxSharedWindow));
    }
    step.operands.Write(step.at.operands[0], b.CreateTrunc(number, b.getIntNTy(bits)), false);
    return true;
  }
  if (op == "isspacep") {
    for (const char* space : {"global", "shared", "const", "local"}) {
      const bool is_of_cluster = step.at.Has(absl::StrCat(space, "::cluster"));
      if (!step.at.Has(space) && !step.at.Has(absl::StrCat(space, "::cta")) && !is_of_cluster) continue;
      Value* pointer = b.CreateIntToPtr(step.operands.Read(step.at.operands[1], b.getInt64Ty()), b.getPtrTy());
      Value* result =
          step.e.Intrinsic(absl::StrCat("llvm.nvvm.isspacep.", space, is_of_cluster ? ".cluster" : ""), {pointer});
      if (result == nullptr) return false;
      step.operands.Write(step.at.operands[0], result, false);
      return true;
    }
    return false;
  }
  if (op == "mapa" || op == "getctarank") return LowerClusterAddress(step);
  if (op != "mov") return false;
  const ptx::Operand& to = step.at.operands[0];
  const ptx::Operand& from = step.at.operands[1];
  const auto bits = static_cast<unsigned>(step.at.LastType().bits);
  if (from.kind == Kind::kVector && to.kind == Kind::kVector) {
    llvm::SmallVector<Value*, 4> parts;
    for (const ptx::Operand& element : from.elements) parts.push_back(step.operands.Read(element, b.getIntNTy(bits)));
    for (size_t i = 0; i < to.elements.size(); ++i) step.operands.Write(to.elements[i], parts[i], false);
    return true;
  }
  if (from.kind == Kind::kVector) {
    const auto part = static_cast<unsigned>(bits / from.elements.size());
    Value* whole = llvm::ConstantInt::get(b.getIntNTy(bits), 0);
    for (size_t i = 0; i < from.elements.size(); ++i) {
      Value* value = b.CreateZExt(step.operands.Read(from.elements[i], b.getIntNTy(part)), whole->getType());
      whole = b.CreateOr(whole, b.CreateShl(value, part * i));
    }
    step.operands.Write(to, whole, false);
    return true;
  }
  if (to.kind == Kind::kVector) {
    Value* whole = step.operands.Read(from, b.getIntNTy(bits));
    const auto part = static_cast<unsigned>(bits / to.elements.size());
    for (size_t i = 0; i < to.elements.size(); ++i) {
      Value* value = b.CreateTrunc(b.CreateLShr(whole, part * i), b.getIntNTy(part));
      step.operands.Write(to.elements[i], value, false);
    }
    return true;
  }
  // As what the register holds, so that nothing is cast that is only moved.
  llvm::Type* type = to.kind == Kind::kRegister ? step.operands.registers().Of(to)->getAllocatedType() : nullptr;
  if (type == nullptr || type->getPrimitiveSizeInBits().getFixedValue() != bits) type = b.getIntNTy(std::max(1u, bits));
  step.operands.Write(to, step.operands.Read(from, type), false);
  return true;
}

}  // namespace heddle::tracegen
