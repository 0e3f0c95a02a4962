// cvt and cvt.pack (PTX ISA: Data Movement and Conversion Instructions).
#include <string>

#include "absl/strings/str_cat.h"
#include "llvm/IR/Intrinsics.h"
#include "tracegen/ptx/meaning/emission.h"
#include "tracegen/ptx/meaning/rounding.h"

namespace heddle::tracegen::ptx {
namespace {

using llvm::Value;

class Conversions {
 public:
  explicit Conversions(Emission& e)
      : e_(e), b_(e.b), to_(e.at.TypeAt(0)), from_(e.at.TypeAt(1)), round_(RoundOf(e.at)) {}

  Value* Run() {
    if (!to_.exists() || !from_.exists()) return nullptr;
    if (IsPairOfBytes(to_)) return ToBytes();
    if (IsPairOfBytes(from_)) return FromBytes();
    if (e_.Has("rs") || e_.Has("satfinite") || e_.Has("scaled::n2::ue8m0")) return nullptr;
    if (e_.Has("pack")) return Pack();
    if (to_.elements == 2 && from_.name == "f32") return TwoNarrow();
    if (!IsFloat(to_) && !IsFloat(from_)) return Integers();
    if (!IsFloat(to_)) return FloatToInteger();
    if (!IsFloat(from_)) return IntegerToFloat();
    return Floats();
  }

 private:
  static bool IsPairOfBytes(const Type& type) { return type.name == "e4m3x2" || type.name == "e5m2x2"; }

  // cvt.rn.satfinite.e4m3x2.f32 d, a, b: a in the upper byte. Of f16x2 the halves keep their order.
  Value* ToBytes() {
    const bool halves = from_.name == "f16x2";
    if (!halves && from_.name != "f32") return nullptr;
    Value* whole = e_.Number(16, 0);
    for (unsigned i = 0; i < 2; ++i) {
      Value* value = halves ? FromNarrow(b_, b_.CreateTrunc(b_.CreateLShr(e_.In32(1), 16 * i), b_.getInt16Ty()), false)
                            : e_.Read(2 - i, b_.getFloatTy());
      if (e_.Has("relu")) value = ClampNegative(b_, value);
      Value* byte = b_.CreateTrunc(ToByte(b_, value, to_.name == "e5m2x2"), b_.getInt16Ty());
      whole = b_.CreateOr(whole, b_.CreateShl(byte, 8 * i));
    }
    return whole;
  }

  // cvt.rn.f16x2.e4m3x2 d, a: all numbers are ones of half precision.
  Value* FromBytes() {
    if (to_.name != "f16x2") return nullptr;
    Value* whole = e_.Number(32, 0);
    for (unsigned i = 0; i < 2; ++i) {
      Value* byte = b_.CreateAnd(b_.CreateLShr(b_.CreateZExt(e_.Bits(1, 16), b_.getInt32Ty()), 8 * i), 255);
      Value* value = FromNarrow(b_, FromByte(b_, byte, from_.name == "e5m2x2"), false);
      if (e_.Has("relu")) value = ClampNegative(b_, value);
      Value* half = b_.CreateZExt(ToNarrow(b_, value, false, Round::kNearest), b_.getInt32Ty());
      whole = b_.CreateOr(whole, b_.CreateShl(half, 16 * i));
    }
    return whole;
  }

  bool Rounds() const { return e_.Has("rni") || e_.Has("rzi") || e_.Has("rmi") || e_.Has("rpi"); }
  llvm::Type* Ty(const Type& type) const { return e_.TypeOf(type); }

  // An integer of 128 bits within the range of a type.
  Value* Clamp(Value* value, const Type& type) {
    const bool is_signed = IsSigned(type);
    const llvm::APInt most =
        is_signed ? llvm::APInt::getSignedMaxValue(type.bits).zext(128) : llvm::APInt::getMaxValue(type.bits).zext(128);
    const llvm::APInt least =
        is_signed ? llvm::APInt::getSignedMinValue(type.bits).sext(128) : llvm::APInt::getZero(128);
    value = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, b_.getInt(most));
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, b_.getInt(least));
  }

