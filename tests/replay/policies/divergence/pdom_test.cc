// PDOM: the state of the reconvergence stack, barriers on diverged paths, early exits, loops, calls.
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/replay/policies/divergence/figures.h"
#include "tests/replay/policies/divergence/run_on.h"
#include "tests/replay/policy_driver.h"

namespace heddle::replay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

// "warp 0: (48,-,1111)(40,48,0001)" with the PCs that people see, as "(G,-,1111)(F,G,0001)". Empty if nothing diverged.
std::string Letters(const Scenario& scenario, const std::string& text) {
  std::string out;
  for (absl::string_view entry : absl::StrSplit(text, '(')) {
    if (entry.empty() || entry.find(')') == absl::string_view::npos) continue;
    std::vector<std::string> fields = absl::StrSplit(entry.substr(0, entry.find(')')), ',');
    for (size_t i = 0; i < 2; ++i) {
      if (fields[i] != "-") fields[i] = scenario.Name(static_cast<Pc>(std::stoul(fields[i]) / 8));
    }
    out += "(" + fields[0] + "," + fields[1] + "," + fields[2] + ")";
  }
  return out;
}

// The stack in front of every issue but the first.
std::vector<std::string> StacksOf(const Scenario& scenario, const std::string& divergence = "pdom") {
  std::vector<std::string> stacks;
  PolicyDriver::Options options;
  options.divergence = divergence;
  Cycle before = 0;
  options.look = [&](Cycle now, const DivergencePolicy& policy, const WarpTable& table) {
    if (now > before) stacks.push_back(Letters(scenario, policy.Explain(table)));
  };
  PolicyDriver(scenario, options).Run();
  return stacks;
}

TEST(PdomStack, FollowsFungFigure31) {
  EXPECT_THAT(StacksOf(FungFigure31()), ElementsAre("(G,-,1111)(F,G,0001)(B,G,1110)",                      // after A
                                                    "(G,-,1111)(F,G,0001)(E,G,1110)(D,E,0110)(C,E,1000)",  // after B
                                                    "(G,-,1111)(F,G,0001)(E,G,1110)(D,E,0110)",            // after C
                                                    "(G,-,1111)(F,G,0001)(E,G,1110)",                      // after D
                                                    "(G,-,1111)(F,G,0001)",                                // after E
                                                    ""));  // after F: one entry again, (G,-,1111)
}

TEST(PdomStack, OfWarp0InBOfCapriFigure1) {
  const Scenario scenario = CapriFigure1();
  EXPECT_EQ(StacksOf(scenario)[3].substr(0, 38), "(D0,-,1111)(C0,D0,0111)(B0,D0,1000)(D0");
}

// A group that is at the reconvergence point already gets no entry: an if without an else.
TEST(PdomStack, HasNoEntryForAPathThatIsAtTheReconvergencePoint) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'C').Block('B', 1, "C").Block('C', 1, "");
  scenario.ThreadBlock({"ABC", "AC", "ABC", "AC"});
  EXPECT_THAT(StacksOf(scenario), ElementsAre("(C,-,1111)(B,C,1010)", ""));
}

// A loop whose trip count differs: the entry that waits at the exit is shared by all iterations.
TEST(PdomStack, DoesNotGrowWithTheIterationsOfALoop) {
  Scenario scenario;
  scenario.Block('A', 1, "L").Block('L', 1, "LE", 'E').Block('E', 1, "");
  scenario.ThreadBlock({"ALE", "ALLE", "ALLLE", "ALLLLE"});
  EXPECT_THAT(StacksOf(scenario),
              ElementsAre("", "(E,-,1111)(L,E,0111)", "(E,-,1111)(L,E,0011)", "(E,-,1111)(L,E,0001)", ""));
  PolicyDriver driver(scenario, {});
  EXPECT_EQ(driver.Run(), "A[0123] L[0123] L[-123] L[--23] L[---3] E[0123]");
  EXPECT_EQ(driver.divergence_counter("divergences"), 3);
  EXPECT_EQ(driver.divergence_counter("max_stack_depth"), 2);
}

TEST(PdomStack, OfNestedBranchesStaysWithinTwiceTheWarpSize) {
  // Each branch peels one thread off; none of the paths rejoins before the end.
  Scenario scenario;
  scenario.Block('A', 1, "BX", 'Z').Block('B', 1, "CX", 'Z').Block('C', 1, "DX", 'Z').Block('D', 1, "X");
  scenario.Block('X', 1, "Z").Block('Z', 1, "");
  scenario.ThreadBlock({"ABCDXZ", "ABCXZ", "ABXZ", "AXZ"});
  PolicyDriver driver(scenario, {});
  EXPECT_EQ(driver.Run(), "A[0123] B[012-] C[01--] D[0---] X[0---] X[-1--] X[--2-] X[---3] Z[0123]");
  EXPECT_LE(driver.divergence_counter("max_stack_depth"), 8);
}

TEST(PdomStack, ThatIsTooSmallEndsTheRunWithTheDepthThatIsNeeded) {
  PolicyDriver::Options options;
  options.divergence = "pdom:stack_depth=3";
  EXPECT_THAT(PolicyDriver(FungFigure31(), options).Run(),
              AllOf(HasSubstr("met a limit in cycle"), HasSubstr("needs 5 entries, but stack_depth is 3"),
                    Not(HasSubstr("internal error"))));
  options.divergence = "pdom:stack_depth=5";
  EXPECT_THAT(PolicyDriver(FungFigure31(), options).Run(), EndsWith("G[0123]"));
}

