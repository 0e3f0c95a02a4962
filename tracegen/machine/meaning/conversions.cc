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

// A number of 16 bits in the lower half of a register, or in the one that is named; with its sign.
Value* HalfIn(Emission& e, size_t k) {
  const Operand* operand = e.Find('s', k);
  if (operand == nullptr || operand->use.absolute || operand->use.sign != 0) {
    return e.Fail("a sign of a number of 16 bits", 16);
  }
  return e.b.CreateTrunc(e.InPart(k), e.b.getInt16Ty());
}

// The format of the number that is read or written, beside an integer.
const char* FloatType(const Emission& e) {
  return e.Has("F64") ? ".f64" : e.Has("F16") ? ".f16" : e.Has("BF16") ? ".bf16" : ".f32";
}

Value* NumberIn(Emission& e, size_t k) {
  if (e.Has("F64")) return DoubleIn(e, k);
  return e.Has("F16") || e.Has("BF16") ? HalfIn(e, k) : FloatIn(e, k);
}

// A number that PTX's cvt gives, of any width.
void OutNumber(Emission& e, Value* value) {
  if (value->getType()->getPrimitiveSizeInBits() != 16) return OutFloat(e, value);
  e.Out(e.b.CreateZExt(e.b.CreateBitCast(value, e.b.getInt16Ty()), e.b.getInt32Ty()));
}

// PTX makes zero of what is no number if neither side has 64 bits; there the assembler says .NTZ. Else the highest bit
// alone is set.
void F2i(Emission& e) {
  const std::string type = IntegerType(e, "s32");
  const bool is_wide = e.Has("F64") || type == "s64" || type == "u64";
  if (e.Has("NTZ") == is_wide) return static_cast<void>(e.Fail("what this makes of a NaN"));
  Value* whole =
      PtxOperation(e, absl::StrCat("cvt", WholeRounding(e), Flush(e), ".", type, FloatType(e)), {NumberIn(e, 0)});
  OutInteger(e, whole, type[0] == 's');
}

// One integer of 8 bits, and more of them above that we have not seen.
void F2ip(Emission& e) {
  for (const size_t k : {0u, 2u}) {
    const Operand* operand = e.Find('s', k);
    if (operand == nullptr || !operand->use.reg.is_constant) return static_cast<void>(e.Fail("several integers"));
  }
  if (!e.Has("NTZ")) return static_cast<void>(e.Fail("what this makes of a NaN"));
  const std::string type = IntegerType(e, "u8");
  Value* whole = PtxOperation(e, absl::StrCat("cvt", WholeRounding(e), ".", type, ".f32"), {FloatIn(e, 1)});
  OutInteger(e, whole, false);
}

void I2f(Emission& e) {
  const std::string type = IntegerType(e, "s32");
  const bool is_wide = type == "u64" || type == "s64";
  Value* value = is_wide ? e.InWide(0, type[0] == 's') : e.InPart(0);
  OutNumber(e, PtxOperation(e, absl::StrCat("cvt", PtxModifiers(e), FloatType(e), ".", type), {value}));
}

// From one format to another; numbers of 16 bits stand in the lower half of a word.
void F2f(Emission& e) {
  const std::string to = absl::AsciiStrToLower(e.at.modifiers[0]), from = absl::AsciiStrToLower(e.at.modifiers[1]);
  if (to == "f64") {
    Value* value = from == "f16" ? HalfIn(e, 0) : FloatIn(e, 0);
    return OutNumber(e, PtxOperation(e, absl::StrCat("cvt.f64.", from), {value}));
  }
  Value* value = from == "f64" ? DoubleIn(e, 0) : FloatIn(e, 0);
  OutNumber(e, PtxOperation(e, absl::StrCat("cvt", PtxModifiers(e), ".", to, ".", from), {value}));
}

// Whether nothing is merged with the result.
bool MergesNothing(const Emission& e, size_t k) {
  const Operand* operand = e.Find('s', k);
  return operand != nullptr && operand->kind == Operand::Kind::kRegister && operand->use.reg.is_constant;
}

