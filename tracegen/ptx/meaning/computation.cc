// Instructions that compute from registers to registers, by what they are; comparisons and choices among them (PTX ISA:
// Comparison and Selection Instructions).
#include <utility>

#include "llvm/IR/Intrinsics.h"
#include "tracegen/ptx/meaning/emission.h"
#include "tracegen/ptx/meaning/rounding.h"

namespace heddle::tracegen::ptx {
namespace {

using llvm::Value;
using Predicate = llvm::CmpInst::Predicate;

struct Comparison {
  std::string_view name;
  Predicate of_floats;
  Predicate of_signed;
  Predicate of_unsigned;
};

constexpr Predicate kNone = llvm::CmpInst::BAD_ICMP_PREDICATE;
constexpr Comparison kComparisons[] = {
    {"eq", llvm::CmpInst::FCMP_OEQ, llvm::CmpInst::ICMP_EQ, llvm::CmpInst::ICMP_EQ},
    {"ne", llvm::CmpInst::FCMP_ONE, llvm::CmpInst::ICMP_NE, llvm::CmpInst::ICMP_NE},
    {"lt", llvm::CmpInst::FCMP_OLT, llvm::CmpInst::ICMP_SLT, llvm::CmpInst::ICMP_ULT},
    {"le", llvm::CmpInst::FCMP_OLE, llvm::CmpInst::ICMP_SLE, llvm::CmpInst::ICMP_ULE},
    {"gt", llvm::CmpInst::FCMP_OGT, llvm::CmpInst::ICMP_SGT, llvm::CmpInst::ICMP_UGT},
    {"ge", llvm::CmpInst::FCMP_OGE, llvm::CmpInst::ICMP_SGE, llvm::CmpInst::ICMP_UGE},
    {"lo", kNone, llvm::CmpInst::ICMP_ULT, llvm::CmpInst::ICMP_ULT},
    {"ls", kNone, llvm::CmpInst::ICMP_ULE, llvm::CmpInst::ICMP_ULE},
    {"hi", kNone, llvm::CmpInst::ICMP_UGT, llvm::CmpInst::ICMP_UGT},
    {"hs", kNone, llvm::CmpInst::ICMP_UGE, llvm::CmpInst::ICMP_UGE},
    {"equ", llvm::CmpInst::FCMP_UEQ, kNone, kNone},
    {"neu", llvm::CmpInst::FCMP_UNE, kNone, kNone},
    {"ltu", llvm::CmpInst::FCMP_ULT, kNone, kNone},
    {"leu", llvm::CmpInst::FCMP_ULE, kNone, kNone},
    {"gtu", llvm::CmpInst::FCMP_UGT, kNone, kNone},
    {"geu", llvm::CmpInst::FCMP_UGE, kNone, kNone},
    {"num", llvm::CmpInst::FCMP_ORD, kNone, kNone},
    {"nan", llvm::CmpInst::FCMP_UNO, kNone, kNone},
};

class Comparisons {
 public:
  explicit Comparisons(Emission& e) : e_(e), b_(e.b) {}

  // setp.CMP[.BOOL][.ftz].type p[|q], a, b[, c]
  bool SetPredicate() {
    const Type type = e_.type();
    if (type.elements == 2) return SetTwoPredicates(type);
    Value* result = Compare(type, 0);
    if (result == nullptr) return false;
    const Operand& to = e_.at.operands[0];
    if (to.kind == Operand::Kind::kPair) {
      Value* second = Combine(b_.CreateNot(result));
      e_.access.Write(to.elements[0], Combine(result), false);
      e_.access.Write(to.elements[1], second, false);
      return true;
    }
    e_.access.Write(to, Combine(result), false);
    return true;
  }

  // set.CMP[.BOOL][.ftz].dtype.stype d, a, b[, c]: a mask of ones, or 1.0.
  Value* Set() {
    const Type to = e_.at.TypeAt(0);
    const Type type = e_.at.TypeAt(1);
    if (!to.exists() || !type.exists()) return nullptr;
    if (type.elements == 2) return SetPacked(to, type);
    Value* result = Compare(type, 0);
    if (result == nullptr) return nullptr;
    result = Combine(result);
    if (to.name == "bf16") return b_.CreateSelect(result, b_.getInt16(0x3f80), b_.getInt16(0));
    return IsFloat(to) ? b_.CreateUIToFP(result, e_.TypeOf(to)) : b_.CreateSExt(result, e_.TypeOf(to));
  }

 private:
  // Of lane i, for packed types.
  Value* Lane(size_t i, const Type& type, unsigned lane) {
    Value* value = nullptr;
    const bool brain = type.name.starts_with("bf");
    const bool flush = e_.Has("ftz");
    if (type.elements == 2 || brain || type.name == "f16") {
      value =
          type.elements == 2 ? b_.CreateTrunc(b_.CreateLShr(e_.In32(i), 16 * lane), b_.getInt16Ty()) : e_.Bits(i, 16);
      // Subnormal numbers of half precision are none of single precision.
      if (flush && !brain) value = FlushSubnormal(b_, b_.CreateBitCast(value, b_.getHalfTy()));
      return FromNarrow(b_, b_.CreateBitCast(value, b_.getInt16Ty()), brain);
    }
    value = e_.In(i, type);
    return flush && type.bits == 32 ? FlushSubnormal(b_, value) : value;
  }

  Value* Compare(const Type& type, unsigned lane) {
    for (const Comparison& known : kComparisons) {
      if (e_.at.modifiers.empty() || e_.at.modifiers[0].text != known.name) continue;
      Value* a = Lane(1, type, lane);
      Value* c = Lane(2, type, lane);
      if (IsFloat(type)) return known.of_floats == kNone ? nullptr : b_.CreateFCmp(known.of_floats, a, c);
      const Predicate predicate = IsSigned(type) ? known.of_signed : known.of_unsigned;
      return predicate == kNone ? nullptr : b_.CreateICmp(predicate, a, c);
    }
    return nullptr;
  }

