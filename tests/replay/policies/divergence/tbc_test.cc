// TBC and TBC+: the worked examples of CAPRI's Figures 2, 3 and 6(b), and vectors of our own for loops, exits,
// barriers, wide branches, several blocks, and the compaction unit's time.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/replay/policies/divergence/figures_capri.h"
#include "tests/replay/policies/divergence/run_on.h"
#include "tests/replay/policies/divergence/stack_text.h"
#include "tests/replay/policy_driver.h"

namespace heddle::replay {
namespace {

using testing::EndsWith;

constexpr char kTbc[] = "tbc:wcu_cycles_per_warp=0";
constexpr char kTbcPlus[] = "tbc_plus:wcu_cycles_per_warp=0";

// ------------------------------------------------------------------------------------------ CAPRI, Figures 2, 3 and
// 6(b)

class TbcExample : public testing::TestWithParam<Runner> {};
INSTANTIATE_TEST_SUITE_P(Runners, TbcExample, testing::ValuesIn(kRunners), RunnerName);

TEST_P(TbcExample, CompactsTheFourPartialWarpsOfCapriFigure1IntoThree) {
  for (const char* divergence : {kTbc, kTbcPlus}) {
    EXPECT_EQ(RunOn(GetParam(), CapriFigure1(), divergence, "fifo", 4),
              "A0[0123] A0[4567] A1[0123] A1[4567] B0[0-67] B1[0-67] C0[4123] C0[-5--] C1[4123] C1[-5--] D0[0123] "
              "D0[4567] D1[0123] D1[4567]");
  }
}

TEST(Tbc, HasTheStackOfCapriFigure2) {
  PolicyDriver::Options options;
  options.divergence = kTbc;
  auto stacks = StacksByCycle(CapriFigure1(), options);
  EXPECT_EQ(stacks[2], "");  // one entry, nobody has come to the branch
  EXPECT_EQ(stacks[3], "(-,01234567,A,1)+(D,x123xxxx,C,0)+(D,0xxxxxxx,B,0) UMask 11");
  EXPECT_EQ(stacks[4], "(-,01234567,D,0)(D,x12345xx,C,0)(D,0xxxxx67,B,1)");
  EXPECT_EQ(stacks[6], "(-,01234567,D,0)(D,x12345xx,C,2)");
  EXPECT_EQ(stacks[8], "(-,01234567,D,0)(D,x12345xx,C,2)");
  EXPECT_EQ(stacks[9], "(-,01234567,D,0)(D,xxxxx5xx,C,1)");  // one warp has come to D and waits
  EXPECT_EQ(stacks[10], "");
}

TEST(Tbc, WaitsAtTheBranchOfCapriFigure6ForTheWarpThatMisses) {
  PolicyDriver driver = DriverWith(CapriFigure6(), kTbc, CapriFigure6Latency);
  EXPECT_EQ(driver.Run(),
            "A0[0123] A0[4567] A0[89ab] A1[0123] A1[89ab] . . . A1[4567] B0[0123] B0[49-7] B0[8---] B1[0123] B1[49-7] "
            "B1[8---] C0[-56b] C0[--a-] C1[-56b] C1[--a-] G0[0123] G0[4567] G0[89ab] G1[0123] G1[4567] G1[89ab]");
  EXPECT_EQ(driver.divergence_counter("branches"), 1);
  EXPECT_EQ(driver.divergence_counter("incompactable_branches"), 1);
  EXPECT_EQ(driver.divergence_counter("warps_before"), 5);
  EXPECT_EQ(driver.divergence_counter("warps_after"), 5);
  EXPECT_EQ(driver.divergence_counter("stall_bypass"), 3);  // nobody had to wait
  EXPECT_EQ(driver.divergence_counter("stall_stall"), 0);
  // At the branch 5 and 4 cycles, behind B 2 and 1, behind C 1.
  EXPECT_EQ(driver.divergence_counter("sync_wait_cycles"), 5 + 4 + 2 + 1 + 1);
}

TEST(Tbc, IdleCyclesOfCapriFigure6GrowWithTheMiss) {
  for (uint32_t cycles = 5; cycles <= 9; ++cycles) {
    const std::string log = LogWith(CapriFigure6(), kTbc, [cycles](uint32_t thread, Pc pc) {
      return pc == 0 && thread >= 4 && thread <= 7 ? cycles : 1;
    });
    const std::vector<std::string> words = absl::StrSplit(log, ' ');
    EXPECT_EQ(words.size() - static_cast<size_t>(CountIssues(log)), cycles - 4);
  }
}

TEST(Tbc, CountsCompactionOfCapriFigure1) {
  PolicyDriver driver = DriverWith(CapriFigure1(), kTbc);
  driver.Run();
  EXPECT_EQ(driver.divergence_counter("compactable_branches"), 1);
  EXPECT_EQ(driver.divergence_counter("warps_before"), 4);
  EXPECT_EQ(driver.divergence_counter("warps_after"), 3);
  EXPECT_EQ(driver.divergence_counter("stall_stall"), 2);
  EXPECT_EQ(driver.divergence_counter("max_stack_depth"), 3);
}

TEST(Tbc, FallThroughFirst) {
  EXPECT_THAT(LogWith(CapriFigure1(), "tbc:wcu_cycles_per_warp=0,taken_first=false"),
              EndsWith("C0[4123] C0[-5--] C1[4123] C1[-5--] B0[0-67] B1[0-67] D0[0123] D0[4567] D1[0123] D1[4567]"));
}

// ---------------------------------------------------------------------------------------------- the compaction unit's
// time

// The unit gives out a warp per cycle: B's one warp a cycle after the branch, C's two warps one and two cycles after B.
// The second of them comes when the first has completed its first instruction, so it is behind it in the queue.
TEST(Tbc, CompactionTakesACyclePerWarp) {
  EXPECT_EQ(LogWith(CapriFigure1(), "tbc"),
            "A0[0123] A0[4567] A1[0123] A1[4567] . B0[0-67] B1[0-67] . C0[4123] C1[4123] C0[-5--] C1[-5--] . D0[0123] "
            "D1[0123] D0[4567] D1[4567]");
}

TEST(Tbc, CompactionUnitIsSharedByTheBlocksOfAnSm) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D").Block('D', 1, "");
  scenario.ThreadBlock({"ABD", "ACD"}).ThreadBlock({"ACD", "ABD"});
  // Both blocks come to their branch one cycle after the other; with three cycles per warp the second one's B is formed
  // three cycles after the first one's.
  EXPECT_EQ(LogWith(scenario, "tbc:wcu_cycles_per_warp=3", {}, 2),
            "A[0*0 0*1 ] A[1*0 1*1 ] . . B[0*0 -] . . B[-1*1 ] . . C[-0*1 ] . . C[1*0 -] . . D[0*0 0*1 ] . . "
            "D[1*0 1*1 ]");
}

// --------------------------------------------------------------------------------------------------------- loops

TEST(Tbc, CompactsTheThreadsThatStayInALoop) {
  Scenario scenario;
  scenario.Block('L', 1, "LE", 'E').Block('E', 1, "");
  scenario.ThreadBlock({"LE", "LLE", "LE", "LLE", "LLE", "LE", "LLE", "LE"});
  EXPECT_EQ(LogWith(scenario, kTbc), "L[0123] L[4567] L[4163] E[0123] E[4567]");
}

// Warp 0 leaves the loop as a whole while warp 1 goes on: its threads must not be compacted with those of the loop.
TEST(Tbc, ForgetsThreadsThatHaveLeftALoop) {
  Scenario scenario;
  scenario.Block('L', 1, "LE", 'E').Block('E', 1, "");
  scenario.ThreadBlock({"LLE", "LLE", "LLLE", "LLLE", "LE", "LE"});
  PolicyDriver driver = DriverWith(scenario, kTbc, {}, 2);
  EXPECT_EQ(driver.Run(), "L[01] L[23] L[45] L[01] L[23] L[23] E[01] E[23] E[45]");
  EXPECT_EQ(driver.divergence_counter("max_stack_depth"), 2);
}

// The post-dominator of both branches is the kernel's end, so nothing reconverges: every entry has a thread of its own.
TEST(Tbc, StackOfALoopThatCanEndInAnExitHasAtMostAnEntryPerThread) {
  Scenario scenario;
  scenario.Block('L', 1, "XM").Block('M', 1, "LE").Block('X', 1, "").Block('E', 1, "");
  std::string path;
  std::vector<std::string> paths;
  for (int i = 0; i < 8; ++i) {
    path += "LM";
    paths.push_back(i % 2 == 0 ? path + "E" : path + "LX");
  }
  scenario.ThreadBlock(paths);
  PolicyDriver driver = DriverWith(scenario, kTbc);
  EXPECT_THAT(driver.Run(), testing::Not(testing::HasSubstr("stuck")));
  EXPECT_EQ(driver.issued_threads(), scenario.thread_instructions());
  EXPECT_LE(driver.divergence_counter("max_stack_depth"), 8);
}

// ------------------------------------------------------------------------------- branches at which no thread can part

Scenario JumpBetween() {
  Scenario scenario;
  scenario.Block('A', 1, "B").Block('B', 2, "").Jump('A');
  return scenario.ThreadBlock({"AB", "AB", "AB", "AB"});
}
// Threads 2 and 3 take three cycles for their first instruction.
uint32_t SlowSecondWarp(uint32_t thread, Pc pc) { return pc == 0 && thread >= 2 ? 3 : 1; }

TEST(Tbc, WaitsAtUnconditionalBranches) {
  PolicyDriver driver = DriverWith(JumpBetween(), kTbc, SlowSecondWarp, 2);
  EXPECT_EQ(driver.Run(), "A[01] A[23] . . B0[01] B0[23] B1[01] B1[23]");
  EXPECT_EQ(driver.divergence_counter("jumps"), 1);
  EXPECT_EQ(driver.divergence_counter("branches"), 0);
}

TEST(TbcPlus, DoesNotWaitAtUnconditionalBranches) {
  const std::string expected = "A[01] A[23] B0[01] B1[01] B0[23] B1[23]";
  EXPECT_EQ(LogWith(JumpBetween(), kTbcPlus, SlowSecondWarp, 2), expected);
  EXPECT_EQ(LogWith(JumpBetween(), "tbc:wcu_cycles_per_warp=0,sync_on_same_target=false", SlowSecondWarp, 2), expected);
}

// Falling through into the next block is no branch.
TEST(Tbc, DoesNotWaitWhereABlockFallsThrough) {
  Scenario scenario;
  scenario.Block('A', 1, "B").Block('B', 2, "").ThreadBlock({"AB", "AB", "AB", "AB"});
  EXPECT_EQ(LogWith(scenario, kTbc, SlowSecondWarp, 2), "A[01] A[23] B0[01] B1[01] B0[23] B1[23]");
}

Scenario UniformBranch() {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 2, "D").Block('C', 2, "D").Block('D', 1, "").Uniform('A');
  return scenario.ThreadBlock({"ABD", "ABD", "ABD", "ABD"});
}

