// Pairs of floating-point numbers of 16 bits.
#include <string>

#include "absl/strings/str_cat.h"
#include "tracegen/machine/meaning/comparison.h"
#include "tracegen/machine/meaning/float_operands.h"
#include "tracegen/machine/meaning/meaning.h"
#include "tracegen/machine/meaning/ptx_operation.h"

namespace heddle::tracegen::machine {
namespace {

using llvm::Value;

bool IsBrain(const Emission& e) { return e.Has("BF16_V2"); }

// An operation on `count` pairs.
Value* OnPairs(Emission& e, std::string_view op, size_t count) {
  llvm::SmallVector<Value*, 3> inputs;
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) inputs.push_back(PairIn(e, &at, IsBrain(e)));
  const bool is_fused = op == "fma";
  return PtxOperation(
      e,
      absl::StrCat(std::string(op), is_fused || IsBrain(e) ? ".rn" : "", e.Has("FTZ") ? ".ftz" : "",
                   e.Has("SAT") ? ".sat" : "", e.Has("RELU") ? ".relu" : "", IsBrain(e) ? ".bf16x2" : ".f16x2"),
      inputs);
}

// The lower or the upper number of a pair, as a float.
Value* Half(Emission& e, Value* pair, bool upper) {
  Value* bits = e.b.CreateTrunc(upper ? e.b.CreateLShr(pair, 16) : pair, e.b.getInt16Ty());
  return PtxOperation(e, IsBrain(e) ? "cvt.f32.bf16" : "cvt.f32.f16", {bits});
}

// With .FTZ subnormal numbers become zero.
Value* FlushedPair(Emission& e, Value* pair) {
  if (!e.Has("FTZ")) return pair;
  llvm::IRBuilder<>& b = e.b;
  for (const unsigned at : {0u, 16u}) {
    Value* magnitude = b.CreateAnd(b.CreateLShr(pair, at), 0x7fff);
    Value* is_tiny = b.CreateICmpULT(magnitude, b.getInt32(IsBrain(e) ? 0x80 : 0x400));
    pair = b.CreateSelect(is_tiny, b.CreateAnd(pair, ~(0x7fffu << at)), pair);
  }
  return pair;
}

void Hadd2(Emission& e) {
  if (!e.Has("F32")) return e.Out(OnPairs(e, "add", 2));
  // Two numbers of half precision to one of single precision.
  size_t at = 0;
  Value* a = Half(e, PairIn(e, &at, false), false);
  Value* c = Half(e, PairIn(e, &at, false), false);
  OutFloat(e, e.b.CreateFAdd(a, c));
}

void Hmul2(Emission& e) { e.Out(OnPairs(e, "mul", 2)); }
void Hfma2(Emission& e) { e.Out(OnPairs(e, "fma", 3)); }

// The smaller numbers of two pairs if the predicate holds, else the larger.
Value* ExtremePair(Emission& e, Value* a, Value* c) {
  const std::string modifiers = absl::StrCat(e.Has("FTZ") ? ".ftz" : "", e.Has("NAN") ? ".NaN" : "", XorSignModifier(e),
                                             IsBrain(e) ? ".bf16x2" : ".f16x2");
  Value* least = PtxOperation(e, absl::StrCat("min", modifiers), {a, c});
  Value* most = PtxOperation(e, absl::StrCat("max", modifiers), {a, c});
  return e.b.CreateSelect(e.InPredicate(0, true), least, most);
}

void Hmnmx2(Emission& e) {
  size_t at = 0;
  Value* a = PairIn(e, &at, IsBrain(e));
  Value* c = PairIn(e, &at, IsBrain(e));
  if (e.Has("XORSIGN")) {
    a = MagnitudeSource(e, 0);
    c = MagnitudeSource(e, 1);
  }
  e.Out(ExtremePair(e, a, c));
}

// The assembler makes one of two `min` or `max` in a row that have the same modifiers, so the order is that of PTX.
void Vhmnmx(Emission& e) {
  size_t at = 0;
  Value* extreme = PairIn(e, &at, IsBrain(e));
  for (int more = 0; more < 2; ++more) extreme = ExtremePair(e, extreme, PairIn(e, &at, IsBrain(e)));
  e.Out(extreme);
}

// A comparison of each pair of numbers: as 1, or as all ones.
void Hset2(Emission& e) {
  size_t at = 0;
  Value* a = FlushedPair(e, PairIn(e, &at, IsBrain(e)));
  Value* c = FlushedPair(e, PairIn(e, &at, IsBrain(e)));
  Value* other = e.InPredicate(0, true);
  const uint32_t yes = !e.Has("BF") ? 0xffff : IsBrain(e) ? 0x3f80 : 0x3c00;
  Value* word = e.Zero();
  for (const bool upper : {false, true}) {
    Value* holds = Combined(e, ComparedFloats(e, Half(e, a, upper), Half(e, c, upper)), other);
    word = e.b.CreateOr(word, e.b.CreateSelect(holds, e.b.getInt32(upper ? yes << 16 : yes), e.Zero()));
  }
  e.Out(word);
}

// One predicate for each number.
void Hsetp2(Emission& e) {
  size_t at = 0;
  Value* a = FlushedPair(e, PairIn(e, &at, IsBrain(e)));
  Value* c = FlushedPair(e, PairIn(e, &at, IsBrain(e)));
  Value* other = e.InPredicate(0, true);
  Value* low = Combined(e, ComparedFloats(e, Half(e, a, false), Half(e, c, false)), other);
  Value* high = Combined(e, ComparedFloats(e, Half(e, a, true), Half(e, c, true)), other);
  e.OutPredicate(0, low);
  e.OutPredicate(1, high);
}

constexpr OpcodeMeaning kRows[] = {
    {"HADD2", "F32 BF16_V2 FTZ SAT", Effect::kComputes, Hadd2, "a + b; .F32 of lower halves to one number", "add, cvt"},
    {"HMUL2", "BF16_V2 FTZ SAT", Effect::kComputes, Hmul2, "a * b", "mul"},
    {"HFMA2", "MMA BF16_V2 FTZ SAT RELU", Effect::kComputes, Hfma2, "a * b + c, rounded once", "fma, mov"},
    {"HMNMX2", "BF16_V2 FTZ NAN XORSIGN", Effect::kComputes, Hmnmx2, "the smaller or the larger numbers", "min, max"},
    {"VHMNMX", "BF16_V2 FTZ NAN", Effect::kComputes, Vhmnmx, "the smallest or the largest numbers of three",
     "min, max"},
    {"HSET2", "BF BF16_V2 FTZ F LT EQ LE GT NE GE NUM NAN LTU EQU LEU GTU NEU GEU T AND OR XOR", Effect::kComputes,
     Hset2, "comparisons of the lower and the upper numbers as masks, or as 1.0", "set"},
    {"HSETP2", "BF16_V2 FTZ F LT EQ LE GT NE GE NUM NAN LTU EQU LEU GTU NEU GEU T AND OR XOR", Effect::kComputes,
     Hsetp2, "comparisons of the lower and the upper numbers", "setp"},
};

}  // namespace

std::span<const OpcodeMeaning> HalfMeanings() { return kRows; }

}  // namespace heddle::tracegen::machine
