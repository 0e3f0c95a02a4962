#include "tracegen/instrument/lower_float.h"

#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"
#include "tracegen/ptx/meaning/rounding.h"

namespace heddle::tracegen {
namespace {

using llvm::StringRef;
using llvm::Value;

// Denormals become zero with their sign (.ftz, single precision only).
Value* Flush(llvm::IRBuilder<>& builder, Value* value) {
  if (!value->getType()->isFloatTy()) return value;
  Value* magnitude = builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  Value* smallest = llvm::ConstantFP::get(value->getType(), llvm::APFloat(0x1p-126f));
  Value* zero =
      builder.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, llvm::ConstantFP::get(value->getType(), 0.0), value);
  return builder.CreateSelect(builder.CreateFCmpOLT(magnitude, smallest), zero, value);
}

// Width of the integer that a conversion such as f2ui or d2ll makes or takes.
struct IntegerKind {
  unsigned bits = 32;
  bool is_signed = true;
};
std::optional<IntegerKind> ParseInteger(StringRef text) {
  return llvm::StringSwitch<std::optional<IntegerKind>>(text)
      .Case("i", IntegerKind{32, true})
      .Case("ui", IntegerKind{32, false})
      .Case("ll", IntegerKind{64, true})
      .Case("ull", IntegerKind{64, false})
      .Default(std::nullopt);
}

class FloatLowering {
 public:
  FloatLowering(KernelPass& pass, llvm::IRBuilder<>& builder, llvm::CallInst& call)
      : pass_(pass), builder_(builder), call_(call) {}

  Value* Run(StringRef name) {
    llvm::SmallVector<StringRef, 6> words;
    name.split(words, '.');
    bool flush = false;
    llvm::SmallVector<StringRef, 6> rest;
    for (StringRef word : words) {
      if (word == "ftz") {
        flush = true;
      } else {
        rest.push_back(word);
      }
    }
    for (unsigned i = 0; i < call_.arg_size(); ++i) {
      Value* value = call_.getArgOperand(i);
      arguments_.push_back(flush ? Flush(builder_, value) : value);
    }
    Value* result = Plain(rest);
    if (result == nullptr || !flush) return result;
    return Flush(builder_, result);
  }

 private:
  Value* Unary(llvm::Intrinsic::ID id) { return builder_.CreateUnaryIntrinsic(id, arguments_[0]); }
  Value* One(llvm::Type* type) { return llvm::ConstantFP::get(type, 1.0); }

  // A library function of the runtime, in the precision of the result.
  Value* Library(const std::string& stem) {
    std::string name = absl::StrCat(stem, call_.getType()->isFloatTy() ? "f" : "");
    return pass_.CallRuntime(builder_, name.c_str(), call_.getType(), arguments_);
  }

