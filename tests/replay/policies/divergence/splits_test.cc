// Worked examples of the policies that let a warp's splits run in other orders than the reconvergence stack's, cycle by
// cycle: its, dpe, dws, thread_frontiers, sbi_swi. The machine issues one warp per cycle and completes it in the next.
#include <cstdint>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/replay/policies/divergence/figures.h"
#include "tests/replay/policies/divergence/run_on.h"
#include "tests/replay/policy_driver.h"

namespace heddle::replay {
namespace {

class SplitExample : public testing::TestWithParam<Runner> {
 protected:
  std::string Run(const Scenario& scenario, const std::string& divergence) {
    return RunOn(GetParam(), scenario, divergence, "fifo", 4);
  }
};

INSTANTIATE_TEST_SUITE_P(Runners, SplitExample, testing::ValuesIn(kRunners), RunnerName);

// The log if the instructions of one block take longer.
std::string RunSlow(const Scenario& scenario, const std::string& divergence, char block, uint32_t cycles) {
  PolicyDriver::Options options;
  options.divergence = divergence;
  const Pc slow = scenario.PcOf(block);
  options.latency = [slow, cycles](uint32_t, Pc pc) { return pc == slow ? cycles : 1u; };
  return PolicyDriver(scenario, options).Run();
}

// A branches to B or C, each of which is followed by another block before they meet at D.
Scenario TwoBlocksOnEachSide() {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "X").Block('X', 1, "D").Block('C', 1, "Y").Block('Y', 1, "D");
  scenario.Block('D', 1, "");
  return scenario.ThreadBlock({"ABXD", "ACYD", "ABXD", "ACYD"});
}

// if (a || b) D: thread 0 and 3 have a, thread 1 has b, thread 2 neither. The post-dominator of both branches is E.
Scenario ShortCircuit() {
  Scenario scenario;
  scenario.Block('A', 1, "DB", 'E').Block('B', 1, "DE", 'E').Block('D', 1, "E").Block('E', 1, "");
  return scenario.ThreadBlock({"ADE", "ABDE", "ABE", "ADE"});
}

// ------------------------------------------------------------------------------------- reconvergence

// E is nothing but the threads' end, where compilers put no barrier: nobody rejoins.
TEST_P(SplitExample, NoCompilerBarrierInFrontOfTheEnd) {
  for (const char* policy : {"pdom", "its"}) {
    EXPECT_EQ(Run(ShortCircuit(), policy), "A[0123] D[0--3] B[-12-] D[-1--] E[0123]");
    EXPECT_EQ(Run(ShortCircuit(), std::string(policy) + ":reconvergence=compiler_barrier"),
              "A[0123] D[0--3] E[0--3] B[-12-] D[-1--] E[-1--] E[--2-]");
  }
}

// With work behind E there is one.
TEST_P(SplitExample, CompilerBarrierAtThePostDominator) {
  Scenario scenario;
  scenario.Block('A', 1, "DB", 'E').Block('B', 1, "DE", 'E').Block('D', 1, "E").Block('E', 1, "F").Block('F', 1, "");
  scenario.ThreadBlock({"ADEF", "ABDEF", "ABEF", "ADEF"});
  EXPECT_EQ(Run(scenario, "its:reconvergence=compiler_barrier"), "A[0123] D[0--3] B[-12-] D[-1--] E[0123] F[0123]");
}

// In the order of PCs, but nobody joins at D, which is the post-dominator of no branch.
TEST_P(SplitExample, ThreadFrontiersThatMeetAtPostDominatorsOnly) {
  EXPECT_EQ(Run(ShortCircuit(), "thread_frontiers"), "A[0123] B[-12-] D[01-3] E[0123]");
  EXPECT_EQ(Run(ShortCircuit(), "thread_frontiers:reconvergence=post_dominator"),
            "A[0123] B[-12-] D[0--3] D[-1--] E[0123]");
}

// Paths that return separately meet behind the call; compilers put a barrier inside the function of a branch only.
TEST_P(SplitExample, ThreadFrontiersThatMeetBehindACall) {
  Scenario scenario;
  scenario.Call('A', 1, 'F', 'B').Block('B', 1, "");
  scenario.Function().Block('F', 1, "GH").Return('G', 1).Return('H', 2);
  scenario.ThreadBlock({"AFGB", "AFHB", "AFGB", "AFHB"});
  EXPECT_EQ(Run(scenario, "thread_frontiers:reconvergence=post_dominator"),
            "A[0123] F[0123] G[0-2-] H0[-1-3] H1[-1-3] B[0123]");
  EXPECT_EQ(Run(scenario, "thread_frontiers:reconvergence=compiler_barrier"),
            "A[0123] F[0123] G[0-2-] H0[-1-3] H1[-1-3] B[0-2-] B[-1-3]");
}

// ------------------------------------------------------------------------------------- its

TEST_P(SplitExample, ItsWithoutYieldsIsTheStack) {
  EXPECT_EQ(Run(FungFigure31(), "its"), "A[0123] B[012-] C[0---] D[-12-] E[012-] F[---3] G[0123]");
}

TEST_P(SplitExample, ItsRunsASplitUntilItBlocks) {
  EXPECT_EQ(Run(TwoBlocksOnEachSide(), "its"), "A[0123] B[0-2-] X[0-2-] C[-1-3] Y[-1-3] D[0123]");
}

TEST_P(SplitExample, ItsGoesRoundAmongTheSplitsThatYield) {
  EXPECT_EQ(Run(TwoBlocksOnEachSide(), "its:yield=block_end"), "A[0123] B[0-2-] C[-1-3] X[0-2-] Y[-1-3] D[0123]");
}

// Thread 0 waits in a loop; the other gets its turn after the first iteration, and not only after the last.
TEST_P(SplitExample, ItsYieldsAtBackwardBranches) {
  Scenario scenario;
  scenario.Block('A', 1, "LS", 'E').Block('L', 1, "LE", 'E').Block('S', 1, "E").Block('E', 1, "");
  scenario.ThreadBlock({"ALLLE", "ASE"});
  EXPECT_EQ(Run(scenario, "its"), "A[01--] L[0---] L[0---] L[0---] S[-1--] E[01--]");
  EXPECT_EQ(Run(scenario, "its:yield=backward_branch"), "A[01--] L[0---] S[-1--] L[0---] L[0---] E[01--]");
}

TEST(Its, CountsYields) {
  PolicyDriver::Options options;
  options.divergence = "its:yield=block_end";
  PolicyDriver driver(TwoBlocksOnEachSide(), options);
  driver.Run();
  EXPECT_EQ(driver.divergence_counter("yields"), 2);
  EXPECT_EQ(driver.divergence_counter("divergences"), 1);
}

// ------------------------------------------------------------------------------------- dpe

TEST_P(SplitExample, DpeIssuesAsOftenAsTheStack) {
  EXPECT_EQ(Run(FungFigure31(), "dpe"), "A[0123] B[012-] C[0---] D[-12-] E[012-] F[---3] G[0123]");
  EXPECT_EQ(Run(TwoBlocksOnEachSide(), "dpe"), "A[0123] B[0-2-] C[-1-3] X[0-2-] Y[-1-3] D[0123]");
  EXPECT_EQ(Run(TwoBlocksOnEachSide(), "dpe:paths=1"), "A[0123] B[0-2-] X[0-2-] C[-1-3] Y[-1-3] D[0123]");
}

// The sibling of a path that waits runs meanwhile.
TEST(Dpe, InterleavesTheTwoPathsOfABranch) {
  EXPECT_EQ(RunSlow(FungFigure31(), "pdom", 'B', 3), "A[0123] B[012-] . . C[0---] D[-12-] E[012-] F[---3] G[0123]");
  EXPECT_EQ(RunSlow(FungFigure31(), "dpe", 'B', 3), "A[0123] B[012-] F[---3] . C[0---] D[-12-] E[012-] G[0123]");
}

// Below a nested branch a path stands still: only one branch's paths are interleaved.
TEST(Dpe, DoesNotInterleaveWithPathsOfAnOuterBranch) {
  EXPECT_EQ(RunSlow(FungFigure31(), "dpe", 'D', 3), "A[0123] B[012-] C[0---] D[-12-] . . E[012-] F[---3] G[0123]");
}

// Both branches have two paths; F, which could run beside B, stops when B's threads part.
TEST(Dpe, CountsBranchesAndHalts) {
  PolicyDriver::Options options;
  options.divergence = "dpe";
  PolicyDriver driver(FungFigure31(), options);
  driver.Run();
  EXPECT_EQ(driver.divergence_counter("dual_branches"), 2);
  EXPECT_EQ(driver.divergence_counter("halts"), 1);
}

// ------------------------------------------------------------------------------------- dws

TEST_P(SplitExample, DwsRunsEveryPathOfASubdividedWarp) {
  for (const char* divergence : {"dws", "dws:branch=always"}) {
    EXPECT_EQ(Run(FungFigure31(), divergence), "A[0123] B[012-] F[---3] C[0---] D[-12-] E[012-] G[0123]");
  }
}

TEST_P(SplitExample, DwsWithoutSubdivisionAtBranchesIsTheStack) {
  for (const char* divergence : {"dws:branch=none", "dws:short_block=1,branch=none"}) {
    EXPECT_EQ(Run(FungFigure31(), divergence), "A[0123] B[012-] C[0---] D[-12-] E[012-] F[---3] G[0123]");
  }
}

// The block at the post-dominator of A's branch is longer than the limit, that of B's is not.
TEST_P(SplitExample, DwsSubdividesBeforeShortBlocksOnly) {
  Scenario scenario;
  scenario.Block('A', 1, "BF", 'G').Block('B', 1, "CD", 'E').Block('C', 1, "X").Block('X', 1, "E").Block('D', 1, "E");
  scenario.Block('E', 1, "G").Block('F', 1, "G").Block('G', 2, "");
  scenario.ThreadBlock({"ABCXEG", "ABDEG", "ABDEG", "AFG"});
  EXPECT_EQ(Run(scenario, "dws:short_block=1"),
            "A[0123] B[012-] C[0---] D[-12-] X[0---] E[012-] F[---3] G0[0123] G1[0123]");
}

TEST(Dws, RunsAllPathsWhileOneWaits) {
  EXPECT_EQ(RunSlow(FungFigure31(), "dws", 'D', 3), "A[0123] B[012-] F[---3] C[0---] D[-12-] . . E[012-] G[0123]");
}

// Thread 1 comes to D, which does not post-dominate its branch, while others wait there for their turn.
TEST(Dws, JoinsSplitsThatMeetAtAPc) {
  Scenario scenario;
  scenario.Block('A', 1, "BD", 'E').Block('B', 1, "ME", 'E').Block('M', 1, "D").Block('D', 1, "E").Block('E', 1, "");
  scenario.ThreadBlock({"ADE", "ABMDE", "ABE", "ADE"});
  PolicyDriver::Options options;
  options.scheduler = "oldest";
  options.divergence = "dws:branch=always";
  PolicyDriver driver(scenario, options);
  EXPECT_EQ(driver.Run(), "A[0123] B[-12-] M[-1--] D[01-3] E[0123]");
  EXPECT_EQ(driver.divergence_counter("pc_joins"), 1);
  options.divergence = "dws:branch=always,pc_reconvergence=false";
  EXPECT_EQ(CountIssues(PolicyDriver(scenario, options).Run()), 6);
}

// ------------------------------------------------------------------------------------- thread_frontiers

TEST_P(SplitExample, ThreadFrontiersOnStructuredCodeIssueAsTheStack) {
  EXPECT_EQ(Run(FungFigure31(), "thread_frontiers"), "A[0123] B[012-] C[0---] D[-12-] E[012-] F[---3] G[0123]");
}

TEST_P(SplitExample, ThreadFrontiersMeetBeforeThePostDominator) {
  EXPECT_EQ(Run(ShortCircuit(), "pdom"), "A[0123] D[0--3] B[-12-] D[-1--] E[0123]");
  EXPECT_EQ(Run(ShortCircuit(), "thread_frontiers"), "A[0123] B[-12-] D[01-3] E[0123]");
}

// Threads that leave the kernel early make the exit the post-dominator, at which a stack never rejoins.
TEST_P(SplitExample, ThreadFrontiersRejoinWhereAPathMayExit) {
  Scenario scenario;
  scenario.Block('A', 1, "BC").Block('B', 1, "DX").Block('C', 1, "D").Block('D', 1, "").Block('X', 1, "");
  scenario.ThreadBlock({"ABD", "ACD", "ABX", "ACD"});
  EXPECT_EQ(Run(scenario, "thread_frontiers"), "A[0123] B[0-2-] C[-1-3] D[01-3] X[--2-]");
  EXPECT_EQ(CountIssues(Run(scenario, "pdom")), 6);
}

// The callee runs before anything in the caller.
TEST_P(SplitExample, ThreadFrontiersRunDeeperCallsFirst) {
  Scenario scenario;
  scenario.Block('A', 1, "KB", 'C').Block('B', 1, "C").Call('K', 1, 'F', 'C').Block('C', 1, "");
  scenario.Function().Return('F', 2);
  scenario.ThreadBlock({"AKFC", "ABC", "AKFC", "ABC"});
  EXPECT_EQ(Run(scenario, "thread_frontiers"), "A[0123] B[-1-3] K[0-2-] F0[0-2-] F1[0-2-] C[0123]");
}

TEST_P(SplitExample, ThreadFrontiersOpenBarriersOnBothSides) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 2, "D").Block('C', 2, "D").Block('D', 1, "");
  scenario.Barrier('B', 0).Barrier('C', 0).ThreadBlock({"ABD", "ACD", "ABD", "ACD"});
  EXPECT_EQ(Run(scenario, "thread_frontiers"), "A[0123] B0[0-2-] C0[-1-3] B1[0-2-] C1[-1-3] D[0123]");
}

