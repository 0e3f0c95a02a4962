// Conversions between numbers of all kinds.
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tracegen/machine/meaning/float_operands.h"
#include "tracegen/machine/meaning/meaning.h"
#include "tracegen/machine/meaning/ptx_operation.h"

namespace heddle::tracegen::machine {
namespace {

using llvm::Value;

// The integer type among the modifiers, as PTX calls it.
std::string IntegerType(const Emission& e, std::string_view otherwise) {
  for (const char* type : {"U8", "S8", "U16", "S16", "U32", "S32", "U64", "S64"}) {
    if (e.Has(type)) return absl::AsciiStrToLower(type);
  }
  return std::string(otherwise);
}

// To whole numbers.
const char* WholeRounding(const Emission& e) {
  return e.Has("TRUNC") ? ".rzi" : e.Has("FLOOR") ? ".rmi" : e.Has("CEIL") ? ".rpi" : ".rni";
}

const char* Flush(const Emission& e) { return e.Has("FTZ") ? ".ftz" : ""; }

// Shorter integers are extended to a word.
void OutInteger(Emission& e, Value* value, bool is_signed) {
  if (value->getType()->getIntegerBitWidth() < 32) {
    value = is_signed ? e.b.CreateSExt(value, e.b.getInt32Ty()) : e.b.CreateZExt(value, e.b.getInt32Ty());
  }
  e.Out(value);
}

void F2i(Emission& e) {
  const bool is_double = e.Has("F64");
  const std::string type = IntegerType(e, "s32");
  Value* value = is_double ? DoubleIn(e, 0) : FloatIn(e, 0);
  Value* whole =
      PtxOperation(e, absl::StrCat("cvt", WholeRounding(e), Flush(e), ".", type, is_double ? ".f64" : ".f32"), {value});
  OutInteger(e, whole, type[0] == 's');
}

void I2f(Emission& e) {
  const bool is_double = e.Has("F64");
  const std::string type = IntegerType(e, "s32");
  const bool is_wide = type == "u64" || type == "s64";
  Value* value = is_wide ? e.InWide(0, type[0] == 's') : e.InPart(0);
  OutFloat(e, PtxOperation(e, absl::StrCat("cvt", PtxModifiers(e), is_double ? ".f64." : ".f32.", type), {value}));
}

// From one format to another; numbers of 16 bits stand in the lower half of a word.
void F2f(Emission& e) {
  if (e.Has("F64") && e.at.modifiers[0] == "F64") {
    return OutFloat(e, PtxOperation(e, "cvt.f64.f32", {FloatIn(e, 0)}));
  }
  if (e.Has("F64"))
    return OutFloat(e, PtxOperation(e, absl::StrCat("cvt", PtxModifiers(e), ".f32.f64"), {DoubleIn(e, 0)}));
  const bool is_half = e.Has("F16");
  Value* narrow =
      PtxOperation(e, absl::StrCat("cvt", PtxModifiers(e), is_half ? ".f16" : ".bf16", ".f32"), {FloatIn(e, 0)});
  e.Out(e.b.CreateZExt(e.b.CreateBitCast(narrow, e.b.getInt16Ty()), e.b.getInt32Ty()));
}

// Two numbers of single precision to a pair: the first in the upper half.
void F2fp(Emission& e) {
  if (e.Has("MERGE_C") || e.Has("PACK_B")) e.Fail("a pair of which a part stays");
  const char* type = e.Has("BF16") ? ".bf16x2" : ".f16x2";
  e.Out(
      PtxOperation(e, absl::StrCat("cvt", e.Has("RZ") ? ".rz" : ".rn", type, ".f32"), {FloatIn(e, 0), FloatIn(e, 1)}));
}

void Frnd(Emission& e) {
  if (e.Has("F64")) {
    return OutFloat(e, PtxOperation(e, absl::StrCat("cvt", WholeRounding(e), ".f64.f64"), {DoubleIn(e, 0)}));
  }
  OutFloat(e, PtxOperation(e, absl::StrCat("cvt", WholeRounding(e), Flush(e), ".f32.f32"), {FloatIn(e, 0)}));
}

// The first type is the result's, the second the operand's.
void I2i(Emission& e) {
  const std::string to = absl::AsciiStrToLower(e.at.modifiers[0]), from = absl::AsciiStrToLower(e.at.modifiers[1]);
  Value* value = PtxOperation(e, absl::StrCat("cvt", e.Has("SAT") ? ".sat" : "", ".", to, ".", from), {e.InPart(0)});
  OutInteger(e, value, to[0] == 's');
}

constexpr OpcodeMeaning kRows[] = {
    {"F2I", "FTZ U8 S8 U16 S16 U32 S32 U64 S64 F64 TRUNC FLOOR CEIL NTZ", Effect::kComputes, F2i,
     "a number as an integer within its range", "cvt"},
    {"I2F", "F64 U8 S8 U16 S16 U32 S32 U64 S64 RN RM RP RZ", Effect::kComputes, I2f, "an integer as a number", "cvt"},
    {"I2FP", "F32 U32 S32 RN RM RP RZ", Effect::kComputes, I2f, "an integer as a number", "cvt"},
    {"F2F", "F16 BF16 F32 F64 RN RM RP RZ", Effect::kComputes, F2f, "a number in another format", "cvt"},
    {"F2FP", "BF16 F16 F32 PACK_AB RZ", Effect::kComputes, F2fp, "a pair of shorter numbers", "cvt"},
    {"FRND", "F64 FTZ TRUNC FLOOR CEIL", Effect::kComputes, Frnd, "the nearest whole number", "cvt"},
    {"I2I", "U8 S8 U16 S16 U32 S32 SAT", Effect::kComputes, I2i, "an integer of another width", "cvt"},
};

}  // namespace

std::span<const OpcodeMeaning> ConversionMeanings() { return kRows; }

}  // namespace heddle::tracegen::machine
