#include "tools/show/machine_mix.h"

#include <algorithm>
#include <optional>

#include "traces/format/program/control_bits.h"

namespace heddle::tools {
namespace {

// Whether the instruction writes registers, and all of them are the warp's.
bool IsUniform(const trace::v1::Function& function, const trace::v1::Instruction& instruction) {
  if (instruction.dst_size() == 0 || function.register_file().empty()) return false;
  return std::ranges::all_of(instruction.dst(), [&](uint32_t number) {
    const char file = function.register_file()[number - 1];
    return file == trace::v1::FILE_UNIFORM || file == trace::v1::FILE_UNIFORM_PREDICATE;
  });
}

}  // namespace

void MachineMix::Add(const trace::Program& program, const trace::Block& block, uint64_t runs) {
  if (program.proto().level() != trace::v1::LEVEL_MACHINE) return;
  const trace::v1::Function& function = program.proto().function(static_cast<int>(block.function));
  instructions += runs * block.count;
  for (trace::Pc pc = block.first; pc < block.first + block.count; ++pc) {
    const trace::v1::Instruction& instruction = program.instruction(pc);
    if (instruction.has_convergence()) by_role[instruction.convergence().role()] += runs;
    if (IsUniform(function, instruction)) uniform += runs;
    const std::optional<trace::ControlBits> bits = trace::UnpackControl(instruction.control());
    if (!bits.has_value()) continue;
    scheduled += runs;
    stall_cycles += runs * bits->stall;
    if (bits->yield) yields += runs;
    if (bits->wait_mask != 0) waits += runs;
  }
}

void MachineMix::Add(const MachineMix& other) {
  instructions += other.instructions;
  for (size_t role = 0; role < by_role.size(); ++role) by_role[role] += other.by_role[role];
  uniform += other.uniform;
  scheduled += other.scheduled;
  stall_cycles += other.stall_cycles;
  yields += other.yields;
  waits += other.waits;
}

}  // namespace heddle::tools
