// Holds operands against the table of forms.
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_CHECK_OPERANDS_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_CHECK_OPERANDS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tracegen/ptx/syntax/function.h"

namespace heddle::tracegen::ptx {

// Finds the row of the table for an instruction with this opcode, sets `instruction.form`, and marks the operands that
// are written. `instruction` has its modifiers and operands, `text` is as it was written.
// Errors: an opcode, modifiers, operands or widths of registers that the table does not have.
absl::Status FindForm(std::string_view opcode, const Function& function, uint32_t line, std::string_view text,
                      Instruction& instruction);

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_CHECK_OPERANDS_H_
