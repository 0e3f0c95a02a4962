// Profiles per instruction, time series and warp timelines of small runs, computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"
#include "replay/stats/instruction_profile.h"
#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using result::v1::InstructionCounters;
using testing::ElementsAre;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

RunOptions WithProfile(RunOptions options = {}) {
  options.metrics.per_instruction = true;
  return options;
}

Outcome RunProgram(const trace::v1::KernelProgram& program, const std::vector<ThreadTrace>& threads,
                   const RunOptions& options) {
  Outcome outcome = RunTrace(*MakeTrace(program, 1, threads), options);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  return outcome;
}

const InstructionCounters& At(const Outcome& outcome, uint64_t pc) {
  for (const InstructionCounters& one : outcome.launch().instruction_profile().instruction()) {
    if (one.pc() == pc * 8) return one;
  }
  ADD_FAILURE() << "nothing is counted for instruction " << pc;
  return InstructionCounters::default_instance();
}

// "issued 1 fetch 2": what is not 0.
std::string Text(const result::v1::StallCycles& stalls) {
  std::string text = absl::StrCat("issued ", stalls.issued());
  const auto add = [&](const char* name, uint64_t cycles) {
    if (cycles != 0) absl::StrAppend(&text, " ", name, " ", cycles);
  };
  add("structural", stalls.structural());
  add("memory", stalls.data_memory());
  add("arithmetic", stalls.data_arithmetic());
  add("waw", stalls.data_waw());
  add("control", stalls.control());
  add("fetch", stalls.fetch());
  add("policy", stalls.policy());
  add("barrier", stalls.barrier());
  add("exit", stalls.exit());
  add("empty", stalls.empty());
  return text;
}

// One SM with instruction buffers of two: arithmetic takes 4 cycles, memory 20.
RunOptions Buffers() {
  RunOptions options = WithProfile();
  machine::v1::Core& core = *options.machine.mutable_core();
  core.set_front_end(machine::v1::Core::IBUFFER);
  core.mutable_ibuffer()->set_entries(2);
  core.mutable_ibuffer()->set_fetch_instructions(2);
  core.mutable_ibuffer()->set_reformed_warp_cycles(2);
  core.mutable_units()->set_sp(1);
  core.mutable_units()->set_sfu(1);
  core.mutable_units()->set_memory_issue_latency(1);
  core.mutable_units()->set_memory_initiation_interval(1);
  machine::v1::OperationTiming& timing = *core.mutable_units()->add_timing();
  timing.set_operation(machine::v1::OperationTiming::INT_ALU);
  timing.set_latency(4);
  timing.set_initiation_interval(1);
  timing.set_unit(machine::v1::OperationTiming::SP_UNIT);
  options.machine.mutable_memory()->mutable_fixed()->set_global_cycles(20);
  return options;
}

// ------------------------------------------------------------------------------------------------------ instructions

// The chain of InstructionBuffer.AChainOfDependentAddsIssuesEveryLatency: issues in 2, 6, 10, 11, and 16 cycles.
TEST(InstructionProfile, EveryCycleOfAChainBelongsToTheInstructionThatIsWaitedWith) {
  const Outcome outcome =
      RunProgram(ProgramBuilder("chain").Alu(3).Exit().Build(), std::vector<ThreadTrace>(4, Thread({})), Buffers());
  EXPECT_EQ(outcome.launch().cycles(), 16);
  EXPECT_EQ(Text(At(outcome, 0).stalls()), "issued 1 fetch 2");
  EXPECT_EQ(Text(At(outcome, 1).stalls()), "issued 1 arithmetic 3");
  EXPECT_EQ(Text(At(outcome, 2).stalls()), "issued 1 arithmetic 2 fetch 1");
  EXPECT_EQ(Text(At(outcome, 3).stalls()), "issued 1 control 3");
  EXPECT_EQ(Text(outcome.launch().instruction_profile().elsewhere()), "issued 0 exit 1");
  EXPECT_FALSE(At(outcome, 0).has_scheduler_cycles());
  EXPECT_FALSE(At(outcome, 0).has_memory());  // latencies are fixed: no transactions
}

// Two warps behind a load each, both in class data: the cycles are the older one's until it issues. With buffers of two
// and one fetch per cycle warp 0 issues its load in 2, warp 1 in 3; the data come in 22 and 23.
TEST(InstructionProfile, TheOldestWarpOfTheClassIsCharged) {
  const auto program = ProgramBuilder("load").Load().Alu().Exit().Build();
  const Outcome outcome = RunProgram(program, std::vector<ThreadTrace>(8, Thread({}, {0x1000})), Buffers());
  EXPECT_EQ(At(outcome, 1).issues(), 2);
  EXPECT_EQ(At(outcome, 1).thread_instructions(), 8);
  EXPECT_EQ(At(outcome, 1).stalls().data_memory(), 18);  // 4 to 21
  EXPECT_EQ(At(outcome, 0).stalls().total(), 4);         // issued in 2 and 3, fetched for in 0 and 1
  EXPECT_DOUBLE_EQ(At(outcome, 1).lane_activity(), 100);
}

