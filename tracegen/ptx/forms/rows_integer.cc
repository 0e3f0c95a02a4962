#include "tracegen/ptx/forms/rows.h"

namespace heddle::tracegen::ptx {
namespace {

using namespace ::heddle::trace::v1;  // NOLINT: classes of instructions
using enum Meaning;

constexpr std::string_view kInteger = "Integer Arithmetic Instructions";
constexpr std::string_view kExtended = "Extended-Precision Integer Arithmetic Instructions";
constexpr std::string_view kLogic = "Logic and Shift Instructions";

constexpr Form kRows[] = {
    {"add", "$int|u16x2|s16x2", "d s s", OP_INT_ALU, kKnown, kInteger},
    {"add", "sat s32", "d s s", OP_INT_ALU, kKnown, kInteger},
    {"sub", "$int", "d s s", OP_INT_ALU, kKnown, kInteger},
    {"sub", "sat s32", "d s s", OP_INT_ALU, kKnown, kInteger},
    {"mul", "lo|hi $int", "d s s", OP_INT_MUL, kKnown, kInteger},
    {"mul", "wide u16|u32|s16|s32", "d:x2 s s", OP_INT_MUL, kKnown, kInteger},
    {"mad", "lo|hi $int", "d s s s", OP_INT_MUL, kKnown, kInteger},
    {"mad", "wide u16|u32|s16|s32", "d:x2 s s s:x2", OP_INT_MUL, kKnown, kInteger},
    {"mad", "hi sat s32", "d s s s", OP_INT_MUL, kKnown, kInteger},
    {"mul24", "lo|hi $i32", "d s s", OP_INT_MUL, kKnown, kInteger},
    {"mad24", "lo|hi $i32", "d s s s", OP_INT_MUL, kKnown, kInteger},
    {"mad24", "hi sat s32", "d s s s", OP_INT_MUL, kKnown, kInteger},
    {"sad", "$int", "d s s s", OP_INT_ALU, kKnown, kInteger},
    {"div", "$int", "d s s", OP_INT_DIV, kKnown, kInteger},
    {"rem", "$int", "d s s", OP_INT_DIV, kKnown, kInteger},
    {"abs", "s16|s32|s64", "d s", OP_INT_ALU, kKnown, kInteger},
    {"neg", "s16|s32|s64", "d s", OP_INT_ALU, kKnown, kInteger},
    {"min", "$int|u16x2|s16x2", "d s s", OP_INT_ALU, kKnown, kInteger},
    {"min", "relu s32|s16x2", "d s s", OP_INT_ALU, kKnown, kInteger},
    {"max", "$int|u16x2|s16x2", "d s s", OP_INT_ALU, kKnown, kInteger},
    {"max", "relu s32|s16x2", "d s s", OP_INT_ALU, kKnown, kInteger},
    {"popc", "b32|b64", "d:32 s", OP_INT_ALU, kKnown, kInteger},
    {"clz", "b32|b64", "d:32 s", OP_INT_ALU, kKnown, kInteger},
    {"bfind", "shiftamt? u32|u64|s32|s64", "d:32 s", OP_INT_ALU, kKnown, kInteger},
    {"fns", "b32", "d s s s", OP_INT_ALU, kKnown, kInteger},
    {"brev", "b32|b64", "d s", OP_INT_ALU, kKnown, kInteger},
    {"bfe", "u32|u64|s32|s64", "d s s:32 s:32", OP_INT_ALU, kKnown, kInteger},
    {"bfi", "b32|b64", "d s s s:32 s:32", OP_INT_ALU, kKnown, kInteger},
    {"szext", "clamp|wrap $i32", "d s s:32", OP_INT_ALU, kKnown, kInteger},
    {"bmsk", "clamp|wrap b32", "d s s", OP_INT_ALU, kKnown, kInteger},
    {"dp4a", "$i32 $i32", "d:32 s:32 s:32 s:32", OP_INT_MUL, kKnown, kInteger},
    {"dp2a", "lo|hi $i32 $i32", "d:32 s:32 s:32 s:32", OP_INT_MUL, kKnown, kInteger},

    {"add", "cc u32|s32|u64|s64", "d s s", OP_INT_ALU, kKnown, kExtended},
    {"addc", "cc? u32|s32|u64|s64", "d s s", OP_INT_ALU, kKnown, kExtended},
    {"sub", "cc u32|s32|u64|s64", "d s s", OP_INT_ALU, kKnown, kExtended},
    {"subc", "cc? u32|s32|u64|s64", "d s s", OP_INT_ALU, kKnown, kExtended},
    {"mad", "lo|hi cc u32|s32|u64|s64", "d s s s", OP_INT_MUL, kKnown, kExtended},
    {"madc", "lo|hi cc? u32|s32|u64|s64", "d s s s", OP_INT_MUL, kKnown, kExtended},

    {"and", "pred", "p q q", OP_INT_ALU, kKnown, kLogic},
    {"and", "b16|b32|b64", "d s s", OP_INT_ALU, kKnown, kLogic},
    {"or", "pred", "p q q", OP_INT_ALU, kKnown, kLogic},
    {"or", "b16|b32|b64", "d s s", OP_INT_ALU, kKnown, kLogic},
    {"xor", "pred", "p q q", OP_INT_ALU, kKnown, kLogic},
    {"xor", "b16|b32|b64", "d s s", OP_INT_ALU, kKnown, kLogic},
    {"not", "pred", "p q", OP_INT_ALU, kKnown, kLogic},
    {"not", "b16|b32|b64", "d s", OP_INT_ALU, kKnown, kLogic},
    {"cnot", "b16|b32|b64", "d s", OP_INT_ALU, kKnown, kLogic},
    {"lop3", "b32", "d s s s i", OP_INT_ALU, kKnown, kLogic},
    {"lop3", "or|and b32", "r s s s i q", OP_INT_ALU, kKnown, kLogic},
    {"shf", "l|r clamp|wrap b32", "d s s s", OP_INT_ALU, kKnown, kLogic},
    {"shl", "b16|b32|b64", "d s s:32", OP_INT_ALU, kKnown, kLogic},
    {"shr", "b16|b32|b64|u16|u32|u64|s16|s32|s64", "d s s:32", OP_INT_ALU, kKnown, kLogic},
};

}  // namespace

std::span<const Form> IntegerRows() { return kRows; }

}  // namespace heddle::tracegen::ptx