// Pairs of bytes that are numbers, from and to.
void BytePair(Emission& e) {
  const char* type = e.Has("E4M3") ? ".e4m3x2" : ".e5m2x2";
  const char* relu = e.Has("RELU") ? ".relu" : "";
  if (e.Has("UNPACK_B")) {
    Value* pair = e.b.CreateTrunc(e.InPart(0), e.b.getInt16Ty());
    return e.Out(PtxOperation(e, absl::StrCat("cvt.rn", relu, ".f16x2", type), {pair}));
  }
  const bool from_halves = e.Has("F16");
  if (!MergesNothing(e, from_halves ? 1 : 2)) return static_cast<void>(e.Fail("a word of which a part stays"));
  const std::string mnemonic = absl::StrCat("cvt.rn.satfinite", relu, type, from_halves ? ".f16x2" : ".f32");
  Value* bytes =
      from_halves ? PtxOperation(e, mnemonic, {e.In(0)}) : PtxOperation(e, mnemonic, {FloatIn(e, 0), FloatIn(e, 1)});
  e.Out(e.b.CreateZExt(bytes, e.b.getInt32Ty()));
}

// Two numbers of single precision to a pair: the first in the upper half. MERGE_C: one, with a half that stays.
void F2fp(Emission& e) {
  if (e.Has("E4M3") || e.Has("E5M2")) return BytePair(e);
  const std::string modifiers = absl::StrCat(e.Has("RZ") ? ".rz" : ".rn", e.Has("RELU") ? ".relu" : "");
  if (e.Has("MERGE_C")) {
    if (!MergesNothing(e, 1)) return static_cast<void>(e.Fail("a pair of which a part stays"));
    const char* type = e.Has("BF16") ? ".bf16" : ".f16";
    return OutNumber(e, PtxOperation(e, absl::StrCat("cvt", modifiers, type, ".f32"), {FloatIn(e, 0)}));
  }
  if (e.Has("PACK_B")) return static_cast<void>(e.Fail("a pair of which a part stays"));
  const char* type = e.Has("BF16") ? ".bf16x2" : ".f16x2";
  e.Out(PtxOperation(e, absl::StrCat("cvt", modifiers, type, ".f32"), {FloatIn(e, 0), FloatIn(e, 1)}));
}

void Frnd(Emission& e) {
  if (e.Has("F64")) {
    return OutFloat(e, PtxOperation(e, absl::StrCat("cvt", WholeRounding(e), ".f64.f64"), {DoubleIn(e, 0)}));
  }
  const std::string mnemonic = absl::StrCat("cvt", WholeRounding(e), Flush(e), FloatType(e), FloatType(e));
  OutNumber(e, PtxOperation(e, mnemonic, {NumberIn(e, 0)}));
}

// The first type is the result's, the second the operand's.
void I2i(Emission& e) {
  const std::string to = absl::AsciiStrToLower(e.at.modifiers[0]), from = absl::AsciiStrToLower(e.at.modifiers[1]);
  Value* value = PtxOperation(e, absl::StrCat("cvt", e.Has("SAT") ? ".sat" : "", ".", to, ".", from), {e.InPart(0)});
  OutInteger(e, value, to[0] == 's');
}

constexpr OpcodeMeaning kRows[] = {
    {"F2I", "FTZ U8 S8 U16 S16 U32 S32 U64 S64 F16 BF16 F64 TRUNC FLOOR CEIL NTZ", Effect::kComputes, F2i,
     "a number as an integer within its range", "cvt"},
    {"F2IP", "U8 S8 F32 TRUNC FLOOR CEIL NTZ", Effect::kComputes, F2ip, "a number as an integer of 8 bits", "cvt"},
    {"I2F", "F16 BF16 F64 U8 S8 U16 S16 U32 S32 U64 S64 RN RM RP RZ", Effect::kComputes, I2f, "an integer as a number",
     "cvt"},
    {"I2FP", "F32 U32 S32 RN RM RP RZ", Effect::kComputes, I2f, "an integer as a number", "cvt"},
    {"F2F", "F16 BF16 F32 F64 RN RM RP RZ", Effect::kComputes, F2f, "a number in another format", "cvt"},
    {"F2FP", "SATFINITE RELU E4M3 E5M2 BF16 F16 F32 PACK_AB MERGE_C PACK_AB_MERGE_C UNPACK_B UNPACK_B_MERGE_C RZ",
     Effect::kComputes, F2fp, "a pair of shorter numbers", "cvt"},
    {"FRND", "F64 F16 BF16 FTZ TRUNC FLOOR CEIL", Effect::kComputes, Frnd, "the nearest whole number", "cvt"},
    {"I2I", "U8 S8 U16 S16 U32 S32 SAT", Effect::kComputes, I2i, "an integer of another width", "cvt"},
};

}  // namespace

std::span<const OpcodeMeaning> ConversionMeanings() { return kRows; }

}  // namespace heddle::tracegen::machine
