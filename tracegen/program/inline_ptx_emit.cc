// Instructions of inline PTX as IR (meaning: PTX ISA 7.0, chapter 9).
#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "tracegen/program/inline_ptx.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;
using Kind = InlineOperand::Kind;

// Type of an operation, such as u32: width, and how the bits are taken.
struct PtxType {
  unsigned bits = 0;  // 1 for predicates
  bool is_signed = false;
  bool is_float = false;
};

std::optional<PtxType> ParseType(absl::string_view part) {
  if (part == "pred") return PtxType{1, false, false};
  uint32_t bits = 0;
  if (part.size() < 2 || absl::string_view("busf").find(part[0]) == absl::string_view::npos) return std::nullopt;
  if (!absl::SimpleAtoi(part.substr(1), &bits)) return std::nullopt;
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return std::nullopt;
  return PtxType{bits, part[0] == 's', part[0] == 'f'};
}

class Emitter {
 public:
  Emitter(llvm::CallInst& call, llvm::function_ref<Value*(llvm::IRBuilder<>&, const InlineAccess&)> pointer_to)
      : call_(call), pointer_to_(pointer_to), builder_(&call) {
    ReadArguments();
  }

  absl::StatusOr<Value*> Run(const std::vector<InlineInstruction>& instructions) {
    for (const InlineInstruction& instruction : instructions) {
      types_.clear();
      for (size_t i = 1; i < instruction.parts.size(); ++i) {
        if (std::optional<PtxType> type = ParseType(instruction.parts[i])) types_.push_back(*type);
      }
      at_ = &instruction;
      if (!Emit() || failed_) return absl::UnimplementedError(instruction.text);
    }
    return Result();
  }

 private:
  // --- operands

