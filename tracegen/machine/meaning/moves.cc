// Moves: between registers of all files, from special registers, by bytes, by choice.
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tracegen/machine/forms/pattern.h"
#include "tracegen/machine/meaning/meaning.h"
#include "tracegen/machine/meaning/ptx_operation.h"

namespace heddle::tracegen::machine {
namespace {

using llvm::Value;

constexpr uint8_t kPredicates = 7;

void Mov(Emission& e) {
  constexpr uint32_t kAllBytes = 0xf;
  if (e.Find('i') != nullptr && e.Number(0) != kAllBytes) e.Fail("a mask of bytes");
  e.Out(e.In(0));
}

void Sel(Emission& e) { e.Out(e.b.CreateSelect(e.InPredicate(0, true), e.In(0), e.In(1))); }

// Operands are a, the choice of bytes, and b. Modes are those of PTX.
void Prmt(Emission& e) {
  if (e.at.modifiers.empty()) return e.Out(e.Intrinsic("llvm.nvvm.prmt", {e.In(0), e.In(2), e.In(1)}));
  const std::string mnemonic = absl::StrCat("prmt.b32.", absl::AsciiStrToLower(e.at.modifiers[0]));
  e.Out(PtxOperation(e, mnemonic, {e.In(0), e.In(2), e.In(1)}));
}

Value* SpecialWord(Emission& e, std::string_view name) {
  Value* value = e.state.Special(name);
  return value != nullptr ? value : e.Fail("this special register");
}

void S2r(Emission& e) { e.Out(SpecialWord(e, e.Find('S')->text)); }

// A pair of words, or one.
void Cs2r(Emission& e) {
  const std::string& name = e.Find('S')->text;
  Value* low = SpecialWord(e, name);
  if (e.Has("32")) return e.Out(low);
  std::string upper = name;
  if (name.ends_with("LO")) upper.replace(upper.size() - 2, 2, "HI");
  if (upper == name && name != "SRZ") e.Fail("the upper half of this special register");
  Value* high = e.b.CreateZExt(SpecialWord(e, upper), e.b.getInt64Ty());
  e.Out(e.b.CreateOr(e.b.CreateZExt(low, e.b.getInt64Ty()), e.b.CreateShl(high, 32)));
}

void R2ur(Emission& e) {
  const Operand* found = e.Find('p');
  if (found != nullptr && !found->use.reg.is_constant) e.Fail("the predicate of R2UR");
  e.Out(e.In(0));
}

// Predicates of a mask as bits, in a word whose other bits stay.
void P2r(Emission& e) {
  const uint32_t mask = e.Number(0);
  Value* word = e.b.CreateAnd(e.In(0), e.b.getInt32(~mask));
  for (uint8_t i = 0; i < kPredicates; ++i) {
    if ((mask >> i & 1) == 0) continue;
    Value* bit = e.b.CreateZExt(e.state.Read({RegisterFile::kPredicate, i, false}), e.b.getInt32Ty());
    word = e.b.CreateOr(word, e.b.CreateShl(bit, i));
  }
  if (mask >> kPredicates != 0) e.Fail("a mask of more predicates than there are");
  e.Out(word);
}

void R2p(Emission& e) {
  const uint32_t mask = e.Number(0);
  Value* word = e.InPart(0);
  for (uint8_t i = 0; i < kPredicates; ++i) {
    if ((mask >> i & 1) == 0) continue;
    Value* bit = e.b.CreateTrunc(e.b.CreateLShr(word, i), e.b.getInt1Ty());
    e.state.Write({RegisterFile::kPredicate, i, false}, bit);
  }
  if (mask >> kPredicates != 0) e.Fail("a mask of more predicates than there are");
}

constexpr OpcodeMeaning kRows[] = {
    {"MOV", "", Effect::kComputes, Mov, "a word", "mov"},
    {"UMOV", "", Effect::kComputes, Mov, "MOV on uniform registers", "mov"},
    {"SEL", "", Effect::kComputes, Sel, "a if the predicate holds, else b", "selp"},
    {"USEL", "", Effect::kComputes, Sel, "SEL on uniform registers", "selp"},
    {"PRMT", "F4E B4E RC8 ECL ECR RC16", Effect::kComputes, Prmt, "four bytes out of eight, or their signs",
     "prmt, bfe, cvt"},
    {"UPRMT", "", Effect::kComputes, Prmt, "PRMT on uniform registers", "prmt"},
    {"S2R", "", Effect::kComputes, S2r, "a special register", "special registers"},
    {"S2UR", "", Effect::kComputes, S2r, "a special register, into a uniform one", "special registers"},
    {"CS2R", "32", Effect::kComputes, Cs2r, "a special register, or zeros", "special registers, mov"},
    {"R2UR", "", Effect::kComputes, R2ur, "the value that all threads of the warp have", "mov"},
    {"P2R", "", Effect::kComputes, P2r, "predicates of a mask as bits of a word", "mov"},
    {"R2P", "", Effect::kComputes, R2p, "bits of a word as predicates of a mask", "setp"},
};

}  // namespace

std::span<const OpcodeMeaning> MoveMeanings() { return kRows; }

}  // namespace heddle::tracegen::machine
