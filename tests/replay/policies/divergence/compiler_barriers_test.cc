// The code's own convergence barriers (its:reconvergence=compiler): worked examples cycle by cycle, reckoned by hand
// from what BSSY, BSYNC, BREAK, WARPSYNC and YIELD say, and the barriers of a warp by themselves.
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "replay/policies/divergence/shared/convergence_barriers.h"
#include "tests/replay/policies/divergence/run_on.h"
#include "tests/replay/policy_driver.h"

namespace heddle::replay {
namespace {

using trace::v1::Convergence;

constexpr char kCompiler[] = "its:reconvergence=compiler";

class CompilerBarriers : public testing::TestWithParam<Runner> {
 protected:
  std::string Run(const Scenario& scenario, const std::string& more = "") {
    return RunOn(GetParam(), scenario, kCompiler + more, "fifo", 4);
  }
};

INSTANTIATE_TEST_SUITE_P(Runners, CompilerBarriers, testing::ValuesIn(kRunners), RunnerName);

uint64_t CounterOf(const Scenario& scenario, const std::string& counter, const std::string& more = "") {
  PolicyDriver::Options options;
  options.divergence = kCompiler + more;
  PolicyDriver driver(scenario, options);
  driver.Run();
  return driver.divergence_counter(counter);
}

// S is BSSY B0, D is BSYNC B0; M is where it goes.
Scenario Diamond() {
  Scenario scenario;
  scenario.Block('S', 1, "A").Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D");
  scenario.Block('D', 1, "M").Block('M', 1, "");
  scenario.Convergence('S', 0, Convergence::SET, 0, 'M').Convergence('D', 0, Convergence::SYNC);
  return scenario;
}

// Each split issues the BSYNC, and they go on as one.
TEST_P(CompilerBarriers, SplitsMeetBehindTheirBsync) {
  Scenario scenario = Diamond();
  scenario.ThreadBlock({"SABDM", "SACDM", "SABDM", "SACDM"});
  EXPECT_EQ(Run(scenario), "S[0123] A[0123] B[0-2-] D[0-2-] C[-1-3] D[-1-3] M[0123]");
  EXPECT_EQ(Run(scenario, ",taken_first=false"), "S[0123] A[0123] C[-1-3] D[-1-3] B[0-2-] D[0-2-] M[0123]");
  EXPECT_EQ(CounterOf(scenario, "divergences"), 1u);
  EXPECT_EQ(CounterOf(scenario, "max_stack_depth"), 2u);
}

TEST_P(CompilerBarriers, AWarpThatIsTogetherWaitsForNobody) {
  Scenario scenario = Diamond();
  scenario.ThreadBlock({"SABDM", "SABDM", "SABDM", "SABDM"});
  EXPECT_EQ(Run(scenario), "S[0123] A[0123] B[0123] D[0123] M[0123]");
  EXPECT_EQ(CounterOf(scenario, "divergences"), 0u);
}

// The inner branch has no barrier: D is its post-dominator, and nobody meets there.
TEST_P(CompilerBarriers, NobodyMeetsElsewhere) {
  Scenario scenario;
  scenario.Block('S', 1, "A").Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D").Block('D', 1, "E");
  scenario.Block('E', 1, "M").Block('M', 1, "");
  scenario.Convergence('S', 0, Convergence::SET, 0, 'M').Convergence('E', 0, Convergence::SYNC);
  scenario.ThreadBlock({"SABDEM", "SACDEM", "SABDEM", "SACDEM"});
  EXPECT_EQ(Run(scenario), "S[0123] A[0123] B[0-2-] D[0-2-] E[0-2-] C[-1-3] D[-1-3] E[-1-3] M[0123]");
}

// A wide branch; and BSYNCs at two places for one barrier.
TEST_P(CompilerBarriers, ThreeSplitsAndTwoBsyncs) {
  Scenario scenario;
  scenario.Block('S', 1, "A").Block('A', 1, "BCE", 'M').Block('B', 1, "D").Block('C', 1, "D").Block('E', 1, "F");
  scenario.Block('D', 1, "M").Block('F', 1, "M").Block('M', 1, "");
  scenario.Convergence('S', 0, Convergence::SET, 0, 'M');
  scenario.Convergence('D', 0, Convergence::SYNC).Convergence('F', 0, Convergence::SYNC);
  scenario.ThreadBlock({"SABDM", "SACDM", "SAEFM", "SABDM"});
  EXPECT_EQ(Run(scenario), "S[0123] A[0123] B[0--3] D[0--3] C[-1--] D[-1--] E[--2-] F[--2-] M[0123]");
  EXPECT_EQ(CounterOf(scenario, "divergences"), 1u);
}

TEST_P(CompilerBarriers, ThreadsThatEndAreNotWaitedFor) {
  Scenario with_exit;
  with_exit.Block('S', 1, "A").Block('A', 1, "XC", 0).Block('X', 1, "").Block('C', 1, "D");
  with_exit.Block('D', 1, "M").Block('M', 1, "");
  with_exit.Convergence('S', 0, Convergence::SET, 0, 'M').Convergence('D', 0, Convergence::SYNC);
  with_exit.ThreadBlock({"SAX", "SACDM", "SAX", "SACDM"});
  EXPECT_EQ(Run(with_exit), "S[0123] A[0123] X[0-2-] C[-1-3] D[-1-3] M[-1-3]");
  EXPECT_EQ(Run(with_exit, ",taken_first=false"), "S[0123] A[0123] C[-1-3] D[-1-3] X[0-2-] M[-1-3]");
}

// Threads 0 and 2 break away, and wait at a barrier of the thread block (X1) that the others come to behind their
// BSYNC.
TEST_P(CompilerBarriers, ThreadsThatBreakAwayAreNotWaitedFor) {
  Scenario scenario;
  scenario.Block('S', 1, "A").Block('A', 1, "XB", 'R').Block('X', 2, "R").Block('B', 1, "D").Block('D', 1, "M");
  scenario.Block('M', 1, "R").Block('R', 1, "");
  scenario.Convergence('S', 0, Convergence::SET, 0, 'M').Convergence('D', 0, Convergence::SYNC);
  scenario.Convergence('X', 0, Convergence::BREAK).Barrier('X', 1).Barrier('M', 0);
  scenario.ThreadBlock({"SAXR", "SABDMR", "SAXR", "SABDMR"});
  EXPECT_EQ(Run(scenario, ",taken_first=false"),
            "S[0123] A[0123] B[-1-3] D[-1-3] X0[0-2-] X1[0-2-] M[-1-3] R[0-2-] R[-1-3]");
}

// Thread 0 spins; its YIELD gives thread 1 its turn, and nobody when that waits at the BSYNC.
TEST_P(CompilerBarriers, YieldLetsAnotherSplitRun) {
  Scenario scenario;
  scenario.Block('S', 1, "A").Block('A', 1, "LP", 'D').Block('L', 2, "LD", 'D').Block('P', 1, "D");
  scenario.Block('D', 1, "M").Block('M', 1, "");
  scenario.Convergence('S', 0, Convergence::SET, 0, 'M').Convergence('D', 0, Convergence::SYNC);
  scenario.Convergence('L', 0, Convergence::YIELD);
  scenario.ThreadBlock({"SALLLDM", "SAPDM"});
  EXPECT_EQ(Run(scenario),
            "S[01--] A[01--] L0[0---] P[-1--] D[-1--] L1[0---] L0[0---] L1[0---] L0[0---] L1[0---] D[0---] M[01--]");
  EXPECT_EQ(CounterOf(scenario, "yields"), 1u);
}

TEST_P(CompilerBarriers, YieldsOfThePolicyComeBesideThoseOfTheCode) {
  Scenario scenario = Diamond();
  scenario.ThreadBlock({"SABDM", "SACDM", "SABDM", "SACDM"});
  EXPECT_EQ(Run(scenario, ",yield=block_end"), "S[0123] A[0123] B[0-2-] C[-1-3] D[0-2-] D[-1-3] M[0123]");
}

// W0 is a WARPSYNC in the middle of a block; no barrier register is needed.
TEST_P(CompilerBarriers, WarpsyncWaitsForItsMask) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'W').Block('B', 1, "W").Block('C', 1, "W").Block('W', 2, "");
  scenario.Convergence('W', 0, Convergence::WARP_SYNC);
  scenario.ThreadBlock({"ABW", "ACW", "ABW", "ACW"});
  EXPECT_EQ(Run(scenario), "A[0123] B[0-2-] W0[0-2-] C[-1-3] W0[-1-3] W1[0123]");
  scenario.Members('W', 0, 0b0101);
  EXPECT_EQ(Run(scenario), "A[0123] B[0-2-] W0[0-2-] W1[0-2-] C[-1-3] W0[-1-3] W1[-1-3]");
}

