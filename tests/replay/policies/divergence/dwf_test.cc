// DWF: regrouping, conflicts, barriers, lanes, scope, calls; by what issues and what is counted.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/replay/policies/divergence/figures.h"
#include "tests/replay/policies/divergence/run_on.h"
#include "tests/replay/policy_driver.h"

namespace heddle::replay {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

PolicyDriver::Options Dwf(const std::string& parameters, const std::string& scheduler) {
  PolicyDriver::Options options;
  options.divergence = "dwf:" + parameters;
  options.scheduler = scheduler;
  return options;
}

// Threads 2 and 6 share lane 2: thread 6 starts a new warp of B, and the older one takes no more threads.
TEST(Dwf, StartsANewWarpForThreadsWhoseLanesAreTaken) {
  const Scenario scenario = FungFigure41();
  PolicyDriver driver(scenario, Dwf("swizzle=none", "dpc"));
  driver.Run();
  // B: 7 joins, 6 does not. C: 6 joins. D: none (7 is in the warp already). E: 6 and 7 join, 2 does not.
  // F: 4, 5 join 3. G: C's and E's threads meet F's.
  EXPECT_EQ(driver.divergence_counter("warps_formed"), 11);  // every issue is a warp of its own
  EXPECT_EQ(driver.issued_threads(), scenario.thread_instructions());
  EXPECT_EQ(driver.divergence_counter("conflict_splits"),
            3);  // B, E and G have two warps each, with two threads of a lane
}

TEST(Dwf, CountsThePoolAtItsFullest) {
  PolicyDriver driver(FungFigure41(), Dwf("swizzle=none", "dtime"));
  driver.Run();
  // After the second issue of A: B[0127], F[45-3], B[--6-].
  EXPECT_GE(driver.divergence_counter("max_pool_warps"), 3);
  EXPECT_EQ(driver.divergence_counter("max_distinct_pcs"), 4);
}

// Fung, section 4.1: threads of one home lane can never share a warp; without lane awareness they can.
TEST(Dwf, FillsAnyLaneIfNotLaneAware) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D").Block('D', 1, "");
  // Lanes 0 and 1 of both warps take B.
  scenario.ThreadBlock({"ABD", "ABD", "ACD", "ACD", "ABD", "ABD", "ACD", "ACD"});
  const std::string aware = PolicyDriver(scenario, Dwf("swizzle=none", "dpc")).Run();
  EXPECT_EQ(CountIssuesOf(aware, "B"), 2);
  EXPECT_EQ(CountIssuesOf(aware, "C"), 2);
  const std::string any = PolicyDriver(scenario, Dwf("swizzle=none,lane_aware=false", "dpc")).Run();
  EXPECT_EQ(any, "A[0123] A[4567] B[0145] C[6723] D[0145] D[6723]");
}

TEST(Dwf, BarrierKeepsWarpsAsTheyArriveAndLetsThemGoFirst) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 2, "D").Block('D', 2, "").Barrier('D', 0);
  scenario.ThreadBlock({"ABD", "ACD", "ABD", "ACD"});
  // B's threads arrive first and alone. Behind the barrier the two warps stay apart ...
  EXPECT_EQ(PolicyDriver(scenario, Dwf("swizzle=none", "dpc")).Run(),
            "A[0123] B[0-2-] C0[-1-3] C1[-1-3] D0[0123] D1[0123]");
  EXPECT_EQ(PolicyDriver(scenario, Dwf("swizzle=none", "dtime")).Run(),
            "A[0123] B[0-2-] C0[-1-3] D0[0-2-] C1[-1-3] D0[-1-3] D1[0-2-] D1[-1-3]");
  // ... unless they are to be regrouped.
  EXPECT_EQ(PolicyDriver(scenario, Dwf("swizzle=none,barrier_regroup=true", "dtime")).Run(),
            "A[0123] B[0-2-] C0[-1-3] D0[0-2-] C1[-1-3] D0[-1-3] D1[0123]");
}