// ----------------------------------------------------------------------------------------------------------------
// exits

TEST(PdomExit, LeavesTheOtherThreadsOfTheWarpRunning) {
  Scenario scenario;
  scenario.Block('A', 1, "XB").Block('X', 1, "").Block('B', 1, "CD", 'E').Block('C', 1, "E").Block('D', 1, "E");
  scenario.Block('E', 1, "");
  scenario.ThreadBlock({"AX", "ABCE", "ABDE", "AX"});
  EXPECT_EQ(PolicyDriver(scenario, {}).Run(), "A[0123] X[0--3] B[-12-] C[-1--] D[--2-] E[-12-]");
}

TEST(PdomExit, InsideALoopReleasesTheWaitingThreads) {
  // Thread 2 leaves the kernel from within the loop; the post-dominator of the loop's branches is the exit.
  Scenario scenario;
  scenario.Block('L', 1, "XM").Block('X', 1, "").Block('M', 1, "LE").Block('E', 1, "");
  scenario.ThreadBlock({"LME", "LMLME", "LMLX", "LME"});
  const std::string log = PolicyDriver(scenario, {}).Run();
  EXPECT_EQ(CountIssuesOf(log, "X"), 1);
  EXPECT_EQ(log, "L[0123] M[0123] L[-12-] X[--2-] M[-1--] E[-1--] E[0--3]");
}

// -------------------------------------------------------------------------------------------------------------
// barriers

// Threads count at a barrier, not warps: while one side waits there, the other side runs.
TEST(PdomBarrier, OnBothSidesOfADivergenceOpens) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 2, "D").Block('C', 2, "D").Block('D', 1, "");
  scenario.Barrier('B', 0).Barrier('C', 0).ThreadBlock({"ABD", "ACD", "ABD", "ACD"});
  PolicyDriver driver(scenario, {});
  EXPECT_EQ(driver.Run(), "A[0123] B0[0-2-] C0[-1-3] B1[0-2-] C1[-1-3] D[0123]");
  EXPECT_EQ(driver.divergence_counter("barrier_switches"), 1);
}

TEST(PdomBarrier, OfAWarpWaitsForTheOtherWarp) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'C').Block('B', 3, "C").Block('C', 2, "");
  scenario.Barrier('C', 0).ThreadBlock({"AC", "AC", "AC", "AC", "ABC", "ABC", "AC", "AC"});
  EXPECT_EQ(PolicyDriver(scenario, {}).Run(),
            "A[0123] A[4567] C0[0123] B0[45--] B1[45--] B2[45--] C0[4567] C1[0123] C1[4567]");
}

TEST(PdomBarrier, IsNotHeldUpByThreadsThatHaveExited) {
  Scenario scenario;
  scenario.Block('A', 1, "XB").Block('X', 1, "").Block('B', 2, "").Barrier('B', 0);
  scenario.ThreadBlock({"AX", "AB", "AX", "AB"});
  EXPECT_EQ(PolicyDriver(scenario, {}).Run(), "A[0123] X[0-2-] B0[-1-3] B1[-1-3]");
}

TEST(PdomBarrier, WithinDivergedLoopsOpensAsOftenAsThreadsArrive) {
  // Two sides, each with two barriers, of different length: every barrier joins one arrival of each side.
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 3, "D").Block('C', 4, "D").Block('D', 1, "");
  scenario.Barrier('B', 0).Barrier('B', 2).Barrier('C', 1).Barrier('C', 3);
  scenario.ThreadBlock({"ABD", "ACD", "ABD", "ACD"});
  const std::string log = PolicyDriver(scenario, {}).Run();
  EXPECT_THAT(log, EndsWith("D[0123]"));
  EXPECT_EQ(CountIssues(log), 9);
}

// ----------------------------------------------------------------------------------------------------------------
// calls

TEST(PdomCall, RejoinsAtTheCallersContinuation) {
  Scenario scenario;
  scenario.Call('A', 1, 'F', 'B').Block('B', 1, "");
  scenario.Function().Block('F', 1, "GH").Return('G', 1).Return('H', 2);
  scenario.ThreadBlock({"AFGB", "AFHB", "AFGB", "AFHB"});
  EXPECT_EQ(PolicyDriver(scenario, {}).Run(), "A[0123] F[0123] G[0-2-] H0[-1-3] H1[-1-3] B[0123]");
}

// F calls itself; threads leave the recursion at different depths. C at depth 1 is not C at depth 2.
TEST(PdomCall, RecursionRejoinsLevelByLevel) {
  const Scenario scenario = Recursion();
  EXPECT_EQ(PolicyDriver(scenario, {}).Run(),
            "A[0123] F[0123] R[-12-] F[-12-] R[--2-] F[--2-] S[--2-] T[--2-] C[--2-] S[-1--] T[-12-] C[-12-] S[0--3] "
            "T[0123] B[0123]");
}

// ---------------------------------------------------------------------------------------------------------------
// memory

TEST(PdomMemory, AWholeWarpWaitsForItsSlowestThread) {
  PolicyDriver::Options options;
  const Scenario scenario = FungFigure41();
  const Pc slow = scenario.PcOf('B');
  options.latency = [slow](uint32_t thread, Pc pc) { return thread == 1 && pc == slow ? 6u : 1u; };
  EXPECT_EQ(PolicyDriver(scenario, options).Run(),
            "A[0123] A[4567] B[012-] B[--67] C[--6-] D[---7] E[--67] F[45--] C[0---] G[4567] D[-12-] E[012-] F[---3] "
            "G[0123]");
}

}  // namespace
}  // namespace heddle::replay
