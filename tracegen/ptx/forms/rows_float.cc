#include "tracegen/ptx/forms/rows.h"

namespace heddle::tracegen::ptx {
namespace {

using namespace ::heddle::trace::v1;  // NOLINT: classes of instructions
using enum Meaning;

constexpr std::string_view kFloat = "Floating-Point Instructions";
constexpr std::string_view kHalf = "Half Precision Floating-Point Instructions";
constexpr std::string_view kMixed = "Mixed Precision Floating-Point Instructions";
constexpr std::string_view kCompare = "Comparison and Selection Instructions";
constexpr std::string_view kHalfCompare = "Half Precision Comparison Instructions";
constexpr std::string_view kConvert = "Data Movement and Conversion Instructions";

constexpr Form kRows[] = {
    {"testp", "finite|infinite|number|notanumber|normal|subnormal f32", "p s", OP_FP32, kKnown, kFloat},
    {"testp", "finite|infinite|number|notanumber|normal|subnormal f64", "p s", OP_FP64, kKnown, kFloat},
    {"copysign", "f32", "d s s", OP_FP32, kKnown, kFloat},
    {"copysign", "f64", "d s s", OP_FP64, kKnown, kFloat},
    {"add", "$rnd? ftz? sat? f32", "d s s", OP_FP32, kKnown, kFloat},
    {"add", "$rnd? ftz? f32x2", "d s s", OP_FP32, kKnown, kFloat},
    {"add", "$rnd? f64", "d s s", OP_FP64, kKnown, kFloat},
    {"sub", "$rnd? ftz? sat? f32", "d s s", OP_FP32, kKnown, kFloat},
    {"sub", "$rnd? ftz? f32x2", "d s s", OP_FP32, kKnown, kFloat},
    {"sub", "$rnd? f64", "d s s", OP_FP64, kKnown, kFloat},
    {"mul", "$rnd? ftz? sat? f32", "d s s", OP_FP32, kKnown, kFloat},
    {"mul", "$rnd? ftz? f32x2", "d s s", OP_FP32, kKnown, kFloat},
    {"mul", "$rnd? f64", "d s s", OP_FP64, kKnown, kFloat},
    {"fma", "$rnd ftz? sat? f32", "d s s s", OP_FP32, kKnown, kFloat},
    {"fma", "$rnd ftz? f32x2", "d s s s", OP_FP32, kKnown, kFloat},
    {"fma", "$rnd f64", "d s s s", OP_FP64, kKnown, kFloat},
    {"mad", "$rnd? ftz? sat? f32", "d s s s", OP_FP32, kKnown, kFloat},
    {"mad", "$rnd? f64", "d s s s", OP_FP64, kKnown, kFloat},
    {"div", "approx|full ftz? f32", "d s s", OP_SFU, kKnown, kFloat},
    {"div", "$rnd? ftz? f32", "d s s", OP_FP_DIV, kKnown, kFloat},
    {"div", "$rnd? f64", "d s s", OP_FP_DIV, kKnown, kFloat},
    {"abs", "ftz? f32", "d s", OP_FP32, kKnown, kFloat},
    {"abs", "f64", "d s", OP_FP64, kKnown, kFloat},
    {"neg", "ftz? f32", "d s", OP_FP32, kKnown, kFloat},
    {"neg", "f64", "d s", OP_FP64, kKnown, kFloat},
    {"min", "ftz? NaN? xorsign? abs? f32", "d s s", OP_FP32, kKnown, kFloat},
    {"min", "ftz? NaN? abs? f32", "d s s s", OP_FP32, kKnown, kFloat},
    {"min", "f64", "d s s", OP_FP64, kKnown, kFloat},
    {"max", "ftz? NaN? xorsign? abs? f32", "d s s", OP_FP32, kKnown, kFloat},
    {"max", "ftz? NaN? abs? f32", "d s s s", OP_FP32, kKnown, kFloat},
    {"max", "f64", "d s s", OP_FP64, kKnown, kFloat},
    {"rcp", "approx ftz? f32|f64", "d s", OP_SFU, kKnown, kFloat},
    {"rcp", "$rnd? ftz? f32", "d s", OP_FP_DIV, kKnown, kFloat},
    {"rcp", "$rnd? f64", "d s", OP_FP_DIV, kKnown, kFloat},
    {"sqrt", "approx ftz? f32", "d s", OP_SFU, kKnown, kFloat},
    {"sqrt", "$rnd? ftz? f32", "d s", OP_FP_DIV, kKnown, kFloat},
    {"sqrt", "$rnd? f64", "d s", OP_FP_DIV, kKnown, kFloat},
    {"rsqrt", "approx? ftz? f32|f64", "d s", OP_SFU, kKnown, kFloat},
    {"sin", "approx? ftz? f32", "d s", OP_SFU, kKnown, kFloat},
    {"cos", "approx? ftz? f32", "d s", OP_SFU, kKnown, kFloat},
    {"lg2", "approx? ftz? f32", "d s", OP_SFU, kKnown, kFloat},
    {"ex2", "approx? ftz? f32", "d s", OP_SFU, kKnown, kFloat},
    {"tanh", "approx f32", "d s", OP_SFU, kKnown, kFloat},

    {"add", "rn? ftz? sat? f16|f16x2", "d s s", OP_FP32, kKnown, kHalf},
    {"add", "rn? bf16|bf16x2", "d s s", OP_FP32, kKnown, kHalf},
    {"sub", "rn? ftz? sat? f16|f16x2", "d s s", OP_FP32, kKnown, kHalf},
    {"sub", "rn? bf16|bf16x2", "d s s", OP_FP32, kKnown, kHalf},
    {"mul", "rn? ftz? sat? f16|f16x2", "d s s", OP_FP32, kKnown, kHalf},
    {"mul", "rn? bf16|bf16x2", "d s s", OP_FP32, kKnown, kHalf},
    {"fma", "rn ftz? sat? relu? f16|f16x2", "d s s s", OP_FP32, kKnown, kHalf},
    {"fma", "rn relu? bf16|bf16x2", "d s s s", OP_FP32, kKnown, kHalf},
    {"fma", "rn oob relu? f16|f16x2|bf16|bf16x2", "d s s s", OP_FP32, kParsed, kHalf},
    {"neg", "ftz? f16|f16x2|bf16|bf16x2", "d s", OP_FP32, kKnown, kHalf},
    {"abs", "ftz? f16|f16x2|bf16|bf16x2", "d s", OP_FP32, kKnown, kHalf},
    {"min", "ftz? NaN? xorsign? abs? f16|f16x2|bf16|bf16x2", "d s s", OP_FP32, kKnown, kHalf},
    {"max", "ftz? NaN? xorsign? abs? f16|f16x2|bf16|bf16x2", "d s s", OP_FP32, kKnown, kHalf},
    {"tanh", "approx f16|f16x2|bf16|bf16x2", "d s", OP_SFU, kKnown, kHalf},
    {"ex2", "approx ftz? f16|f16x2|bf16|bf16x2", "d s", OP_SFU, kKnown, kHalf},

    {"add", "$rnd? sat? f32 f16|bf16", "d:0 s:1 s:0", OP_FP32, kKnown, kMixed},
    {"sub", "$rnd? sat? f32 f16|bf16", "d:0 s:1 s:0", OP_FP32, kKnown, kMixed},
    {"fma", "$rnd sat? f32 f16|bf16", "d:0 s:1 s:1 s:0", OP_FP32, kKnown, kMixed},

    {"set", "$cmpint u32|s32 $int|b16|b32|b64", "d:0 s:1 s:1", OP_INT_ALU, kKnown, kCompare},
    {"set", "$cmpint $bool u32|s32 $int|b16|b32|b64", "d:0 s:1 s:1 q", OP_INT_ALU, kKnown, kCompare},
    {"set", "$cmpint f32 $int|b16|b32|b64", "d:0 s:1 s:1", OP_FP32, kKnown, kCompare},
    {"set", "$cmpint $bool f32 $int|b16|b32|b64", "d:0 s:1 s:1 q", OP_FP32, kKnown, kCompare},
    {"set", "$cmpfloat ftz? u32|s32|f32 f32", "d:0 s:1 s:1", OP_FP32, kKnown, kCompare},
    {"set", "$cmpfloat $bool ftz? u32|s32|f32 f32", "d:0 s:1 s:1 q", OP_FP32, kKnown, kCompare},
    {"set", "$cmpfloat u32|s32|f32 f64", "d:0 s:1 s:1", OP_FP64, kKnown, kCompare},
    {"set", "$cmpfloat $bool u32|s32|f32 f64", "d:0 s:1 s:1 q", OP_FP64, kKnown, kCompare},
    {"setp", "$cmpint $int|b16|b32|b64", "P s s", OP_INT_ALU, kKnown, kCompare},
    {"setp", "$cmpint $bool $int|b16|b32|b64", "P s s q", OP_INT_ALU, kKnown, kCompare},
    {"setp", "$cmpfloat ftz? f32", "P s s", OP_FP32, kKnown, kCompare},
    {"setp", "$cmpfloat $bool ftz? f32", "P s s q", OP_FP32, kKnown, kCompare},
    {"setp", "$cmpfloat f64", "P s s", OP_FP64, kKnown, kCompare},
    {"setp", "$cmpfloat $bool f64", "P s s q", OP_FP64, kKnown, kCompare},
    {"selp", "b16|b32|b64|$int|f16|f32|f64", "d s s q", OP_INT_ALU, kKnown, kCompare},
    {"slct", "b16|b32|b64|$int s32", "d:0 s:0 s:0 s:1", OP_INT_ALU, kKnown, kCompare},
    {"slct", "f32 s32", "d:0 s:0 s:0 s:1", OP_FP32, kKnown, kCompare},
    {"slct", "f64 s32", "d:0 s:0 s:0 s:1", OP_FP64, kKnown, kCompare},
    {"slct", "ftz? b16|b32|b64|$int|f32 f32", "d:0 s:0 s:0 s:1", OP_FP32, kKnown, kCompare},
    {"slct", "ftz? f64 f32", "d:0 s:0 s:0 s:1", OP_FP64, kKnown, kCompare},

    {"set", "$cmpfloat ftz? f16|f16x2|bf16|bf16x2|u16|s16|u32|s32 f16|f16x2|bf16|bf16x2", "d:0 s:1 s:1", OP_FP32,
     kKnown, kHalfCompare},
    {"set", "$cmpfloat $bool ftz? f16|f16x2|bf16|bf16x2|u16|s16|u32|s32 f16|f16x2|bf16|bf16x2", "d:0 s:1 s:1 q",
     OP_FP32, kKnown, kHalfCompare},
    {"setp", "$cmpfloat ftz? f16|f16x2|bf16|bf16x2", "P s s", OP_FP32, kKnown, kHalfCompare},
    {"setp", "$cmpfloat $bool ftz? f16|f16x2|bf16|bf16x2", "P s s q", OP_FP32, kKnown, kHalfCompare},

    {"cvt",
     "$intrnd|$rnd|rna? ftz? sat? u8|u16|u32|u64|s8|s16|s32|s64|f16|f32|f64|bf16|tf32 "
     "u8|u16|u32|u64|s8|s16|s32|s64|f16|f32|f64|bf16",
     "d:0> s:1>", OP_CONVERT, kKnown, kConvert},
    {"cvt", "rn|rz|rna relu? satfinite? relu? f16|bf16|tf32 f32", "d:0> s:1>", OP_CONVERT, kKnown, kConvert},
    {"cvt", "rn|rz relu? satfinite? relu? f16x2|bf16x2 f32", "d:0 s:1 s:1", OP_CONVERT, kKnown, kConvert},
    {"cvt", "rs relu? satfinite? relu? f16x2|bf16x2 f32", "d:0 s:1 s:1 s:32", OP_CONVERT, kParsed, kConvert},
    {"cvt", "rn satfinite relu? e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2 f32", "d:0> s:1 s:1", OP_CONVERT, kParsed, kConvert},
    {"cvt", "rn satfinite relu? e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2 f16x2|bf16x2", "d:0> s:1", OP_CONVERT, kParsed,
     kConvert},
    {"cvt", "rn relu? f16x2|bf16x2 e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2|ue8m0x2", "d:0 s:1>", OP_CONVERT, kParsed,
     kConvert},
    {"cvt", "rz|rp satfinite? ue8m0x2 f32", "d:0> s:1 s:1", OP_CONVERT, kParsed, kConvert},
    {"cvt", "rz|rp satfinite? ue8m0x2 bf16x2", "d:0> s:1", OP_CONVERT, kParsed, kConvert},
    {"cvt", "rn|rs relu? satfinite? relu? e4m3x4|e5m2x4|e2m1x4|e2m3x4|e3m2x4 f32", "d:0> v:- s:32", OP_CONVERT, kParsed,
     kConvert},
    {"cvt", "rn satfinite? relu? scaled::n2::ue8m0? s2f6x2|bf16x2 f32|bf16x2|s2f6x2", "d:0> s:- s:-? s:-?", OP_CONVERT,
     kParsed, kConvert},
    {"cvt", "pack sat s16|u16|s8|u8|s4|u4 s32", "d:32 s:32 s:32", OP_CONVERT, kKnown, kConvert},
    {"cvt", "pack sat s8|u8|s4|u4 s32 b32", "d:32 s:32 s:32 s:32", OP_CONVERT, kKnown, kConvert},
};

}  // namespace

std::span<const Form> FloatRows() { return kRows; }

}  // namespace heddle::tracegen::ptx