// A warp that a barrier released bypasses the pool and its priorities: thread 3's long way round to the barrier ends
// last, and all the same the released warps go before the pool.
TEST(Dwf, WarpsReleasedByABarrierBypassThePool) {
  Scenario scenario;
  // A second barrier-free path: block E has lower PCs than D1, so DPC alone would prefer E.
  scenario.Block('A', 1, "DE", 'X').Block('E', 3, "X").Block('D', 3, "X").Block('X', 1, "");
  scenario.Barrier('D', 0).Barrier('E', 0);
  scenario.ThreadBlock({"ADX", "ADX", "AEX", "AEX"});
  const std::string log = PolicyDriver(scenario, Dwf("swizzle=none", "dpc")).Run();
  EXPECT_THAT(log, HasSubstr("E0[--23] D0[01--]"));
  EXPECT_THAT(log, EndsWith("X[0123]"));
}

TEST(Dwf, GroupsThreadsOfOneBlockOnlyUnlessTheScopeIsTheCore) {
  Scenario scenario = FungBlocks();
  scenario.ThreadBlock({"ABCEG", "AFG", "AFG", "AFG"}).ThreadBlock({"AFG", "ABCEG", "AFG", "AFG"});
  const std::string by_block = PolicyDriver(scenario, Dwf("swizzle=none", "dpc")).Run();
  EXPECT_EQ(CountIssuesOf(by_block, "B"), 2);
  const std::string by_core = PolicyDriver(scenario, Dwf("swizzle=none,scope=core", "dpc")).Run();
  EXPECT_EQ(CountIssuesOf(by_core, "B"), 1);
  EXPECT_THAT(by_core, HasSubstr("B[0*0 1*1 --]"));
}

TEST(Dwf, WarpsOfSeveralBlocksPartBeforeABarrier) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D").Block('D', 2, "").Barrier('D', 0);
  scenario.ThreadBlock({"ABD", "ACD", "ACD", "ACD"}).ThreadBlock({"ACD", "ABD", "ACD", "ACD"});
  const std::string log = PolicyDriver(scenario, Dwf("swizzle=none,scope=core", "dpc")).Run();
  EXPECT_THAT(log, HasSubstr("B[0*0 1*1 --]"));
  EXPECT_THAT(log, HasSubstr("D0[0*0 0*1 0*2 0*3 ]"));
  EXPECT_THAT(log, Not(HasSubstr("stuck")));
}

// Equal PCs at different call depths are different places.
TEST(Dwf, ThreadsAtDifferentCallDepthsDoNotShareAWarp) {
  const Scenario scenario = Recursion();
  for (const char* scheduler : {"dtime", "dpc", "dmaj", "dmin", "dpdpri", "dpdpri:pd_rule=per_thread", "lrr", "gto"}) {
    PolicyDriver driver(scenario, Dwf("", scheduler));
    EXPECT_THAT(driver.Run(), Not(HasSubstr("stuck"))) << scheduler;
    EXPECT_EQ(driver.issued_threads(), scenario.thread_instructions()) << scheduler;
  }
  // Lower depths first, then lower PCs.
  EXPECT_EQ(PolicyDriver(scenario, Dwf("", "dpc")).Run(),
            "A[0123] F[0123] R[-12-] S[0--3] T[0--3] B[0--3] F[-12-] R[--2-] S[-1--] T[-1--] C[-1--] T[-1--] B[-1--] "
            "F[--2-] S[--2-] T[--2-] C[--2-] T[--2-] C[--2-] T[--2-] B[--2-]");
}