TEST(TbcPlus, GoesOnAtBranchesThatTheAnalysisKnowsToBeUniform) {
  PolicyDriver with = DriverWith(UniformBranch(), kTbcPlus, SlowSecondWarp, 2);
  EXPECT_EQ(with.Run(), "A[01] A[23] B0[01] B1[01] B0[23] D[01] B1[23] D[23]");
  EXPECT_EQ(with.divergence_counter("uniform_skipped"), 2);
  EXPECT_EQ(with.divergence_counter("bypass_bypass"), 2);
  EXPECT_EQ(with.divergence_counter("not_uniform"), 0);
  PolicyDriver without =
      DriverWith(UniformBranch(), "tbc_plus:wcu_cycles_per_warp=0,uniform_branches=false", SlowSecondWarp, 2);
  EXPECT_EQ(without.Run(), "A[01] A[23] . . B0[01] B0[23] B1[01] B1[23] D[01] D[23]");
  EXPECT_EQ(without.divergence_counter("stall_bypass"), 2);
}

// The warps take different sides of a branch that was taken for uniform, and come to different branches next. They
// reconverge where their entry does, here at the end, so G runs once per side of them.
TEST(TbcPlus, SurvivesABranchThatIsUniformInEachWarpOnly) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'G').Block('B', 1, "DE", 'G').Block('C', 1, "DE", 'G');
  scenario.Block('D', 1, "G").Block('E', 1, "G").Block('G', 1, "").Uniform('A');
  scenario.ThreadBlock({"ABDG", "ABEG", "ACEG", "ACDG"});
  PolicyDriver driver = DriverWith(scenario, kTbcPlus, {}, 2);
  EXPECT_EQ(driver.Run(), "A[01] A[23] B[01] C[23] D[03] G[03] E[21] G[21]");
  EXPECT_EQ(driver.divergence_counter("not_uniform"), 1);
}

