// Bits: logic of three operands, shifts, masks, counts.
#include "llvm/IR/Intrinsics.h"
#include "tracegen/machine/meaning/meaning.h"

namespace heddle::tracegen::machine {
namespace {

using llvm::Value;

// The function whose value for the bits a, b, c is bit 4a + 2b + c of `table`.
Value* LookUp(llvm::IRBuilder<>& b, uint32_t table, llvm::ArrayRef<Value*> inputs) {
  Value* result = llvm::ConstantInt::get(inputs[0]->getType(), 0);
  for (uint32_t row = 0; row < 8; ++row) {
    if ((table >> row & 1) == 0) continue;
    Value* all = llvm::ConstantInt::getAllOnesValue(inputs[0]->getType());
    for (uint32_t i = 0; i < 3; ++i) {
      const bool is_set = (row >> (2 - i) & 1) != 0;
      all = b.CreateAnd(all, is_set ? inputs[i] : b.CreateNot(inputs[i]));
    }
    result = b.CreateOr(result, all);
  }
  return result;
}

void Lop3(Emission& e) {
  Value* result = LookUp(e.b, e.Number(0), {e.In(0), e.In(1), e.In(2)});
  // As lop3.or, or as lop3.and.
  Value* other = e.InPredicate(0, false);
  Value* predicate = e.b.CreateICmpNE(result, e.Zero());
  predicate = e.Has("PAND") ? e.b.CreateAnd(predicate, other) : e.b.CreateOr(predicate, other);
  e.Out(result);
  e.OutPredicate(0, predicate);
}

void Plop3(Emission& e) {
  Value* inputs[] = {e.InPredicate(0, true), e.InPredicate(1, true), e.InPredicate(2, true)};
  Value* first = LookUp(e.b, e.Number(0), inputs);
  Value* second = LookUp(e.b, e.Number(1), inputs);
  e.OutPredicate(0, first);
  e.OutPredicate(1, second);
}

Value* Least(Emission& e, Value* a, uint64_t most) {
  Value* bound = llvm::ConstantInt::get(a->getType(), most);
  return e.b.CreateSelect(e.b.CreateICmpULT(a, bound), a, bound);
}

// 64 bits {c, a}, shifted: their lower half, or with .HI the upper one. Counts go to the width of the type at most, or
// wrap at it (.W).
void Shf(Emission& e) {
  llvm::IRBuilder<>& b = e.b;
  const bool is_wide = e.Has("U64") || e.Has("S64");
  const bool is_signed = e.Has("S32") || e.Has("S64");
  const uint64_t width = is_wide ? 64 : 32;
  llvm::Type* type = b.getInt64Ty();
  Value* both = b.CreateOr(b.CreateZExt(e.In(0), type), b.CreateShl(b.CreateZExt(e.In(2), type), 32));
  Value* count = b.CreateZExt(e.In(1), type);
  count = e.Has("W") ? b.CreateAnd(count, width - 1) : Least(e, count, width);
  // IR does not shift by the width.
  Value* all_out = b.CreateICmpUGT(count, b.getInt64(63));
  Value* bounded = Least(e, count, 63);
  Value* shifted = nullptr;
  if (!e.Has("L") && is_signed) {
    shifted = b.CreateAShr(both, bounded);
  } else {
    shifted = e.Has("L") ? b.CreateShl(both, bounded) : b.CreateLShr(both, bounded);
    shifted = b.CreateSelect(all_out, b.getInt64(0), shifted);
  }
  e.Out(b.CreateTrunc(e.Has("HI") ? b.CreateLShr(shifted, 32) : shifted, b.getInt32Ty()));
}

// Ones: so many, from a place on.
void Bmsk(Emission& e) {
  llvm::IRBuilder<>& b = e.b;
  Value *place = e.In(0), *width = e.In(1);
  if (e.Has("W")) {
    place = b.CreateAnd(place, 31);
    width = b.CreateAnd(width, 31);
  }
  Value* one = b.getInt64(1);
  Value* ones = b.CreateSub(b.CreateShl(one, b.CreateZExt(Least(e, width, 32), b.getInt64Ty())), one);
  Value* moved = b.CreateShl(ones, b.CreateZExt(Least(e, place, 32), b.getInt64Ty()));
  e.Out(b.CreateTrunc(moved, b.getInt32Ty()));
}

// The lowest bits, extended; counts beyond the width keep all.
void Sgxt(Emission& e) {
  llvm::IRBuilder<>& b = e.b;
  Value *value = e.In(0), *width = e.In(1);
  width = e.Has("W") ? b.CreateAnd(width, 31) : Least(e, width, 32);
  Value* rest = b.CreateZExt(b.CreateSub(b.getInt32(32), width), b.getInt64Ty());
  Value* upper = b.CreateTrunc(b.CreateShl(b.CreateZExt(value, b.getInt64Ty()), rest), b.getInt32Ty());
  Value* wide = e.Has("U32") ? b.CreateZExt(upper, b.getInt64Ty()) : b.CreateSExt(upper, b.getInt64Ty());
  Value* back = e.Has("U32") ? b.CreateLShr(wide, rest) : b.CreateAShr(wide, rest);
  e.Out(b.CreateTrunc(back, b.getInt32Ty()));
}

// The highest bit that is one, or of a signed number that differs from its sign; .SH counts from the top. All ones if
// there is none.
void Flo(Emission& e) {
  llvm::IRBuilder<>& b = e.b;
  Value* value = e.In(0);
  if (!e.Has("U32")) value = b.CreateXor(value, b.CreateAShr(value, 31));
  Value* zeros = b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, value, b.getFalse());
  Value* place = e.Has("SH") ? zeros : b.CreateSub(b.getInt32(31), zeros);
  Value* none = b.CreateICmpEQ(value, e.Zero());
  e.Out(b.CreateSelect(none, b.getInt32(~0u), place));
  const Operand* found = e.Find('p');
  if (found != nullptr && !found->use.reg.is_constant) e.Fail("the predicate of FLO");
}

void Popc(Emission& e) { e.Out(e.b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, e.In(0))); }
void Brev(Emission& e) { e.Out(e.b.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, e.In(0))); }