// Threads 1 and 3 wait at a barrier of the thread block, for which all others are needed: their WARPSYNC is given up.
TEST_P(CompilerBarriers, WarpsyncWaitsNoLongerThanOthersCanMove) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'E').Block('B', 3, "E").Block('C', 1, "E").Block('E', 1, "");
  scenario.Convergence('B', 0, Convergence::WARP_SYNC).Barrier('B', 2).Barrier('C', 0);
  scenario.ThreadBlock({"ABE", "ACE", "ABE", "ACE"});
  const std::string log = Run(scenario);
  EXPECT_TRUE(absl::StartsWith(log, "A[0123] B0[0-2-] C[-1-3] B1[0-2-] B2[0-2-] ")) << log;
  EXPECT_EQ(CountIssuesOf(log, "E"), 2) << log;
}

// A guard is no branch: threads that it holds back stay with their split, and what is guarded issues for all of them.
TEST_P(CompilerBarriers, ThreadsGoPastWhatIsGuardedTogether) {
  Scenario scenario;
  scenario.Block('S', 1, "A").Block('A', 1, "PG", 'P').Block('G', 1, "P").Block('P', 1, "");
  scenario.Guarded('G').Convergence('S', 0, Convergence::YIELD);
  scenario.ThreadBlock({"SAGP", "SAP", "SAGP", "SAP"});
  const std::string issues = "S[0123] A[0123] G[0123] P[0123]";
  EXPECT_EQ(Run(scenario), issues);
  EXPECT_EQ(Run(scenario, ",yield=block_end"), issues);
  EXPECT_EQ(CounterOf(scenario, "divergences"), 0u);
}

