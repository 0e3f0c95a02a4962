// Floating-point arithmetic in all formats (PTX ISA: Floating Point Instructions, Half Precision, Mixed Precision).
#include <string>

#include "absl/strings/str_cat.h"
#include "llvm/IR/Intrinsics.h"
#include "tracegen/ptx/meaning/emission.h"
#include "tracegen/ptx/meaning/rounding.h"

namespace heddle::tracegen::ptx {
namespace {

using llvm::Value;

// Single and double precision: what the host computes itself.
class WideFloats {
 public:
  explicit WideFloats(Emission& e)
      : e_(e), b_(e.b), type_(e.type()), is_double_(type_.bits == 64), flush_(e.Has("ftz")), round_(RoundOf(e.at)) {}

  Value* Run() {
    const std::string_view op = e_.at.opcode();
    Value* result = Exact(op);
    if (result == nullptr) result = Rounded(op);
    if (result == nullptr) result = Approximate(op);
    if (result == nullptr) return nullptr;
    if (flush_) result = FlushSubnormal(b_, result);
    if (e_.Has("sat")) result = SaturateToOne(b_, result);
    return result;
  }

 private:
  llvm::Type* Ty() const { return is_double_ ? b_.getDoubleTy() : b_.getFloatTy(); }
  Value* In(size_t i) {
    Value* value = e_.In(i, type_);
    return flush_ ? FlushSubnormal(b_, value) : value;
  }
  Value* Unary(llvm::Intrinsic::ID id, Value* value) { return b_.CreateUnaryIntrinsic(id, value); }

  Value* Exact(std::string_view op) {
    if (op == "neg") return b_.CreateFNeg(In(1));
    if (op == "abs") return Unary(llvm::Intrinsic::fabs, In(1));
    // d = the magnitude of b with the sign of a.
    if (op == "copysign") return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, In(2), In(1));
    if (op == "min" || op == "max") return Extreme(op == "min");
    return nullptr;
  }