  Value* Combine(Value* test) {
    if (e_.Has("and")) return b_.CreateAnd(test, e_.Predicate(3));
    if (e_.Has("or")) return b_.CreateOr(test, e_.Predicate(3));
    if (e_.Has("xor")) return b_.CreateXor(test, e_.Predicate(3));
    return test;
  }

  bool SetTwoPredicates(const Type& type) {
    const Operand& to = e_.at.operands[0];
    if (to.kind != Operand::Kind::kPair) return false;
    Value* results[2];
    for (unsigned i = 0; i < 2; ++i) {
      results[i] = Compare(type, i);
      if (results[i] == nullptr) return false;
      results[i] = Combine(results[i]);
    }
    for (unsigned i = 0; i < 2; ++i) e_.access.Write(to.elements[i], results[i], false);
    return true;
  }

  Value* SetPacked(const Type& to, const Type& type) {
    Value* whole = b_.getInt32(0);
    const uint32_t one = !IsFloat(to) ? 0xffff : to.name == "bf16x2" ? 0x3f80 : 0x3c00;
    for (unsigned i = 0; i < 2; ++i) {
      Value* result = Compare(type, i);
      if (result == nullptr) return nullptr;
      whole = b_.CreateOr(whole, b_.CreateSelect(Combine(result), b_.getInt32(one << (16 * i)), b_.getInt32(0)));
    }
    return whole;
  }

  Emission& e_;
  llvm::IRBuilder<>& b_;
};

// slct.dtype.ctype d, a, b, c: a if c is not negative.
Value* Choose(Emission& e) {
  const Type to = e.at.TypeAt(0);
  const Type test = e.at.TypeAt(1);
  if (!test.exists()) return nullptr;
  Value* value = e.In(3, test);
  if (e.Has("ftz")) value = FlushSubnormal(e.b, value);
  Value* zero = llvm::Constant::getNullValue(value->getType());
  Value* first = IsFloat(test) ? e.b.CreateFCmpOGE(value, zero) : e.b.CreateICmpSGE(value, zero);
  return e.b.CreateSelect(first, e.In(1, to), e.In(2, to));
}

// testp.op.type p, a
Value* TestProperty(Emission& e) {
  const Type type = e.type();
  if (type.name != "f32" && type.name != "f64") return nullptr;
  const bool wide = type.bits == 64;
  Value* bits = e.b.CreateAnd(e.Bits(1, type.bits), e.Number(type.bits, wide ? ~uint64_t{0} >> 1 : 0x7fff'ffff));
  Value* infinite = e.Number(type.bits, wide ? 0x7ff0'0000'0000'0000 : 0x7f80'0000);
  Value* normal = e.Number(type.bits, wide ? 0x0010'0000'0000'0000 : 0x0080'0000);
  if (e.Has("finite")) return e.b.CreateICmpULT(bits, infinite);
  if (e.Has("infinite")) return e.b.CreateICmpEQ(bits, infinite);
  if (e.Has("number")) return e.b.CreateICmpULE(bits, infinite);
  if (e.Has("notanumber")) return e.b.CreateICmpUGT(bits, infinite);
  if (e.Has("normal")) {
    // Zero is normal, too.
    Value* is_large = e.b.CreateOr(e.b.CreateICmpUGE(bits, normal), e.b.CreateIsNull(bits));
    return e.b.CreateAnd(is_large, e.b.CreateICmpULT(bits, infinite));
  }
  if (e.Has("subnormal")) return e.b.CreateAnd(e.b.CreateICmpULT(bits, normal), e.b.CreateIsNotNull(bits));
  return nullptr;
}

// lop3.BOOL.b32 d|p, a, b, c, table, q: p = (d != 0) BOOL q.
bool LogicWithPredicate(Emission& e) {
  Value* result = EmitInteger(e);
  if (result == nullptr) return false;
  const Operand& to = e.at.operands[0];
  Value* test = e.b.CreateIsNotNull(result);
  if (e.count() > 5) {
    test = e.Has("and") ? e.b.CreateAnd(test, e.Predicate(5)) : e.b.CreateOr(test, e.Predicate(5));
  }
  e.access.Write(to.elements[0], result, false);
  e.access.Write(to.elements[1], test, false);
  return true;
}

}  // namespace

bool EmitComputation(Emission& e) {
  if (e.at.operands.empty()) return false;
  const std::string_view op = e.at.opcode();
  if (op == "setp") return Comparisons(e).SetPredicate();
  if (op == "lop3" && e.at.operands[0].kind == Operand::Kind::kPair) return LogicWithPredicate(e);
  Value* result = nullptr;
  bool is_signed = IsSigned(e.type());
  if (op == "set") {
    result = Comparisons(e).Set();
    is_signed = true;
  } else if (op == "selp") {
    Value* condition = e.Predicate(3);
    result = e.b.CreateSelect(condition, e.In(1), e.In(2));
  } else if (op == "slct") {
    result = Choose(e);
  } else if (op == "testp") {
    result = TestProperty(e);
  } else if (op == "cvt") {
    result = EmitConversion(e);
    is_signed = IsSigned(e.at.TypeAt(0));
  } else if (op[0] == 'v') {
    result = EmitVideo(e);
    is_signed = IsSigned(e.at.TypeAt(0));
  } else {
    result = EmitFloat(e);
    if (result == nullptr) result = EmitInteger(e);
  }
  if (result == nullptr) return false;
  e.access.Write(e.at.operands[0], result, is_signed);
  return true;
}

}  // namespace heddle::tracegen::ptx
