// Errors about machine code.
#ifndef HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_MACHINE_ERROR_H_
#define HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_MACHINE_ERROR_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tracegen/machine/flow/program.h"

namespace heddle::tracegen {

// "k+0x40: WHAT: @P0 FROB R1, R2".
absl::Status MachineError(const machine::ProgramFunction& function, const machine::ProgramInstruction& instruction,
                          absl::string_view what);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_MACHINE_ERROR_H_