TEST_P(CompilerBarriers, GuardedExit) {
  Scenario scenario;
  scenario.Block('S', 1, "A").Block('A', 1, "PG").Block('G', 1, "").Block('P', 1, "");
  scenario.Guarded('G').Convergence('S', 0, Convergence::YIELD);
  scenario.ThreadBlock({"SAG", "SAP", "SAG", "SAP"});
  EXPECT_EQ(Run(scenario), "S[0123] A[0123] G[0123] P[-1-3]");
}

// Who waits at a guarded barrier of the thread block does not hold the others: they come to one as well.
TEST_P(CompilerBarriers, GuardedBarrier) {
  Scenario scenario;
  scenario.Block('S', 1, "A").Block('A', 1, "PG", 'P').Block('G', 1, "P").Block('P', 1, "Q").Block('Q', 1, "");
  scenario.Guarded('G').Convergence('S', 0, Convergence::YIELD).Barrier('G', 0).Barrier('P', 0);
  scenario.ThreadBlock({"SAGPQ", "SAPQ", "SAGPQ", "SAPQ"});
  const std::string log = Run(scenario);
  EXPECT_FALSE(absl::StrContains(log, "stuck")) << log;
  EXPECT_TRUE(absl::StartsWith(log, "S[0123] A[0123] G[0-2-] P[-1-3] ")) << log;
}