  void ReadArguments() {
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

  llvm::Type* OutputType(unsigned i) const {
    if (auto* record = llvm::dyn_cast<llvm::StructType>(call_.getType())) return record->getElementType(i);
    return call_.getType();
  }

  llvm::Type* TypeOf(const PtxType& type) {
    if (!type.is_float) return builder_.getIntNTy(type.bits);
    return type.bits == 64 ? builder_.getDoubleTy() : type.bits == 32 ? builder_.getFloatTy() : builder_.getHalfTy();
  }

  // The bits of a value as another type; registers may be wider than what an instruction uses of them.
  Value* As(Value* value, llvm::Type* type) {
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

  Value* Number(const InlineOperand& operand, llvm::Type* type) {
    if (operand.float_bits != 0) {
      llvm::Type* bits = builder_.getIntNTy(operand.float_bits);
      return As(llvm::ConstantInt::get(bits, operand.number), type);
    }
    const unsigned width = type->getPrimitiveSizeInBits();
    return As(llvm::ConstantInt::get(builder_.getIntNTy(width), operand.number), type);
  }

  Value* Special(const InlineOperand& operand, llvm::Type* type) {
    const std::string name = absl::StrCat("llvm.nvvm.read.ptx.sreg.", absl::StrReplaceAll(operand.name, {{"_", "."}}));
    Value* value = Intrinsic(name, {});
    return value == nullptr ? Fail(type) : As(value, type);
  }

  Value* Fail(llvm::Type* type) {
    failed_ = true;
    return llvm::PoisonValue::get(type);
  }

  Value* Read(const InlineOperand& operand, llvm::Type* type) {
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
  Value* Read(size_t i, const PtxType& type) {
    return i < at_->operands.size() ? Read(at_->operands[i], TypeOf(type)) : Fail(TypeOf(type));
  }
  Value* In(size_t i) { return Read(i, Type()); }  // operand of the operation's own type
  Value* In32(size_t i) { return Read(i, PtxType{32, false, false}); }
  Value* Predicate(size_t i) {
    // A predicate is written as a register of the text, never as an argument.
    return Read(i, PtxType{1, false, false});
  }

  bool Write(const InlineOperand& operand, Value* value) {
    if (operand.kind == Kind::kRegister) {
      if (operand.name != "_") registers_[operand.name] = value;
    } else if (operand.kind == Kind::kArgument && operand.argument < outputs_) {
      arguments_[operand.argument] = As(value, OutputType(operand.argument));
    } else {
      return false;
    }
    return true;
  }
  bool Out(Value* value) { return value != nullptr && !at_->operands.empty() && Write(at_->operands[0], value); }

  Value* Result() {
    if (call_.getType()->isVoidTy()) return nullptr;
    auto get = [&](unsigned i) -> Value* {
      return arguments_[i] != nullptr ? As(arguments_[i], OutputType(i)) : llvm::UndefValue::get(OutputType(i));
    };
    if (!call_.getType()->isStructTy()) return get(0);
    Value* whole = llvm::PoisonValue::get(call_.getType());
    for (unsigned i = 0; i < outputs_; ++i) whole = builder_.CreateInsertValue(whole, get(i), i);
    return whole;
  }

  // --- helpers

  const PtxType Type() const { return types_.empty() ? PtxType{32, false, false} : types_.back(); }
  bool Has(std::string_view modifier) const { return at_->Has(modifier); }
  Value* Integer(unsigned bits, uint64_t value) { return llvm::ConstantInt::get(builder_.getIntNTy(bits), value); }

  // Null if LLVM has no such intrinsic, or one with other operands.
  Value* Intrinsic(const std::string& name, llvm::ArrayRef<Value*> arguments) {
    const llvm::Intrinsic::ID id = llvm::Function::lookupIntrinsicID(name);
    if (id == llvm::Intrinsic::not_intrinsic || llvm::Intrinsic::isOverloaded(id)) return nullptr;
    llvm::Function* function = llvm::Intrinsic::getDeclaration(call_.getModule(), id);
    if (function->arg_size() != arguments.size()) return nullptr;
    llvm::SmallVector<Value*, 8> converted;
    for (unsigned i = 0; i < arguments.size(); ++i)
      converted.push_back(As(arguments[i], function->getArg(i)->getType()));
    return builder_.CreateCall(function, converted);
  }

  // Shifts by any count, as PTX has them: by the width or more, nothing or only the sign is left.
  Value* ShiftLeft(Value* value, Value* count) {
    llvm::Type* type = value->getType();
    count = builder_.CreateZExtOrTrunc(count, type);
    Value* small = builder_.CreateICmpULT(count, llvm::ConstantInt::get(type, type->getIntegerBitWidth()));
    Value* safe = builder_.CreateSelect(small, count, llvm::Constant::getNullValue(type));
    return builder_.CreateSelect(small, builder_.CreateShl(value, safe), llvm::Constant::getNullValue(type));
  }
  Value* ShiftRight(Value* value, Value* count, bool is_signed) {
    llvm::Type* type = value->getType();
    const unsigned width = type->getIntegerBitWidth();
    count = builder_.CreateZExtOrTrunc(count, type);
    Value* small = builder_.CreateICmpULT(count, llvm::ConstantInt::get(type, width));
    if (is_signed) {
      Value* safe = builder_.CreateSelect(small, count, llvm::ConstantInt::get(type, width - 1));
      return builder_.CreateAShr(value, safe);
    }
    Value* safe = builder_.CreateSelect(small, count, llvm::Constant::getNullValue(type));
    return builder_.CreateSelect(small, builder_.CreateLShr(value, safe), llvm::Constant::getNullValue(type));
  }

  Value* Extend(Value* value, unsigned bits, bool is_signed) {
    llvm::Type* type = builder_.getIntNTy(bits);
    return is_signed ? builder_.CreateSExt(value, type) : builder_.CreateZExt(value, type);
  }

  Value* Saturate(Value* value) {
    if (!Has("sat")) return value;
    if (Type().is_float) return Intrinsic(Type().bits == 32 ? "llvm.nvvm.saturate.f" : "llvm.nvvm.saturate.d", {value});
    failed_ = true;
    return value;
  }

  // --- instructions

  bool Emit() {
    const std::string& base = at_->base();
    if (base == "membar" || base == "fence" || base == "prefetch" || base == "prefetchu" || base == "nanosleep" ||
        base == "pmevent" || base == "brkpt") {
      return true;  // one thread runs at a time, and what it writes is seen at once
    }
    if (at_->Meets()) return Meeting();
    if (at_->IsMemory()) return Memory();
    if (base == "mov") return Move();
    if (base == "cvt") return Convert();
    if (base == "setp" || base == "set") return Compare();
    if (base == "selp") {
      Value* condition = Predicate(3);
      return Out(builder_.CreateSelect(condition, In(1), In(2)));
    }
    if (base == "isspacep") return Out(SpaceTest());
    if (base == "cvta") return Out(In(1));
    if (Value* value = Type().is_float ? Floating() : Integral()) return Out(value);
    return false;
  }

  bool Move() {
    if (at_->operands.size() != 2) return false;
    const InlineOperand& to = at_->operands[0];
    const InlineOperand& from = at_->operands[1];
    const unsigned bits = Type().bits;
    if (from.kind == Kind::kVector) {
      const unsigned step = bits / static_cast<unsigned>(from.elements.size());
      Value* whole = Integer(bits, 0);
      for (size_t i = 0; i < from.elements.size(); ++i) {
        Value* part = builder_.CreateZExt(Read(from.elements[i], builder_.getIntNTy(step)), whole->getType());
        whole = builder_.CreateOr(whole, builder_.CreateShl(part, step * i));
      }
      return Out(whole);
    }
    if (to.kind == Kind::kVector) {
      Value* whole = Read(from, builder_.getIntNTy(bits));
      const unsigned step = bits / static_cast<unsigned>(to.elements.size());
      for (size_t i = 0; i < to.elements.size(); ++i) {
        Value* part = builder_.CreateTrunc(builder_.CreateLShr(whole, step * i), builder_.getIntNTy(step));
        if (!Write(to.elements[i], part)) return false;
      }
      return true;
    }
    return Out(In(1));
  }

  bool Convert() {
    if (types_.size() != 2) return false;
    const PtxType to = types_[0], from = types_[1];
    Value* value = Read(1, from);
    llvm::Type* type = TypeOf(to);
    if (!to.is_float && !from.is_float) {
      if (Has("sat")) return false;
      return Out(from.is_signed ? builder_.CreateSExtOrTrunc(value, type) : builder_.CreateZExtOrTrunc(value, type));
    }
    auto rounded = [&](Value* v) -> Value* {
      const llvm::Intrinsic::ID id = Has("rni")   ? llvm::Intrinsic::roundeven
                                     : Has("rzi") ? llvm::Intrinsic::trunc
                                     : Has("rmi") ? llvm::Intrinsic::floor
                                     : Has("rpi") ? llvm::Intrinsic::ceil
                                                  : llvm::Intrinsic::not_intrinsic;
      return id == llvm::Intrinsic::not_intrinsic ? nullptr : builder_.CreateUnaryIntrinsic(id, v);
    };
    if (!to.is_float) {
      Value* whole = rounded(value);
      if (whole == nullptr) return false;
      const llvm::Intrinsic::ID id = to.is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
      return Out(builder_.CreateIntrinsic(id, {type, whole->getType()}, {whole}));
    }
    if (!from.is_float) {
      for (const char* mode : {"rz", "rm", "rp"}) {
        if (!Has(mode)) continue;
        return Out(Intrinsic(absl::StrCat("llvm.nvvm.", from.is_signed ? "" : "u", from.bits == 64 ? "ll" : "i", "2",
                                          to.bits == 64 ? "d." : "f.", mode),
                             {value}));
      }
      if (!Has("rn")) return false;
      return Out(from.is_signed ? builder_.CreateSIToFP(value, type) : builder_.CreateUIToFP(value, type));
    }
    if (Value* whole = rounded(value); whole != nullptr && to.bits == from.bits) return Out(Saturate(whole));
    if (to.bits > from.bits) return Out(builder_.CreateFPExt(value, type));
    if (to.bits < from.bits && Has("rn")) return Out(builder_.CreateFPTrunc(value, type));
    return to.bits == from.bits && Out(Saturate(value));
  }

  bool Compare() {
    // setp.CMP[.BOOL][.ftz].type p, a, b[, c]; set writes a mask of ones or 1.0f.
    static const std::map<std::string, std::pair<llvm::CmpInst::Predicate, llvm::CmpInst::Predicate>, std::less<>>
        kIntegers = {{"eq", {llvm::CmpInst::ICMP_EQ, llvm::CmpInst::ICMP_EQ}},
                     {"ne", {llvm::CmpInst::ICMP_NE, llvm::CmpInst::ICMP_NE}},
                     {"lt", {llvm::CmpInst::ICMP_SLT, llvm::CmpInst::ICMP_ULT}},
                     {"le", {llvm::CmpInst::ICMP_SLE, llvm::CmpInst::ICMP_ULE}},
                     {"gt", {llvm::CmpInst::ICMP_SGT, llvm::CmpInst::ICMP_UGT}},
                     {"ge", {llvm::CmpInst::ICMP_SGE, llvm::CmpInst::ICMP_UGE}},
                     {"lo", {llvm::CmpInst::ICMP_ULT, llvm::CmpInst::ICMP_ULT}},
                     {"ls", {llvm::CmpInst::ICMP_ULE, llvm::CmpInst::ICMP_ULE}},
                     {"hi", {llvm::CmpInst::ICMP_UGT, llvm::CmpInst::ICMP_UGT}},
                     {"hs", {llvm::CmpInst::ICMP_UGE, llvm::CmpInst::ICMP_UGE}}};
    static const std::map<std::string, llvm::CmpInst::Predicate, std::less<>> kFloats = {
        {"eq", llvm::CmpInst::FCMP_OEQ},  {"ne", llvm::CmpInst::FCMP_ONE},  {"lt", llvm::CmpInst::FCMP_OLT},
        {"le", llvm::CmpInst::FCMP_OLE},  {"gt", llvm::CmpInst::FCMP_OGT},  {"ge", llvm::CmpInst::FCMP_OGE},
        {"equ", llvm::CmpInst::FCMP_UEQ}, {"neu", llvm::CmpInst::FCMP_UNE}, {"ltu", llvm::CmpInst::FCMP_ULT},
        {"leu", llvm::CmpInst::FCMP_ULE}, {"gtu", llvm::CmpInst::FCMP_UGT}, {"geu", llvm::CmpInst::FCMP_UGE},
        {"num", llvm::CmpInst::FCMP_ORD}, {"nan", llvm::CmpInst::FCMP_UNO}};
    if (at_->parts.size() < 3) return false;
    Value* a = In(1);
    Value* b = In(2);
    Value* result = nullptr;
    if (Type().is_float) {
      auto found = kFloats.find(at_->parts[1]);
      if (found != kFloats.end()) result = builder_.CreateFCmp(found->second, a, b);
    } else {
      auto found = kIntegers.find(at_->parts[1]);
      if (found != kIntegers.end()) {
        result = builder_.CreateICmp(Type().is_signed ? found->second.first : found->second.second, a, b);
      }
    }
    if (result == nullptr) return false;
    if (Has("and")) result = builder_.CreateAnd(result, Predicate(3));
    if (Has("or")) result = builder_.CreateOr(result, Predicate(3));
    if (Has("xor")) result = builder_.CreateXor(result, Predicate(3));
    if (at_->base() == "setp") {
      const InlineOperand& to = at_->operands[0];
      if (to.kind != Kind::kPair) return Out(result);
      return Write(to.elements[0], result) && Write(to.elements[1], builder_.CreateNot(result));
    }
    if (types_.size() != 2) return false;
    return Out(types_[0].is_float ? builder_.CreateUIToFP(result, TypeOf(types_[0]))
                                  : builder_.CreateSExt(result, TypeOf(types_[0])));
  }

  Value* SpaceTest() {
    for (const char* space : {"global", "shared", "const", "local"}) {
      if (!Has(space)) continue;
      Value* pointer = builder_.CreateIntToPtr(Read(1, PtxType{64, false, false}), builder_.getPtrTy());
      return Intrinsic(absl::StrCat("llvm.nvvm.isspacep.", space), {pointer});
    }
    return nullptr;
  }

  Value* Floating() {
    const std::string& base = at_->base();
    const PtxType type = Type();
    if (type.bits == 16) return nullptr;
    const std::string suffix = absl::StrCat(Has("ftz") ? ".ftz" : "", type.bits == 32 ? ".f" : ".d");
    std::string mode = "rn";
    for (const char* known : {"rz", "rm", "rp"}) {
      if (Has(known)) mode = known;
    }
    if (Has("approx") || Has("full")) mode = "approx";
    const std::string name = absl::StrCat("llvm.nvvm.", base, ".", mode, suffix);
    if (base == "mov") return In(1);
    if (base == "neg") return builder_.CreateFNeg(In(1));
    if (base == "abs") return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, In(1));
    if (base == "min") return Intrinsic(absl::StrCat("llvm.nvvm.fmin", suffix), {In(1), In(2)});
    if (base == "max") return Intrinsic(absl::StrCat("llvm.nvvm.fmax", suffix), {In(1), In(2)});
    if (base == "copysign") return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, In(2), In(1));
    if (base == "sub") {
      return Saturate(Intrinsic(absl::StrCat("llvm.nvvm.add.", mode, suffix), {In(1), builder_.CreateFNeg(In(2))}));
    }
    if (base == "add" || base == "mul" || base == "div") return Saturate(Intrinsic(name, {In(1), In(2)}));
    if (base == "fma" || base == "mad") {
      return Saturate(Intrinsic(absl::StrCat("llvm.nvvm.fma.", mode, suffix), {In(1), In(2), In(3)}));
    }
    if (base == "rcp" && mode == "approx") return Intrinsic(absl::StrCat("llvm.nvvm.rcp.rn", suffix), {In(1)});
    if (base == "rcp" || base == "sqrt" || base == "rsqrt" || base == "ex2" || base == "lg2" || base == "sin" ||
        base == "cos") {
      return Intrinsic(name, {In(1)});
    }
    return nullptr;
  }

  Value* Integral() {
    const std::string& base = at_->base();
    const PtxType type = Type();
    const unsigned bits = type.bits;
    if (base == "and") return builder_.CreateAnd(In(1), In(2));
    if (base == "or") return builder_.CreateOr(In(1), In(2));
    if (base == "xor") return builder_.CreateXor(In(1), In(2));
    if (base == "not") return builder_.CreateNot(In(1));
    if (base == "cnot") return builder_.CreateZExt(builder_.CreateIsNull(In(1)), TypeOf(type));
    if (base == "neg") return builder_.CreateNeg(In(1));
    if (base == "shl") return ShiftLeft(In(1), In32(2));
    if (base == "shr") return ShiftRight(In(1), In32(2), type.is_signed);
    if (base == "abs") return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, In(1), builder_.getFalse());
    if (base == "min") return Minimum(In(1), In(2), true);
    if (base == "max") return Minimum(In(1), In(2), false);
    if (base == "add" || base == "sub" || base == "addc" || base == "subc") return Sum();
    if (base == "mul" || base == "mad" || base == "madc") return Product();
    if (base == "mul24" || base == "mad24") return Product24();
    if (base == "div") return type.is_signed ? builder_.CreateSDiv(In(1), In(2)) : builder_.CreateUDiv(In(1), In(2));
    if (base == "rem") return type.is_signed ? builder_.CreateSRem(In(1), In(2)) : builder_.CreateURem(In(1), In(2));
    if (base == "sad") {
      Value* least = Minimum(In(1), In(2), true);
      Value* most = Minimum(In(1), In(2), false);
      return builder_.CreateAdd(builder_.CreateSub(most, least), In(3));
    }
    if (base == "popc") return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, In(1));
    if (base == "brev") return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, In(1));
    if (base == "clz") return LeadingZeros(In(1));
    if (base == "bfind") {
      Value* value = In(1);
      if (type.is_signed) {
        Value* negative = builder_.CreateICmpSLT(value, Integer(bits, 0));
        value = builder_.CreateSelect(negative, builder_.CreateNot(value), value);
      }
      Value* zeros = LeadingZeros(value);
      Value* found = builder_.CreateSub(Integer(bits, bits - 1), zeros);
      if (!Has("shiftamt")) return found;
      return builder_.CreateSelect(builder_.CreateIsNull(value), Integer(bits, ~uint64_t{0}), zeros);
    }
    if (base == "bfe") return ExtractField();
    if (base == "bfi") return InsertField();
    if (base == "prmt" && at_->parts.size() == 2) return Intrinsic("llvm.nvvm.prmt", {In32(1), In32(2), In32(3)});
    if (base == "lop3") return ThreeInputLogic();
    if (base == "shf") return FunnelShift();
    return nullptr;
  }

  Value* LeadingZeros(Value* value) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, value, builder_.getFalse());
  }
  Value* Minimum(Value* a, Value* b, bool least) {
    const bool is_signed = Type().is_signed;
    Value* less = is_signed ? builder_.CreateICmpSLT(a, b) : builder_.CreateICmpULT(a, b);
    return least ? builder_.CreateSelect(less, a, b) : builder_.CreateSelect(less, b, a);
  }

  // The carry of the instruction before, where this one takes it, in `bits`.
  Value* CarryIn(bool takes, unsigned bits) {
    if (!takes || carry_ == nullptr) return Integer(bits, 0);
    return builder_.CreateZExt(carry_, builder_.getIntNTy(bits));
  }

  Value* Sum() {
    const std::string& base = at_->base();
    const unsigned bits = Type().bits;
    if (Has("sat")) {
      const auto id = base == "add" ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::ssub_sat;
      return builder_.CreateBinaryIntrinsic(id, In(1), In(2));
    }
    const bool subtracts = base == "sub" || base == "subc";
    const bool takes = base == "addc" || base == "subc";
    if (!takes && !Has("cc")) return subtracts ? builder_.CreateSub(In(1), In(2)) : builder_.CreateAdd(In(1), In(2));
    Value* a = Extend(In(1), 2 * bits, false);
    Value* b = Extend(In(2), 2 * bits, false);
    Value* carry = CarryIn(takes, 2 * bits);
    Value* sum = subtracts ? builder_.CreateSub(builder_.CreateSub(a, b), carry)
                           : builder_.CreateAdd(builder_.CreateAdd(a, b), carry);
    if (Has("cc")) carry_ = builder_.CreateTrunc(builder_.CreateLShr(sum, bits), builder_.getInt1Ty());
    return builder_.CreateTrunc(sum, builder_.getIntNTy(bits));
  }

  Value* Product() {
    const std::string& base = at_->base();
    const PtxType type = Type();
    const unsigned bits = type.bits;
    Value* product =
        builder_.CreateMul(Extend(In(1), 2 * bits, type.is_signed), Extend(In(2), 2 * bits, type.is_signed));
    const bool adds = base != "mul";
    if (Has("wide")) {
      return adds ? builder_.CreateAdd(product, Read(3, PtxType{2 * bits, false, false})) : product;
    }
    if (!Has("lo") && !Has("hi")) return nullptr;
    if (Has("hi")) product = builder_.CreateLShr(product, bits);
    Value* half = builder_.CreateTrunc(product, builder_.getIntNTy(bits));
    if (!adds) return half;
    if (base == "mad" && !Has("cc")) return builder_.CreateAdd(half, In(3));
    Value* sum = builder_.CreateAdd(builder_.CreateAdd(Extend(half, 2 * bits, false), Extend(In(3), 2 * bits, false)),
                                    CarryIn(base == "madc", 2 * bits));
    if (Has("cc")) carry_ = builder_.CreateTrunc(builder_.CreateLShr(sum, bits), builder_.getInt1Ty());
    return builder_.CreateTrunc(sum, builder_.getIntNTy(bits));
  }

  Value* Product24() {
    if (!Has("lo") || Has("sat")) return nullptr;
    auto low = [&](Value* v) {
      Value* high = builder_.CreateShl(v, 8);
      return Type().is_signed ? builder_.CreateAShr(high, 8) : builder_.CreateLShr(high, 8);
    };
    Value* product = builder_.CreateMul(low(In(1)), low(In(2)));
    return at_->base() == "mad24" ? builder_.CreateAdd(product, In(3)) : product;
  }

  Value* ExtractField() {
    const PtxType type = Type();
    Value* value = In(1);
    Value* position = builder_.CreateAnd(In32(2), 255);
    Value* length = builder_.CreateAnd(In32(3), 255);
    Value* mask = builder_.CreateSub(ShiftLeft(Integer(type.bits, 1), length), Integer(type.bits, 1));
    Value* field = builder_.CreateAnd(ShiftRight(value, position, type.is_signed), mask);
    if (!type.is_signed) return field;
    // The sign is the field's highest bit, or the value's where the field goes beyond it.
    Value* last = builder_.CreateSub(builder_.CreateAdd(position, length), Integer(32, 1));
    Value* inside = builder_.CreateICmpULT(last, Integer(32, type.bits - 1));
    Value* at = builder_.CreateSelect(inside, last, Integer(32, type.bits - 1));
    Value* sign = builder_.CreateTrunc(ShiftRight(value, at, false), builder_.getInt1Ty());
    Value* negative = builder_.CreateAnd(sign, builder_.CreateIsNotNull(length));
    return builder_.CreateSelect(negative, builder_.CreateOr(field, builder_.CreateNot(mask)), field);
  }

  Value* InsertField() {
    const unsigned bits = Type().bits;
    Value* position = builder_.CreateAnd(In32(3), 255);
    Value* length = builder_.CreateAnd(In32(4), 255);
    Value* ones = builder_.CreateSub(ShiftLeft(Integer(bits, 1), length), Integer(bits, 1));
    Value* mask = ShiftLeft(ones, position);
    return builder_.CreateOr(builder_.CreateAnd(In(2), builder_.CreateNot(mask)),
                             builder_.CreateAnd(ShiftLeft(In(1), position), mask));
  }

  Value* ThreeInputLogic() {
    if (at_->operands.size() != 5) return nullptr;
    auto* table = llvm::dyn_cast<llvm::ConstantInt>(In32(4));
    if (table == nullptr) return nullptr;
    Value* inputs[3] = {In(1), In(2), In(3)};
    Value* result = Integer(32, 0);
    for (unsigned row = 0; row < 8; ++row) {
      if ((table->getZExtValue() >> row & 1) == 0) continue;
      Value* term = Integer(32, ~uint64_t{0});
      for (unsigned i = 0; i < 3; ++i) {
        const bool set = row >> (2 - i) & 1;  // the first input is the highest bit of the row
        term = builder_.CreateAnd(term, set ? inputs[i] : builder_.CreateNot(inputs[i]));
      }
      result = builder_.CreateOr(result, term);
    }
    return result;
  }

  Value* FunnelShift() {
    Value* count = In32(3);
    Value* amount = Has("wrap") ? builder_.CreateAnd(count, 31)
                    : Has("clamp")
                        ? builder_.CreateSelect(builder_.CreateICmpULT(count, Integer(32, 32)), count, Integer(32, 32))
                        : nullptr;
    if (amount == nullptr) return nullptr;
    Value* both = builder_.CreateOr(builder_.CreateShl(Extend(In32(2), 64, false), 32), Extend(In32(1), 64, false));
    amount = Extend(amount, 64, false);
    if (Has("l")) both = builder_.CreateLShr(builder_.CreateShl(both, amount), 32);
    if (Has("r")) both = builder_.CreateLShr(both, amount);
    return builder_.CreateTrunc(both, builder_.getInt32Ty());
  }

  bool Meeting() {
    const std::string& base = at_->base();
    auto mask_or_active = [&](size_t i) { return Has("sync") ? In32(i) : Intrinsic("llvm.nvvm.activemask", {}); };
    if (base == "activemask") return Out(Intrinsic("llvm.nvvm.activemask", {}));
    if (base == "bar" || base == "barrier") {
      if (Has("warp")) return Intrinsic("llvm.nvvm.bar.warp.sync", {In32(0)}) != nullptr;
      if (!Has("sync") || at_->operands.empty()) return false;
      if (at_->operands.size() == 1) return Intrinsic("llvm.nvvm.barrier.sync", {In32(0)}) != nullptr;
      return Intrinsic("llvm.nvvm.barrier.sync.cnt", {In32(0), In32(1)}) != nullptr;
    }
    if (base == "shfl") {
      const char* mode = Has("up") ? "up" : Has("down") ? "down" : Has("bfly") ? "bfly" : "idx";
      const InlineOperand& to = at_->operands[0];
      const bool pair = to.kind == Kind::kPair;
      Value* shuffled = Intrinsic(absl::StrCat("llvm.nvvm.shfl.sync.", mode, ".i32", pair ? "p" : ""),
                                  {mask_or_active(4), In32(1), In32(2), In32(3)});
      if (shuffled == nullptr) return false;
      if (!pair) return Out(shuffled);
      return Write(to.elements[0], builder_.CreateExtractValue(shuffled, 0)) &&
             Write(to.elements[1], builder_.CreateExtractValue(shuffled, 1));
    }
    if (base == "vote") {
      const char* mode = Has("all") ? "all" : Has("any") ? "any" : Has("uni") ? "uni" : "ballot";
      return Out(Intrinsic(absl::StrCat("llvm.nvvm.vote.", mode, ".sync"), {mask_or_active(2), Predicate(1)}));
    }
    if (base == "match" && Has("any")) {
      const char* type = Type().bits == 64 ? "i64" : "i32";
      return Out(Intrinsic(absl::StrCat("llvm.nvvm.match.any.sync.", type), {In32(2), In(1)}));
    }
    return false;
  }

  bool Memory() {
    const std::string& base = at_->base();
    const InlineAccess access = InlineAccessOf(call_);
    if (access.address == nullptr || types_.empty()) return false;
    llvm::Type* element = TypeOf(Type());
    Value* pointer = pointer_to_(builder_, access);
    const unsigned count = Has("v4") ? 4 : Has("v2") ? 2 : 1;
    const unsigned step = Type().bits / 8;
    // Volatile, so that the host compiler keeps what the program asked for.
    if (base == "ld") {
      for (unsigned i = 0; i < count; ++i) {
        Value* at = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), pointer, uint64_t{i} * step);
        Value* value = builder_.CreateAlignedLoad(element, at, llvm::Align(1), true);
        if (!Type().is_float && Type().bits < 32) value = Extend(value, 32, Type().is_signed);
        const InlineOperand& to = at_->operands[0];
        if (!Write(count > 1 && i < to.elements.size() ? to.elements[i] : to, value)) return false;
      }
      return true;
    }
    if (base == "st") {
      const InlineOperand& from = at_->operands[1];
      for (unsigned i = 0; i < count; ++i) {
        Value* at = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), pointer, uint64_t{i} * step);
        Value* value = Read(count > 1 && i < from.elements.size() ? from.elements[i] : from, element);
        builder_.CreateAlignedStore(value, at, llvm::Align(1), true);
      }
      return true;
    }
    return Atomic(pointer);
  }

  bool Atomic(Value* pointer) {
    using Op = llvm::AtomicRMWInst;
    const bool returns = at_->base() == "atom";
    const size_t first = returns ? 2 : 1;  // behind the result and the address
    const auto order = llvm::AtomicOrdering::Monotonic;
    const llvm::Align align(Type().bits / 8);
    Value* old = nullptr;
    if (Has("cas")) {
      Value* pair = builder_.CreateAtomicCmpXchg(pointer, In(first), In(first + 1), align, order, order);
      old = builder_.CreateExtractValue(pair, 0);
    } else {
      const bool is_signed = Type().is_signed;
      const std::optional<Op::BinOp> operation = Has("add")    ? std::optional(Type().is_float ? Op::FAdd : Op::Add)
                                                 : Has("exch") ? std::optional(Op::Xchg)
                                                 : Has("min")  ? std::optional(is_signed ? Op::Min : Op::UMin)
                                                 : Has("max")  ? std::optional(is_signed ? Op::Max : Op::UMax)
                                                 : Has("and")  ? std::optional(Op::And)
                                                 : Has("or")   ? std::optional(Op::Or)
                                                 : Has("xor")  ? std::optional(Op::Xor)
                                                 : Has("inc")  ? std::optional(Op::UIncWrap)
                                                 : Has("dec")  ? std::optional(Op::UDecWrap)
                                                               : std::nullopt;
      if (!operation || (Type().is_float && !Has("add"))) return false;
      old = builder_.CreateAtomicRMW(*operation, pointer, Read(first, Type()), align, order);
    }
    return !returns || Out(old);
  }

  llvm::CallInst& call_;
  llvm::function_ref<Value*(llvm::IRBuilder<>&, const InlineAccess&)> pointer_to_;
  llvm::IRBuilder<> builder_;
  std::vector<Value*> arguments_;  // by number: outputs (null until they have a value), then inputs
  unsigned outputs_ = 0;
  std::map<std::string, Value*, std::less<>> registers_;
  Value* carry_ = nullptr;
  const InlineInstruction* at_ = nullptr;
  std::vector<PtxType> types_;
  bool failed_ = false;
};

}  // namespace

absl::StatusOr<Value*> EmitInlinePtx(llvm::CallInst& call, const std::vector<InlineInstruction>& instructions,
                                     llvm::function_ref<Value*(llvm::IRBuilder<>&, const InlineAccess&)> pointer_to) {
  return Emitter(call, pointer_to).Run(instructions);
}

}  // namespace heddle::tracegen
