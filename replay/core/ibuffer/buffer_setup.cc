#include "replay/core/ibuffer/buffer_setup.h"

#include <algorithm>

namespace heddle::replay {

BufferSetup::BufferSetup(const trace::Program& program, std::span<const Step> steps,
                         const machine::v1::Machine& machine)
    : table(program, steps, machine.core()),
      register_reads(program, machine.core()),
      units(machine.core().units()),
      entries(static_cast<uint8_t>(machine.core().ibuffer().entries())),
      fetch_instructions(static_cast<uint8_t>(machine.core().ibuffer().fetch_instructions())),
      fetches_per_cycle(std::max(1u, machine.core().ibuffer().fetches_per_cycle())),
      fetch_when_free_slot(machine.core().ibuffer().fetch_when() == machine::v1::InstructionBuffer::FREE_SLOT),
      reformed_warp_cycles(machine.core().ibuffer().reformed_warp_cycles()),
      memory_interval(std::max(1u, machine.core().units().memory_initiation_interval())),
      simd_width(machine.core().simd_width()),
      skip_empty_groups(machine.core().skip_empty_groups()),
      ports_in_turn(machine.core().ports_in_turn()),
      branches_at_issue(machine.core().branches() == machine::v1::Core::AT_ISSUE) {
  const machine::v1::Cache& cache = machine.memory().hierarchy().l1_instruction();
  if (cache.sets() != 0) line_instructions = cache.line_bytes() / kInstructionBytes;
}

}  // namespace heddle::replay
