// Operands of machine instructions, as the disassembler prints them.
#ifndef HEDDLE_TRACEGEN_MACHINE_TEXT_OPERAND_H_
#define HEDDLE_TRACEGEN_MACHINE_TEXT_OPERAND_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace heddle::tracegen::machine {

enum class RegisterFile : uint8_t {
  kGeneral,           // R0 to R254, one per thread; RZ reads as zero
  kPredicate,         // P0 to P6, one bit per thread; PT is true
  kUniform,           // UR0 to UR62, one per warp; URZ reads as zero
  kUniformPredicate,  // UP0 to UP6, one bit per warp; UPT is true
  kConvergence,       // B0 to B15: convergence barriers
};

// One register. `number` is that of the architecture; a constant one (RZ, PT, URZ, UPT) holds nothing.
struct Register {
  RegisterFile file = RegisterFile::kGeneral;
  uint8_t number = 0;
  bool is_constant = false;

  bool operator==(const Register&) const = default;
};

// A register within an operand: "-|R4|.reuse", "~R5", "!P0", "R5.H0_H0", "R2.64".
struct RegisterUse {
  Register reg;
  char sign = 0;          // '-', '~' or '!' in front; 0 = none
  bool absolute = false;  // |R4|
  bool reuse = false;     // kept in the operand collector for the next instruction
  std::string part;       // behind the register, without the point: "H0_H0", "B3", "64", "X4", "U32"
};

// [R4.64+UR6+0x10]: what there is of it, in this order.
struct Address {
  std::optional<RegisterUse> base;     // of the general file
  std::optional<RegisterUse> uniform;  // of the uniform file
  std::optional<int64_t> offset;
};

struct Operand {
  enum class Kind : uint8_t {
    kRegister,       // use
    kImmediate,      // text, and value or number
    kConstant,       // c[bank][address]; use.sign and use.absolute as for registers
    kBindless,       // cx[UR4][address]: bank is a register, in descriptor
    kAddress,        // [address], or desc[UR4][address] with descriptor, or [address][second] of a copy
    kSpecial,        // SR_TID.X: text
    kAllPredicates,  // PR or UPR: text
    kWord,           // a name that belongs to the opcode: 2D, ARRAY_2D, MACTIVE, ZPPPZPPP: text
    kScoreboard,     // SB0, or {3,1}: text
    kSymbol,         // a function or a label: text is its name
  };
  Kind kind = Kind::kImmediate;
  RegisterUse use;
  Address address;
  std::optional<Address> second;
  uint32_t bank = 0;
  std::optional<RegisterUse> descriptor;
  std::string text;
  int64_t value = 0;      // integers
  double number = 0;      // of the immediate, read as a floating point number
  bool is_float = false;  // the text has a point, an exponent or a name: it is a number of the opcode's type

  bool is_register(RegisterFile file) const { return kind == Kind::kRegister && use.reg.file == file; }
};

// Reads one register without anything around it: "R12", "RZ", "UP3", "B1". Nothing if it is none.
std::optional<Register> ParseRegister(std::string_view text);

// Reads one operand; blanks around it do not count. Errors: what is no operand, with its text.
absl::StatusOr<Operand> ParseOperand(std::string_view text);

std::string RegisterText(const Register& reg);
// The operand as the disassembler prints it, without blanks at its end.
std::string OperandText(const Operand& operand);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_TEXT_OPERAND_H_
