#include "tracegen/ptx/inline_ptx_arithmetic.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "tracegen/ptx/inline_ptx_modifiers.h"

namespace heddle::tracegen {

using llvm::Value;

Value* InlinePtxArithmetic::ShiftLeft(Value* value, Value* count) {
  llvm::Type* type = value->getType();
  count = builder_.CreateZExtOrTrunc(count, type);
  Value* small = builder_.CreateICmpULT(count, llvm::ConstantInt::get(type, type->getIntegerBitWidth()));
  Value* safe = builder_.CreateSelect(small, count, llvm::Constant::getNullValue(type));
  return builder_.CreateSelect(small, builder_.CreateShl(value, safe), llvm::Constant::getNullValue(type));
}

Value* InlinePtxArithmetic::ShiftRight(Value* value, Value* count, bool is_signed) {
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

Value* InlinePtxArithmetic::Extend(Value* value, unsigned bits, bool is_signed) {
  llvm::Type* type = builder_.getIntNTy(bits);
  return is_signed ? builder_.CreateSExt(value, type) : builder_.CreateZExt(value, type);
}

Value* InlinePtxArithmetic::Saturate(Value* value) {
  if (!Has("sat")) return value;
  llvm::Type* type = value->getType();
  if (type->isFloatTy() || type->isDoubleTy()) {
    return Intrinsic(type->isFloatTy() ? "llvm.nvvm.saturate.f" : "llvm.nvvm.saturate.d", {value});
  }
  Fail();
  return value;
}

Value* InlinePtxArithmetic::Flush(Value* value) {
  if (!Has("ftz") || !value->getType()->isFloatTy()) return value;
  llvm::Type* type = value->getType();
  Value* small = builder_.CreateFCmpOLT(
      builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value),
      llvm::ConstantFP::get(type, llvm::APFloat::getSmallestNormalized(type->getFltSemantics())));
  Value* zero = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, llvm::ConstantFP::get(type, 0.0), value);
  return builder_.CreateSelect(small, zero, value);
}

Value* InlinePtxArithmetic::Floating() {
  const std::string& base = at().base();
  PtxType type = Type();
  if (type.bits == 16) return nullptr;
  const std::string suffix = absl::StrCat(Has("ftz") ? ".ftz" : "", type.bits == 32 ? ".f" : ".d");
  std::string mode = "rn";
  for (const char* known : {"rz", "rm", "rp"}) {
    if (Has(known)) mode = known;
  }
  if (Has("approx") || Has("full")) mode = "approx";
  const std::string name = absl::StrCat("llvm.nvvm.", base, ".", mode, suffix);
  if (base == "mov") return In(1);
  if (base == "neg") return builder_.CreateFNeg(Flush(In(1)));
  if (base == "abs") return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, Flush(In(1)));
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
  if (base == "rcp" && mode == "approx") {
    return Intrinsic(type.bits == 64 ? "llvm.nvvm.rcp.rn.d" : absl::StrCat("llvm.nvvm.rcp.rn", suffix), {In(1)});
  }
  if (base == "tanh") {
    // LLVM 19 has no intrinsic of it.
    llvm::FunctionCallee function =
        call().getModule()->getOrInsertFunction("__nv_tanhf", builder_.getFloatTy(), builder_.getFloatTy());
    return builder_.CreateCall(function, {In(1)});
  }
  if (base == "rcp" || base == "sqrt" || base == "rsqrt" || base == "ex2" || base == "lg2" || base == "sin" ||
      base == "cos") {
    return Intrinsic(name, {In(1)});
  }
  return nullptr;
}

Value* InlinePtxArithmetic::Integral() {
  const std::string& base = at().base();
  PtxType type = Type();
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
  if (base == "prmt") return Permute();
  if (base == "lop3") return ThreeInputLogic();
  if (base == "shf") return FunnelShift();
  if (base == "dp4a" || base == "dp2a") return DotProduct();
  if (const std::string lanes = LaneOperation(base); !lanes.empty()) return Lanes(lanes);
  return nullptr;
}