  Value* Integers() {
    Value* value = e_.In(1, from_);
    if (e_.Has("sat")) return b_.CreateTrunc(Clamp(e_.Extend(value, 128, IsSigned(from_)), to_), Ty(to_));
    return e_.Extend(value, to_.bits, IsSigned(from_));
  }

  // cvt.pack.sat.s16.s32 d, a, b and cvt.pack.sat.u8.s32.b32 d, a, b, c: b in the lowest lane, a above, c above that.
  Value* Pack() {
    Value* whole = e_.Number(32, 0);
    if (e_.count() == 4) whole = b_.CreateShl(e_.In32(3), 2 * to_.bits);
    for (unsigned i = 0; i < 2; ++i) {
      Value* value = Clamp(e_.Extend(e_.In32(2 - i), 128, IsSigned(from_)), to_);
      Value* lane = b_.CreateZExt(b_.CreateTrunc(value, Ty(to_)), b_.getInt32Ty());
      whole = b_.CreateOr(whole, b_.CreateShl(lane, to_.bits * i));
    }
    return whole;
  }

  // cvt.rn.f16x2.f32 d, a, b: a in the upper half.
  Value* TwoNarrow() {
    const bool brain = to_.name == "bf16x2";
    if (to_.name != "f16x2" && !brain) return nullptr;
    Value* whole = e_.Number(32, 0);
    for (unsigned i = 0; i < 2; ++i) {
      Value* value = e_.Read(2 - i, b_.getFloatTy());
      if (e_.Has("relu")) value = ClampNegative(b_, value);
      Value* lane = b_.CreateZExt(ToNarrow(b_, value, brain, round_), b_.getInt32Ty());
      whole = b_.CreateOr(whole, b_.CreateShl(lane, 16 * i));
    }
    return whole;
  }

  // The source as float or double.
  Value* Source() {
    if (from_.name == "f16") return FromNarrow(b_, e_.Bits(1, 16), false);
    if (from_.name == "bf16") return FromNarrow(b_, e_.Bits(1, 16), true);
    if (from_.name != "f32" && from_.name != "f64") return nullptr;
    Value* value = e_.In(1, from_);
    return e_.Has("ftz") ? FlushSubnormal(b_, value) : value;
  }

