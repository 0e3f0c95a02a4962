#include "tracegen/ptx/forms/rows.h"

namespace heddle::tracegen::ptx {
namespace {

using namespace ::heddle::trace::v1;  // NOLINT: classes of instructions
using enum Meaning;

constexpr std::string_view kScalar = "Scalar Video Instructions";
constexpr std::string_view kPacked = "SIMD Video Instructions";

constexpr std::string_view kThree = "$i32 $i32 $i32 sat?";
constexpr std::string_view kThenSecond = "$i32 $i32 $i32 sat? add|min|max";
constexpr std::string_view kPackedThree = "$i32 $i32 $i32 sat|add?";

// The optional fourth operand is that of the second operation, or with a result of bytes or halves what the rest of the
// result is taken from.
constexpr Form kRows[] = {
    {"vadd", kThree, "d:32 s:32 s:32 s:32?", OP_INT_ALU, kKnown, kScalar},
    {"vadd", kThenSecond, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kScalar},
    {"vsub", kThree, "d:32 s:32 s:32 s:32?", OP_INT_ALU, kKnown, kScalar},
    {"vsub", kThenSecond, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kScalar},
    {"vabsdiff", kThree, "d:32 s:32 s:32 s:32?", OP_INT_ALU, kKnown, kScalar},
    {"vabsdiff", kThenSecond, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kScalar},
    {"vmin", kThree, "d:32 s:32 s:32 s:32?", OP_INT_ALU, kKnown, kScalar},
    {"vmin", kThenSecond, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kScalar},
    {"vmax", kThree, "d:32 s:32 s:32 s:32?", OP_INT_ALU, kKnown, kScalar},
    {"vmax", kThenSecond, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kScalar},
    {"vshl", "$i32 $i32 u32 sat? clamp|wrap", "d:32 s:32 s:32 s:32?", OP_INT_ALU, kKnown, kScalar},
    {"vshl", "$i32 $i32 u32 sat? clamp|wrap add|min|max", "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kScalar},
    {"vshr", "$i32 $i32 u32 sat? clamp|wrap", "d:32 s:32 s:32 s:32?", OP_INT_ALU, kKnown, kScalar},
    {"vshr", "$i32 $i32 u32 sat? clamp|wrap add|min|max", "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kScalar},
    {"vmad", "$i32 $i32 $i32 po? sat? shr7|shr15?", "d:32 s:32 s:32 s:32", OP_INT_MUL, kKnown, kScalar},
    {"vset", "$i32 $i32 eq|ne|lt|le|gt|ge", "d:32 s:32 s:32 s:32?", OP_INT_ALU, kKnown, kScalar},
    {"vset", "$i32 $i32 eq|ne|lt|le|gt|ge add|min|max", "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kScalar},

    {"vadd2", kPackedThree, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kPacked},
    {"vsub2", kPackedThree, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kPacked},
    {"vavrg2", kPackedThree, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kPacked},
    {"vabsdiff2", kPackedThree, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kPacked},
    {"vmin2", kPackedThree, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kPacked},
    {"vmax2", kPackedThree, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kPacked},
    {"vset2", "$i32 $i32 eq|ne|lt|le|gt|ge add?", "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kPacked},
    {"vadd4", kPackedThree, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kPacked},
    {"vsub4", kPackedThree, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kPacked},
    {"vavrg4", kPackedThree, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kPacked},
    {"vabsdiff4", kPackedThree, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kPacked},
    {"vmin4", kPackedThree, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kPacked},
    {"vmax4", kPackedThree, "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kPacked},
    {"vset4", "$i32 $i32 eq|ne|lt|le|gt|ge add?", "d:32 s:32 s:32 s:32", OP_INT_ALU, kKnown, kPacked},
};

}  // namespace

std::span<const Form> VideoRows() { return kRows; }

}  // namespace heddle::tracegen::ptx