Value* InlinePtxArithmetic::LeadingZeros(Value* value) {
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, value, builder_.getFalse());
}

Value* InlinePtxArithmetic::Minimum(Value* a, Value* b, bool least) {
  const bool is_signed = Type().is_signed;
  Value* less = is_signed ? builder_.CreateICmpSLT(a, b) : builder_.CreateICmpULT(a, b);
  return least ? builder_.CreateSelect(less, a, b) : builder_.CreateSelect(less, b, a);
}

Value* InlinePtxArithmetic::CarryIn(bool takes, unsigned bits) {
  if (!takes || carry_ == nullptr) return Integer(bits, 0);
  return builder_.CreateZExt(carry_, builder_.getIntNTy(bits));
}

Value* InlinePtxArithmetic::Sum() {
  const std::string& base = at().base();
  const unsigned bits = Type().bits;
  if (Has("sat")) {
    if (!Type().is_signed || bits != 32) return nullptr;
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

Value* InlinePtxArithmetic::Product() {
  const std::string& base = at().base();
  PtxType type = Type();
  const unsigned bits = type.bits;
  Value* product = builder_.CreateMul(Extend(In(1), 2 * bits, type.is_signed), Extend(In(2), 2 * bits, type.is_signed));
  const bool adds = base != "mul";
  if (Has("sat")) return nullptr;
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

Value* InlinePtxArithmetic::Product24() {
  if (!Has("lo") || Has("sat")) return nullptr;
  auto low = [&](Value* v) {
    Value* high = builder_.CreateShl(v, 8);
    return Type().is_signed ? builder_.CreateAShr(high, 8) : builder_.CreateLShr(high, 8);
  };
  Value* product = builder_.CreateMul(low(In(1)), low(In(2)));
  return at().base() == "mad24" ? builder_.CreateAdd(product, In(3)) : product;
}

Value* InlinePtxArithmetic::ExtractField() {
  PtxType type = Type();
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

Value* InlinePtxArithmetic::InsertField() {
  const unsigned bits = Type().bits;
  Value* position = builder_.CreateAnd(In32(3), 255);
  Value* length = builder_.CreateAnd(In32(4), 255);
  Value* ones = builder_.CreateSub(ShiftLeft(Integer(bits, 1), length), Integer(bits, 1));
  Value* mask = ShiftLeft(ones, position);
  return builder_.CreateOr(builder_.CreateAnd(In(2), builder_.CreateNot(mask)),
                           builder_.CreateAnd(ShiftLeft(In(1), position), mask));
}

Value* InlinePtxArithmetic::ThreeInputLogic() {
  if (at().operands.size() != 5) return nullptr;
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

Value* InlinePtxArithmetic::FunnelShift() {
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

Value* InlinePtxArithmetic::Permute() {
  // The selectors that a mode stands for, by the last two bits of the third operand (PTX ISA, prmt).
  static const std::pair<const char*, uint64_t> kModes[] = {
      {"f4e", 0x6543'5432'4321'3210}, {"b4e", 0x0123'7012'6701'5670}, {"rc8", 0x3333'2222'1111'0000},
      {"ecl", 0x3333'3222'3211'3210}, {"ecr", 0x3210'2210'1110'0000}, {"rc16", 0x3232'1010'3232'1010},
  };
  Value* selectors = In32(3);
  for (const auto& [mode, table] : kModes) {
    if (!Has(mode)) continue;
    Value* shift = builder_.CreateShl(Extend(builder_.CreateAnd(selectors, 3), 64, false), 4);
    selectors = builder_.CreateTrunc(builder_.CreateLShr(Integer(64, table), shift), builder_.getInt32Ty());
  }
  return Intrinsic("llvm.nvvm.prmt", {In32(1), In32(2), selectors});
}

Value* InlinePtxArithmetic::Lane(Value* word, unsigned i, unsigned bits, bool is_signed) {
  Value* high = builder_.CreateShl(word, 32 - bits * (i + 1));
  return is_signed ? builder_.CreateAShr(high, 32 - bits) : builder_.CreateLShr(high, 32 - bits);
}

Value* InlinePtxArithmetic::DotProduct() {
  if (types().size() != 2 || at().operands.size() != 4) return nullptr;
  const bool halves = at().base() == "dp2a";
  if (halves && !Has("lo") && !Has("hi")) return nullptr;
  const unsigned count = halves ? 2 : 4, first = Has("hi") ? 2 : 0;
  Value* a = In32(1);
  Value* b = In32(2);
  Value* sum = In32(3);
  for (unsigned i = 0; i < count; ++i) {
    sum = builder_.CreateAdd(sum, builder_.CreateMul(Lane(a, i, 32 / count, types()[0].is_signed),
                                                     Lane(b, first + i, 8, types()[1].is_signed)));
  }
  return sum;
}

Value* InlinePtxArithmetic::Lanes(const std::string& operation) {
  const bool compares = operation == "vset";
  if (types().size() != (compares ? 2 : 3) || at().operands.size() != 4) return nullptr;
  const PtxType& of_a = types()[types().size() - 2];
  const unsigned count = at().base().back() == '2' ? 2 : 4, bits = 32 / count;
  Value* words[2] = {In32(1), In32(2)};
  Value* whole = Has("add") ? In32(3) : Integer(32, 0);
  for (unsigned i = 0; i < count; ++i) {
    Value* a = Lane(words[0], i, bits, of_a.is_signed);
    Value* b = Lane(words[1], i, bits, types().back().is_signed);
    Value* lane = nullptr;
    auto choose = [&](llvm::CmpInst::Predicate test, Value* yes, Value* no) {
      lane = builder_.CreateSelect(builder_.CreateICmp(test, a, b), yes, no);
    };
    if (operation == "vadd") lane = builder_.CreateAdd(a, b);
    if (operation == "vsub") lane = builder_.CreateSub(a, b);
    if (operation == "vavrg") {
      Value* sum = builder_.CreateAdd(a, b);
      Value* up = Extend(builder_.CreateICmpSGE(sum, Integer(32, 0)), 32, false);
      lane = builder_.CreateAShr(builder_.CreateAdd(sum, up), 1);
    }
    if (operation == "vabsdiff") choose(llvm::CmpInst::ICMP_SGT, builder_.CreateSub(a, b), builder_.CreateSub(b, a));
    if (operation == "vmin") choose(llvm::CmpInst::ICMP_SLT, a, b);
    if (operation == "vmax") choose(llvm::CmpInst::ICMP_SGT, a, b);
    static const std::pair<const char*, llvm::CmpInst::Predicate> kTests[] = {
        {"eq", llvm::CmpInst::ICMP_EQ},  {"ne", llvm::CmpInst::ICMP_NE},  {"lt", llvm::CmpInst::ICMP_SLT},
        {"le", llvm::CmpInst::ICMP_SLE}, {"gt", llvm::CmpInst::ICMP_SGT}, {"ge", llvm::CmpInst::ICMP_SGE}};
    for (const auto& [name, test] : kTests) {
      if (compares && Has(name)) choose(test, Integer(32, 1), Integer(32, 0));
    }
    if (lane == nullptr) return nullptr;
    if (Has("sat")) {
      const bool is_signed = types()[0].is_signed;
      const uint64_t most = (uint64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
      const uint64_t least = is_signed ? ~most : 0;
      lane = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, lane, Integer(32, most));
      lane = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, lane, Integer(32, least & 0xffffffff));
    }
    if (Has("add")) {
      whole = builder_.CreateAdd(whole, lane);
    } else {
      Value* cut = builder_.CreateAnd(lane, Integer(32, (uint64_t{1} << bits) - 1));
      whole = builder_.CreateOr(whole, builder_.CreateShl(cut, bits * i));
    }
  }
  return whole;
}

}  // namespace heddle::tracegen