// Thread ids 3, 35, 67, 7, 39, 9 have home lanes 3, 3, 3, 7, 7, 9: three of them need bank 3.
TEST(Dwf, BankPenaltyIsTheMostThreadsOfOneHomeLane) {
  Scenario scenario;
  scenario.Block('A', 1, "").ThreadBlock(std::vector<std::string>(96, "A"));
  WarpTable table(1);
  table.lanes.resize(1);
  table.lanes[0].mask = 0x3f;
  const ThreadId ids[] = {3, 35, 67, 7, 39, 9};
  std::copy(std::begin(ids), std::end(ids), table.lanes[0].thread.begin());
  const auto penalty = [&](const std::string& text) {
    const auto entry = DivergenceRegistry::Get().Find("dwf");
    const auto parameters = Parameters::Parse((*entry)->info, text);
    return (*entry)->make({scenario.program(), 32, 96, 1, 1}, *parameters)->IssuePenalty(0, table);
  };
  EXPECT_EQ(penalty("lane_aware=false"), 3);
  EXPECT_EQ(penalty("lane_aware=false,bank_penalty=m_minus_1"), 2);
  EXPECT_EQ(penalty("lane_aware=false,bank_penalty=none"), 0);
  EXPECT_EQ(penalty("lane_aware=false,bank_penalty_unit=4"), 12);
  EXPECT_EQ(penalty("lane_aware=false,bank_penalty=m_minus_1,bank_penalty_unit=4"), 8);
  EXPECT_EQ(penalty("lane_aware=true"), 0);
  table.lanes[0].mask = 0x29;  // threads 3, 7, 9: no two of one bank
  EXPECT_EQ(penalty("lane_aware=false"), 0);
}

// Fung, section 4.2.1, with one entry in the PC-warp table: every new PC takes it from the one before, whose warp waits
// as it is. The two sides of a branch come from one warp, so that no other warp finds the entry of the first.
TEST(Dwf, AWarpThatLosesItsTableEntryTakesNoMoreThreads) {
  PolicyDriver driver(FungFigure41(), Dwf("swizzle=none,resources=limited,lut_entries=1,lut_ways=1", "dpc"));
  EXPECT_EQ(driver.Run(),
            "A[0123] A[4567] B[012-] B[--67] C[0---] C[--6-] D[-12-] D[---7] E[016-] E[--27] F[---3] F[45--] G[0167] "
            "G[4523]");
  EXPECT_EQ(driver.divergence_counter("lost_merges"), 4);  // B, F, C and D
  EXPECT_EQ(driver.divergence_counter("spills"), 0);
}

// A pool of two warps: what finds it full waits beside it, is not filled, and comes back first in, first out.
TEST(Dwf, WarpsThatFindThePoolFullWaitBesideIt) {
  PolicyDriver driver(FungFigure41(), Dwf("swizzle=none,resources=limited,pool_entries=2", "dtime"));
  EXPECT_EQ(driver.Run(),
            "A[0123] A[4567] B[0127] F[---3] B[--6-] F[45--] C[0---] D[-127] G[---3] C[--6-] G[45--] E[0---] E[-127] "
            "E[--6-] G[0---] G[-127] G[--6-]");
  EXPECT_EQ(driver.divergence_counter("spills"), 14);
  EXPECT_EQ(driver.divergence_counter("max_pool_warps"), 2);
}

TEST(Dwf, TablesOfFungsSizeAreLargeEnoughForItsExample) {
  PolicyDriver driver(FungFigure41(), Dwf("swizzle=none,resources=limited", "dpc"));
  EXPECT_EQ(driver.Run(), PolicyDriver(FungFigure41(), Dwf("swizzle=none", "dpc")).Run());
  EXPECT_EQ(driver.divergence_counter("table_evictions"), 0);
}

// The minority of CAPRI's Figure 1 under majority scheduling: B's warp waits from cycle 4, when the last of A is done,
// to the end.
TEST(Dwf, StarvationShowsInTheLongestWait) {
  PolicyDriver majority(CapriFigure1(), Dwf("swizzle=none", "dmaj"));
  majority.Run();
  PolicyDriver oldest(CapriFigure1(), Dwf("swizzle=none", "dtime"));
  oldest.Run();
  EXPECT_GE(majority.divergence_counter("longest_in_pool"), 6);
  EXPECT_LT(oldest.divergence_counter("longest_in_pool"), majority.divergence_counter("longest_in_pool"));
}

TEST(Dwf, ThePoolsOccupancyCoversTheTimeToTheLastIssue) {
  PolicyDriver driver(FungFigure41(), Dwf("swizzle=none", "dpc"));
  driver.Run();
  EXPECT_EQ(driver.divergence_counter("pool_0_to_15"), driver.issues().back().cycle);
  EXPECT_EQ(driver.divergence_counter("pool_from_128"), 0);
}

}  // namespace
}  // namespace heddle::replay
