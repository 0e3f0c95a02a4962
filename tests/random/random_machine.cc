#include "tests/random/random_machine.h"

#include <algorithm>
#include <string>

#include "tests/random/random.h"

namespace heddle::replay {

namespace {

// Each of the following draws from numbers of its own: what is added here changes no machine in another field.

void DrawUnits(uint64_t seed, machine::v1::ExecutionUnits& units) {
  Random random(MixAll({seed, 30}));
  if (random.Chance(70)) {
    machine::v1::OperationTiming& branch = *units.add_timing();
    branch.set_operation(machine::v1::OperationTiming::BRANCH);
    branch.set_latency(static_cast<uint32_t>(random.In(1, random.OneOf<uint64_t>({2, 8, 40}))));
    branch.set_initiation_interval(random.OneOf({1u, 1u, 2u, 8u}));
    if (random.Chance(40)) branch.set_unit(machine::v1::OperationTiming::SFU_UNIT);
  }
  if (random.Chance(50)) {
    machine::v1::OperationTiming& vote = *units.add_timing();
    vote.set_operation(machine::v1::OperationTiming::VOTE);
    vote.set_latency(static_cast<uint32_t>(random.In(1, 30)));
    vote.set_initiation_interval(random.OneOf({1u, 2u, 4u}));
  }
  if (!random.Chance(25)) return;
  units.set_integer(static_cast<uint32_t>(random.In(1, 4)));
  units.set_dp(static_cast<uint32_t>(random.In(1, 2)));
  for (machine::v1::OperationTiming& timing : *units.mutable_timing()) {
    if (random.Chance(50)) timing.set_unit(machine::v1::OperationTiming::INT_UNIT);
    if (random.Chance(20)) timing.set_unit(machine::v1::OperationTiming::DP_UNIT);
  }
}

void DrawFetches(uint64_t seed, machine::v1::InstructionBuffer& buffer) {
  Random random(MixAll({seed, 31}));
  if (random.Chance(25)) buffer.set_fetches_per_cycle(random.OneOf({1u, 2u, 4u}));
}

void DrawOperands(uint64_t seed, uint32_t ports, machine::v1::ExecutionUnits& units) {
  Random random(MixAll({seed, 32}));
  if (units.register_banks() == 0) return;
  if (random.Chance(30)) {
    units.set_register_banks(ports * random.OneOf({1u, 2u, 3u}));
    units.set_banks_by_port(true);
  }
  if (!random.Chance(40)) return;
  units.set_operand_steps(random.OneOf({1u, 2u, 3u}));
  units.set_operand_read_cycles(static_cast<uint32_t>(random.In(3, 6)));
}

void DrawPorts(uint64_t seed, machine::v1::Core& core) {
  Random random(MixAll({seed, 33}));
  core.set_ports_in_turn(random.Chance(20));
}

void DrawAtomics(uint64_t seed, machine::v1::Core& core) {
  Random random(MixAll({seed, 34}));
  core.set_atomics_hold(random.Chance(20));
  core.set_reductions(random.Chance(40));
}

void DrawBranches(uint64_t seed, machine::v1::Core& core) {
  Random random(MixAll({seed, 35}));
  if (random.Chance(20)) core.set_branches(machine::v1::Core::AT_ISSUE);
}

// `block`: threads of one, in whole warps.
void DrawBlockBinding(uint64_t seed, uint32_t block, machine::v1::Core& core) {
  Random random(MixAll({seed, 36}));
  if (core.schedulers() == 1 || !random.Chance(40)) return;
  core.mutable_thesis()->set_blocks_on_one_scheduler(true);
  const uint32_t share =
      block * static_cast<uint32_t>(random.In(1, 2)) + core.warp_size() * static_cast<uint32_t>(random.Below(2));
  core.set_max_threads(core.schedulers() * share);
}

}  // namespace

machine::v1::Machine RandomMachine(uint64_t seed, const MachineNeeds& needs) {
  Random random(MixAll({seed, 23}));
  machine::v1::Machine machine;
  machine.set_name("random_" + std::to_string(seed));
  machine.set_sms(random.OneOf({1u, 1u, 2u, 3u, 5u}));
  machine::v1::Core& core = *machine.mutable_core();
  core.set_front_end(machine::v1::Core::THESIS);
  core.set_warp_size(needs.warp_size);
  uint32_t divisor = random.OneOf({1u, 1u, 2u, 4u});
  while (needs.warp_size / divisor == 0) divisor /= 2;
  uint32_t simd_width = needs.warp_size / divisor;
  if (simd_width > 1 && random.Chance(15)) --simd_width;  // widths that do not divide the warp
  core.set_simd_width(simd_width);
  core.set_schedulers(random.OneOf({1u, 1u, 2u}));
  // An instruction takes at least the cycles in which its warp enters the pipeline.
  const uint32_t issue_cycles = (needs.warp_size + simd_width - 1) / simd_width;
  const auto latency = [&](uint32_t most) { return issue_cycles + static_cast<uint32_t>(random.Below(most)); };
  core.set_pipeline_depth(latency(random.OneOf({1u, 8u})));
  const uint32_t padded = (needs.threads_per_block + needs.warp_size - 1) / needs.warp_size * needs.warp_size;
  core.set_max_threads(padded * static_cast<uint32_t>(random.In(1, 4)) +
                       needs.warp_size * static_cast<uint32_t>(random.Below(3)));
  core.set_max_blocks(static_cast<uint32_t>(random.In(1, 4)));
  const uint32_t registers = padded * ((needs.registers_per_thread + 3) / 4 * 4);
  if (random.Chance(40)) core.set_registers(registers * static_cast<uint32_t>(random.In(1, 3)) + 7);
  core.set_shared_memory_bytes(49152);
  machine::v1::FixedLatency& fixed = *machine.mutable_memory()->mutable_fixed();
  fixed.set_global_cycles(latency(random.OneOf({1u, 40u, 300u})));
  fixed.set_shared_cycles(latency(10));
  fixed.set_local_cycles(latency(40));
  fixed.set_constant_cycles(latency(5));
  fixed.set_param_cycles(latency(5));
  fixed.set_texture_cycles(latency(100));
  fixed.set_atomic_cycles(latency(200));
  const uint32_t scripted = random.Chance(50) ? static_cast<uint32_t>(random.In(1, 3)) : 0;
  for (uint32_t i = 0; i < scripted; ++i) {
    machine::v1::ScriptedLatency& entry = *core.add_scripted_latency();
    if (random.Chance(40)) {
      entry.set_any_instruction(true);
    } else {
      entry.set_instruction(static_cast<uint32_t>(random.Below(needs.instructions)));
    }
    entry.set_first_thread(static_cast<uint32_t>(random.Below(needs.threads_per_block)));
    entry.set_last_thread(entry.first_thread() + static_cast<uint32_t>(random.Below(4)));
    entry.set_cycles(latency(50));
  }
  machine.mutable_dispatch()->set_spread_small_grids(random.Chance(50));
  if (random.Chance(25)) machine.mutable_dispatch()->set_launch_cycles(random.OneOf({1u, 2u, 7u, 64u, 1500u}));
  // From no limit to that of a block at a time.
  if (random.Chance(25)) core.set_shared_bytes_per_block(random.OneOf({16u, 49152u / 3, 49152u / 2, 49152u}));
  if (random.Chance(25)) machine.mutable_dispatch()->set_blocks_per_cycle(static_cast<uint32_t>(random.In(1, 3)));
  if (random.Chance(30)) {
    core.mutable_block_barriers()->set_arrival_interval(random.OneOf({0u, 1u, 2u, 7u}));
    core.mutable_block_barriers()->set_release_latency(random.OneOf({0u, 1u, 12u, 150u}));
  }
  DrawBlockBinding(seed, padded, core);
  return machine;
}

machine::v1::Machine RandomBufferMachine(uint64_t seed, const MachineNeeds& needs) {
  Random random(MixAll({seed, 29}));
  machine::v1::Machine machine = RandomMachine(seed, needs);
  machine::v1::Core& core = *machine.mutable_core();
  core.set_front_end(machine::v1::Core::IBUFFER);
  core.clear_thesis();
  core.clear_scripted_latency();
  core.set_schedulers(static_cast<uint32_t>(random.In(1, 4)));
  core.set_skip_empty_groups(random.Chance(30));
  machine::v1::InstructionBuffer& buffer = *core.mutable_ibuffer();
  buffer.set_entries(random.OneOf({1u, 2u, 2u, 2u, 3u, 4u}));
  buffer.set_fetch_instructions(std::min(buffer.entries(), random.OneOf({1u, 2u, 2u, 3u, 4u})));
  if (random.Chance(50)) buffer.set_fetch_when(machine::v1::InstructionBuffer::FREE_SLOT);
  buffer.set_reformed_warp_cycles(static_cast<uint32_t>(random.In(1, 4)));
  machine::v1::ExecutionUnits& units = *core.mutable_units();
  units.set_sp(random.OneOf({1u, 1u, 2u, 3u, 8u, 9u, 33u}));  // some as many as a ring of them wraps at
  units.set_sfu(static_cast<uint32_t>(random.In(1, 2)));
  units.set_operand_read_cycles(random.OneOf({0u, 0u, 1u, 3u}));
  units.set_write_back_cycles(random.OneOf({0u, 0u, 1u, 2u}));
  units.set_memory_issue_latency(random.OneOf({1u, 1u, 2u, 4u, 7u}));
  units.set_memory_initiation_interval(random.OneOf({1u, 1u, 1u, 2u, 5u}));
  if (random.Chance(30)) {
    units.set_register_banks(random.OneOf({1u, 2u, 4u, 16u}));
    units.set_sp_collectors(random.OneOf({0u, 1u, 2u, 6u, 9u, 33u}));
    units.set_sfu_collectors(random.OneOf({0u, 1u, 3u}));
  }
  for (int operation = machine::v1::OperationTiming::INT_ALU; operation <= machine::v1::OperationTiming::SHUFFLE;
       ++operation) {
    const bool integer = operation == machine::v1::OperationTiming::INT_ALU;
    if (!integer && random.Chance(30)) continue;  // takes the timing of INT_ALU
    machine::v1::OperationTiming& timing = *units.add_timing();
    timing.set_operation(static_cast<machine::v1::OperationTiming::Operation>(operation));
    timing.set_latency(static_cast<uint32_t>(random.In(1, random.OneOf<uint64_t>({2, 8, 40}))));
    timing.set_initiation_interval(random.OneOf({1u, 1u, 2u, 8u}));
    if (!integer && random.Chance(40)) timing.set_unit(machine::v1::OperationTiming::SFU_UNIT);
  }
  if (random.Chance(40)) {
    units.set_tensor(static_cast<uint32_t>(random.In(1, 3)));
    machine::v1::OperationTiming& last = *units.mutable_timing(units.timing_size() - 1);
    if (last.operation() != machine::v1::OperationTiming::INT_ALU) {
      last.set_unit(machine::v1::OperationTiming::TENSOR_UNIT);
    }
  }
  DrawUnits(seed, units);
  DrawFetches(seed, buffer);
  DrawOperands(seed, core.schedulers(), units);
  DrawPorts(seed, core);
  DrawAtomics(seed, core);
  DrawBranches(seed, core);
  return machine;
}

}  // namespace heddle::replay
