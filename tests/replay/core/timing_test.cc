// The time of the front end with a single pipeline: issue periods, latencies, dispatch, and what is counted in which
// cycle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

trace::v1::KernelProgram Straight(int instructions) {
  return ProgramBuilder("straight").Alu(instructions - 1).Exit().Build();
}

TEST(Timing, OneWarpOfNInstructionsTakesNTimesTheLatency) {  // timing-core invariant 6
  for (const uint32_t depth : {1u, 8u, 15u}) {
    RunOptions options;
    options.machine.mutable_core()->set_pipeline_depth(depth);
    const Outcome outcome = RunTrace(*MakeTrace(Straight(10), 1, std::vector<ThreadTrace>(4)), options);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_EQ(outcome.launch().cycles(), 10 * depth);
  }
}

TEST(Timing, AWarpOccupiesItsPortForItsLaneGroups) {
  // Warps of 4 on 2 lanes: decisions at even cycles only, even for a warp with one thread.
  RunOptions options;
  options.machine.mutable_core()->set_simd_width(2);
  options.machine.mutable_core()->set_pipeline_depth(3);
  machine::v1::FixedLatency& fixed = *options.machine.mutable_memory()->mutable_fixed();
  for (auto set : {&machine::v1::FixedLatency::set_global_cycles, &machine::v1::FixedLatency::set_shared_cycles,
                   &machine::v1::FixedLatency::set_local_cycles, &machine::v1::FixedLatency::set_constant_cycles,
                   &machine::v1::FixedLatency::set_param_cycles, &machine::v1::FixedLatency::set_texture_cycles,
                   &machine::v1::FixedLatency::set_atomic_cycles}) {
    (fixed.*set)(3);
  }
  const Outcome outcome = RunTrace(*MakeTrace(Straight(2), 1, std::vector<ThreadTrace>(5)), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.log.text(), "0:0[0 1 2 3] 2:0[4] 4:1[0 1 2 3] 6:1[4]");
  EXPECT_EQ(outcome.launch().cycles(), 9);
  EXPECT_EQ(outcome.launch().scheduler_cycles().total(), 5);  // 0, 2, 4, 6, 8
  EXPECT_EQ(outcome.launch().scheduler_cycles().issued(), 4);
  EXPECT_EQ(outcome.launch().scheduler_cycles().idle(), 1);
  EXPECT_EQ(outcome.launch().idle_threads().cycles(), 1);  // 8
  EXPECT_EQ(outcome.launch().idle_threads().dependency(), 1);
  EXPECT_EQ(outcome.launch().idle_threads().finished(), 4);
  EXPECT_DOUBLE_EQ(outcome.launch().depth_utilisation(), 100.0 * 8 / 9);
  EXPECT_DOUBLE_EQ(outcome.launch().lane_activity(), 100.0 * 10 / 16);
  EXPECT_THAT(outcome.launch().issues_by_size(), ElementsAre(2, 0, 0, 2));
}

TEST(Timing, BlocksEnterAnSmOnePerCycleAndTheFirstBeforeCycleZero) {
  RunOptions options;
  options.machine.mutable_core()->set_pipeline_depth(10);
  const Outcome outcome = RunTrace(*MakeTrace(Straight(1), 3, std::vector<ThreadTrace>(12)), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.log.text(), "0:0[0 1 2 3] 1:0[0 1 2 3] 2:0[0 1 2 3]");
  EXPECT_EQ(outcome.log.issues()[2].members[0].block, 2);
  EXPECT_EQ(outcome.launch().cycles(), 12);
}

TEST(Timing, ABlockTakesThePlaceOfARetiredOneInTheCycleAfter) {
  RunOptions options;
  options.machine.mutable_core()->set_max_blocks(1);
  options.machine.mutable_core()->set_pipeline_depth(5);
  const Outcome outcome = RunTrace(*MakeTrace(Straight(1), 2, std::vector<ThreadTrace>(8)), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.log.text(), "0:0[0 1 2 3] 6:0[0 1 2 3]");
  EXPECT_EQ(outcome.launch().cycles(), 11);
  EXPECT_EQ(outcome.launch().blocks_per_sm(), 1);
  EXPECT_EQ(outcome.launch().residency_limit(), "blocks");
}

