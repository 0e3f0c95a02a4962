#include "tracegen/machine/forms/rows.h"

namespace heddle::tracegen::machine {
namespace {

using namespace ::heddle::trace::v1;  // NOLINT: classes of instructions
using enum Meaning;
using enum Latency;

constexpr std::string_view kLoadStore = "Load/Store Instructions";
constexpr std::string_view kTexture = "Texture Instructions";
constexpr std::string_view kSurface = "Surface Instructions";

constexpr Form kRows[] = {
    {"LD", "E? $cache? $prefetch? $width? STRONG? $scope?", "p? d:m m q?", OP_LOAD, kVariable, kRegisters, kLoadStore},
    {"LDG", "E? $cache? $prefetch? $width? CONSTANT|STRONG? $scope?", "p? d:m m q?", OP_LOAD, kVariable, kRegisters,
     kLoadStore},
    {"LDL", "$cache? $width?", "d:m m", OP_LOAD, kVariable, kRegisters, kLoadStore},
    {"LDS", "U? $width?", "d:m m", OP_LOAD, kVariable, kRegisters, kLoadStore},
    {"LDC", "$width?", "d:m c", OP_LOAD, kVariable, kRegisters, kLoadStore},
    {"ST", "E? $cache? $width? STRONG? $scope?", "m s:m", OP_STORE, kVariable, kRegisters, kLoadStore},
    {"STG", "E? $cache? $width? STRONG? $scope?", "m s:m", OP_STORE, kVariable, kRegisters, kLoadStore},
    {"STL", "$cache? $width?", "m s:m", OP_STORE, kVariable, kRegisters, kLoadStore},
    {"STS", "$width?", "m s:m", OP_STORE, kVariable, kRegisters, kLoadStore},

    {"ATOM", "E? CAST SPIN 64? STRONG? $scope?", "p? d:m m s:m s:m", OP_ATOMIC, kVariable, kRegisters, kLoadStore},
    {"ATOM", "E? CAS 64? STRONG $scope", "p? d:m m s:m s:m", OP_ATOMIC, kVariable, kRegisters, kLoadStore},
    {"ATOM", "E? $atomic $number? FTZ? RN? STRONG $scope", "p? d:m m s:m", OP_ATOMIC, kVariable, kRegisters,
     kLoadStore},
    {"ATOMG", "E? CAS 64? STRONG $scope", "p? d:m m s:m s:m", OP_ATOMIC, kVariable, kRegisters, kLoadStore},
    {"ATOMG", "E? $atomic $number? FTZ? RN? STRONG $scope", "p? d:m m s:m", OP_ATOMIC, kVariable, kRegisters,
     kLoadStore},
    {"ATOMS", "POPC INC 32", "d m", OP_ATOMIC, kVariable, kRegisters, kLoadStore},
    {"ATOMS", "CAST? SPIN|CAS 64?", "p? d:m m s:m s:m", OP_ATOMIC, kVariable, kRegisters, kLoadStore},
    {"ATOMS", "$atomic $number?", "d:m m s:m", OP_ATOMIC, kVariable, kRegisters, kLoadStore},
    {"RED", "E? $atomic $number? FTZ? RN? STRONG $scope", "m s:m", OP_ATOMIC, kVariable, kRegisters, kLoadStore},
    {"REDG", "E? $atomic $number? FTZ? RN? STRONG $scope", "m s:m", OP_ATOMIC, kVariable, kRegisters, kLoadStore},

    {"CCTL", "IVALL", "", OP_FENCE, kVariable, kRegisters, kLoadStore},
    {"CCTL", "E? PF1|PF2|DML2|RML2", "m", OP_FENCE, kVariable, kRegisters, kLoadStore},
    {"MEMBAR", "SC|ALL $scope", "", OP_FENCE, kVariable, kRegisters, kLoadStore},
    {"ERRBAR", "", "", OP_FENCE, kFixed, kRegisters, kLoadStore},
    {"CGAERRBAR", "", "", OP_FENCE, kFixed, kRegisters, kLoadStore},
    {"QSPC", "E S|L|D|G", "p d m", OP_INT_ALU, kVariable, kRegisters, kLoadStore},
    {"MATCH", "ANY|ALL", "p? d s", OP_WARP, kVariable, kRegisters, kLoadStore},
    {"MATCH", "ANY|ALL U64", "p? d s:2", OP_WARP, kVariable, kRegisters, kLoadStore},

    // How many registers these take follows from their last operands, which have no meaning here yet.
    {"TEX", "SCR? LL|LZ|LB|NDV?", "x", OP_TEXTURE, kVariable, kNamed, kTexture},
    {"TLD", "SCR? LL|LZ?", "x", OP_TEXTURE, kVariable, kNamed, kTexture},
    {"TLD4", "SCR? R|G|B|A", "x", OP_TEXTURE, kVariable, kNamed, kTexture},
    {"TXD", "SCR?", "x", OP_TEXTURE, kVariable, kNamed, kTexture},
    {"SULD", "D BA? 1D|2D|3D|1D_ARRAY|2D_ARRAY 64|128? STRONG? $scope? TRAP?", "x", OP_TEXTURE, kVariable, kNamed,
     kSurface},
    {"SUST", "D BA? 1D|2D|3D|1D_ARRAY|2D_ARRAY 64|128? STRONG? $scope? TRAP?", "x", OP_TEXTURE, kVariable, kNamed,
     kSurface},
};

}  // namespace

std::span<const Form> MemoryRows() { return kRows; }

}  // namespace heddle::tracegen::machine
