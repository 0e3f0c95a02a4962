// Machine code under every policy: registers of the architecture, control bits and convergence barriers change nothing
// of what threads do, and an instruction of a convergence barrier issues as a move does. Stall counts hold warps.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "tests/conformance/checked_replay.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/random/random_machine.h"
#include "tests/traces/machine_programs.h"
#include "tests/traces/program_builder.h"
#include "traces/format/program/predication.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

constexpr uint32_t kThreads = 80;  // of a block: the last warp is not full
constexpr uint32_t kBlocks = 3;

// Every fourth trace is of the sample, the others are of random programs.
v1::KernelProgram MakeProgram(uint64_t seed) {
  if (seed % 4 == 0) return trace::testing::MachineSample();
  return trace::testing::WithMachineCode(
      trace::testing::RandomProgram(seed, {.depth = 2, .barriers = seed % 4 == 1, .calls = true, .wide = true}));
}

std::unique_ptr<trace::TraceReader> MakeTrace(const v1::KernelProgram& program, uint64_t seed) {
  const trace::testing::TemporaryFile file(absl::StrCat("machine_level_", seed));
  const absl::Status written =
      trace::testing::WriteRandomTrace(file.path(), program, seed, kBlocks, kThreads, {.most_instructions = 120});
  EXPECT_TRUE(written.ok()) << written;
  return trace::TraceReader::Open(file.path()).value();
}

// The same threads, where what machine code has beside PTX is gone, and moves stand for convergence barriers.
v1::KernelProgram WithoutMachineCode(v1::KernelProgram program) {
  program.clear_level();
  program.clear_producer();
  program.clear_target();
  for (v1::Function& function : *program.mutable_function()) {
    function.clear_register_file();
    function.clear_register_number();
  }
  for (v1::Instruction& instruction : *program.mutable_instruction()) {
    instruction.clear_control();
    instruction.clear_members();
    if (!instruction.has_convergence()) continue;
    instruction.clear_convergence();
    instruction.set_op(v1::OP_MOVE);
  }
  return program;
}

machine::v1::Machine MachineFor(uint64_t seed, bool buffers, const trace::Program& program) {
  MachineNeeds needs;
  needs.warp_size = 32;
  needs.threads_per_block = kThreads;
  needs.registers_per_thread = 32;
  needs.instructions = program.instruction_count();
  return buffers ? RandomBufferMachine(seed, needs) : RandomMachine(seed, needs);
}

