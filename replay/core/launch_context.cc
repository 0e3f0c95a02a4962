#include "replay/core/launch_context.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace heddle::replay {

using trace::v1::OpClass;

namespace {

// The ids that barriers of the program can have, in the order of the program; all that blocks have, if a register holds
// one.
void FindBarriers(const trace::Program& program, std::vector<uint32_t>& ids) {
  const auto add = [&ids](uint32_t id) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  };
  bool any = false;
  for (Pc pc = 0; pc < program.instruction_count(); ++pc) {
    const trace::v1::Instruction& instruction = program.instruction(pc);
    if (instruction.op() != OpClass::OP_BARRIER) continue;
    const bool cluster = instruction.barrier_scope() == trace::v1::SCOPE_CLUSTER;
    add(cluster ? LaunchContext::kClusterBarrier : instruction.barrier_id());
    for (const trace::v1::Operand& operand : instruction.operand())
      any |= operand.kind() == trace::v1::Operand::BARRIER;
  }
  for (uint32_t id = 0; any && id < LaunchContext::kClusterBarrier; ++id) add(id);
}

// Step::members: of tiles each thread hands in a row, as far as there are rows; of all else each has a share.
uint8_t MembersOf(const trace::v1::Matrix& matrix) {
  const bool moves = matrix.role() == trace::v1::Matrix::LOAD || matrix.role() == trace::v1::Matrix::STORE;
  if (!moves || matrix.k() != 0) return trace::kMatrixThreads;
  return static_cast<uint8_t>(std::clamp(matrix.m() * std::max(matrix.tiles(), 1u), 1u, trace::kMatrixThreads));
}

}  // namespace

uint8_t LaunchContext::DenseBarrier(uint64_t id) const {
  const auto found = std::find(barrier_ids.begin(), barrier_ids.end(), id);
  return found == barrier_ids.end() ? kNoBarrier : static_cast<uint8_t>(found - barrier_ids.begin());
}

LaunchContext::LaunchContext(const trace::LaunchView& view, const trace::v1::FileHeader& header,
                             const machine::v1::Machine& machine)
    : launch(view),
      predicated(trace::Predicate(*view.program)),
      program(predicated.has_value() ? predicated->program : *view.program),
      windows(header),
      shared_windows(header),
      copies(machine.core().copies()),
      transaction_barriers(machine.core().transaction_barriers()),
      block_barriers(machine.core().block_barriers()),
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
      hw_warps_per_block((view.threads_per_block + machine.core().warp_size() - 1) / machine.core().warp_size()),
      cluster_blocks(trace::Clusters(view.launch).blocks()) {
  const bool has_cluster_window = windows.BaseOf(trace::v1::SPACE_CLUSTER_SHARED) != 0;
  for (const machine::v1::ScriptedLatency& entry : machine.core().scripted_latency()) {
    scripted.push_back(entry);
    longest_scripted = std::max(longest_scripted, entry.cycles());
  }
  FindBarriers(program, barrier_ids);
  steps.resize(program.instruction_count());
  for (Pc pc = 0; pc < program.instruction_count(); ++pc) {
    const trace::v1::Instruction& instruction = program.instruction(pc);
    Step& step = steps[pc];
    step.op = instruction.op();
    step.space = instruction.space();
    static_assert(trace::kMaxAccessBytes <= std::numeric_limits<decltype(step.bytes)>::max());
    step.bytes = static_cast<uint8_t>(instruction.access_bytes());
    step.block = program.block_of(pc);
    const trace::Block& block = program.block(step.block);
    step.ends_block = pc + 1 == block.first + block.count;
    if (predicated.has_value()) {
      const trace::Guarded guarded = predicated->guarded[step.block];
      step.guarded = guarded != trace::Guarded::kNo;
      step.takes_guards = step.guarded && pc == block.first;
      step.behind_join = step.takes_guards && guarded == trace::Guarded::kBehindJoin;
    }
    step.has_address = trace::Program::HasAddress(instruction);
    if (instruction.has_matrix()) step.members = MembersOf(instruction.matrix());
    has_matrices |= step.meets();
    step.is_volatile = (instruction.flags() & trace::v1::FLAG_VOLATILE) != 0;
    step.uniform = (instruction.flags() & trace::v1::FLAG_UNIFORM) != 0;
    for (const machine::v1::ScriptedLatency& entry : scripted) {
      step.scripted |= entry.any_instruction() || entry.instruction() == pc;
    }
    if (instruction.op() == OpClass::OP_ASYNC || instruction.operand_size() != 0) {
      collectives.emplace_back(program, pc);
      step.collective = static_cast<uint32_t>(collectives.size());
      has_uniform_values |= !collectives.back().uniform_slots.empty();
    }
    switch (instruction.op()) {
      case OpClass::OP_ASYNC:
        step.kind = Step::kAsync;
        step.shared = instruction.operand_size() != 0;  // copies end there, and transaction barriers lie there
        step.waits = collectives.back().waits();
        for (const trace::v1::Operand& operand : instruction.operand()) {
          step.cluster |= operand.space() == trace::v1::SPACE_CLUSTER_SHARED ||
                          (operand.space() == trace::v1::SPACE_GENERIC && has_cluster_window);
        }
        has_async = true;
        break;
      case OpClass::OP_LOAD:
      case OpClass::OP_STORE:
      case OpClass::OP_ATOMIC:
      case OpClass::OP_TEXTURE:
        step.kind = Step::kMemory;
        step.cluster = step.space == trace::v1::SPACE_CLUSTER_SHARED ||
                       (step.space == trace::v1::SPACE_GENERIC && has_cluster_window);
        step.shared = step.space == trace::v1::SPACE_SHARED || step.space == trace::v1::SPACE_CLUSTER_SHARED ||
                      (step.space == trace::v1::SPACE_GENERIC &&
                       (program.proto().static_shared_bytes() != 0 || view.launch.dynamic_shared_bytes() != 0));
        break;
      case OpClass::OP_BARRIER: {
        step.kind = Step::kBarrier;
        const bool cluster = instruction.barrier_scope() == trace::v1::SCOPE_CLUSTER;
        step.barrier = DenseBarrier(cluster ? kClusterBarrier : instruction.barrier_id());
        step.barrier_threads = instruction.barrier_threads();
        step.arrives = instruction.barrier_role() != trace::v1::BARRIER_WAIT;
        step.waits = instruction.barrier_role() != trace::v1::BARRIER_ARRIVE;
        break;
      }
      default:
        break;
    }
  }
  entry = Position(program.block(program.entry_block()).first, 0);
}

}  // namespace heddle::replay