TEST(TbcPlus, SurvivesABranchThatIsUniformInNoWarp) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D").Block('D', 1, "").Uniform('A');
  scenario.ThreadBlock({"ABD", "ACD", "ACD", "ABD"});
  PolicyDriver driver = DriverWith(scenario, kTbcPlus, {}, 2);
  EXPECT_EQ(driver.Run(), "A[01] A[23] B[03] C[21] D[01] D[23]");
  EXPECT_EQ(driver.divergence_counter("not_uniform"), 2);
}

// ----------------------------------------------------------------------------------------------------- wide branches

Scenario WideBranch() {
  Scenario scenario;
  scenario.Block('A', 1, "XYZ", 'E').Block('X', 1, "E").Block('Y', 1, "E").Block('Z', 1, "E").Block('E', 1, "");
  return scenario.ThreadBlock({"AXE", "AYE", "AZE", "AXE", "AYE", "AYE", "AXE", "AZE"});
}

TEST_P(TbcExample, RunsTheTargetsOfAWideBranchFromTheLowestPcOn) {
  EXPECT_EQ(RunOn(GetParam(), WideBranch(), kTbc, "fifo", 4),
            "A[0123] A[4567] X[0-63] Y[41--] Y[-5--] Z[--27] E[0123] E[4567]");
}

