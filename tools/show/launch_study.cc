#include "tools/show/launch_study.h"

#include <algorithm>
#include <utility>

#include "replay/engine/replay.h"
#include "replay/seams/types.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {

void InstructionMix::Add(const trace::Program& program, const replay::BlockLimit& limit) {
  const trace::Block& block = program.block(limit.block);
  const uint64_t runs = limit.executions / block.count;  // a block runs from its first to its last instruction
  for (trace::Pc pc = block.first; pc < block.first + block.count; ++pc) {
    const trace::v1::Instruction& instruction = program.instruction(pc);
    by_class[instruction.op()] += runs;
    if (instruction.space() != trace::v1::SPACE_NONE) by_space[instruction.space()] += runs;
  }
  if (program.DecidesGuard(block)) guards += runs;
  machine.Add(program, block, runs);
}

void CharacterisationTiming::Add(const result::v1::LaunchResult& launch, const trace::LaunchView& view,
                                 const machine::v1::Machine& machine) {
  const trace::Program& program = *view.program;
  cycles += launch.cycles();
  warp_instructions += launch.warp_instructions();
  for (const result::v1::InstructionCounters& one : launch.instruction_profile().instruction()) {
    const auto pc = static_cast<trace::Pc>(one.pc() / replay::kInstructionBytes);
    const trace::Block& block = program.block(program.block_of(pc));
    const bool decides =
        block.terminator == trace::v1::BRANCH_CONDITIONAL || block.terminator == trace::v1::BRANCH_WIDE;
    const bool last = pc == block.first + block.count - 1;
    const bool guard = last && program.DecidesGuard(block);
    if (decides && last) (guard ? guards : branches) += one.issues();
    (guard ? guard_splits : splits) += one.splits();
    data_accesses += one.memory().data_accesses();
    transactions += one.memory().transactions();
  }
  warp_cycles += launch.warp_cycles().total();
  barrier_cycles += launch.warp_cycles().barrier();
  for (const result::v1::WarpProgress::Divergence& divergence : launch.warp_progress().divergence()) {
    if (divergence.above_per_cent() != 10 || !divergence.has_instruction_blocks()) continue;
    unequal_blocks += divergence.instruction_blocks();
    compared_blocks += launch.blocks();
  }
  const uint64_t per_sm = (launch.blocks() + machine.sms() - 1) / machine.sms();
  resident_threads =
      std::max(resident_threads, std::min<uint64_t>(launch.blocks_per_sm(), per_sm) * view.threads_per_block);
}

absl::StatusOr<std::vector<result::v1::LaunchResult>> TimeLaunches(const trace::TraceReader& reader,
                                                                   const machine::v1::Machine& machine) {
  replay::ReplayOptions options;
  options.machine = machine;
  options.metrics.per_instruction = true;
  HEDDLE_ASSIGN_OR_RETURN(std::vector<result::v1::Result> results,
                          replay::Replay(reader, {replay::Configuration{}}, options));
  auto& launches = *results.front().mutable_launch();
  return std::vector<result::v1::LaunchResult>(std::make_move_iterator(launches.begin()),
                                               std::make_move_iterator(launches.end()));
}

}  // namespace heddle::tools
