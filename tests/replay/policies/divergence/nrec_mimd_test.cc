// NREC and MIMD: the lower and the upper reference.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/replay/policies/divergence/figures.h"
#include "tests/replay/policies/divergence/run_on.h"
#include "tests/replay/policy_driver.h"

namespace heddle::replay {
namespace {

using testing::EndsWith;

PolicyDriver::Options With(const std::string& divergence, const std::string& scheduler = "fifo") {
  PolicyDriver::Options options;
  options.divergence = divergence;
  options.scheduler = scheduler;
  return options;
}

TEST(Nrec, CountsSplitsAndHowLargeWarpsAreAtTheEnd) {
  PolicyDriver driver(FungFigure31(), With("nrec"));
  driver.Run();
  EXPECT_EQ(driver.divergence_counter("splits"), 2);
  EXPECT_EQ(driver.divergence_counter("warps_ended_with_1"), 2);       // threads 0 and 3
  EXPECT_EQ(driver.divergence_counter("warps_ended_with_2_to_4"), 1);  // threads 1 and 2
}

TEST(Nrec, ALoopWithDifferentTripCountsEndsInSingleThreads) {
  Scenario scenario;
  scenario.Block('L', 1, "LE", 'E').Block('E', 1, "").ThreadBlock({"LE", "LLE", "LLLE", "LLLLE"});
  PolicyDriver driver(scenario, With("nrec"));
  EXPECT_EQ(CountIssuesOf(driver.Run(), "E"), 4);
  EXPECT_EQ(driver.divergence_counter("warps_ended_with_1"), 4);
}

TEST(Nrec, ASplitWarpWaitsForItsOwnThreadsOnly) {
  const Scenario scenario = FungFigure31();
  PolicyDriver::Options options = With("nrec");
  const Pc slow = scenario.PcOf('F');
  options.latency = [slow](uint32_t, Pc pc) { return pc == slow ? 20u : 1u; };
  const std::string log = PolicyDriver(scenario, options).Run();
  EXPECT_THAT(log, testing::StartsWith("A[0123] B[012-] F[---3] C[0---] D[-12-] E[0---] E[-12-] G[0---] G[-12-] ."));
  EXPECT_THAT(log, EndsWith(". G[---3]"));
}

TEST(Nrec, ABarrierOpensWhenEveryThreadHasComeAndTheWarpsStaySplit) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 3, "D").Block('D', 2, "").Barrier('D', 0);
  scenario.ThreadBlock({"ABD", "ACD", "ABD", "ACD"});
  EXPECT_EQ(PolicyDriver(scenario, With("nrec")).Run(),
            "A[0123] B[0-2-] C0[-1-3] D0[0-2-] C1[-1-3] C2[-1-3] D0[-1-3] D1[0-2-] D1[-1-3]");
}

TEST(Mimd, CountsTheInstructionsThatOneIssueHasToFetch) {
  PolicyDriver driver(FungFigure41(), With("mimd"));
  EXPECT_EQ(CountIssues(driver.Run()), 9);
  EXPECT_EQ(driver.issued_threads(), 34);
  // Issues {A} {A} {BF} {FB} {CDG} {GCD} {E} {GE} {G}
  EXPECT_EQ(driver.divergence_counter("distinct_pcs"), 16);
  EXPECT_EQ(driver.divergence_counter("most_distinct_pcs"), 3);
}

TEST(Mimd, AThreadDoesNotWaitForItsNeighbours) {
  const Scenario scenario = FungFigure31();
  PolicyDriver::Options options = With("mimd");
  const Pc slow = scenario.PcOf('B');
  options.latency = [slow](uint32_t thread, Pc pc) { return thread == 1 && pc == slow ? 9u : 1u; };
  EXPECT_EQ(PolicyDriver(scenario, options).Run(),
            "{AAAA}{0123} {BBBF}{0123} {CDG}{023} {EE}{02} {GG}{02} . . . . . {D}{1} {E}{1} {G}{1}");
}

TEST(Mimd, RunsBarriersAndExitsThreadByThread) {
  Scenario scenario;
  scenario.Block('A', 1, "XB").Block('X', 1, "").Block('B', 2, "").Barrier('B', 0);
  scenario.ThreadBlock({"AX", "AB", "AX", "AB", "AB"});
  EXPECT_EQ(PolicyDriver(scenario, With("mimd")).Run(), "{AAAA}{0123} {XB0XA}{0124} {B0B0}{34} {B1B1B1}{134}");
}

}  // namespace
}  // namespace heddle::replay
