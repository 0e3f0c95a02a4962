#include "tracegen/machine/meaning/float_operands.h"

#include <bit>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/IR/Constants.h"

namespace heddle::tracegen::machine {
namespace {

using llvm::Value;
using Kind = Operand::Kind;

constexpr uint64_t kSign32 = 0x8000'0000, kSign64 = 0x8000'0000'0000'0000;

// The sign in front of a number, done on its bits.
Value* Signed(Emission& e, const Operand& operand, Value* bits, uint64_t sign) {
  if (operand.use.absolute) bits = e.b.CreateAnd(bits, ~sign);
  if (operand.use.sign == '-') return e.b.CreateXor(bits, sign);
  if (operand.use.sign != 0)
    return e.Fail("a sign that such numbers do not have", bits->getType()->getIntegerBitWidth());
  return bits;
}

// Of numbers that are none the text does not say which; the encoding does.
uint32_t FloatBits(const Emission& e, const Operand& operand) {
  if (std::isnan(operand.number)) return e.immediate;
  return std::bit_cast<uint32_t>(static_cast<float>(operand.number));
}

}  // namespace

Value* FloatBitsIn(Emission& e, size_t k) {
  const Operand* operand = e.Find('s', k);
  if (operand == nullptr) return e.Fail("an operand that is left out");
  Value* bits = operand->kind == Kind::kImmediate ? e.b.getInt32(FloatBits(e, *operand)) : e.Bits(*operand);
  return Signed(e, *operand, bits, kSign32);
}

Value* FloatIn(Emission& e, size_t k) { return e.b.CreateBitCast(FloatBitsIn(e, k), e.b.getFloatTy()); }

Value* DoubleIn(Emission& e, size_t k) {
  llvm::IRBuilder<>& b = e.b;
  const Operand* operand = e.Find('s', k);
  if (operand == nullptr) return b.CreateBitCast(e.Fail("an operand that is left out", 64), b.getDoubleTy());
  Value* bits = nullptr;
  if (operand->kind == Kind::kImmediate) {
    // The upper half of the number.
    bits = b.getInt64(std::isnan(operand->number) ? uint64_t{e.immediate} << 32
                                                  : std::bit_cast<uint64_t>(operand->number));
  } else {
    Value* high = b.CreateShl(b.CreateZExt(e.Bits(*operand, 1), b.getInt64Ty()), 32);
    bits = b.CreateOr(high, b.CreateZExt(e.Bits(*operand), b.getInt64Ty()));
  }
  return b.CreateBitCast(Signed(e, *operand, bits, kSign64), b.getDoubleTy());
}

const char* XorSignModifier(const Emission& e) { return e.Has("XORSIGN") ? ".xorsign.abs" : ""; }

Value* MagnitudeSource(Emission& e, size_t k) {
  const Operand* operand = e.Find('s', k);
  if (operand == nullptr || !operand->use.absolute || operand->use.sign != 0 || operand->kind == Kind::kImmediate) {
    return e.Fail("a sign of magnitudes that are none");
  }
  return e.Bits(*operand);
}

Value* PairIn(Emission& e, size_t* at, bool brain) {
  llvm::IRBuilder<>& b = e.b;
  const Operand* operand = e.Find('s', (*at)++);
  if (operand == nullptr) return e.Fail("an operand that is left out");
  if (operand->kind == Kind::kImmediate) {
    const Operand* low = e.Find('s', (*at)++);
    if (low == nullptr || low->kind != Kind::kImmediate) return e.Fail("a pair of numbers that is cut");
    uint32_t word = 0;
    for (const Operand* half : {operand, low}) {
      if (std::isnan(half->number)) return b.getInt32(e.immediate);
      llvm::APFloat number(half->number);
      bool inexact = false;
      number.convert(brain ? llvm::APFloat::BFloat() : llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven,
                     &inexact);
      word = word << 16 | static_cast<uint32_t>(number.bitcastToAPInt().getZExtValue());
    }
    return b.getInt32(word);
  }
  Operand whole = *operand;
  whole.use.part.clear();
  Value* bits = e.Bits(whole);
  const std::string& part = operand->use.part;
  if (part == "H0_H0" || part == "H1_H1") {
    Value* half = part == "H0_H0" ? b.CreateAnd(bits, 0xffff) : b.CreateLShr(bits, 16);
    bits = b.CreateOr(half, b.CreateShl(half, 16));
  } else if (!part.empty()) {
    return e.Fail("the part of a register");
  }
  return Signed(e, *operand, bits, 0x8000'8000);
}

std::string PtxModifiers(const Emission& e, bool name_nearest) {
  std::string text;
  for (const auto& [ours, ptx] : {std::pair("RM", ".rm"), std::pair("RP", ".rp"), std::pair("RZ", ".rz")}) {
    if (e.Has(ours)) text = ptx;
  }
  if (text.empty() && name_nearest) text = ".rn";
  if (e.Has("FTZ")) absl::StrAppend(&text, ".ftz");
  if (e.Has("SAT")) absl::StrAppend(&text, ".sat");
  return text;
}

void OutFloat(Emission& e, Value* value) {
  const auto bits = static_cast<unsigned>(value->getType()->getPrimitiveSizeInBits().getFixedValue());
  e.Out(e.b.CreateBitCast(value, e.b.getIntNTy(bits)));
}

}  // namespace heddle::tracegen::machine
