#include "tracegen/program/machine_source/machine_error.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "traces/base/printable.h"

namespace heddle::tracegen {

absl::Status MachineError(const machine::ProgramFunction& function, const machine::ProgramInstruction& instruction,
                          absl::string_view what) {
  return absl::UnimplementedError(absl::StrFormat("%s+0x%x: %s: %s", CutText(Printable(function.section), 80),
                                                  instruction.offset, what,
                                                  Printable(machine::InstructionText(instruction.text))));
}

}  // namespace heddle::tracegen