  Value* Plain(const llvm::SmallVector<StringRef, 6>& words) {
    StringRef stem = words[0];
    StringRef mode = words.size() > 1 ? words[1] : "";
    llvm::Type* type = call_.getType();
    if (stem == "fmin" || stem == "fmax") {
      bool propagate = mode == "nan";
      if (words.size() > 2 + propagate || (!type->isFloatTy() && !type->isDoubleTy())) return nullptr;
      return ptx::LeastOrMost(builder_, stem == "fmin", propagate, arguments_[0], arguments_[1]);
    }
    if (!type->isFloatTy() && !type->isDoubleTy() && !type->isIntegerTy()) return nullptr;
    if (stem == "fabs") return Unary(llvm::Intrinsic::fabs);
    if (stem == "floor") return Unary(llvm::Intrinsic::floor);
    if (stem == "ceil") return Unary(llvm::Intrinsic::ceil);
    if (stem == "trunc") return Unary(llvm::Intrinsic::trunc);
    if (stem == "round") return Unary(llvm::Intrinsic::roundeven);
    if (stem == "saturate") {
      Value* positive = builder_.CreateFCmpOGT(arguments_[0], llvm::ConstantFP::get(type, 0.0));
      Value* low = builder_.CreateSelect(positive, arguments_[0], llvm::ConstantFP::get(type, 0.0));
      return builder_.CreateSelect(builder_.CreateFCmpOGT(low, One(type)), One(type), low);
    }
    if (stem == "sqrt" && (mode == "f" || mode == "approx" || mode == "rn")) return Unary(llvm::Intrinsic::sqrt);
    if (mode == "approx") {
      // More exact than hardware's approximations; which of their bits are right is not defined by PTX.
      if (stem == "rsqrt") return Library("__nv_rsqrt");
      if (stem == "ex2") return Library("__nv_exp2");
      if (stem == "lg2") return Library("__nv_log2");
      if (stem == "sin") return Library("__nv_sin");
      if (stem == "cos") return Library("__nv_cos");
      if (stem == "tanh") return Library("__nv_tanh");
      if (stem == "rcp") return builder_.CreateFDiv(One(type), arguments_[0]);
      if (stem == "div") return builder_.CreateFDiv(arguments_[0], arguments_[1]);
      return nullptr;
    }
    if (mode == "rn") {
      if (stem == "add") return builder_.CreateFAdd(arguments_[0], arguments_[1]);
      if (stem == "mul") return builder_.CreateFMul(arguments_[0], arguments_[1]);
      if (stem == "div") return builder_.CreateFDiv(arguments_[0], arguments_[1]);
      if (stem == "rcp") return builder_.CreateFDiv(One(type), arguments_[0]);
      if (stem == "fma" && !type->isHalfTy()) {
        return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {arguments_[0], arguments_[1], arguments_[2]});
      }
    }
    bool directed = mode == "rz" || mode == "rm" || mode == "rp";
    if (directed &&
        (stem == "add" || stem == "mul" || stem == "div" || stem == "rcp" || stem == "fma" || stem == "sqrt")) {
      return Library(absl::StrCat("heddle_", stem.str(), "_", mode.str()));
    }
    return Conversion(stem, mode);
  }

  Value* Conversion(StringRef stem, StringRef mode) {
    llvm::Type* type = call_.getType();
    auto [from, to] = stem.split('2');
    if (to.empty()) return nullptr;
    Value* value = arguments_[0];
    if (from == "f" || from == "d") {
      if (std::optional<IntegerKind> kind = ParseInteger(to)) {
        llvm::Intrinsic::ID rounding = mode == "rn"   ? llvm::Intrinsic::roundeven
                                       : mode == "rz" ? llvm::Intrinsic::trunc
                                       : mode == "rm" ? llvm::Intrinsic::floor
                                                      : llvm::Intrinsic::ceil;
        Value* whole = builder_.CreateUnaryIntrinsic(rounding, value);
        return builder_.CreateIntrinsic(kind->is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                                        {type, whole->getType()}, {whole});
      }
      if (from == "d" && to == "f") {
        if (mode == "rn") return builder_.CreateFPTrunc(value, type);
        return Library(absl::StrCat("heddle_narrow_", mode.str()));
      }
      if (from == "f" && to == "h" && mode == "rn") {
        Value* half = builder_.CreateFPTrunc(value, builder_.getHalfTy());
        return builder_.CreateBitCast(half, type);
      }
      return nullptr;
    }
    if (std::optional<IntegerKind> kind = ParseInteger(from)) {
      if (!type->isFloatTy() && !type->isDoubleTy()) return nullptr;
      if (mode == "rn" || (kind->bits == 32 && type->isDoubleTy())) {
        return kind->is_signed ? builder_.CreateSIToFP(value, type) : builder_.CreateUIToFP(value, type);
      }
      const char* name = kind->is_signed ? "heddle_from_signed_" : "heddle_from_unsigned_";
      arguments_[0] =
          kind->is_signed ? builder_.CreateSExt(value, pass_.i64()) : builder_.CreateZExt(value, pass_.i64());
      return Library(absl::StrCat(name, mode.str()));
    }
    return nullptr;
  }

  KernelPass& pass_;
  llvm::IRBuilder<>& builder_;
  llvm::CallInst& call_;
  llvm::SmallVector<Value*, 4> arguments_;
};

}  // namespace

Value* LowerFloat(KernelPass& pass, llvm::IRBuilder<>& builder, llvm::CallInst& call, StringRef name) {
  return FloatLowering(pass, builder, call).Run(name);
}

}  // namespace heddle::tracegen
