#include "replay/engine/control_bits_check.h"

#include "absl/strings/str_cat.h"
#include "traces/format/program/instruction_place.h"

namespace heddle::replay {

absl::Status CheckControlBits(const trace::TraceReader& reader, const trace::LaunchView& launch,
                              const ReplayOptions& options) {
  using machine::v1::Core;
  const Core& core = options.machine.core();
  if (core.front_end() != Core::IBUFFER || core.dependences() != Core::CONTROL_BITS) return absl::OkStatus();
  const trace::Program& program = *launch.program;
  for (trace::Pc pc = 0; pc < program.instruction_count(); ++pc) {
    const trace::v1::Instruction& instruction = program.instruction(pc);
    if (instruction.control() != 0 || instruction.mnemonic() == "nop.join") continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "warps of machine ", options.machine.name(), " issue by control bits, and ", instruction.mnemonic(),
        " has none, ", trace::InstructionPlace(reader.header(), program, pc),
        "; use a trace of machine code (heddle capture --level machine), or --set core.dependences=SCOREBOARD"));
  }
  return absl::OkStatus();
}

}  // namespace heddle::replay