// ------------------------------------------------------------------------------------- sbi_swi

std::string Interweave(const Scenario& scenario, const std::string& parameters = {}) {
  return RunOn(Runner::kEngine, scenario, "sbi_swi" + parameters, "fifo", 4);
}

TEST(SbiSwi, IssuesTwoPathsOfAWarpAtOnce) {
  const char* const log = "{AAAA}{0123} {BBBF}{0123} {CDD}{012} {EEE}{012} {GGGG}{0123}";
  EXPECT_EQ(Interweave(FungFigure31()), log);
  EXPECT_EQ(Interweave(FungFigure31(), ":co_issue=sbi"), log);
}

TEST(SbiSwi, WithOnePathRunsInTheOrderOfThreadFrontiers) {
  EXPECT_EQ(Interweave(FungFigure31(), ":co_issue=swi"),
            "{AAAA}{0123} {BBB}{012} {C}{0} {DD}{12} {EEE}{012} {F}{3} {GGGG}{0123}");
}

// Thread 0 of one warp and threads 6 and 7 of the other share an issue of B; in C their lanes overlap.
TEST(SbiSwi, IssuesTwoWarpsOnDisjointLanes) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D").Block('D', 1, "");
  scenario.ThreadBlock({"ABD", "ACD", "ACD", "ACD", "ACD", "ACD", "ABD", "ABD"});
  EXPECT_EQ(Interweave(scenario, ":co_issue=swi"),
            "{AAAA}{0123} {AAAA}{4567} {BBB}{067} {CCC}{123} {CC}{45} {DDDD}{0123} {DDDD}{4567}");
}

