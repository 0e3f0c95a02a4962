#include "tracegen/ptx/meaning/rounding.h"

#include <bit>

#include "llvm/IR/Intrinsics.h"

namespace heddle::tracegen::ptx {

using llvm::Value;

Round RoundOf(const Instruction& at) {
  if (at.Has("rz") || at.Has("rzi")) return Round::kZero;
  if (at.Has("rm") || at.Has("rmi")) return Round::kDown;
  if (at.Has("rp") || at.Has("rpi")) return Round::kUp;
  return Round::kNearest;
}

const char* NameOf(Round round) {
  switch (round) {
    case Round::kZero:
      return "rz";
    case Round::kDown:
      return "rm";
    case Round::kUp:
      return "rp";
    default:
      return "rn";
  }
}

Value* FlushSubnormal(llvm::IRBuilder<>& b, Value* value) {
  llvm::Type* type = value->getType();
  if (!type->isFloatTy() && !type->isHalfTy()) return value;
  if (auto* known = llvm::dyn_cast<llvm::ConstantFP>(value); known != nullptr && !known->getValueAPF().isDenormal()) {
    return value;
  }
  const unsigned width = type->getPrimitiveSizeInBits();
  llvm::Type* number = b.getIntNTy(width);
  const uint64_t sign = uint64_t{1} << (width - 1);
  const uint64_t least_normal = type->isFloatTy() ? 0x0080'0000 : 0x0400;
  Value* bits = b.CreateBitCast(value, number);
  Value* tiny = b.CreateICmpULT(b.CreateAnd(bits, llvm::ConstantInt::get(number, sign - 1)),
                                llvm::ConstantInt::get(number, least_normal));
  Value* zero = b.CreateAnd(bits, llvm::ConstantInt::get(number, sign));
  return b.CreateBitCast(b.CreateSelect(tiny, zero, bits), type);
}

Value* SaturateToOne(llvm::IRBuilder<>& b, Value* value) {
  llvm::Type* type = value->getType();
  Value* zero = llvm::ConstantFP::get(type, 0.0);
  Value* one = llvm::ConstantFP::get(type, 1.0);
  Value* low = b.CreateSelect(b.CreateFCmpOGT(value, zero), value, zero);
  return b.CreateSelect(b.CreateFCmpOGT(low, one), one, low);
}

Value* ClampNegative(llvm::IRBuilder<>& b, Value* value) {
  Value* zero = llvm::ConstantFP::get(value->getType(), 0.0);
  return b.CreateSelect(b.CreateFCmpULE(value, zero), b.CreateSelect(b.CreateFCmpUNO(value, value), value, zero),
                        value);
}

Value* LeastOrMost(llvm::IRBuilder<>& b, bool least, bool propagate, Value* a, Value* c) {
  llvm::Type* type = a->getType();
  Value* first = least ? b.CreateFCmpOLT(a, c) : b.CreateFCmpOGT(a, c);
  Value* result = b.CreateSelect(first, a, c);
  // Equal operands differ at most in the sign of zero.
  llvm::Type* bits = type->getWithNewType(b.getIntNTy(type->getScalarSizeInBits()));
  Value* left = b.CreateBitCast(a, bits);
  Value* right = b.CreateBitCast(c, bits);
  Value* zero = b.CreateBitCast(least ? b.CreateOr(left, right) : b.CreateAnd(left, right), type);
  result = b.CreateSelect(b.CreateFCmpOEQ(a, c), zero, result);
  Value* a_nan = b.CreateFCmpUNO(a, a);
  Value* c_nan = b.CreateFCmpUNO(c, c);
  if (propagate) return b.CreateSelect(c_nan, c, b.CreateSelect(a_nan, a, result));
  return b.CreateSelect(c_nan, a, b.CreateSelect(a_nan, c, result));
}

Value* ToOddFloat(llvm::IRBuilder<>& b, Value* value) {
  Value* nearest = b.CreateFPTrunc(value, b.getFloatTy());
  Value* back = b.CreateFPExt(nearest, b.getDoubleTy());
  Value* inexact = b.CreateFCmpONE(back, value);
  Value* larger = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                  b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value));
  Value* bits = b.CreateBitCast(nearest, b.getInt32Ty());
  Value* towards_zero = b.CreateSub(bits, b.CreateZExt(larger, b.getInt32Ty()));
  Value* odd = b.CreateOr(towards_zero, b.CreateZExt(inexact, b.getInt32Ty()));
  return b.CreateBitCast(odd, b.getFloatTy());
}

namespace {

// Sixteen bits of the nearest number of the format.
Value* NearestNarrow(llvm::IRBuilder<>& b, Value* value, bool brain) {
  if (!brain) return b.CreateBitCast(b.CreateFPTrunc(value, b.getHalfTy()), b.getInt16Ty());
  Value* bits = b.CreateBitCast(value, b.getInt32Ty());
  Value* odd = b.CreateAnd(b.CreateLShr(bits, 16), 1);
  Value* rounded = b.CreateLShr(b.CreateAdd(bits, b.CreateAdd(odd, b.getInt32(0x7fff))), 16);
  return b.CreateTrunc(b.CreateSelect(b.CreateFCmpUNO(value, value), b.getInt32(0x7fff), rounded), b.getInt16Ty());
}

}  // namespace

