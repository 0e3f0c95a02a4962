// Integer arithmetic: sums with carries, products, comparisons.
#include "llvm/IR/Intrinsics.h"
#include "tracegen/machine/meaning/meaning.h"

namespace heddle::tracegen::machine {
namespace {

using llvm::Value;

// A term of a sum with carries, in 64 bits. A subtraction adds the complement and one; with a carry that comes in, the
// text has '~', and the one comes with the carry.
Value* Term(Emission& e, size_t k) {
  llvm::Type* wide = e.b.getInt64Ty();
  Value* value = e.Plain(k);
  switch (e.Sign(k)) {
    case '-':
      return e.b.CreateAdd(e.b.CreateZExt(e.b.CreateNot(value), wide), e.b.getInt64(1));
    case '~':
      return e.b.CreateZExt(e.b.CreateNot(value), wide);
    case 0:
      return e.b.CreateZExt(value, wide);
    default:
      return e.Fail("a sign that integers do not have", 64);
  }
}

// Of a sum that carries twice, the first predicate has the first carry and the second the second: whoever reads them
// adds both.
void OutSum(Emission& e, Value* sum) {
  e.Out(e.b.CreateTrunc(sum, e.b.getInt32Ty()));
  Value* carries = e.b.CreateLShr(sum, 32);
  for (const uint64_t k : {0u, 1u}) e.OutPredicate(k, e.b.CreateICmpUGT(carries, e.b.getInt64(k)));
}

Value* CarryIn(Emission& e, size_t k) { return e.b.CreateZExt(e.InPredicate(k, false), e.b.getInt64Ty()); }

void Iadd3(Emission& e) {
  Value* sum = e.b.CreateAdd(e.b.CreateAdd(Term(e, 0), Term(e, 1)), Term(e, 2));
  if (e.Has("X")) sum = e.b.CreateAdd(sum, e.b.CreateAdd(CarryIn(e, 0), CarryIn(e, 1)));
  OutSum(e, sum);
}

Value* Extended(Emission& e, Value* value, bool is_signed, unsigned bits = 64) {
  llvm::Type* type = e.b.getIntNTy(bits);
  return is_signed ? e.b.CreateSExt(value, type) : e.b.CreateZExt(value, type);
}

void Imad(Emission& e) {
  llvm::IRBuilder<>& b = e.b;
  const bool is_signed = !e.Has("U32");
  const bool is_wide = e.Has("WIDE"), is_high = e.Has("HI");
  if (!is_wide && !is_high) {
    // Of 32 bits: carries are those of the last sum.
    Value* product = b.CreateMul(e.In(0), e.In(1));
    Value* sum = b.CreateAdd(b.CreateZExt(product, b.getInt64Ty()), Term(e, 2));
    if (e.Has("X")) sum = b.CreateAdd(sum, CarryIn(e, 0));
    OutSum(e, sum);
    return;
  }
  constexpr unsigned kSumBits = 66;
  Value* product = b.CreateMul(Extended(e, e.In(0), is_signed), Extended(e, e.In(1), is_signed));
  Value* sum = b.CreateAdd(b.CreateZExt(product, b.getIntNTy(kSumBits)),
                           b.CreateZExt(e.InWide(2, is_signed), b.getIntNTy(kSumBits)));
  if (e.Has("X")) sum = b.CreateAdd(sum, b.CreateZExt(e.InPredicate(0, false), sum->getType()));
  Value* whole = b.CreateTrunc(sum, b.getInt64Ty());
  e.Out(is_wide ? whole : b.CreateTrunc(b.CreateLShr(whole, 32), b.getInt32Ty()));
  if (e.Find('p') != nullptr && e.Sign(2) != 0) e.Fail("the carry of a difference of 64 bits");
  e.OutPredicate(0, b.CreateTrunc(b.CreateLShr(sum, 64), b.getInt1Ty()));
}

void Iabs(Emission& e) {
  Value* value = e.In(0);
  e.Out(e.b.CreateSelect(e.b.CreateICmpSLT(value, e.Zero()), e.b.CreateNeg(value), value));
}

void Imnmx(Emission& e) {
  Value *a = e.In(0), *c = e.In(1);
  Value* less = e.Has("U32") ? e.b.CreateICmpULT(a, c) : e.b.CreateICmpSLT(a, c);
  // True for the smaller one.
  e.Out(e.b.CreateSelect(e.b.CreateICmpEQ(less, e.InPredicate(0, true)), a, c));
}

Value* Logic(Emission& e, Value* a, Value* c) {
  if (e.Has("AND")) return e.b.CreateAnd(a, c);
  if (e.Has("OR")) return e.b.CreateOr(a, c);
  return e.b.CreateXor(a, c);
}

Value* Compared(Emission& e, Value* a, Value* c) {
  using P = llvm::CmpInst::Predicate;
  const bool is_unsigned = e.Has("U32");
  if (e.Has("F")) return e.b.getFalse();
  if (e.Has("T")) return e.b.getTrue();
  if (e.Has("EQ")) return e.b.CreateICmpEQ(a, c);
  if (e.Has("NE")) return e.b.CreateICmpNE(a, c);
  P predicate = is_unsigned ? P::ICMP_UGE : P::ICMP_SGE;
  if (e.Has("LT")) predicate = is_unsigned ? P::ICMP_ULT : P::ICMP_SLT;
  if (e.Has("LE")) predicate = is_unsigned ? P::ICMP_ULE : P::ICMP_SLE;
  if (e.Has("GT")) predicate = is_unsigned ? P::ICMP_UGT : P::ICMP_SGT;
  return e.b.CreateICmp(predicate, a, c);
}

// The upper halves, where the second predicate has the same comparison of the lower ones.
Value* ComparedUpper(Emission& e, Value* a, Value* c) {
  Value* lower = e.InPredicate(1, true);
  Value* equal = e.b.CreateICmpEQ(a, c);
  if (e.Has("EQ")) return e.b.CreateAnd(equal, lower);
  if (e.Has("NE")) return e.b.CreateOr(e.b.CreateNot(equal), lower);
  return e.b.CreateSelect(equal, lower, Compared(e, a, c));
}

void Isetp(Emission& e) {
  Value *a = e.In(0), *c = e.In(1);
  Value* result = e.Has("EX") ? ComparedUpper(e, a, c) : Compared(e, a, c);
  Value* other = e.InPredicate(0, true);
  Value* first = Logic(e, result, other);
  Value* second = Logic(e, e.b.CreateNot(result), other);
  e.OutPredicate(0, first);
  e.OutPredicate(1, second);
}

// (a << n) + b, or the upper half of the 64 bits {c, a} << n.
void Lea(Emission& e) {
  llvm::IRBuilder<>& b = e.b;
  const uint32_t count = e.Number(0) & 31;
  Value* shifted = nullptr;
  if (!e.Has("HI")) {
    // The negation is of what is shifted.
    Value* low = b.CreateShl(e.Plain(0), count);
    if (e.Sign(0) == '-') {
      if (e.Find('p') != nullptr) e.Fail("the carry of a sum with a negated term");
      low = b.CreateNeg(low);
    } else if (e.Sign(0) != 0) {
      e.Fail("a sign that is not known here");
    }
    shifted = b.CreateZExt(low, b.getInt64Ty());
  } else {
    if (e.Sign(0) != 0) e.Fail("a sign that is not known here");
    Value* low = e.Plain(0);
    Value* high = e.Has("SX32") ? b.CreateAShr(low, 31) : e.In(2);
    Value* both = b.CreateOr(b.CreateZExt(low, b.getInt64Ty()), b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), 32));
    shifted = b.CreateLShr(b.CreateShl(both, count), 32);
  }
  Value* sum = b.CreateAdd(shifted, Term(e, 1));
  if (e.Has("X")) sum = b.CreateAdd(sum, CarryIn(e, 0));
  OutSum(e, sum);
}

