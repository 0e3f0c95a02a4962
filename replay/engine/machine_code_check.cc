#include "replay/engine/machine_code_check.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "traces/format/program/instruction_place.h"

namespace heddle::replay {
namespace {

// Whether a predicate decides for whom the instruction takes effect.
bool IsConditional(const trace::Program& program, trace::Pc pc) {
  if (program.IsGuarded(pc)) return true;
  if (program.instruction(pc).convergence().role() != trace::v1::Convergence::BREAK) return false;
  const trace::v1::Function& function =
      program.proto().function(static_cast<int>(program.block(program.block_of(pc)).function));
  const std::string& files = function.register_file();
  for (const uint32_t number : program.instruction(pc).src()) {
    if (number >= 1 && number <= files.size() && files[number - 1] == trace::v1::FILE_PREDICATE) return true;
  }
  return false;
}

}  // namespace

absl::Status CheckConvergence(const trace::TraceReader& reader, const trace::LaunchView& launch,
                              const CheckedConfiguration& configuration) {
  if (!configuration.divergence.traits.follows_convergence_barriers) return absl::OkStatus();
  const trace::Program& program = *launch.program;
  if (program.proto().level() != trace::v1::LEVEL_MACHINE) {
    return absl::FailedPreconditionError(
        "the recording has no convergence barriers to follow: they are in machine code only; record it with --level "
        "machine, or choose another value of reconvergence");
  }
  std::vector<bool> decided(program.blocks().size());  // only threads come there for which a guard holds
  for (const trace::Block& block : program.blocks()) {
    if (program.DecidesGuard(block)) decided[block.successor] = true;
  }
  for (trace::Pc pc = 0; pc < program.instruction_count(); ++pc) {
    if (program.instruction(pc).op() != trace::v1::OP_CONVERGENCE || decided[program.block_of(pc)]) continue;
    if (!IsConditional(program, pc)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("the recording does not tell for which threads the condition held of ",
                     program.instruction(pc).mnemonic(), " at ", trace::InstructionPlace(reader.header(), program, pc),
                     "; record the kernel again, or choose another value of reconvergence"));
  }
  return absl::OkStatus();
}

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
