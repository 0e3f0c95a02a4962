#include "tracegen/machine/forms/rows.h"

namespace heddle::tracegen::machine {
namespace {

using namespace ::heddle::trace::v1;  // NOLINT: classes of instructions
using enum Meaning;
using enum Latency;

constexpr std::string_view kInteger = "Integer Instructions";
constexpr std::string_view kMove = "Movement Instructions";
constexpr std::string_view kPredicate = "Predicate Instructions";
constexpr std::string_view kMisc = "Miscellaneous Instructions";

constexpr Form kRows[] = {
    {"IADD3", "X?", "d p? p? s s s q? q?", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"IABS", "", "d s", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"IMNMX", "U32?", "d s s q", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"ISETP", "$compare U32? $logic EX?", "p p s s q q?", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"LEA", "", "d p? s s i", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"LEA", "HI", "d p? s s s i", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"LEA", "HI X", "d p? s s s i q", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"LEA", "HI SX32", "d p? s s i", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"LEA", "HI X SX32", "d p? s s i q", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"LOP3", "LUT PAND?", "p? d s s s i q", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"SHF", "L|R W? U32|S32|U64|S64 HI?", "d s s s", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"BMSK", "W?", "d s s", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"SGXT", "W? U32?", "d s s", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"VABSDIFF", "U32?", "d s s s", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"VABSDIFF4", "U8|S8? ACC?", "d s s s", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"IDP", "2A LO|HI U16|S16 U8|S8", "d s s s", OP_INT_MUL, kFixed, kRegisters, kInteger},
    {"IDP", "4A U8|S8 U8|S8", "d s s s", OP_INT_MUL, kFixed, kRegisters, kInteger},
    {"VIADD", "16x2?", "d s s", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"VIMNMX", "U32|S16x2|U16x2? RELU?", "d p? p? s s q", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"VIMNMX3", "U32|S16x2|U16x2? RELU?", "d s s s q", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"VIADDMNMX", "U32|S16x2|U16x2? RELU?", "d s s s q", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"BREV", "", "d s", OP_INT_ALU, kVariable, kRegisters, kInteger},
    {"FLO", "U32? SH?", "d p? s", OP_INT_ALU, kVariable, kRegisters, kInteger},
    {"POPC", "", "d s", OP_INT_ALU, kVariable, kRegisters, kInteger},

    // The assembler moves and adds on the multiplier, too, to share the work between the units.
    {"IMAD", "MOV U32?", "d s s s", OP_MOVE, kFixed, kRegisters, kInteger},
    {"IMAD", "IADD U32?", "d s s s", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"IMAD", "SHL U32?", "d s s s", OP_INT_ALU, kFixed, kRegisters, kInteger},
    {"IMAD", "U32? X?", "d p? s s s q?", OP_INT_MUL, kFixed, kRegisters, kInteger},
    {"IMAD", "WIDE U32? X?", "d:2 p? s s s:2 q?", OP_INT_MUL, kFixed, kRegisters, kInteger},
    // Adds to the product of 64 bits, so the third operand is a pair.
    {"IMAD", "HI U32? X?", "d p? s s s:2 q?", OP_INT_MUL, kFixed, kRegisters, kInteger},

    {"MOV", "", "d s i?", OP_MOVE, kFixed, kRegisters, kMove},
    {"PRMT", "F4E|B4E|RC8|ECL|ECR|RC16?", "d s s s", OP_INT_ALU, kFixed, kRegisters, kMove},
    {"SEL", "", "d s s q", OP_INT_ALU, kFixed, kRegisters, kMove},
    {"SHFL", "IDX|UP|DOWN|BFLY", "p d s s s", OP_WARP, kVariable, kRegisters, kMove},

    {"PLOP3", "LUT", "p p q q q i i", OP_INT_ALU, kFixed, kRegisters, kPredicate},
    {"P2R", "", "d a s i", OP_MOVE, kFixed, kRegisters, kPredicate},
    {"R2P", "", "A s i", OP_MOVE, kFixed, kRegisters, kPredicate},

    {"S2R", "", "d S", OP_MOVE, kVariable, kRegisters, kMisc},
    {"CS2R", "", "d:2 S", OP_MOVE, kFixed, kRegisters, kMisc},
    {"CS2R", "32", "d S", OP_MOVE, kFixed, kRegisters, kMisc},
    {"B2R", "RESULT", "d p?", OP_MOVE, kVariable, kRegisters, kMisc},
    {"LEPC", "", "d:2 l?", OP_MOVE, kFixed, kRegisters, kMisc},
};

}  // namespace

std::span<const Form> IntegerRows() { return kRows; }

}  // namespace heddle::tracegen::machine
