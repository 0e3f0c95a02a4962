#include "replay/core/launch_context.h"

#include <algorithm>
#include <map>

namespace heddle::replay {

using trace::v1::OpClass;

LaunchContext::LaunchContext(const trace::LaunchView& view, const trace::v1::FileHeader& header,
                             const machine::v1::Machine& machine)
    : launch(view),
      program(*view.program),
      windows(header),
      warp_size(static_cast<int>(machine.core().warp_size())),
      issue_cycles(static_cast<int>((machine.core().warp_size() + machine.core().simd_width() - 1) /
                                    machine.core().simd_width())),
      ports(static_cast<int>(machine.core().schedulers())),
      pipeline_depth(machine.core().pipeline_depth()),
      bank_penalty(machine.core().thesis().register_bank_penalty()),
      bank_penalty_cycles(machine.core().thesis().bank_penalty_per_issue() ? issue_cycles : 1),
      has_memory_stage(machine.memory().has_hierarchy()),
      max_threads(static_cast<int>(machine.core().max_threads())),
      threads_per_block(view.threads_per_block),
      hw_warps_per_block((view.threads_per_block + machine.core().warp_size() - 1) / machine.core().warp_size()) {
  for (const machine::v1::ScriptedLatency& entry : machine.core().scripted_latency()) {
    scripted.push_back(entry);
    longest_scripted = std::max(longest_scripted, entry.cycles());
  }
  std::map<uint32_t, uint8_t> dense;
  steps.resize(program.instruction_count());
  for (Pc pc = 0; pc < program.instruction_count(); ++pc) {
    const trace::v1::Instruction& instruction = program.instruction(pc);
    Step& step = steps[pc];
    step.op = instruction.op();
    step.space = instruction.space();
    step.bytes = instruction.access_bytes();
    step.block = program.block_of(pc);
    const trace::Block& block = program.block(step.block);
    step.ends_block = pc + 1 == block.first + block.count;
    step.has_address = trace::Program::HasAddress(instruction);
    step.uniform = (instruction.flags() & trace::v1::FLAG_UNIFORM) != 0;
    for (const machine::v1::ScriptedLatency& entry : scripted) {
      step.scripted |= entry.any_instruction() || entry.instruction() == pc;
    }
    switch (instruction.op()) {
      case OpClass::OP_LOAD:
      case OpClass::OP_STORE:
      case OpClass::OP_ATOMIC:
      case OpClass::OP_TEXTURE:
        step.kind = Step::kMemory;
        step.shared = step.space == trace::v1::SPACE_SHARED ||
                      (step.space == trace::v1::SPACE_GENERIC &&
                       (program.proto().static_shared_bytes() != 0 || view.launch.dynamic_shared_bytes() != 0));
        break;
      case OpClass::OP_BARRIER: {
        step.kind = Step::kBarrier;
        const auto [it, inserted] = dense.emplace(instruction.barrier_id(), static_cast<uint8_t>(barrier_ids.size()));
        if (inserted) barrier_ids.push_back(instruction.barrier_id());
        step.barrier = it->second;
        step.barrier_threads = instruction.barrier_threads();
        break;
      }
      default:
        break;
    }
  }
  entry = Position(program.block(program.entry_block()).first, 0);
}

}  // namespace heddle::replay
