// Floating-point numbers of single and double precision.
#include <cmath>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "tracegen/machine/meaning/comparison.h"
#include "tracegen/machine/meaning/float_operands.h"
#include "tracegen/machine/meaning/meaning.h"
#include "tracegen/machine/meaning/ptx_operation.h"

namespace heddle::tracegen::machine {
namespace {

using llvm::Value;

Value* Single(Emission& e, std::string_view op, llvm::ArrayRef<Value*> inputs) {
  return PtxOperation(e, absl::StrCat(std::string(op), PtxModifiers(e), ".f32"), inputs);
}
Value* Double(Emission& e, std::string_view op, llvm::ArrayRef<Value*> inputs) {
  return PtxOperation(e, absl::StrCat(std::string(op), PtxModifiers(e), ".f64"), inputs);
}

void Fadd(Emission& e) { OutFloat(e, Single(e, "add", {FloatIn(e, 0), FloatIn(e, 1)})); }
void Ffma(Emission& e) { OutFloat(e, Single(e, "fma", {FloatIn(e, 0), FloatIn(e, 1), FloatIn(e, 2)})); }
void Dadd(Emission& e) { OutFloat(e, Double(e, "add", {DoubleIn(e, 0), DoubleIn(e, 1)})); }
void Dmul(Emission& e) { OutFloat(e, Double(e, "mul", {DoubleIn(e, 0), DoubleIn(e, 1)})); }
void Dfma(Emission& e) { OutFloat(e, Double(e, "fma", {DoubleIn(e, 0), DoubleIn(e, 1), DoubleIn(e, 2)})); }

// .D2 halves the product before it is rounded, .D4 and .D8 go on.
void Fmul(Emission& e) {
  Value *a = FloatIn(e, 0), *c = FloatIn(e, 1);
  for (const auto& [modifier, scale] : {std::pair("D2", 0.5), std::pair("D4", 0.25), std::pair("D8", 0.125)}) {
    if (!e.Has(modifier)) continue;
    if (e.at.modifiers.size() != 1) e.Fail("a scaled product of this kind");
    // Exact in double precision.
    Value* product = e.b.CreateFMul(e.b.CreateFPExt(a, e.b.getDoubleTy()), e.b.CreateFPExt(c, e.b.getDoubleTy()));
    product = e.b.CreateFMul(product, llvm::ConstantFP::get(e.b.getDoubleTy(), scale));
    return OutFloat(e, e.b.CreateFPTrunc(product, e.b.getFloatTy()));
  }
  OutFloat(e, Single(e, "mul", {a, c}));
}

void Fmnmx(Emission& e) {
  const std::string modifiers =
      absl::StrCat(e.Has("FTZ") ? ".ftz" : "", e.Has("NAN") ? ".NaN" : "", XorSignModifier(e), ".f32");
  Value* inputs[] = {FloatIn(e, 0), FloatIn(e, 1)};
  if (e.Has("XORSIGN")) {
    for (const size_t k : {0u, 1u}) inputs[k] = e.b.CreateBitCast(MagnitudeSource(e, k), e.b.getFloatTy());
  }
  Value* least = PtxOperation(e, absl::StrCat("min", modifiers), inputs);
  Value* most = PtxOperation(e, absl::StrCat("max", modifiers), inputs);
  OutFloat(e, e.b.CreateSelect(e.InPredicate(0, true), least, most));
}

void Fsel(Emission& e) { e.Out(e.b.CreateSelect(e.InPredicate(0, true), FloatBitsIn(e, 0), FloatBitsIn(e, 1))); }

void OutComparison(Emission& e, Value* result) {
  Value* other = e.InPredicate(0, true);
  Value* first = Combined(e, result, other);
  Value* second = Combined(e, e.b.CreateNot(result), other);
  e.OutPredicate(0, first);
  e.OutPredicate(1, second);
}

Value* Flushed(Emission& e, Value* value) {
  if (!e.Has("FTZ")) return value;
  return PtxOperation(e, "add.ftz.f32", {value, llvm::ConstantFP::get(e.b.getFloatTy(), -0.0)});
}

void Fsetp(Emission& e) { OutComparison(e, ComparedFloats(e, Flushed(e, FloatIn(e, 0)), Flushed(e, FloatIn(e, 1)))); }

void Fset(Emission& e) {
  Value* result = ComparedFloats(e, Flushed(e, FloatIn(e, 0)), Flushed(e, FloatIn(e, 1)));
  result = Combined(e, result, e.InPredicate(0, true));
  Value* yes = e.b.getInt32(e.Has("BF") ? 0x3f800000 : ~0u);
  e.Out(e.b.CreateSelect(result, yes, e.Zero()));
}

// .MAX and .MIN: whether the first number is the result of PTX's max or min, and whether neither is a number. The
// assembler makes the result of that.
void ChooseExtreme(Emission& e) {
  llvm::IRBuilder<>& b = e.b;
  Value *a = DoubleIn(e, 0), *c = DoubleIn(e, 1);
  const Operand* other = e.Find('q');
  if (!e.Has("AND") || other == nullptr || !other->use.reg.is_constant || other->use.sign == '!') {
    e.Fail("a predicate that the choice is combined with");
  }
  const bool most = e.Has("MAX");
  Value* beyond = most ? b.CreateFCmpOGT(a, c) : b.CreateFCmpOLT(a, c);
  // -0 is less than +0.
  Value* is_negative = b.CreateICmpSLT(b.CreateBitCast(a, b.getInt64Ty()), b.getInt64(0));
  Value* decides = most ? b.CreateNot(is_negative) : is_negative;
  Value* a_is_nan = b.CreateFCmpUNO(a, a);
  Value* c_is_nan = b.CreateFCmpUNO(c, c);
  Value* first = b.CreateOr({beyond, b.CreateAnd(b.CreateFCmpOEQ(a, c), decides), c_is_nan});
  e.OutPredicate(0, first);
  e.OutPredicate(1, b.CreateAnd(a_is_nan, c_is_nan));
}

void Dsetp(Emission& e) {
  if (e.Has("MAX") || e.Has("MIN")) return ChooseExtreme(e);
  OutComparison(e, ComparedFloats(e, DoubleIn(e, 0), DoubleIn(e, 1)));
}

// Whether a quotient needs more care than the short sequence takes: numbers and differences of exponents near the ends
// of the range. The exact bounds of the hardware are not published; both ways give the same quotient.
void Fchk(Emission& e) {
  llvm::IRBuilder<>& b = e.b;
  const auto exponent = [&](size_t k) { return b.CreateAnd(b.CreateLShr(FloatBitsIn(e, k), 23), 0xff); };
  Value *a = exponent(0), *c = exponent(1);
  const auto outside = [&](Value* value, int least, int most) {
    return b.CreateICmpUGT(b.CreateSub(value, b.getInt32(static_cast<uint32_t>(least))),
                           b.getInt32(static_cast<uint32_t>(most - least)));
  };
  Value* check = b.CreateOr(outside(a, 25, 254), outside(c, 1, 252));
  e.OutPredicate(0, b.CreateOr(check, outside(b.CreateSub(a, c), -125, 126)));
}

Value* Library(Emission& e, const char* name, Value* value) {
  llvm::Type* type = value->getType();
  llvm::Module& module = *e.b.GetInsertBlock()->getModule();
  return e.b.CreateCall(module.getOrInsertFunction(name, llvm::FunctionType::get(type, {type}, false)), {value});
}

// Functions of the special function unit, more exact than the hardware's approximations. Subnormal numbers count as
// zero.
void Mufu(Emission& e) {
  llvm::IRBuilder<>& b = e.b;
  for (const auto& [modifier, ptx] :
       {std::pair("RCP64H", "rcp.approx.ftz.f64"), std::pair("RSQ64H", "rsqrt.approx.ftz.f64")}) {
    if (!e.Has(modifier)) continue;
    // The upper halves of numbers of double precision.
    Value* bits = b.CreateShl(b.CreateZExt(FloatBitsIn(e, 0), b.getInt64Ty()), 32);
    Value* result = PtxOperation(e, ptx, {b.CreateBitCast(bits, b.getDoubleTy())});
    bits = b.CreateLShr(b.CreateBitCast(result, b.getInt64Ty()), 32);
    return e.Out(b.CreateTrunc(bits, b.getInt32Ty()));
  }
  // Of half precision: the lower half of a register, or the one that is named; the result's upper half is zero here.
  if (e.Has("F16") || e.Has("BF16")) {
    const Operand* operand = e.Find('s');
    if ((!e.Has("EX2") && !e.Has("TANH")) || operand == nullptr || operand->use.absolute) {
      return static_cast<void>(e.Fail("this function of half precision"));
    }
    const char* type = e.Has("F16") ? "f16" : "bf16";
    Value* half = b.CreateTrunc(e.InPart(0), b.getInt16Ty());
    Value* result = PtxOperation(e, absl::StrCat(e.Has("EX2") ? "ex2.approx." : "tanh.approx.", type), {half});
    return e.Out(b.CreateZExt(b.CreateBitCast(result, b.getInt16Ty()), b.getInt32Ty()));
  }
  for (const auto& [modifier, ptx] : {std::pair("RCP", "rcp"), std::pair("RSQ", "rsqrt"), std::pair("EX2", "ex2"),
                                      std::pair("LG2", "lg2"), std::pair("SQRT", "sqrt")}) {
    if (e.Has(modifier)) return OutFloat(e, PtxOperation(e, absl::StrCat(ptx, ".approx.ftz.f32"), {FloatIn(e, 0)}));
  }
  if (e.Has("TANH")) return OutFloat(e, PtxOperation(e, "tanh.approx.f32", {FloatIn(e, 0)}));
  // Of an angle in turns.
  Value* turns = b.CreateFPExt(FloatIn(e, 0), b.getDoubleTy());
  Value* angle = b.CreateFMul(turns, llvm::ConstantFP::get(b.getDoubleTy(), 2 * std::numbers::pi));
  OutFloat(e, b.CreateFPTrunc(Library(e, e.Has("SIN") ? "__nv_sin" : "__nv_cos", angle), b.getFloatTy()));
}

constexpr std::string_view kArithmetic = "FTZ RN RM RP RZ SAT";
constexpr std::string_view kCompare = "F LT EQ LE GT NE GE NUM NAN LTU EQU LEU GTU NEU GEU T FTZ AND OR XOR";

constexpr OpcodeMeaning kRows[] = {
    {"FADD", kArithmetic, Effect::kComputes, Fadd, "a + b", "add, sub"},
    {"FMUL", "D2 D4 D8 FTZ RN RM RP RZ SAT", Effect::kComputes, Fmul, "a * b, or a part of it", "mul"},
    {"FFMA", kArithmetic, Effect::kComputes, Ffma, "a * b + c, rounded once", "fma"},
    {"FMNMX", "FTZ NAN XORSIGN", Effect::kComputes, Fmnmx, "the smaller one if the predicate holds, else the larger",
     "min, max"},
    {"FSEL", "", Effect::kComputes, Fsel, "a if the predicate holds, else b", "selp, slct"},
    {"FSETP", kCompare, Effect::kComputes, Fsetp, "a comparison and its opposite, each with a predicate", "setp"},
    {"FSET", "BF F LT EQ LE GT NE GE NUM NAN LTU EQU LEU GTU NEU GEU T FTZ AND OR XOR", Effect::kComputes, Fset,
     "a comparison as a mask, or as 1.0", "set"},
    {"FCHK", "DIVIDE", Effect::kComputes, Fchk, "whether a quotient needs more care", "div"},
    {"MUFU", "RCP RSQ EX2 LG2 SIN COS SQRT TANH RCP64H RSQ64H F16 BF16", Effect::kComputes, Mufu,
     "an approximated function", "rcp, rsqrt, ex2, lg2, sin, cos, sqrt, tanh"},
    {"DADD", "RN RM RP RZ", Effect::kComputes, Dadd, "a + b", "add, sub"},
    {"DMUL", "RN RM RP RZ", Effect::kComputes, Dmul, "a * b", "mul"},
    {"DFMA", "RN RM RP RZ", Effect::kComputes, Dfma, "a * b + c, rounded once", "fma"},
    {"DSETP", "MAX MIN F LT EQ LE GT NE GE NUM NAN LTU EQU LEU GTU NEU GEU T AND OR XOR", Effect::kComputes, Dsetp,
     "a comparison and its opposite, each with a predicate; .MAX and .MIN: which one it is", "setp, min, max"},
};

}  // namespace

std::span<const OpcodeMeaning> FloatMeanings() { return kRows; }

}  // namespace heddle::tracegen::machine