constexpr std::string_view kShift = "L R W U32 S32 U64 S64 HI";

constexpr OpcodeMeaning kRows[] = {
    {"LOP3", "LUT PAND", Effect::kComputes, Lop3, "any function of three bits; the predicate: a bit is set",
     "lop3, and, or"},
    {"ULOP3", "LUT PAND", Effect::kComputes, Lop3, "LOP3 on uniform registers", "lop3, and, or"},
    {"PLOP3", "LUT", Effect::kComputes, Plop3, "two functions of three predicates", "and, or, xor, not"},
    {"UPLOP3", "LUT", Effect::kComputes, Plop3, "PLOP3 on uniform predicates", "and, or, xor, not"},
    {"SHF", kShift, Effect::kComputes, Shf, "64 bits shifted, of which one half is kept", "shl, shr, shf"},
    {"USHF", kShift, Effect::kComputes, Shf, "SHF on uniform registers", "shl, shr, shf"},
    {"BMSK", "W", Effect::kComputes, Bmsk, "so many ones from a place on", "bmsk, bfe, bfi"},
    {"UBMSK", "W", Effect::kComputes, Bmsk, "BMSK on uniform registers", "bmsk, bfe, bfi"},
    {"SGXT", "W U32", Effect::kComputes, Sgxt, "the lowest bits, extended", "szext, bfe"},
    {"USGXT", "W U32", Effect::kComputes, Sgxt, "SGXT on uniform registers", "szext, bfe"},
    {"FLO", "U32 SH", Effect::kComputes, Flo, "the place of the highest bit that counts", "bfind, clz"},
    {"UFLO", "U32 SH", Effect::kComputes, Flo, "FLO on uniform registers", "bfind, clz"},
    {"POPC", "", Effect::kComputes, Popc, "how many bits are set", "popc"},
    {"UPOPC", "", Effect::kComputes, Popc, "POPC on uniform registers", "popc"},
    {"BREV", "", Effect::kComputes, Brev, "bits in the opposite order", "brev"},
    {"UBREV", "", Effect::kComputes, Brev, "BREV on uniform registers", "brev"},
};

}  // namespace

std::span<const OpcodeMeaning> BitMeanings() { return kRows; }

}  // namespace heddle::tracegen::machine