TEST(Timing, ASmallGridIsSpreadOverTheSms) {
  RunOptions options;
  options.machine.set_sms(3);
  options.machine.mutable_dispatch()->set_spread_small_grids(true);
  const Outcome outcome = RunTrace(*MakeTrace(Straight(1), 6, std::vector<ThreadTrace>(24)), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.launch().blocks_per_sm(), 2);
  EXPECT_EQ(outcome.launch().residency_limit(), "grid");
  EXPECT_EQ(outcome.launch().cycles(), 2);
}

TEST(Timing, ScriptedLatenciesReplaceThePipelineForMatchingThreads) {
  RunOptions options;
  machine::v1::Core& core = *options.machine.mutable_core();
  auto& first = *core.add_scripted_latency();
  first.set_instruction(1);
  first.set_first_thread(2);
  first.set_last_thread(2);
  first.set_cycles(7);
  auto& any = *core.add_scripted_latency();
  any.set_any_instruction(true);
  any.set_first_thread(4);
  any.set_last_thread(4);
  any.set_cycles(3);
  const Outcome outcome = RunTrace(*MakeTrace(Straight(3), 1, std::vector<ThreadTrace>(5)), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.log.text(), "0:0[0 1 2 3] 1:0[4] 2:1[0 1 2 3] 4:1[4] 7:2[4] 9:2[0 1 2 3]");
}

TEST(Timing, PortsIssueInTheSameCycle) {
  RunOptions options;
  options.machine.mutable_core()->set_schedulers(2);
  const Outcome outcome = RunTrace(*MakeTrace(Straight(2), 1, std::vector<ThreadTrace>(12)), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  // Slots 0 and 2 are port 0's, slot 1 is port 1's.
  EXPECT_EQ(outcome.log.text(), "0:0[0 1 2 3] 0:0[4 5 6 7] 1:0[8 9 10 11] 1:1[4 5 6 7] 2:1[0 1 2 3] 3:1[8 9 10 11]");
  EXPECT_EQ(outcome.launch().scheduler_cycles().total(), 8);
}

TEST(Timing, ALaunchThatTheMachineCannotHoldIsRefused) {
  const Outcome outcome = RunTrace(*MakeTrace(Straight(1), 1, std::vector<ThreadTrace>(65)));
  EXPECT_FALSE(outcome.status.ok());
  EXPECT_THAT(outcome.status.message(), HasSubstr("launch 0 (straight)"));
}

TEST(Timing, WarpOperationsNeedWarpsAsWideAsRecorded) {
  auto program = Straight(2);
  program.set_uses_warp_operations(true);
  trace::v1::FileHeader header = trace::testing::MakeHeader();
  header.set_warp_width(32);
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, std::vector<ThreadTrace>(4), header));
  EXPECT_THAT(outcome.status.message(), HasSubstr("recorded for warps of 32 threads; the machine's warps have 4"));
  RunOptions wide;
  wide.machine.mutable_core()->set_warp_size(32);
  wide.machine.mutable_core()->set_simd_width(32);
  EXPECT_TRUE(RunTrace(*MakeTrace(program, 1, std::vector<ThreadTrace>(4), header), wide).status.ok());
}

TEST(Configurations, OfWhichAPartDoesNotGoTogetherAreRefusedWithTheReason) {
  Configuration configuration;
  configuration.divergence.name = "pdom";
  configuration.scheduler.name = "dmaj";
  EXPECT_THAT(Validate(configuration).message(),
              HasSubstr("scheduler 'dmaj' does not go with divergence policy 'pdom'"));
  configuration.scheduler.name = "ltr";
  EXPECT_THAT(Validate(configuration).message(), HasSubstr("lrr"));
}

}  // namespace
}  // namespace heddle::replay