TEST(MachineLevel, RulesHoldForEveryPairOfPolicies) {
  for (const uint64_t seed : Seeds(700'000, 10)) {
    const auto trace = MakeTrace(MakeProgram(seed), seed);
    for (const bool buffers : {false, true}) {
      const machine::v1::Machine machine = MachineFor(seed, buffers, *trace->launches()[0].program);
      SCOPED_TRACE(absl::StrCat("seed ", seed, ", machine { ", machine.ShortDebugString(), " }"));
      ExpectRulesKept(*trace, machine, ForMachine(DefaultConfigurations(Seams::kAll).accepted, machine));
      if (HasFailure()) return;
    }
  }
}

// Policies that follow the code's own convergence barriers, which only machine code has.
std::vector<AcceptedConfiguration> ThatFollowBarriers() {
  std::vector<AcceptedConfiguration> all;
  for (const auto& [name, entry] : SchedulerRegistry::Get().entries()) {
    for (const char* parameters :
         {"", ",taken_first=false", ",yield=backward_branch", ",yield=block_end", ",yield=long_latency"}) {
      AcceptedConfiguration one;
      one.configuration.divergence = {"its", absl::StrCat("reconvergence=compiler", parameters)};
      one.configuration.scheduler = {name, ""};
      one.default_parameters = false;
      if (Validate(one.configuration).ok()) all.push_back(std::move(one));
    }
  }
  return all;
}

// Without predicates that its BREAKs would read: such have a block of their own, which random programs do not give
// them.
v1::KernelProgram WithoutConditionalBreaks(v1::KernelProgram program) {
  for (v1::Function& function : *program.mutable_function()) {
    for (uint32_t b = function.first_block(); b < function.first_block() + function.block_count(); ++b) {
      const v1::BasicBlock& block = program.block(static_cast<int>(b));
      for (uint32_t pc = block.first_instruction(); pc < block.first_instruction() + block.instruction_count(); ++pc) {
        v1::Instruction& instruction = *program.mutable_instruction(static_cast<int>(pc));
        if (instruction.convergence().role() != v1::Convergence::BREAK) continue;
        std::vector<uint32_t> kept;
        for (const uint32_t number : instruction.src()) {
          if (function.register_file()[number - 1] == v1::FILE_CONVERGENCE) kept.push_back(number);
        }
        instruction.mutable_src()->Assign(kept.begin(), kept.end());
      }
    }
  }
  return program;
}

TEST(MachineLevel, RulesHoldWhereTheCodesBarriersAreFollowed) {
  const std::vector<AcceptedConfiguration> all = Shuffled(ThatFollowBarriers());
  ASSERT_GT(all.size(), 50u);
  size_t next = 0;
  for (const uint64_t seed : Seeds(900'000, 14)) {
    const auto trace = MakeTrace(WithoutConditionalBreaks(MakeProgram(seed)), seed);
    for (const bool buffers : {false, true}) {
      const machine::v1::Machine machine = MachineFor(seed, buffers, *trace->launches()[0].program);
      SCOPED_TRACE(absl::StrCat("seed ", seed, ", machine { ", machine.ShortDebugString(), " }"));
      std::vector<AcceptedConfiguration> some;
      for (int i = 0; i < 4; ++i) some.push_back(all[next++ % all.size()]);
      some = ForMachine(some, machine);
      ExpectRulesKept(*trace, machine, some);
      ExpectEqual(*trace, machine, some);
      if (HasFailure()) return;
    }
  }
}

// The program's BREAKs under a guard that all threads of a warp come by.
int CountGuardedBreaks(const trace::Program& program) {
  const std::optional<trace::PredicatedProgram> predicated = trace::Predicate(program);
  if (!predicated.has_value()) return 0;
  int breaks = 0;
  for (trace::Pc pc = 0; pc < program.instruction_count(); ++pc) {
    breaks += predicated->guarded[program.block_of(pc)] != trace::Guarded::kNo &&
              program.instruction(pc).convergence().role() == v1::Convergence::BREAK;
  }
  return breaks;
}

// Threads under a guard break away, the others of their warp go past: in all policies, and in those that follow
// barriers.
TEST(MachineLevel, RulesHoldWhereGuardedThreadsBreakAway) {
  std::vector<AcceptedConfiguration> all = Shuffled(ThatFollowBarriers());
  std::vector<AcceptedConfiguration> others = Shuffled(DefaultConfigurations(Seams::kAll).accepted);
  size_t next = 0;
  int breaks = 0;
  for (const uint64_t seed : Seeds(950'000, 14)) {
    v1::KernelProgram program = trace::testing::RandomProgram(
        seed, {.depth = 2, .statements = 6, .barriers = seed % 2 == 1, .calls = true, .wide = true});
    const auto trace =
        MakeTrace(WithoutConditionalBreaks(trace::testing::WithMachineCode(std::move(program), /*guards=*/true)), seed);
    breaks += CountGuardedBreaks(*trace->launches()[0].program);
    for (const bool buffers : {false, true}) {
      const machine::v1::Machine machine = MachineFor(seed, buffers, *trace->launches()[0].program);
      SCOPED_TRACE(absl::StrCat("seed ", seed, ", machine { ", machine.ShortDebugString(), " }"));
      std::vector<AcceptedConfiguration> some;
      for (int i = 0; i < 4; ++i, ++next) {
        some.push_back(all[next % all.size()]);
        some.push_back(others[next % others.size()]);
      }
      some = ForMachine(some, machine);
      ExpectRulesKept(*trace, machine, some);
      ExpectEqual(*trace, machine, some);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(breaks, 5) << "the programs show too little";
}

// What the vendor's assembler made of kernels of traces/kernels (tiny recipes, PTX by nvcc 13.0): guards, convergence
// barriers, control bits and uniform registers as real code has them.
class RecordedCode : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(MachineLevel, RecordedCode, testing::Values("nqueens-sm_90", "reduction-sm_80", "bfs-sm_80"));

TEST_P(RecordedCode, KeepsTheRulesUnderEveryDivergencePolicy) {
  const auto trace = trace::TraceReader::Open(absl::StrCat(HEDDLE_TRACES_DIR, "/small/", GetParam(), ".htrace"));
  ASSERT_TRUE(trace.ok()) << trace.status();
  std::vector<AcceptedConfiguration> policies = DefaultConfigurations().accepted;
  std::erase_if(policies, [](const AcceptedConfiguration& one) { return one.configuration.scheduler.name != "lrr"; });
  for (const char* name : {"thesis_fixed", "fermi_buffer_fixed"}) {
    SCOPED_TRACE(name);
    const machine::v1::Machine machine = LoadMachine(name).value();
    ExpectRulesKept(**trace, machine, ForMachine(policies, machine));
  }
}

// Thread-instructions and accesses are those of the trace under every policy; and the whole result is that of the
// program with moves for its convergence barriers, but for the pauses that control bits ask for.
TEST(MachineLevel, EveryDivergencePolicyDoesTheSameWorkAsWithMovesInstead) {
  std::vector<AcceptedConfiguration> policies = DefaultConfigurations().accepted;
  std::erase_if(policies, [](const AcceptedConfiguration& one) { return one.configuration.scheduler.name != "lrr"; });
  uint32_t convergence = 0;
  for (const uint64_t seed : Seeds(800'000, 40)) {
    v1::KernelProgram program = MakeProgram(seed);
    for (v1::Instruction& instruction : *program.mutable_instruction()) {
      convergence += instruction.has_convergence();
      instruction.clear_control();  // stall counts make warps pause
    }
    const auto trace = MakeTrace(program, seed);
    const auto plain = MakeTrace(WithoutMachineCode(program), seed);
    ASSERT_EQ(trace->index().thread_instructions(), plain->index().thread_instructions());
    for (const char* name : {"thesis_fixed", "fermi_fixed"}) {
      ReplayOptions options;
      options.machine = LoadMachine(name).value();
      std::vector<Configuration> configurations;
      for (const AcceptedConfiguration& one : ForMachine(policies, options.machine)) {
        configurations.push_back(one.configuration);
      }
      const trace::TraceReader* const traces[] = {trace.get(), plain.get()};
      const auto outcomes = ReplayEach(traces, configurations, options);
      ASSERT_TRUE(outcomes.ok()) << outcomes.status();
      for (size_t c = 0; c < configurations.size(); ++c) {
        SCOPED_TRACE(absl::StrCat("seed ", seed, ", ", name, ", ", configurations[c].divergence.name));
        const auto& outcome = (*outcomes)[0][c];
        ASSERT_TRUE(outcome.ok()) << outcome.status();
        ASSERT_TRUE((*outcomes)[1][c].ok()) << (*outcomes)[1][c].status();
        NoteChecked(configurations[c]);
        const result::v1::LaunchResult& result = outcome->launch(0);
        EXPECT_EQ(result.thread_instructions(), trace->index().thread_instructions());
        result::v1::LaunchResult moves = (*outcomes)[1][c]->launch(0);
        moves.set_code(result.code());
        EXPECT_EQ(result.DebugString(), moves.DebugString());
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(convergence, 20u) << "the programs show too little";
}

}  // namespace
}  // namespace heddle::replay
