// Machine instructions as a syntax tree: read from what the disassembler prints, and printed again.
#ifndef HEDDLE_TRACEGEN_MACHINE_TEXT_INSTRUCTION_H_
#define HEDDLE_TRACEGEN_MACHINE_TEXT_INSTRUCTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tracegen/machine/forms/form.h"
#include "tracegen/machine/text/operand.h"

namespace heddle::tracegen::machine {

struct Instruction {
  const Form* form = nullptr;        // never null in what ParseInstruction returns
  std::optional<RegisterUse> guard;  // @P0, @!UP1: of a file of predicates, with sign '!' or none
  std::vector<std::string> modifiers;
  std::vector<Operand> operands;
  // Of each operand, the place of OperandPlaces(*form) that it fills.
  std::vector<uint8_t> places;

  std::string_view opcode() const { return form->opcode; }
  // The opcode with its modifiers: "LDG.E.64".
  std::string Mnemonic() const;
  bool Has(std::string_view modifier) const;
};

// Reads one instruction from its parts, as the disassembler's JSON has them: "@!P0", or "" for none; "LDG.E.64";
// "R2,[R4.64]". Errors: an opcode that is not in the table, modifiers or operands that none of its rows has, operands
// that are none; each with its text. The place is the caller's to add.
absl::StatusOr<Instruction> ParseInstruction(std::string_view guard, std::string_view mnemonic,
                                             std::string_view operands);
// Reads one instruction in one piece: "@!P0 LDG.E.64 R2, [R4.64]", with or without a semicolon.
absl::StatusOr<Instruction> ParseInstruction(std::string_view line);

// As a listing has it, with one blank behind each comma and none at the end.
std::string InstructionText(const Instruction& instruction);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_TEXT_INSTRUCTION_H_