// A guarded BREAK: all threads come by, and 0 and 2 leave.
TEST_P(CompilerBarriers, GuardedBreak) {
  Scenario scenario;
  scenario.Block('S', 1, "A").Block('A', 1, "PG", 'P').Block('G', 1, "P").Block('P', 1, "RD", 'R').Block('D', 1, "M");
  scenario.Block('M', 1, "R").Block('R', 1, "");
  scenario.Guarded('G').Convergence('S', 0, Convergence::SET, 0, 'M').Convergence('G', 0, Convergence::BREAK);
  scenario.Convergence('D', 0, Convergence::SYNC);
  scenario.ThreadBlock({"SAGPR", "SAPDMR", "SAGPR", "SAPDMR"});
  EXPECT_EQ(Run(scenario, ",taken_first=false"), "S[0123] A[0123] G[0123] P[0123] D[-1-3] M[-1-3] R[-1-3] R[0-2-]");
}

// --- refusals

absl::Status Replayed(const Scenario& scenario) {
  ReplayOptions options;
  options.machine = LoadMachine("thesis_fixed").value();
  Configuration configuration;
  configuration.divergence = {"its", "reconvergence=compiler"};
  return Replay(*scenario.Trace(), {configuration}, options).status();
}

TEST(CompilerBarriersRefused, PtxHasNone) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D").Block('D', 1, "");
  scenario.ThreadBlock({"ABD", "ACD"});
  const absl::Status status = Replayed(scenario);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "has no convergence barriers to follow")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "record it with --level machine")) << status;
}

// The BREAK has a predicate, and no block of its own.
TEST(CompilerBarriersRefused, ABreakOfWhichNobodyKnowsForWhom) {
  Scenario scenario;
  scenario.Block('S', 1, "G").Block('G', 1, "D").Block('D', 1, "M").Block('M', 1, "");
  scenario.Guarded('G').Convergence('S', 0, Convergence::SET, 0, 'M').Convergence('G', 0, Convergence::BREAK);
  scenario.Convergence('D', 0, Convergence::SYNC);
  scenario.ThreadBlock({"SGDM", "SGDM"});
  const absl::Status status = Replayed(scenario);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "BREAK at PC 8; record the kernel again")) << status;
}

// Threads 0 and 2 wait for 1 and 3 at B0, and these for them at B1.
TEST(CompilerBarriersRefused, BarriersThatWaitForEachOtherAreReported) {
  Scenario scenario;
  scenario.Block('S', 1, "T").Block('T', 1, "A").Block('A', 1, "BC", 'M').Block('B', 1, "M").Block('C', 1, "M");
  scenario.Block('M', 1, "");
  scenario.Convergence('S', 0, Convergence::SET, 0, 'M').Convergence('T', 0, Convergence::SET, 1, 'M');
  scenario.Convergence('B', 0, Convergence::SYNC, 0).Convergence('C', 0, Convergence::SYNC, 1);
  scenario.ThreadBlock({"STABM", "STACM", "STABM", "STACM"});
  const absl::Status status = Replayed(scenario);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(),
                                "(40,0xa,behind BSYNC)(40,0x5,behind BSYNC) B0: 2 of 4 wait, B1: 2 of 4 wait"))
      << status;
}

// --- the barriers of a warp

using Id = ConvergenceBarriers::Id;

Id Find(const ConvergenceBarriers& barriers, uint8_t barrier, LaneMask lanes) { return barriers.Find(barrier, lanes); }

