// Integers of one word, or two in a word: sums, and the smaller or larger of several.
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Intrinsics.h"
#include "tracegen/machine/meaning/meaning.h"

namespace heddle::tracegen::machine {
namespace {

using llvm::Value;
using Lanes = llvm::SmallVector<Value*, 4>;

bool IsPair(const Emission& e) { return e.Has("16x2") || e.Has("S16x2") || e.Has("U16x2"); }
bool IsSigned(const Emission& e) { return !e.Has("U32") && !e.Has("U16x2") && !e.Has("U8"); }

// The word in parts of so many bits, the lowest one first.
Lanes Split(Emission& e, Value* word, unsigned bits) {
  Lanes lanes;
  for (unsigned i = 0; i * bits < 32; ++i) {
    lanes.push_back(e.b.CreateTrunc(e.b.CreateLShr(word, i * bits), e.b.getIntNTy(bits)));
  }
  return lanes;
}

Lanes LanesIn(Emission& e, size_t k) { return Split(e, e.In(k), IsPair(e) ? 16 : 32); }

Value* Whole(Emission& e, const Lanes& lanes) {
  Value* word = e.Zero();
  for (unsigned i = 0; i < lanes.size(); ++i) {
    const unsigned bits = lanes[i]->getType()->getIntegerBitWidth();
    word = e.b.CreateOr(word, e.b.CreateShl(e.b.CreateZExt(lanes[i], e.b.getInt32Ty()), i * bits));
  }
  return word;
}

Lanes Sum(Emission& e, const Lanes& a, const Lanes& c) {
  Lanes sum;
  for (size_t i = 0; i < a.size(); ++i) sum.push_back(e.b.CreateAdd(a[i], c[i]));
  return sum;
}

// The smaller ones if the predicate holds, else the larger.
Lanes Extremes(Emission& e, const Lanes& a, const Lanes& c) {
  const bool is_signed = IsSigned(e);
  const llvm::Intrinsic::ID least = is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin;
  const llvm::Intrinsic::ID most = is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax;
  Value* smaller = e.InPredicate(0, true);
  Lanes result;
  for (size_t i = 0; i < a.size(); ++i) {
    result.push_back(e.b.CreateSelect(smaller, e.b.CreateBinaryIntrinsic(least, a[i], c[i]),
                                      e.b.CreateBinaryIntrinsic(most, a[i], c[i])));
  }
  return result;
}

// With .RELU numbers below zero become zero.
void OutLanes(Emission& e, Lanes lanes) {
  if (e.Has("RELU")) {
    for (Value*& lane : lanes) {
      lane = e.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, lane, llvm::ConstantInt::get(lane->getType(), 0));
    }
  }
  e.Out(Whole(e, lanes));
}

void Viadd(Emission& e) { OutLanes(e, Sum(e, LanesIn(e, 0), LanesIn(e, 1))); }

// The predicates say of which of the two halves the result is the first operand's.
void Vimnmx(Emission& e) {
  const Lanes a = LanesIn(e, 0), c = LanesIn(e, 1);
  const Lanes result = Extremes(e, a, c);
  Value* is_first[2] = {};
  for (size_t i = 0; i < a.size(); ++i) is_first[i] = e.b.CreateICmpEQ(result[i], a[i]);
  if (e.Find('p') != nullptr && (!IsPair(e) || e.Has("RELU"))) return static_cast<void>(e.Fail("these predicates"));
  OutLanes(e, result);
  for (size_t i = 0; i < a.size(); ++i) e.OutPredicate(i, is_first[i]);
}

void Vimnmx3(Emission& e) { OutLanes(e, Extremes(e, Extremes(e, LanesIn(e, 0), LanesIn(e, 1)), LanesIn(e, 2))); }

void Viaddmnmx(Emission& e) { OutLanes(e, Extremes(e, Sum(e, LanesIn(e, 0), LanesIn(e, 1)), LanesIn(e, 2))); }

// Differences of bytes; .ACC adds them up.
void Vabsdiff4(Emission& e) {
  const Lanes a = Split(e, e.In(0), 8), c = Split(e, e.In(1), 8);
  if (!e.Has("ACC")) return static_cast<void>(e.Fail("differences that stay apart"));
  const bool is_signed = e.Has("S8");
  Value* sum = e.In(2);
  const auto extended = [&](Value* byte) {
    return is_signed ? e.b.CreateSExt(byte, e.b.getInt32Ty()) : e.b.CreateZExt(byte, e.b.getInt32Ty());
  };
  for (size_t i = 0; i < a.size(); ++i) {
    Value* difference = e.b.CreateSub(extended(a[i]), extended(c[i]));
    sum = e.b.CreateAdd(sum, e.b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, difference, e.b.getFalse()));
  }
  e.Out(sum);
}

constexpr std::string_view kWidths = "U32 S16x2 U16x2 RELU";

constexpr OpcodeMeaning kRows[] = {
    {"VIADD", "16x2", Effect::kComputes, Viadd, "a + b", "add"},
    {"VIMNMX", kWidths, Effect::kComputes, Vimnmx, "the smaller if the predicate holds, else the larger", "min, max"},
    {"VIMNMX3", kWidths, Effect::kComputes, Vimnmx3, "the smallest or the largest of three", "min, max"},
    {"VIADDMNMX", kWidths, Effect::kComputes, Viaddmnmx, "the smaller or the larger of a + b and c", "add, min, max"},
    {"VABSDIFF4", "U8 S8 ACC", Effect::kComputes, Vabsdiff4, "the sum of differences of bytes, and c", "vabsdiff4"},
};

}  // namespace

std::span<const OpcodeMeaning> PackedMeanings() { return kRows; }

}  // namespace heddle::tracegen::machine
