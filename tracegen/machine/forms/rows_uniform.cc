#include "tracegen/machine/forms/rows.h"

namespace heddle::tracegen::machine {
namespace {

using namespace ::heddle::trace::v1;  // NOLINT: classes of instructions
using enum Meaning;
using enum Latency;

constexpr std::string_view kUniform = "Uniform Datapath Instructions";

constexpr Form kRows[] = {
    {"UIADD3", "X?", "d p? p? s s s q? q?", OP_INT_ALU, kFixed, kRegisters, kUniform},
    {"UIMAD", "U32?", "d p? s s s", OP_INT_MUL, kFixed, kRegisters, kUniform},
    {"UIMAD", "WIDE U32?", "d:2 p? s s s:2", OP_INT_MUL, kFixed, kRegisters, kUniform},
    {"UIMAD", "HI U32?", "d p? s s s:2", OP_INT_MUL, kFixed, kRegisters, kUniform},
    {"UISETP", "$compare U32? $logic EX?", "p p s s q q?", OP_INT_ALU, kFixed, kRegisters, kUniform},
    {"ULEA", "", "d p? s s i", OP_INT_ALU, kFixed, kRegisters, kUniform},
    {"ULEA", "HI", "d p? s s s i", OP_INT_ALU, kFixed, kRegisters, kUniform},
    {"ULEA", "HI X", "d p? s s s i q", OP_INT_ALU, kFixed, kRegisters, kUniform},
    {"ULEA", "HI SX32", "d p? s s i", OP_INT_ALU, kFixed, kRegisters, kUniform},
    {"ULEA", "HI X SX32", "d p? s s i q", OP_INT_ALU, kFixed, kRegisters, kUniform},
    {"ULOP3", "LUT PAND?", "p? d s s s i q", OP_INT_ALU, kFixed, kRegisters, kUniform},
    {"UPLOP3", "LUT", "p p q q q i i", OP_INT_ALU, kFixed, kRegisters, kUniform},
    {"USHF", "L|R W? U32|S32|U64|S64 HI?", "d s s s", OP_INT_ALU, kFixed, kRegisters, kUniform},
    {"USEL", "", "d s s q", OP_INT_ALU, kFixed, kRegisters, kUniform},
    {"UPRMT", "", "d s s s", OP_INT_ALU, kFixed, kRegisters, kUniform},
    {"USGXT", "W? U32?", "d s s", OP_INT_ALU, kFixed, kRegisters, kUniform},
    {"UBMSK", "W?", "d s s", OP_INT_ALU, kFixed, kRegisters, kUniform},
    {"UMOV", "", "d s", OP_MOVE, kFixed, kRegisters, kUniform},
    {"UBREV", "", "d s", OP_INT_ALU, kEither, kRegisters, kUniform},
    {"UFLO", "U32? SH?", "d p? s", OP_INT_ALU, kEither, kRegisters, kUniform},
    {"UPOPC", "", "d s", OP_INT_ALU, kEither, kRegisters, kUniform},
    {"ULDC", "$width?", "d:m c", OP_LOAD, kEither, kRegisters, kUniform},
    {"S2UR", "", "d S", OP_MOVE, kVariable, kRegisters, kUniform},
    {"R2UR", "", "p? d s", OP_MOVE, kEither, kRegisters, kUniform},
    {"REDUX", "SUM|MIN|MAX|AND|OR|XOR? S32?", "d s", OP_WARP, kVariable, kRegisters, kUniform},
    {"VOTEU", "ANY|ALL|EQ", "d? p q", OP_WARP, kFixed, kRegisters, kUniform},
};

}  // namespace

std::span<const Form> UniformRows() { return kRows; }

}  // namespace heddle::tracegen::machine