Value* Distance(Emission& e, Value* a, Value* c, bool is_unsigned) {
  Value* less = is_unsigned ? e.b.CreateICmpULT(a, c) : e.b.CreateICmpSLT(a, c);
  return e.b.CreateSelect(less, e.b.CreateSub(c, a), e.b.CreateSub(a, c));
}

void Vabsdiff(Emission& e) { e.Out(e.b.CreateAdd(Distance(e, e.In(0), e.In(1), e.Has("U32")), e.In(2))); }

// Part `i` of so many bits.
Value* Part(Emission& e, Value* word, unsigned i, unsigned bits, bool is_signed) {
  Value* part = e.b.CreateTrunc(e.b.CreateLShr(word, i * bits), e.b.getIntNTy(bits));
  return Extended(e, part, is_signed, 32);
}

// Sums of products of bytes, or of halves and bytes.
void Idp(Emission& e) {
  const std::vector<std::string>& words = e.at.modifiers;
  const bool a_signed = words[words.size() - 2][0] == 'S', b_signed = words.back()[0] == 'S';
  Value *a = e.In(0), *c = e.In(1), *sum = e.In(2);
  const bool is_pair = e.Has("2A");
  const unsigned first = is_pair && e.Has("HI") ? 2 : 0;
  for (unsigned i = 0; i < (is_pair ? 2u : 4u); ++i) {
    Value* product = e.b.CreateMul(Part(e, a, i, is_pair ? 16 : 8, a_signed), Part(e, c, first + i, 8, b_signed));
    sum = e.b.CreateAdd(sum, product);
  }
  e.Out(sum);
}

constexpr std::string_view kCompare = "F T LT LE GT GE EQ NE U32 AND OR XOR EX";

constexpr OpcodeMeaning kRows[] = {
    {"IADD3", "X", Effect::kComputes, Iadd3, "a + b + c; predicates take the carries, .X adds two", "add, sub, addc"},
    {"UIADD3", "X", Effect::kComputes, Iadd3, "IADD3 on uniform registers", "add, sub, addc"},
    {"IMAD", "MOV IADD SHL WIDE HI U32 X", Effect::kComputes, Imad,
     "a * b + c; .WIDE has 64 bits, .HI their upper half", "mad, mul, madc"},
    {"UIMAD", "WIDE HI U32", Effect::kComputes, Imad, "IMAD on uniform registers", "mad, mul"},
    {"IABS", "", Effect::kComputes, Iabs, "the absolute value", "abs"},
    {"IMNMX", "U32", Effect::kComputes, Imnmx, "the smaller one if the predicate holds, else the larger", "min, max"},
    {"ISETP", kCompare, Effect::kComputes, Isetp,
     "a comparison and its opposite, each with a predicate; .EX goes on from lower halves", "setp, set"},
    {"UISETP", kCompare, Effect::kComputes, Isetp, "ISETP on uniform registers", "setp"},
    {"LEA", "HI X SX32", Effect::kComputes, Lea, "(a << n) + b; .HI of 64 bits", "shl, add, mad"},
    {"ULEA", "HI X SX32", Effect::kComputes, Lea, "LEA on uniform registers", "shl, add, mad"},
    {"VABSDIFF", "U32", Effect::kComputes, Vabsdiff, "|a - b| + c", "sad"},
    {"IDP", "2A 4A LO HI U8 S8 U16 S16", Effect::kComputes, Idp, "sums of products of parts", "dp2a, dp4a"},
};

}  // namespace

std::span<const OpcodeMeaning> IntegerMeanings() { return kRows; }

}  // namespace heddle::tracegen::machine