  // min and max, of two or three operands.
  Value* Extreme(bool least) {
    Value* a = In(1);
    Value* c = In(2);
    Value* sign = nullptr;
    if (e_.Has("xorsign")) {
      llvm::Type* bits = b_.getInt32Ty();
      sign = b_.CreateAnd(b_.CreateXor(b_.CreateBitCast(a, bits), b_.CreateBitCast(c, bits)), 0x8000'0000);
    }
    if (e_.Has("abs")) {
      a = Unary(llvm::Intrinsic::fabs, a);
      c = Unary(llvm::Intrinsic::fabs, c);
    }
    Value* result = LeastOrMost(b_, least, e_.Has("NaN"), a, c);
    if (e_.count() > 3) {
      Value* third = In(3);
      if (e_.Has("abs")) third = Unary(llvm::Intrinsic::fabs, third);
      result = LeastOrMost(b_, least, e_.Has("NaN"), result, third);
    }
    if (sign == nullptr) return result;
    return b_.CreateBitCast(b_.CreateXor(b_.CreateBitCast(result, b_.getInt32Ty()), sign), Ty());
  }

  Value* Directed(std::string_view op, llvm::ArrayRef<Value*> operands) {
    return e_.Intrinsic(absl::StrCat("llvm.nvvm.", std::string(op), ".", NameOf(round_), is_double_ ? ".d" : ".f"),
                        operands);
  }

  Value* Rounded(std::string_view op) {
    if (e_.Has("approx") || e_.Has("full")) return nullptr;
    const bool nearest = round_ == Round::kNearest;
    if (op == "add" || op == "sub") {
      Value* a = In(1);
      Value* c = In(2);
      if (nearest) return op == "add" ? b_.CreateFAdd(a, c) : b_.CreateFSub(a, c);
      return Directed("add", {a, op == "add" ? c : b_.CreateFNeg(c)});
    }
    if (op == "mul") return nearest ? b_.CreateFMul(In(1), In(2)) : Directed("mul", {In(1), In(2)});
    if (op == "fma" || op == "mad") {
      Value* operands[] = {In(1), In(2), In(3)};
      return nearest ? b_.CreateIntrinsic(llvm::Intrinsic::fma, {Ty()}, operands) : Directed("fma", operands);
    }
    if (op == "div") return nearest ? b_.CreateFDiv(In(1), In(2)) : Directed("div", {In(1), In(2)});
    if (op == "rcp") {
      return nearest ? b_.CreateFDiv(llvm::ConstantFP::get(Ty(), 1.0), In(1)) : Directed("rcp", {In(1)});
    }
    if (op == "sqrt") return nearest ? Unary(llvm::Intrinsic::sqrt, In(1)) : Directed("sqrt", {In(1)});
    return nullptr;
  }

  // The upper half of a double, as its approximations have it.
  Value* UpperHalf(Value* value) {
    Value* bits = b_.CreateAnd(b_.CreateBitCast(value, b_.getInt64Ty()), ~uint64_t{0xffff'ffff});
    return b_.CreateBitCast(bits, b_.getDoubleTy());
  }

  // More exact than hardware's approximations, whose last bits PTX leaves open.
  Value* Approximate(std::string_view op) {
    if (is_double_) {
      // Of the operand only the upper half counts, and the result has no lower one (.ftz).
      Value* a = e_.Has("ftz") ? UpperHalf(e_.In(1, type_)) : e_.In(1, type_);
      Value* result = nullptr;
      if (op == "rcp") result = b_.CreateFDiv(llvm::ConstantFP::get(Ty(), 1.0), a);
      if (op == "rsqrt") result = e_.Library("__nv_rsqrt", Ty(), {a});
      if (result == nullptr) return nullptr;
      return e_.Has("ftz") ? UpperHalf(result) : result;
    }
    Value* a = In(1);
    if (op == "div") return b_.CreateFDiv(a, In(2));
    if (op == "rcp") return b_.CreateFDiv(llvm::ConstantFP::get(Ty(), 1.0), a);
    if (op == "sqrt") return Unary(llvm::Intrinsic::sqrt, a);
    if (op == "rsqrt") return e_.Library("__nv_rsqrtf", Ty(), {a});
    if (op == "sin") return e_.Library("__nv_sinf", Ty(), {a});
    if (op == "cos") return e_.Library("__nv_cosf", Ty(), {a});
    if (op == "ex2") return e_.Library("__nv_exp2f", Ty(), {a});
    if (op == "lg2") return e_.Library("__nv_log2f", Ty(), {a});
    if (op == "tanh") return e_.Library("__nv_tanhf", Ty(), {a});
    return nullptr;
  }

  Emission& e_;
  llvm::IRBuilder<>& b_;
  const Type type_;
  const bool is_double_;
  const bool flush_;
  const Round round_;
};

// Half precision and bfloat16, one number or two in a word. Computed in single precision, which is wide enough for one
// rounding more to change nothing; sums of products in double precision.
class NarrowFloats {
 public:
  explicit NarrowFloats(Emission& e)
      : e_(e), b_(e.b), type_(e.type()), brain_(type_.name.starts_with("bf")), flush_(e.Has("ftz")) {}

  Value* Run() {
    const unsigned lanes = type_.elements;
    size_t inputs = e_.count() - 1;
    if (inputs < 1 || inputs > 3) return nullptr;
    Value* whole = nullptr;
    for (unsigned i = 0; i < lanes; ++i) {
      for (size_t k = 0; k < inputs; ++k) lane_[k] = Lane(k + 1, i);
      Value* result = Scalar(inputs);
      if (result == nullptr) return nullptr;
      if (lanes == 1) return brain_ ? result : b_.CreateBitCast(result, b_.getHalfTy());
      result = b_.CreateShl(b_.CreateZExt(result, b_.getInt32Ty()), 16 * i);
      whole = whole == nullptr ? result : b_.CreateOr(whole, result);
    }
    return whole;
  }

 private:
  // The bits of a number.
  Value* Lane(size_t operand, unsigned i) {
    if (type_.elements == 1) return e_.Bits(operand, 16);
    return b_.CreateTrunc(b_.CreateLShr(e_.In32(operand), 16 * i), b_.getInt16Ty());
  }
  Value* Flushed(Value* bits) {
    if (!flush_) return bits;
    if (brain_) {
      Value* value = FlushSubnormal(b_, FromNarrow(b_, bits, true));
      return b_.CreateTrunc(b_.CreateLShr(b_.CreateBitCast(value, b_.getInt32Ty()), 16), b_.getInt16Ty());
    }
    return b_.CreateBitCast(FlushSubnormal(b_, b_.CreateBitCast(bits, b_.getHalfTy())), b_.getInt16Ty());
  }
  Value* Wide(size_t k) { return FromNarrow(b_, Flushed(lane_[k]), brain_); }

  Value* Scalar(size_t inputs) {
    const std::string_view op = e_.at.opcode();
    if (op == "neg") return b_.CreateXor(Flushed(lane_[0]), 0x8000);
    if (op == "abs") return b_.CreateAnd(Flushed(lane_[0]), 0x7fff);
    Value* value = nullptr;
    if (op == "add") value = b_.CreateFAdd(Wide(0), Wide(1));
    if (op == "sub") value = b_.CreateFSub(Wide(0), Wide(1));
    if (op == "mul") value = b_.CreateFMul(Wide(0), Wide(1));
    if (op == "fma") value = Fused();
    if (op == "min" || op == "max") value = Extreme(op == "min", inputs);
    if (op == "ex2") value = e_.Library("__nv_exp2f", b_.getFloatTy(), {Wide(0)});
    if (op == "tanh") value = e_.Library("__nv_tanhf", b_.getFloatTy(), {Wide(0)});
    if (value == nullptr) return nullptr;
    if (e_.Has("relu")) value = ClampNegative(b_, value);
    if (e_.Has("sat")) value = SaturateToOne(b_, value);
    return Flushed(ToNarrow(b_, value, brain_, Round::kNearest));
  }

  // In double precision the product is exact. Where the sum is not, it becomes odd, so that it rounds as the exact one.
  Value* Fused() {
    llvm::Type* wide = b_.getDoubleTy();
    Value* product = b_.CreateFMul(b_.CreateFPExt(Wide(0), wide), b_.CreateFPExt(Wide(1), wide));
    Value* c = b_.CreateFPExt(Wide(2), wide);
    Value* sum = b_.CreateFAdd(product, c);
    Value* part = b_.CreateFSub(sum, product);
    Value* error = b_.CreateFAdd(b_.CreateFSub(product, b_.CreateFSub(sum, part)), b_.CreateFSub(c, part));
    Value* zero = llvm::ConstantFP::get(wide, 0.0);
    Value* bits = b_.CreateBitCast(sum, b_.getInt64Ty());
    Value* even = b_.CreateIsNull(b_.CreateAnd(bits, 1));
    Value* outwards = b_.CreateICmpEQ(b_.CreateFCmpOGT(error, zero), b_.CreateFCmpOGT(sum, zero));
    Value* step = b_.CreateSelect(outwards, b_.getInt64(1), b_.getInt64(~uint64_t{0}));
    Value* changes = b_.CreateAnd(b_.CreateFCmpONE(error, zero), even);
    bits = b_.CreateAdd(bits, b_.CreateSelect(changes, step, b_.getInt64(0)));
    return ToOddFloat(b_, b_.CreateBitCast(bits, wide));
  }

  Value* Extreme(bool least, size_t inputs) {
    Value* values[3] = {};
    for (size_t k = 0; k < inputs; ++k) {
      values[k] = Wide(k);
      if (e_.Has("abs")) values[k] = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, values[k]);
    }
    Value* result = LeastOrMost(b_, least, e_.Has("NaN"), values[0], values[1]);
    if (inputs == 3) result = LeastOrMost(b_, least, e_.Has("NaN"), result, values[2]);
    if (!e_.Has("xorsign")) return result;
    Value* sign =
        b_.CreateShl(b_.CreateZExt(b_.CreateAnd(b_.CreateXor(lane_[0], lane_[1]), 0x8000), b_.getInt32Ty()), 16);
    return b_.CreateBitCast(b_.CreateXor(b_.CreateBitCast(result, b_.getInt32Ty()), sign), b_.getFloatTy());
  }

  Emission& e_;
  llvm::IRBuilder<>& b_;
  const Type type_;
  const bool brain_;
  const bool flush_;
  Value* lane_[3] = {};
};

}  // namespace

Value* EmitFloat(Emission& e) {
  const Type type = e.type();
  if (!IsFloat(type)) return nullptr;
  if (e.Has("oob")) return nullptr;
  // add.f32.f16: mixed precision.
  if (e.at.TypeAt(1).exists()) return nullptr;
  if (type.name == "f32" || type.name == "f64") return WideFloats(e).Run();
  if (type.name == "f16" || type.name == "f16x2" || type.name == "bf16" || type.name == "bf16x2") {
    return NarrowFloats(e).Run();
  }
  return nullptr;
}

}  // namespace heddle::tracegen::ptx