// As above: B with F and C with D are pairs of paths; B of both warps is a pair of warps.
TEST(SbiSwi, CountsPairsOfPathsAndOfWarps) {
  using Pairs = std::pair<uint64_t, uint64_t>;
  const auto pairs = [](const Scenario& scenario, const std::string& divergence) {
    const EngineRun run = RunOnEngine(scenario, divergence, "fifo");
    const auto& counters = run.result.launch(0).divergence_counter();
    return Pairs(counters.at("branch_pairs"), counters.at("warp_pairs"));
  };
  EXPECT_EQ(pairs(FungFigure31(), "sbi_swi"), Pairs(2, 0));
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D").Block('D', 1, "");
  scenario.ThreadBlock({"ABD", "ACD", "ACD", "ACD", "ACD", "ACD", "ABD", "ABD"});
  EXPECT_EQ(pairs(scenario, "sbi_swi:co_issue=swi"), Pairs(0, 1));
}

// Without the constraint the second path passes the reconvergence point alone.
TEST(SbiSwi, WaitsAtReconvergencePointsForTheFirstPath) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 3, "D").Block('C', 1, "D").Block('D', 2, "");
  scenario.ThreadBlock({"ABD", "ABD", "ACD", "ACD"});
  EXPECT_EQ(Interweave(scenario),
            "{AAAA}{0123} {B0B0CC}{0123} {B1B1}{01} {B2B2}{01} {D0D0D0D0}{0123} {D1D1D1D1}{0123}");
  EXPECT_EQ(Interweave(scenario, ":synchronise=false"),
            "{AAAA}{0123} {B0B0CC}{0123} {B1B1D0D0}{0123} {B2B2D1D1}{0123} {D0D0}{01} {D1D1}{01}");
}

}  // namespace
}  // namespace heddle::replay