TEST(ConvergenceBarriers, CompleteWhenAllMembersWait) {
  ConvergenceBarriers barriers;
  barriers.Set(3, 0b1111);
  const Id id = Find(barriers, 3, 0b1111);
  ASSERT_NE(id, 0u);
  EXPECT_EQ(Find(barriers, 2, 0b1111), 0u);
  barriers.Wait(id, 0b0011);
  EXPECT_EQ(barriers.TakeComplete(), 0u);
  barriers.Break(3, 0b0100);
  EXPECT_EQ(barriers.MembersOf(id), 0b1011u);
  EXPECT_EQ(barriers.TakeComplete(), 0u);
  barriers.Exit(0b1000);
  EXPECT_EQ(barriers.TakeComplete(), 0b0011u);
  EXPECT_EQ(barriers.TakeComplete(), 0u);
  EXPECT_EQ(Find(barriers, 3, 0b0011), 0u);
}

// The two sides of a branch use one register, and the first is not done when the other begins.
TEST(ConvergenceBarriers, OneRegisterNamesBarriersOfTwoSplits) {
  ConvergenceBarriers barriers;
  barriers.Set(1, 0b0101);
  barriers.Set(1, 0b1010);
  EXPECT_NE(Find(barriers, 1, 0b0101), Find(barriers, 1, 0b1010));
  LaneMask lanes = 0b1111;
  const Id first = barriers.Find(1, lanes);
  EXPECT_EQ(lanes, 0b0101u);
  barriers.Wait(first, lanes);
  EXPECT_EQ(barriers.TakeComplete(), 0b0101u);
  EXPECT_NE(Find(barriers, 1, 0b1010), 0u);
}

// A function keeps its caller's barrier in a register while it uses the barrier's own for another. A thread ends there.
TEST(ConvergenceBarriers, ACopyKeepsWhichBarrierItIs) {
  ConvergenceBarriers barriers;
  barriers.Set(0, 0b1111);
  const Id outer = Find(barriers, 0, 0b1111);
  barriers.Wait(outer, 0b1000);
  barriers.Save(0, 1, 20, 0b0111, /*clears=*/true);
  EXPECT_EQ(Find(barriers, 0, 0b0111), 0u);
  barriers.Set(0, 0b0111);
  EXPECT_NE(Find(barriers, 0, 0b0111), outer);
  EXPECT_EQ(Find(barriers, 0, 0b1000), outer);
  barriers.Exit(0b0100);
  barriers.Wait(Find(barriers, 0, 0b0011), 0b0011);
  EXPECT_EQ(barriers.TakeComplete(), 0b0011u);
  barriers.Restore(0, 1, 20, 0b0011);
  EXPECT_EQ(Find(barriers, 0, 0b0011), outer);
  barriers.Return(1, 0b0011);
  EXPECT_FALSE(barriers.any_saved());
  EXPECT_EQ(barriers.MembersOf(outer), 0b1011u);
  barriers.Wait(outer, 0b0011);
  EXPECT_EQ(barriers.TakeComplete(), 0b1011u);
}

// The copy has been moved to another register: the latest one of this barrier's register stands for it.
TEST(ConvergenceBarriers, ACopyThatMovedIsFoundByItsBarrier) {
  ConvergenceBarriers barriers;
  barriers.Set(0, 0b11);
  const Id id = Find(barriers, 0, 0b11);
  barriers.Save(0, 2, 20, 0b11, /*clears=*/false);
  barriers.Set(0, 0b11);
  barriers.Restore(0, 2, 21, 0b11);
  EXPECT_EQ(Find(barriers, 0, 0b11), id);
  barriers.Restore(0, 1, 20, 0b11);  // another function's
  EXPECT_EQ(Find(barriers, 0, 0b11), 0u);
}

// Without a copy nobody can come back to a barrier whose register is set anew: the others need not wait.
TEST(ConvergenceBarriers, WhoSetsTheRegisterAnewLeaves) {
  ConvergenceBarriers barriers;
  barriers.Set(0, 0b1111);
  const Id id = Find(barriers, 0, 0b1111);
  barriers.Wait(id, 0b0011);
  barriers.Set(0, 0b1100);
  EXPECT_EQ(barriers.TakeComplete(), 0b0011u);
  EXPECT_EQ(barriers.Text(), "B0: 0 of 2 wait");
}

}  // namespace
}  // namespace heddle::replay
