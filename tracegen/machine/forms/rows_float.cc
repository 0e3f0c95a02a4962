#include "tracegen/machine/forms/rows.h"

namespace heddle::tracegen::machine {
namespace {

using namespace ::heddle::trace::v1;  // NOLINT: classes of instructions
using enum Meaning;
using enum Latency;

constexpr std::string_view kFloat = "Floating Point Instructions";
constexpr std::string_view kConversion = "Conversion Instructions";

constexpr Form kRows[] = {
    {"FADD", "FTZ? $round? SAT?", "d s s", OP_FP32, kFixed, kRegisters, kFloat},
    {"FMUL", "D2|D4|D8|M2|M4|M8? FTZ? $round? SAT?", "d s s", OP_FP32, kFixed, kRegisters, kFloat},
    {"FFMA", "FTZ? $round? SAT?", "d s s s", OP_FP32, kFixed, kRegisters, kFloat},
    {"FMNMX", "FTZ? NAN? XORSIGN?", "d s s q", OP_FP32, kFixed, kRegisters, kFloat},
    {"FSEL", "FTZ?", "d s s q", OP_FP32, kFixed, kRegisters, kFloat},
    {"FSETP", "$fcompare FTZ? $logic", "p p s s q", OP_FP32, kFixed, kRegisters, kFloat},
    {"FSET", "BF? $fcompare FTZ? $logic", "d s s q", OP_FP32, kFixed, kRegisters, kFloat},
    {"FSWZADD", "FTZ? $round? NDV?", "d s s w", OP_FP32, kFixed, kRegisters, kFloat},
    {"FCHK", "DIVIDE?", "p s s", OP_FP32, kVariable, kRegisters, kFloat},
    {"MUFU", "RCP|RSQ|EX2|LG2|SIN|COS|SQRT|TANH|RCP64H|RSQ64H F16|BF16?", "d s", OP_SFU, kVariable, kRegisters, kFloat},

    {"HADD2", "F32", "d s s", OP_FP32, kFixed, kRegisters, kFloat},
    {"HADD2", "BF16_V2? FTZ? SAT?", "d s s s?", OP_FP32, kFixed, kRegisters, kFloat},
    {"HMUL2", "BF16_V2? FTZ? SAT?", "d s s s?", OP_FP32, kFixed, kRegisters, kFloat},
    // A pair of numbers in place of a register takes two operands.
    {"HFMA2", "MMA? BF16_V2? FTZ? SAT? RELU?", "d s s s s?", OP_FP32, kFixed, kRegisters, kFloat},
    {"HSETP2", "BF16_V2? $fcompare FTZ? $logic", "p p s s s? q", OP_FP32, kFixed, kRegisters, kFloat},
    {"HSET2", "BF|BM? BF16_V2? $fcompare FTZ? $logic", "d s s s? q", OP_FP32, kFixed, kRegisters, kFloat},
    {"HMNMX2", "BF16_V2? FTZ? NAN? XORSIGN?", "d s s s? q", OP_FP32, kFixed, kRegisters, kFloat},
    {"VHMNMX", "BF16_V2? FTZ? NAN?", "d s s s s? q", OP_FP32, kFixed, kRegisters, kFloat},

    {"DADD", "$round?", "d:2 s:2 s:2", OP_FP64, kEither, kRegisters, kFloat},
    {"DMUL", "$round?", "d:2 s:2 s:2", OP_FP64, kEither, kRegisters, kFloat},
    {"DFMA", "$round?", "d:2 s:2 s:2 s:2", OP_FP64, kEither, kRegisters, kFloat},
    {"DSETP", "$fcompare $logic", "p p s:2 s:2 q", OP_FP64, kEither, kRegisters, kFloat},

    {"F2F", "F64 F32|F16", "d:2 s", OP_CONVERT, kVariable, kRegisters, kConversion},
    {"F2F", "F32 F64 $round?", "d s:2", OP_CONVERT, kVariable, kRegisters, kConversion},
    {"F2F", "F16|BF16 F32 $round?", "d s", OP_CONVERT, kVariable, kRegisters, kConversion},
    {"F2F", "F16|BF16 F64 $round?", "d s:2", OP_CONVERT, kVariable, kRegisters, kConversion},
    {"F2FP", "RELU? BF16|F16? F32? PACK_AB|MERGE_C|PACK_B RZ?", "d s s s?", OP_CONVERT, kFixed, kRegisters,
     kConversion},
    {"F2FP", "SATFINITE RELU? E4M3|E5M2 F32 PACK_AB_MERGE_C", "d s s s", OP_CONVERT, kFixed, kRegisters, kConversion},
    {"F2FP", "SATFINITE RELU? E4M3|E5M2 F16 UNPACK_B_MERGE_C", "d s s", OP_CONVERT, kFixed, kRegisters, kConversion},
    {"F2FP", "RELU? F16 E4M3|E5M2 UNPACK_B", "d s", OP_CONVERT, kFixed, kRegisters, kConversion},
    {"F2I", "FTZ? S64|U64 F64 $toint?", "d:2 s:2", OP_CONVERT, kVariable, kRegisters, kConversion},
    {"F2I", "FTZ? S64|U64 F16|BF16? $toint?", "d:2 s", OP_CONVERT, kVariable, kRegisters, kConversion},
    {"F2I", "FTZ? U8|S8|U16|S16|U32|S32? F64 $toint?", "d s:2", OP_CONVERT, kVariable, kRegisters, kConversion},
    {"F2I", "FTZ? U8|S8|U16|S16|U32|S32? F16|BF16? $toint? NTZ?", "d s", OP_CONVERT, kVariable, kRegisters,
     kConversion},
    {"F2IP", "U8|S8 F32 $toint? NTZ?", "d s s s", OP_CONVERT, kFixed, kRegisters, kConversion},
    {"FRND", "F64 $toint?", "d:2 s:2", OP_CONVERT, kVariable, kRegisters, kConversion},
    {"FRND", "FTZ? F16|BF16? $toint?", "d s", OP_CONVERT, kVariable, kRegisters, kConversion},
    {"I2F", "F64 S64|U64 $round?", "d:2 s:2", OP_CONVERT, kVariable, kRegisters, kConversion},
    {"I2F", "F64 U8|S8|U16|S16|U32|S32?", "d:2 s", OP_CONVERT, kVariable, kRegisters, kConversion},
    {"I2F", "F16|BF16? S64|U64 $round?", "d s:2", OP_CONVERT, kVariable, kRegisters, kConversion},
    {"I2F", "F16|BF16? U8|S8|U16|S16|U32|S32? $round?", "d s", OP_CONVERT, kVariable, kRegisters, kConversion},
    {"I2I", "U8|S8|U16|S16|U32|S32 U32|S32 SAT?", "d s", OP_CONVERT, kVariable, kRegisters, kConversion},
    {"I2FP", "F32 S32|U32 $round?", "d s", OP_CONVERT, kFixed, kRegisters, kConversion},
};

}  // namespace

std::span<const Form> FloatRows() { return kRows; }

}  // namespace heddle::tracegen::machine
