// The lane-activity oracle: its worked examples, and that no policy beats it.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/replay/lane_activity_oracle.h"
#include "tests/replay/policies/divergence/figures.h"
#include "tests/replay/policies/divergence/run_on.h"

namespace heddle::replay {
namespace {

LaneActivityOracle OracleOf(const Scenario& scenario, LaneActivityOracle::Options options) {
  LaneActivityOracle oracle(options);
  for (size_t block = 0; block < scenario.thread_blocks(); ++block) {
    for (uint32_t thread = 0; thread < scenario.threads_per_block(); ++thread) {
      for (const Scenario::Step& step : scenario.Steps(block, thread)) {
        oracle.Add(block, thread, step.at.pc(), step.at.depth());
      }
    }
  }
  return oracle;
}

std::vector<uint64_t> WarpsByBlock(const Scenario& scenario, const LaneActivityOracle& oracle,
                                   const std::string& names) {
  std::vector<uint64_t> warps;
  for (const char name : names) warps.push_back(oracle.warps(0, scenario.PcOf(name)));
  return warps;
}

TEST(LaneActivityOracle, OfFungFigure41) {
  const Scenario scenario = FungFigure41();
  const LaneActivityOracle oracle = OracleOf(scenario, {.warp_size = 4});
  EXPECT_THAT(WarpsByBlock(scenario, oracle, "ABCDEFG"), testing::ElementsAre(2, 2, 1, 1, 2, 1, 2));
  EXPECT_EQ(oracle.warps(), 11);
  EXPECT_EQ(oracle.thread_instructions(), 34);
  EXPECT_NEAR(oracle.activity(), 77.3, 0.05);
}

TEST(LaneActivityOracle, OfCapriFigure1) {
  const Scenario scenario = CapriFigure1();
  const LaneActivityOracle oracle = OracleOf(scenario, {.warp_size = 4});
  EXPECT_THAT(WarpsByBlock(scenario, oracle, "ABCD"), testing::ElementsAre(2, 1, 2, 2));  // twice each
  EXPECT_EQ(oracle.warps(), 14);
  EXPECT_NEAR(oracle.activity(), 85.7, 0.05);
}

// It knows no order, so it pairs iterations that no schedule can bring together.
TEST(LaneActivityOracle, OfTheEvenOddLoopIsFullEvenWithoutSwizzle) {
  const LaneActivityOracle oracle = OracleOf(EvenOddLoop(), {.warp_size = 4});
  EXPECT_EQ(oracle.warps(), 26);
  EXPECT_DOUBLE_EQ(oracle.activity(), 100);
}

TEST(LaneActivityOracle, OfALoneWarpWithIdleLanes) {
  LaneActivityOracle oracle({.warp_size = 8});
  for (uint32_t thread = 0; thread < 3; ++thread) oracle.Add(0, thread, 0);
  EXPECT_EQ(oracle.warps(), 1);
  EXPECT_DOUBLE_EQ(oracle.activity(), 37.5);
}

TEST(LaneActivityOracle, WithFreeLanesOnlyCountsThreads) {
  LaneActivityOracle fixed({.warp_size = 4});
  LaneActivityOracle free({.warp_size = 4, .lane_fixed = false});
  for (uint32_t thread : {0, 4, 8, 12, 1}) {  // four of lane 0
    fixed.Add(0, thread, 7);
    free.Add(0, thread, 7);
  }
  EXPECT_EQ(fixed.warps(), 4);
  EXPECT_EQ(free.warps(), 2);
}

TEST(LaneActivityOracle, SwizzleMovesOddWarpsToTheNeighbouringLane) {
  LaneActivityOracle plain({.warp_size = 4});
  LaneActivityOracle swizzled({.warp_size = 4, .swizzle_even_odd = true});
  for (uint32_t thread : {0, 4}) {
    plain.Add(0, thread, 0);
    swizzled.Add(0, thread, 0);
  }
  EXPECT_EQ(plain.warps(), 2);
  EXPECT_EQ(swizzled.warps(), 1);
}

TEST(LaneActivityOracle, ScopeDecidesWhetherBlocksMayShareAWarp) {
  LaneActivityOracle by_block({.warp_size = 4});
  LaneActivityOracle by_kernel({.warp_size = 4, .scope_is_block = false});
  for (uint32_t block : {0, 1}) {
    by_block.Add(block, block, 0);  // thread 0 of block 0, thread 1 of block 1
    by_kernel.Add(block, block, 0);
  }
  EXPECT_EQ(by_block.warps(), 2);
  EXPECT_EQ(by_kernel.warps(), 1);
}

TEST(LaneActivityOracle, CallDepthsArePlacesOfTheirOwn) {
  LaneActivityOracle oracle({.warp_size = 4});
  oracle.Add(0, 0, 3, 1);
  oracle.Add(0, 1, 3, 2);
  EXPECT_EQ(oracle.warps(), 2);
}

TEST(LaneActivityOracle, IsNotBeatenByAnyPolicyOfItsScopeAndLaneRule) {
  for (const Scenario& scenario : {FungFigure31(), FungFigure41(), CapriFigure1(), EvenOddLoop()}) {
    const uint64_t plain = OracleOf(scenario, {.warp_size = 4}).warps();
    const uint64_t swizzled = OracleOf(scenario, {.warp_size = 4, .swizzle_even_odd = true}).warps();
    for (const char* divergence : {"nrec", "pdom"}) {
      EXPECT_GE(CountIssues(RunOn(Runner::kDriver, scenario, divergence, "fifo", 4)), plain) << divergence;
    }
    for (const char* scheduler : {"dtime", "dpc", "dmaj", "dmin", "dpdpri", "lrr", "gto", "fifo"}) {
      EXPECT_GE(CountIssues(RunOn(Runner::kDriver, scenario, "dwf:swizzle=none", scheduler, 4)), plain) << scheduler;
      EXPECT_GE(CountIssues(RunOn(Runner::kDriver, scenario, "dwf", scheduler, 4)), swizzled) << scheduler;
    }
  }
}

}  // namespace
}  // namespace heddle::replay