TEST(InstructionProfile, SinglePipelinePortsChargeTheInstructionInFlight) {
  RunOptions options = WithProfile();
  options.machine.mutable_core()->set_pipeline_depth(3);
  const Outcome outcome =
      RunProgram(ProgramBuilder("chain").Alu(3).Exit().Build(), std::vector<ThreadTrace>(4, Thread({})), options);
  EXPECT_EQ(outcome.launch().cycles(), 12);
  for (uint64_t pc = 0; pc < 4; ++pc) {
    const result::v1::SchedulerCycles& cycles = At(outcome, pc).scheduler_cycles();
    EXPECT_EQ(cycles.total(), 3) << pc;
    EXPECT_EQ(cycles.issued(), 1) << pc;
    EXPECT_EQ(cycles.idle(), 2) << pc;
  }
  EXPECT_EQ(outcome.launch().instruction_profile().scheduler_elsewhere().total(), 0);
  EXPECT_FALSE(At(outcome, 0).has_stalls());
}

TEST(InstructionProfile, SinglePipelineWaitsForMemoryAreTheLoads) {
  RunOptions options = WithProfile();
  options.machine.mutable_memory()->mutable_fixed()->set_global_cycles(10);
  const auto program = ProgramBuilder("load").Load().Alu().Exit().Build();
  const Outcome outcome = RunProgram(program, std::vector<ThreadTrace>(4, Thread({}, {0x1000})), options);
  EXPECT_EQ(At(outcome, 0).scheduler_cycles().memory(), 9);
  EXPECT_EQ(At(outcome, 0).scheduler_cycles().idle(), 0);
  EXPECT_EQ(At(outcome, 1).scheduler_cycles().total(), 1);
}

// Threads 0 and 1 fall through, 2 and 3 jump: one split, and half of the lanes on either side.
TEST(InstructionProfile, SplitsAndLanes) {
  const auto program = ProgramBuilder("if")
                           .Block("head")
                           .Alu()
                           .Branch("then", "else")
                           .Block("then")
                           .Alu()
                           .Jump("join")
                           .Block("else")
                           .Alu()
                           .Block("join")
                           .Exit()
                           .Build();
  const Outcome outcome = RunProgram(program, {Thread({0}), Thread({0}), Thread({1}), Thread({1})}, WithProfile());
  const uint64_t branch = 1;
  EXPECT_EQ(At(outcome, 0).splits(), 0);
  EXPECT_EQ(At(outcome, branch).splits(), 1);
  EXPECT_DOUBLE_EQ(At(outcome, branch).lane_activity(), 100);
  EXPECT_DOUBLE_EQ(At(outcome, branch + 1).lane_activity(), 50);
  uint64_t splits = 0;
  for (const InstructionCounters& one : outcome.launch().instruction_profile().instruction()) splits += one.splits();
  EXPECT_EQ(splits, 1);
}

TEST(InstructionProfile, NothingIsThereUnlessItIsAskedFor) {
  const Outcome outcome =
      RunProgram(ProgramBuilder("chain").Alu(3).Exit().Build(), std::vector<ThreadTrace>(4, Thread({})), RunOptions());
  EXPECT_FALSE(outcome.launch().has_instruction_profile());
  EXPECT_FALSE(outcome.launch().has_time_series());
  EXPECT_EQ(outcome.launch().warp_timeline_size(), 0);
}

TEST(InstructionText, HasOpcodeAndRegisters) {
  trace::v1::KernelProgram program = ProgramBuilder("texts").Barrier().Alu().Exit().Build();
  program.mutable_instruction(1)->set_mnemonic("add.s32");
  program.mutable_instruction(1)->clear_dst();
  program.mutable_instruction(1)->add_dst(3);
  program.mutable_instruction(1)->add_src(1);
  program.mutable_instruction(1)->add_src(2);
  EXPECT_EQ(InstructionText(*trace::Program::Create(program), 0), "bar.sync");
  EXPECT_EQ(InstructionText(*trace::Program::Create(program), 1), "add.s32 %3, %1, %2");
  program.set_level(trace::v1::LEVEL_MACHINE);
  program.mutable_instruction(1)->set_mnemonic("IADD3");
  program.mutable_function(0)->set_register_file(
      std::string{trace::v1::FILE_GENERAL, trace::v1::FILE_UNIFORM, trace::v1::FILE_GENERAL});
  program.mutable_function(0)->set_register_number(std::string{8, 4, 9});
  EXPECT_EQ(InstructionText(*trace::Program::Create(program), 1), "IADD3 R9, R8, UR4");
}

