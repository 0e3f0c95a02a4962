#include "tracegen/machine/forms/rows.h"

namespace heddle::tracegen::machine {
namespace {

using namespace ::heddle::trace::v1;  // NOLINT: classes of instructions
using enum Meaning;
using enum Latency;

constexpr std::string_view kControl = "Control Instructions";
constexpr std::string_view kMisc = "Miscellaneous Instructions";

constexpr Form kRows[] = {
    {"BRA", "U?", "q? l", OP_BRANCH, kFixed, kRegisters, kControl},
    // Taken if the threads of the warp that are named, or all, are not together (DIV), or are. On sm_75 none are named.
    {"BRA", "DIV|CONV", "l", OP_BRANCH, kFixed, kRegisters, kControl},
    {"BRA", "DIV|CONV", "s l", OP_BRANCH, kFixed, kRegisters, kControl},
    {"BRX", "", "s:2 l", OP_BRANCH, kFixed, kRegisters, kControl},
    {"CALL", "REL|ABS NOINC", "l", OP_CALL, kFixed, kRegisters, kControl},
    {"CALL", "REL|ABS NOINC", "s:2 l?", OP_CALL, kFixed, kRegisters, kControl},
    {"RET", "REL|ABS NODEC", "q? s:2 l", OP_RETURN, kFixed, kRegisters, kControl},
    {"EXIT", "", "q?", OP_EXIT, kFixed, kRegisters, kControl},
    {"BPT", "TRAP", "i", OP_EXIT, kFixed, kRegisters, kControl},
    {"BSSY", "", "B l", OP_CONVERGENCE, kFixed, kRegisters, kControl},
    {"BSYNC", "", "b", OP_CONVERGENCE, kFixed, kRegisters, kControl},
    {"BREAK", "", "b q?", OP_CONVERGENCE, kFixed, kRegisters, kControl},
    {"BMOV", "32 CLEAR?", "d b", OP_WARP, kVariable, kRegisters, kControl},
    {"BMOV", "32 PQUAD?", "B s", OP_WARP, kVariable, kRegisters, kControl},
    {"BMOV", "32 PQUAD?", "w b", OP_WARP, kVariable, kRegisters, kControl},
    {"BMOV", "32 PQUAD?", "B w", OP_WARP, kVariable, kRegisters, kControl},
    {"WARPSYNC", "ALL", "", OP_CONVERGENCE, kFixed, kRegisters, kControl},
    {"WARPSYNC", "COLLECTIVE", "s l", OP_CONVERGENCE, kFixed, kRegisters, kControl},
    {"WARPSYNC", "EXCLUSIVE?", "s", OP_CONVERGENCE, kFixed, kRegisters, kControl},
    {"ENDCOLLECTIVE", "", "", OP_WARP, kFixed, kRegisters, kControl},
    {"YIELD", "", "q?", OP_CONVERGENCE, kFixed, kRegisters, kControl},
    {"NANOSLEEP", "WARP?", "s", OP_WARP, kFixed, kRegisters, kControl},

    {"BAR", "SYNC|ARV DEFER_BLOCKING?", "s s?", OP_BARRIER, kVariable, kRegisters, kMisc},
    {"BAR", "RED POPC|AND|OR DEFER_BLOCKING?", "s s? q", OP_BARRIER, kVariable, kRegisters, kMisc},
    {"VOTE", "ANY|ALL|EQ", "d? p q", OP_WARP, kFixed, kRegisters, kMisc},
    {"DEPBAR", "LE?", "k i? k?", OP_FENCE, kFixed, kRegisters, kMisc},
    {"ELECT", "", "p d q", OP_WARP, kEither, kRegisters, kMisc},
    {"PMTRIG", "", "i", OP_MOVE, kFixed, kRegisters, kMisc},
    {"PREEXIT", "", "", OP_FENCE, kFixed, kRegisters, kMisc},
    // Where a warp is together already, all that is left of a bar.warp.sync.
    {"NOP", "", "", OP_CONVERGENCE, kFixed, kRegisters, kMisc},
};

}  // namespace

std::span<const Form> ControlRows() { return kRows; }

}  // namespace heddle::tracegen::machine