  Value* ToWhole(Value* value) {
    if (round_ == Round::kNearest) return b_.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, value);
    if (round_ == Round::kDown) return b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, value);
    if (round_ == Round::kUp) return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, value);
    return b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, value);
  }

  // Out of range saturates. NaN gives 0; with 64 bits on one side the highest bit alone.
  Value* FloatToInteger() {
    Value* value = Source();
    if (value == nullptr) return nullptr;
    Value* whole = round_ == Round::kZero ? value : ToWhole(value);
    const llvm::Intrinsic::ID id = IsSigned(to_) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    Value* result = b_.CreateIntrinsic(id, {Ty(to_), whole->getType()}, {whole});
    if (from_.bits != 64 && to_.bits != 64) return result;
    Value* of_nan = llvm::ConstantInt::get(Ty(to_), llvm::APInt::getOneBitSet(to_.bits, to_.bits - 1));
    return b_.CreateSelect(b_.CreateFCmpUNO(value, value), of_nan, result);
  }

  Value* IntegerToFloat() {
    Value* value = e_.In(1, from_);
    const bool is_signed = IsSigned(from_);
    if (to_.name == "f32" || to_.name == "f64") return Saturated(FromInteger(value, is_signed, to_.bits, round_));
    const bool brain = to_.name == "bf16";
    if (to_.name != "f16" && !brain) return nullptr;
    Value* number = nullptr;
    if (round_ != Round::kNearest || from_.bits < 32) {
      number = FromInteger(value, is_signed, 32, from_.bits < 32 ? Round::kNearest : round_);
    } else if (from_.bits == 32) {
      number = ToOddFloat(b_, FromInteger(value, is_signed, 64, Round::kNearest));
    } else {
      // Towards zero, and odd where that is not exact.
      number = FromInteger(value, is_signed, 32, Round::kZero);
      const llvm::Intrinsic::ID id = is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
      Value* back = b_.CreateIntrinsic(id, {value->getType(), number->getType()}, {number});
      Value* inexact = b_.CreateZExt(b_.CreateICmpNE(back, value), b_.getInt32Ty());
      number = b_.CreateBitCast(b_.CreateOr(b_.CreateBitCast(number, b_.getInt32Ty()), inexact), b_.getFloatTy());
    }
    if (number == nullptr) return nullptr;
    if (e_.Has("sat")) number = SaturateToOne(b_, number);
    return Narrow(number, brain);
  }

  Value* FromInteger(Value* value, bool is_signed, unsigned bits, Round round) {
    llvm::Type* type = bits == 64 ? b_.getDoubleTy() : b_.getFloatTy();
    const unsigned width = value->getType()->getIntegerBitWidth();
    if (round == Round::kNearest || width < (bits == 64 ? 64u : 32u)) {
      return is_signed ? b_.CreateSIToFP(value, type) : b_.CreateUIToFP(value, type);
    }
    return e_.Intrinsic(absl::StrCat("llvm.nvvm.", is_signed ? "" : "u", width == 64 ? "ll" : "i", "2",
                                     bits == 64 ? "d." : "f.", NameOf(round)),
                        {value});
  }

  Value* Saturated(Value* value) {
    if (value == nullptr || !e_.Has("sat")) return value;
    return SaturateToOne(b_, value);
  }

  // A float as the half or bfloat16 that is written.
  Value* Narrow(Value* value, bool brain) {
    Value* bits = ToNarrow(b_, value, brain, round_);
    return brain ? bits : b_.CreateBitCast(bits, b_.getHalfTy());
  }

  Value* Floats() {
    if (to_.name == "tf32" && from_.name == "f32") return ToTensorFloat();
    Value* value = Source();
    if (value == nullptr) return nullptr;
    if (Rounds()) value = ToWhole(value);
    if (e_.Has("relu")) value = ClampNegative(b_, value);
    const bool double_source = value->getType()->isDoubleTy();
    if (to_.name == "f64") return Saturated(double_source ? value : b_.CreateFPExt(value, b_.getDoubleTy()));
    const bool single = to_.name == "f32";
    const bool brain = to_.name == "bf16";
    if (!single && !brain && to_.name != "f16") return nullptr;
    if (double_source) {
      if (round_ != Round::kNearest || Rounds()) {
        value = Rounds() ? b_.CreateFPTrunc(value, b_.getFloatTy())
                         : e_.Intrinsic(absl::StrCat("llvm.nvvm.d2f.", NameOf(round_)), {value});
        if (value == nullptr) return nullptr;
      } else {
        value = single ? b_.CreateFPTrunc(value, b_.getFloatTy()) : ToOddFloat(b_, value);
      }
    }
    if (single) {
      if (e_.Has("ftz")) value = FlushSubnormal(b_, value);
      return Saturated(value);
    }
    if (e_.Has("sat")) value = SaturateToOne(b_, value);
    return Narrow(value, brain);
  }

  // Ten bits of fraction, in the place of a float.
  Value* ToTensorFloat() {
    Value* value = e_.In(1, from_);
    if (e_.Has("relu")) value = ClampNegative(b_, value);
    Value* bits = b_.CreateBitCast(value, b_.getInt32Ty());
    Value* half = b_.getInt32(0x1000);
    if (e_.Has("rn")) half = b_.CreateAdd(b_.getInt32(0x0fff), b_.CreateAnd(b_.CreateLShr(bits, 13), 1));
    if (e_.Has("rz")) half = b_.getInt32(0);
    Value* rounded = b_.CreateAnd(b_.CreateAdd(bits, half), ~uint64_t{0x1fff} & 0xffff'ffff);
    Value* exponent = b_.CreateAnd(bits, 0x7f80'0000);
    return b_.CreateSelect(b_.CreateICmpEQ(exponent, b_.getInt32(0x7f80'0000)), bits, rounded);
  }

  Emission& e_;
  llvm::IRBuilder<>& b_;
  const Type to_;
  const Type from_;
  const Round round_;
};

}  // namespace

Value* EmitConversion(Emission& e) {
  if (e.at.opcode() != "cvt") return nullptr;
  return Conversions(e).Run();
}

}  // namespace heddle::tracegen::ptx