TEST(InstructionProfile, NamesTheSourceLine) {
  trace::v1::KernelProgram program = ProgramBuilder("chain").Alu(1).Exit().Build();
  trace::v1::FileHeader header = trace::testing::MakeHeader();
  header.clear_source_file();
  header.add_source_file("a.cu");
  program.mutable_instruction(0)->set_source_file(1);
  program.mutable_instruction(0)->set_source_line(17);
  program.mutable_instruction(1)->set_source_file(0);
  program.mutable_instruction(1)->set_source_line(0);
  const auto trace = MakeTrace(program, 1, std::vector<ThreadTrace>(4, Thread({})), header);
  const Outcome outcome = RunTrace(*trace, WithProfile());
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(At(outcome, 0).source_file(), "a.cu");
  EXPECT_EQ(At(outcome, 0).source_line(), 17);
  EXPECT_EQ(At(outcome, 1).source_file(), "");
}

// ------------------------------------------------------------------------------------------------ time and timelines

// Two warps around a barrier, one issue per cycle: adds in 0 and 1, arrivals in 2 and 3, on from 4; adds in 4 and 5,
// exits in 6 and 7 that take effect a cycle later.
Outcome AroundABarrier(const MetricOptions& metrics) {
  RunOptions options;
  options.metrics = metrics;
  return RunProgram(ProgramBuilder("barrier").Alu().Barrier().Alu().Exit().Build(),
                    std::vector<ThreadTrace>(8, Thread({})), options);
}

TEST(WarpTimeline, HasThePhasesBetweenBarriers) {
  MetricOptions metrics;
  metrics.timeline_blocks = 1;
  const Outcome outcome = AroundABarrier(metrics);
  ASSERT_EQ(outcome.launch().cycles(), 8);
  ASSERT_EQ(outcome.launch().warp_timeline_size(), 2);
  const auto text = [](const result::v1::WarpTimeline& warp) {
    std::string phases = absl::StrCat(warp.block(), ".", warp.warp(), ":");
    for (const result::v1::WarpTimeline::Phase& phase : warp.phase()) {
      absl::StrAppend(&phases, " ", phase.start(), "-", phase.arrival(), "-", phase.release());
    }
    return phases;
  };
  EXPECT_EQ(text(outcome.launch().warp_timeline(0)), "0.0: 0-2-4 4-7-8");
  EXPECT_EQ(text(outcome.launch().warp_timeline(1)), "0.1: 0-3-4 4-8-8");
  // RTRU (BAWS, equation 1): T is 2 and 3, then 3 and 4.
  EXPECT_NEAR(outcome.launch().warp_progress().rtru(), 100 * (1.0 / 6 + 1.0 / 8) / 2, 1e-6);
}

TEST(TimeSeries, BinsOfFourCycles) {
  MetricOptions metrics;
  metrics.bin_cycles = 4;
  const Outcome outcome = AroundABarrier(metrics);
  const result::v1::TimeSeries& series = outcome.launch().time_series();
  EXPECT_EQ(series.bin_cycles(), 4);
  EXPECT_THAT(series.warp_instructions(), ElementsAre(4, 4));
  EXPECT_THAT(series.thread_instructions(), ElementsAre(16, 16));
  EXPECT_THAT(series.dispatched_blocks(), ElementsAre(1, 0));
  EXPECT_THAT(series.retired_blocks(), ElementsAre(0, 1));
  EXPECT_THAT(series.exited_threads(), ElementsAre(0, 8));
  EXPECT_THAT(series.resident_cycles(), ElementsAre(4, 4));
  EXPECT_THAT(series.issued(), ElementsAre(4, 4));
  EXPECT_FALSE(series.has_stalls());
  EXPECT_FALSE(series.has_memory_system());
}

// One load of 100 cycles: nothing runs in between, and the cycles are in their bins all the same.
TEST(TimeSeries, CyclesThatNothingRunsInAreCounted) {
  RunOptions options;
  options.metrics.bin_cycles = 30;
  options.machine.mutable_memory()->mutable_fixed()->set_global_cycles(100);
  const auto program = ProgramBuilder("load").Load().Exit().Build();
  const Outcome outcome = RunProgram(program, std::vector<ThreadTrace>(4, Thread({}, {0x1000})), options);
  ASSERT_EQ(outcome.launch().cycles(), 101);
  EXPECT_THAT(outcome.launch().time_series().memory(), ElementsAre(29, 30, 30, 10));
  EXPECT_THAT(outcome.launch().time_series().issued(), ElementsAre(1, 0, 0, 1));
}

}  // namespace
}  // namespace heddle::replay
