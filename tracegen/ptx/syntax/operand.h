// Operands of PTX instructions, with every name resolved.
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_OPERAND_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_OPERAND_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::tracegen::ptx {

enum class SymbolKind : uint8_t {
  kGlobal,     // Module::variables[index]
  kLocal,      // Function::variables[index]: any state space but .reg, .param within bodies included
  kParameter,  // Function::parameters[index]
  kReturn,     // Function::returns[index]
  kFunction,   // Module::functions[index]
};

// One operand. Which fields count depends on `kind`; the others keep their defaults.
struct Operand {
  enum class Kind : uint8_t {
    kNone,      // a part of a call that is not there
    kRegister,  // `index`: number within the function, see Function::RegisterOf; `selector`
    kSpecial,   // `text`: "%tid", "%laneid", ...; `selector`: its component, "x"
    kInteger,   // `bits`: the value, in two's complement of 64 bits; constant expressions are folded
    kFloat32,   // `bits`: of the value of single precision, written as 0f3F800000
    kFloat64,   // `bits`: of the value of double precision, written as 0d3FF0000000000000, 1.0 or 1e5
    kWarpSize,  // WARP_SZ
    kSymbol,    // the address of a variable or function in its own state space: `symbol`, `index`, `offset` (bytes)
    kLabel,     // `index`: Function::labels; of bra
    kTable,     // `index`: Function::tables; of brx.idx and indirect calls
    kAddress,   // [base+offset]: elements[0] is the base (register, symbol, argument or integer), `offset` in bytes;
                // further elements are what follows it within the brackets: sampler, coordinates, tensor coordinates
    kVector,    // {a, b}: `elements`
    kPair,      // p|q: two `elements`
    kList,      // (a, b) of a call: `elements`
    kSink,      // _: the result is not wanted
    kArgument,  // `index`: $0, $1 of inline PTX only
  };
  Kind kind = Kind::kNone;
  bool negated = false;  // !p
  bool minus = false;    // -a of a register
  bool written = false;  // the instruction writes it; for vectors, pairs and lists their elements say so too
  SymbolKind symbol = SymbolKind::kGlobal;
  uint32_t line = 0;
  uint32_t index = 0;
  // A component ("x", "y", "z", "w", also for r, g, b, a) of a vector register or a special register, or a part of a
  // word that a video instruction takes ("b0", "h10", "b3210"). Without its point; empty without one. Lives in
  // `kSelectors`.
  std::string_view selector;
  std::string_view text;  // lives as long as the program
  uint64_t bits = 0;
  int64_t offset = 0;
  std::vector<Operand> elements;

  bool operator==(const Operand&) const = default;
};

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_OPERAND_H_
