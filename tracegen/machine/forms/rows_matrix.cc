#include "tracegen/machine/forms/rows.h"

namespace heddle::tracegen::machine {
namespace {

using namespace ::heddle::trace::v1;  // NOLINT: classes of instructions
using enum Meaning;
using enum Latency;

constexpr std::string_view kFloat = "Floating Point Instructions";
constexpr std::string_view kInteger = "Integer Instructions";
constexpr std::string_view kLoadStore = "Load/Store Instructions";
constexpr std::string_view kMovement = "Movement Instructions";
constexpr std::string_view kUniform = "Uniform Datapath Instructions";

// How many registers A, B and C take is as the PTX manual says of the shape, for the fragments are the same.
constexpr Form kRows[] = {
    {"HMMA", "1684 F32 TF32", "d:4 s:2 s s:4", OP_TENSOR, kEither, kRegisters, kFloat},
    {"HMMA", "1688 F32 BF16?", "d:4 s:2 s s:4", OP_TENSOR, kEither, kRegisters, kFloat},
    {"HMMA", "1688 F16", "d:2 s:2 s s:2", OP_TENSOR, kEither, kRegisters, kFloat},
    {"HMMA", "1688 F32 TF32", "d:4 s:4 s:2 s:4", OP_TENSOR, kEither, kRegisters, kFloat},
    {"HMMA", "16816 F32 BF16?", "d:4 s:4 s:2 s:4", OP_TENSOR, kEither, kRegisters, kFloat},
    {"HMMA", "16816 F16", "d:2 s:4 s:2 s:2", OP_TENSOR, kEither, kRegisters, kFloat},
    {"DMMA", "884|8x8x4", "d:4 s:2 s:2 s:4", OP_TENSOR, kVariable, kRegisters, kFloat},
    {"DMMA", "16x8x4", "d:8 s:4 s:2 s:8", OP_TENSOR, kVariable, kRegisters, kFloat},
    {"DMMA", "16x8x8", "d:8 s:8 s:4 s:8", OP_TENSOR, kVariable, kRegisters, kFloat},
    {"DMMA", "16x8x16", "d:8 s:16 s:8 s:8", OP_TENSOR, kVariable, kRegisters, kFloat},
    {"IMMA", "8816 $byte $byte SAT?", "d:2 s s s:2", OP_TENSOR, kEither, kRegisters, kInteger},
    {"IMMA", "16816 $byte $byte SAT?", "d:4 s:2 s s:4", OP_TENSOR, kEither, kRegisters, kInteger},
    {"IMMA", "16832 $byte $byte SAT?", "d:4 s:4 s:2 s:4", OP_TENSOR, kEither, kRegisters, kInteger},
    {"IMMA", "8832 $nibble $nibble SAT?", "d:2 s s s:2", OP_TENSOR, kEither, kRegisters, kInteger},
    {"IMMA", "16832 $nibble $nibble SAT?", "d:4 s:2 s s:4", OP_TENSOR, kEither, kRegisters, kInteger},
    {"IMMA", "16864 $nibble $nibble SAT?", "d:4 s:4 s:2 s:4", OP_TENSOR, kEither, kRegisters, kInteger},
    {"BMMA", "88128 AND|XOR POPC", "d:2 s s s:2", OP_TENSOR, kEither, kRegisters, kInteger},
    {"BMMA", "168128 AND|XOR POPC", "d:4 s:2 s s:4", OP_TENSOR, kEither, kRegisters, kInteger},
    {"BMMA", "168256 AND|XOR POPC", "d:4 s:4 s:2 s:4", OP_TENSOR, kEither, kRegisters, kInteger},
    {"MOVM", "16 MT88", "d s", OP_TENSOR, kVariable, kRegisters, kMovement},
    {"LDSM", "16 M88|MT88", "d m", OP_LOAD, kVariable, kRegisters, kLoadStore},
    {"LDSM", "16 M88|MT88 2", "d:2 m", OP_LOAD, kVariable, kRegisters, kLoadStore},
    {"LDSM", "16 M88|MT88 4", "d:4 m", OP_LOAD, kVariable, kRegisters, kLoadStore},
    {"STSM", "16 M88|MT88", "m s", OP_STORE, kVariable, kRegisters, kLoadStore},
    {"STSM", "16 M88|MT88 2", "m s:2", OP_STORE, kVariable, kRegisters, kLoadStore},
    {"STSM", "16 M88|MT88 4", "m s:4", OP_STORE, kVariable, kRegisters, kLoadStore},

    // Copies from global to shared memory without registers in between, and what waits for them.
    {"LDGSTS", "E BYPASS? $prefetch? 64|128? ZFILL?", "m m? q?", OP_ASYNC, kVariable, kRegisters, kLoadStore},
    {"LDGDEPBAR", "", "", OP_ASYNC, kVariable, kRegisters, kLoadStore},
    {"ARRIVES", "LDGSTSBAR 64 ARVCNT", "m", OP_ASYNC, kVariable, kRegisters, kLoadStore},
    {"ARRIVES", "LDGSTSBAR 64 TRANSCNT?", "m", OP_FENCE, kVariable, kRegisters, kLoadStore},
    {"ACQBULK", "", "", OP_FENCE, kFixed, kRegisters, kLoadStore},
    {"FENCE", "VIEW ASYNC S?", "", OP_FENCE, kFixed, kRegisters, kLoadStore},
    {"UCGABAR_ARV", "", "", OP_BARRIER, kFixed, kRegisters, kUniform},
    {"UCGABAR_WAIT", "", "", OP_BARRIER, kFixed, kRegisters, kUniform},
    {"UTMACMDFLUSH", "", "", OP_FENCE, kVariable, kRegisters, kUniform},

    // Transaction barriers: made, given up, arrived at, waited for.
    {"SYNCS", "EXCH 64", "d:2 m s:2", OP_ASYNC, kVariable, kRegisters, kLoadStore},
    {"SYNCS", "CCTL IV", "m", OP_ASYNC, kVariable, kRegisters, kLoadStore},
    {"SYNCS", "ARRIVE TRANS64 OPTOUT? A1T0|ART0", "d:2 m s", OP_ASYNC, kVariable, kRegisters, kLoadStore},
    {"SYNCS", "PHASECHK TRANS64 TRYWAIT?", "p m s", OP_ASYNC, kVariable, kRegisters, kLoadStore},

    // What these do, and which registers they take, is not known yet.
    {"SYNCS", "ARRIVE TRANS64 RED? TMASK? OPTOUT? A0T1|A0TR|A1T0|A1T1|ART0?", "x", OP_BARRIER, kVariable, kNamed,
     kLoadStore},
    {"UBLKCP", "S G", "x", OP_LOAD, kVariable, kNamed, kUniform},
};

}  // namespace

std::span<const Form> MatrixRows() { return kRows; }

}  // namespace heddle::tracegen::machine