Value* FromNarrow(llvm::IRBuilder<>& b, Value* bits, bool brain) {
  if (!brain) return b.CreateFPExt(b.CreateBitCast(bits, b.getHalfTy()), b.getFloatTy());
  return b.CreateBitCast(b.CreateShl(b.CreateZExt(bits, b.getInt32Ty()), 16), b.getFloatTy());
}

Value* ToNarrow(llvm::IRBuilder<>& b, Value* value, bool brain, Round round) {
  Value* nearest = NearestNarrow(b, value, brain);
  if (round == Round::kNearest) return nearest;
  // One step back where the nearest number lies on the wrong side. From zero a step down is the least negative number.
  Value* back = FromNarrow(b, nearest, brain);
  Value* sign = b.CreateICmpSLT(nearest, b.getInt16(0));
  Value* smaller = b.CreateSub(nearest, b.getInt16(1));
  Value* larger = b.CreateAdd(nearest, b.getInt16(1));
  Value* none = b.CreateIsNull(b.CreateAnd(nearest, 0x7fff));
  if (round == Round::kZero) {
    Value* beyond = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                    b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value));
    return b.CreateSelect(beyond, smaller, nearest);
  }
  if (round == Round::kDown) {
    Value* down = b.CreateSelect(none, b.getInt16(0x8001), b.CreateSelect(sign, larger, smaller));
    return b.CreateSelect(b.CreateFCmpOGT(back, value), down, nearest);
  }
  Value* up = b.CreateSelect(none, b.getInt16(0x0001), b.CreateSelect(sign, smaller, larger));
  return b.CreateSelect(b.CreateFCmpOLT(back, value), up, nearest);
}

Value* ToByte(llvm::IRBuilder<>& b, Value* value, bool wide_range) {
  const uint32_t shift = wide_range ? 21 : 20;                  // bits of the significand that are rounded away
  const uint32_t least = wide_range ? 113u << 23 : 121u << 23;  // normal number
  const uint32_t bias = wide_range ? 112u << 2 : 120u << 3;
  const uint32_t largest = wide_range ? 0x7b : 0x7e;
  // A float whose last place is that of the result's subnormal numbers.
  const float places = wide_range ? 128.0f : 16384.0f;
  Value* bits = b.CreateBitCast(value, b.getInt32Ty());
  Value* size = b.CreateAnd(bits, 0x7fffffff);
  Value* sum = b.CreateFAdd(b.CreateBitCast(size, b.getFloatTy()), llvm::ConstantFP::get(b.getFloatTy(), places));
  Value* subnormal = b.CreateSub(b.CreateBitCast(sum, b.getInt32Ty()), b.getInt32(std::bit_cast<uint32_t>(places)));
  Value* odd = b.CreateAnd(b.CreateLShr(size, shift), 1);
  Value* rounded = b.CreateAdd(b.CreateAdd(size, b.getInt32((1u << (shift - 1)) - 1)), odd);
  Value* normal = b.CreateSub(b.CreateLShr(rounded, shift), b.getInt32(bias));
  Value* code = b.CreateSelect(b.CreateICmpULT(size, b.getInt32(least)), subnormal, normal);
  code = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, code, b.getInt32(largest));
  code = b.CreateOr(code, b.CreateAnd(b.CreateLShr(bits, 24), 0x80));
  return b.CreateSelect(b.CreateICmpUGT(size, b.getInt32(0x7f800000)), b.getInt32(0x7f), code);
}

Value* FromByte(llvm::IRBuilder<>& b, Value* byte, bool wide_range) {
  Value* size = b.CreateAnd(byte, 0x7f);
  Value* is_nan = b.CreateICmpUGT(size, b.getInt32(wide_range ? 0x7c : 0x7e));
  Value* bits = b.CreateShl(byte, 8);
  if (!wide_range) {
    // Exponents of half precision have a larger bias, by 8.
    bits = b.CreateOr(b.CreateShl(b.CreateAnd(byte, 0x80), 8), b.CreateShl(size, 7));
    Value* small = FromNarrow(b, b.CreateTrunc(bits, b.getInt16Ty()), false);
    Value* number = b.CreateFMul(small, llvm::ConstantFP::get(b.getFloatTy(), 256.0));
    bits = b.CreateZExt(ToNarrow(b, number, false, Round::kNearest), b.getInt32Ty());
  }
  return b.CreateTrunc(b.CreateSelect(is_nan, b.getInt32(0x7fff), bits), b.getInt16Ty());
}

}  // namespace heddle::tracegen::ptx