// ------------------------------------------------------------------------------------------------------------- exits

TEST(Tbc, ThreadsThatExitLeaveEveryEntry) {
  Scenario scenario;
  scenario.Block('A', 1, "XB").Block('X', 1, "").Block('B', 1, "CD", 'E').Block('C', 1, "E").Block('D', 1, "E");
  scenario.Block('E', 1, "");
  scenario.ThreadBlock({"AX", "ABCE", "ABDE", "AX", "ABCE", "AX", "ABCE", "ABDE"});
  EXPECT_EQ(LogWith(scenario, kTbc), "A[0123] A[4567] X[05-3] B[4127] B[--6-] C[416-] D[--27] E[4127] E[--6-]");
}

// --------------------------------------------------------------------------------------------------------------
// barriers

// Both sides are let go together, the lower slot first, and then run one after the other. C's warp has the lower slot:
// B took that of the warp that came to the branch last.
TEST_P(TbcExample, RunsTheOtherSideWhileOneWaitsAtABarrier) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 2, "D").Block('C', 2, "D").Block('D', 1, "");
  scenario.Barrier('B', 0).Barrier('C', 0);
  scenario.ThreadBlock({"ABD", "ACD", "ABD", "ACD", "ACD", "ABD", "ACD", "ABD"});
  EXPECT_EQ(RunOn(GetParam(), scenario, kTbc, "fifo", 4),
            "A[0123] A[4567] B0[0527] C0[4163] C1[4163] B1[0527] D[0123] D[4567]");
}

TEST(Tbc, CountsBarrierSwitches) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 3, "D").Block('C', 4, "D").Block('D', 1, "");
  scenario.Barrier('B', 0).Barrier('B', 2).Barrier('C', 1).Barrier('C', 3);
  scenario.ThreadBlock({"ABD", "ACD", "ABD", "ACD", "ACD", "ABD", "ACD", "ABD"});
  PolicyDriver driver = DriverWith(scenario, kTbc);
  // B waits, so C runs to its barrier and is let go first; it comes to its second barrier, and B goes on.
  EXPECT_EQ(driver.Run(),
            "A[0123] A[4567] B0[0527] C0[4163] C1[4163] C2[4163] C3[4163] B1[0527] B2[0527] D[0123] D[4567]");
  EXPECT_EQ(driver.divergence_counter("barrier_switches"), 2);
}

// The barrier comes behind one branch and before another.
TEST(Tbc, BarrierBetweenBranches) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'C').Block('B', 1, "C").Block('C', 2, "DE", 'E').Block('D', 1, "E").Block('E', 1, "");
  scenario.Barrier('C', 0);
  scenario.ThreadBlock({"ABCDE", "ACE", "ABCE", "ACDE", "ACDE", "ABCE", "ABCDE", "ACE"});
  EXPECT_EQ(LogWith(scenario, kTbc),
            "A[0123] A[4567] B[052-] B[--6-] C0[0123] C0[4567] C1[0123] C1[4567] D[0-63] D[4---] E[0123] E[4567]");
}

// ------------------------------------------------------------------------------------------------------ several blocks

TEST(Tbc, BlocksHaveStacksOfTheirOwn) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D").Block('D', 1, "");
  scenario.ThreadBlock({"ABD", "ACD", "ACD", "ABD"}).ThreadBlock({"ABD", "ABD", "ACD", "ACD"});
  EXPECT_EQ(LogWith(scenario, kTbc, {}, 2),
            "A[0*0 0*1 ] A[0*2 0*3 ] A[1*0 1*1 ] A[1*2 1*3 ] B[0*0 0*3 ] B[1*0 1*1 ] C[0*2 0*1 ] C[1*2 1*3 ] "
            "D[0*0 0*1 ] D[0*2 0*3 ] D[1*0 1*1 ] D[1*2 1*3 ]");
}

}  // namespace
}  // namespace heddle::replay
