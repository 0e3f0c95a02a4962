// LWM: packing, the re-fetch rule, barriers, exits, wide branches, several blocks; by what issues and what is counted.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/replay/policies/divergence/figures.h"
#include "tests/replay/policies/divergence/run_on.h"
#include "tests/replay/policy_driver.h"

namespace heddle::replay {
namespace {

using testing::HasSubstr;
using testing::Not;

PolicyDriver::Options Lwm(const std::string& parameters = "large_warp_threads=8") {
  PolicyDriver::Options options;
  options.divergence = "lwm:" + parameters;
  return options;
}

// Cycles from issue to completion of the instructions of one block, for some threads.
std::function<uint32_t(uint32_t, Pc)> Slow(const Scenario& scenario, char block, uint32_t cycles,
                                           const std::vector<uint32_t>& threads = {}) {
  const Pc slow = scenario.PcOf(block);
  return [=](uint32_t thread, Pc pc) {
    const bool chosen = threads.empty() || std::find(threads.begin(), threads.end(), thread) != threads.end();
    return pc == slow && chosen ? cycles : 1;
  };
}

// HARP, Figure 6: both sides are packed as tightly as lanes allow, but nothing hides B's latency.
TEST(Lwm, HarpFigure6) {
  const Scenario scenario = HarpFigure6();
  PolicyDriver::Options options = Lwm();
  options.latency = Slow(scenario, 'B', 3);
  PolicyDriver driver(scenario, options);
  EXPECT_EQ(driver.Run(), "A[0123] A[4567] B[4163] B[-5--] . . C[0-27] D0[0123] D0[4567] D1[0123] D1[4567]");
  EXPECT_EQ(driver.divergence_counter("instructions"), 5);
  EXPECT_EQ(driver.divergence_counter("sub_warps"), 9);
  EXPECT_EQ(driver.divergence_counter("rows_saved"), 1);  // C's two rows fit into one sub-warp
  EXPECT_EQ(driver.divergence_counter("divergences"), 1);
  EXPECT_EQ(driver.divergence_counter("last_sub_warp_cycles"), 2);  // the second sub-warp of A, and of the exit
}

// A large warp of one row is a warp with a stack.
TEST(Lwm, OneRowIsPdom) {
  for (const Scenario& scenario : {HarpFigure6(), FungFigure41(), CapriFigure1(), EvenOddLoop()}) {
    EXPECT_EQ(PolicyDriver(scenario, Lwm("large_warp_threads=4")).Run(), PolicyDriver(scenario, {}).Run());
  }
}

// The lowest row with an active thread is taken in every column; 1 and 5 share a column.
TEST(Lwm, PacksColumnByColumnFromTheLowestRow) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 2, "D").Block('C', 1, "D").Block('D', 1, "");
  scenario.ThreadBlock({"ACD", "ABD", "ACD", "ACD", "ABD", "ABD", "ACD", "ACD", "ABD", "ABD", "ABD", "ACD"});
  EXPECT_EQ(PolicyDriver(scenario, Lwm("large_warp_threads=12")).Run(),
            "A[0123] A[4567] A[89ab] B0[41a-] B0[85--] B0[-9--] B1[41a-] B1[85--] B1[-9--] C[0-23] C[--67] C[---b] "
            "D[0123] D[4567] D[89ab]");
}

// The sub-warps of an instruction issue in one go, even if another large warp has waited longer.
TEST(Lwm, SubWarpsOfAnInstructionIssueTogether) {
  Scenario scenario;
  scenario.Block('A', 1, "B").Block('B', 1, "");
  scenario.ThreadBlock(std::vector<std::string>(16, "AB"));
  const auto run = [&](const std::string& scheduler) {
    PolicyDriver::Options options = Lwm();
    options.scheduler = scheduler;
    return PolicyDriver(scenario, options).Run();
  };
  const char* const in_turn = "A[0123] A[4567] A[89ab] A[cdef] B[0123] B[4567] B[89ab] B[cdef]";
  EXPECT_EQ(run("fifo"), in_turn);
  EXPECT_EQ(run("lrr"), in_turn);
  EXPECT_EQ(run("gto"), "A[0123] A[4567] B[0123] B[4567] A[89ab] A[cdef] B[89ab] B[cdef]");
}

// Behind an instruction that decides nothing, the next one begins with the threads that are there. Row 0 is late in A1:
// row 1 goes on to A2 alone; row 0 follows, and only then may A3, which branches, be fetched.
TEST(Lwm, RefetchesWhenTheFirstSubWarpIsDone) {
  Scenario scenario;
  scenario.Block('A', 4, "BC", 'C').Block('B', 1, "C").Block('C', 1, "");
  scenario.ThreadBlock({"AC", "AC", "AC", "AC", "ABC", "ABC", "ABC", "ABC"});
  const auto run = [&](const std::string& refetch) {
    PolicyDriver::Options options = Lwm("large_warp_threads=8,refetch=" + refetch);
    options.latency = [&](uint32_t thread, Pc pc) { return pc == scenario.PcOf('A', 1) && thread < 4 ? 4 : 1; };
    return PolicyDriver(scenario, options).Run();
  };
  EXPECT_EQ(run("first"),
            "A0[0123] A0[4567] A1[0123] A1[4567] A2[4567] . A2[0123] A3[0123] A3[4567] B[4567] C[0123] C[4567]");
  EXPECT_EQ(run("last"),
            "A0[0123] A0[4567] A1[0123] A1[4567] . . A2[0123] A2[4567] A3[0123] A3[4567] B[4567] C[0123] C[4567]");
}

// The first sub-warp of C is late. D begins with the others, packed column by column from the lowest row that is there:
// when threads 8 and 9 to 11 have become one sub-warp, the late ones come and go first, as theirs are the lower rows.
TEST(Lwm, RefetchFirstPacksTheThreadsThatAreReady) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D").Block('D', 2, "");
  std::vector<std::string> paths(12, "ACD");
  paths[0] = "ABD";
  scenario.ThreadBlock(paths);
  PolicyDriver::Options options = Lwm("large_warp_threads=12,refetch=first");
  options.latency = Slow(scenario, 'C', 4, {1});
  EXPECT_EQ(PolicyDriver(scenario, options).Run(),
            "A[0123] A[4567] A[89ab] B[0---] C[4123] C[8567] C[-9ab] D0[0567] D0[4123] D0[89ab] D1[0123] D1[4567] "
            "D1[89ab]");
}

TEST(Lwm, ALargeWarpDoesNotSpanBlocks) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'C').Block('B', 1, "C").Block('C', 1, "");
  scenario.ThreadBlock({"ABC", "AC", "AC", "AC"}).ThreadBlock({"AC", "ABC", "AC", "AC"});
  const std::string log = PolicyDriver(scenario, Lwm()).Run();
  EXPECT_EQ(CountIssuesOf(log, "B"), 2);
  EXPECT_THAT(log, Not(HasSubstr("stuck")));
}

// A block of 6 threads, large warps of 4: the second has one row of two threads.
TEST(Lwm, TheLastLargeWarpMayBeSmaller) {
  Scenario scenario;
  scenario.Block('A', 2, "");
  scenario.ThreadBlock(std::vector<std::string>(10, "A"));
  PolicyDriver driver(scenario, Lwm());
  EXPECT_EQ(driver.Run(), "A0[0123] A0[4567] A0[89--] A1[0123] A1[4567] A1[89--]");
  EXPECT_EQ(driver.divergence_counter("instructions"), 4);
}

TEST(Lwm, ZeroMeansTheWholeBlock) {
  const Scenario scenario = FungFigure41();
  EXPECT_EQ(PolicyDriver(scenario, Lwm("large_warp_threads=0")).Run(), PolicyDriver(scenario, Lwm()).Run());
}

// Threads 0, 2 and 5 end early; the others are packed anew without them.
TEST(Lwm, EarlyExits) {
  Scenario scenario;
  scenario.Block('A', 1, "XB").Block('X', 1, "").Block('B', 2, "");
  scenario.ThreadBlock({"AX", "AB", "AX", "AB", "AB", "AX", "AB", "AB"});
  EXPECT_EQ(PolicyDriver(scenario, Lwm()).Run(), "A[0123] A[4567] X[052-] B0[4163] B0[---7] B1[4163] B1[---7]");
}

// Both sides of a divergence wait at the same barrier: while one waits, the other runs.
TEST(Lwm, BarriersInsideADivergence) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 2, "D").Block('C', 2, "D").Block('D', 1, "");
  scenario.Barrier('B', 0).Barrier('C', 0);
  scenario.ThreadBlock({"ABD", "ACD", "ABD", "ACD", "ABD", "ACD", "ACD", "ACD"});
  for (const char* refetch : {"last", "first"}) {
    PolicyDriver driver(scenario, Lwm(std::string("large_warp_threads=8,refetch=") + refetch));
    const std::string log = driver.Run();
    EXPECT_THAT(log, Not(HasSubstr("stuck"))) << refetch;
    EXPECT_EQ(driver.issued_threads(), scenario.thread_instructions()) << refetch;
    EXPECT_EQ(driver.divergence_counter("barrier_switches"), 1) << refetch;
  }
}

// One side waits for threads that the stack holds back: reported with the stack, not broken.
TEST(Lwm, ABarrierThatCannotOpenIsReported) {
  Scenario scenario;
  scenario.Block('A', 1, "BD", 'D').Block('B', 1, "D").Block('D', 1, "").Barrier('B', 0);
  scenario.ThreadBlock({"ABD", "AD", "ABD", "AD", "ABD", "AD", "AD", "AD"});
  EXPECT_THAT(PolicyDriver(scenario, Lwm()).Run(), HasSubstr("stuck"));
  EXPECT_THAT(RunOnEngine(scenario, "lwm:large_warp_threads=8", "fifo").log,
              testing::AllOf(HasSubstr("deadlock"), HasSubstr("large warp 0: (16,-,8)(8,16,3,barrier)")));
}

// The group in the warp table is the large warp.
TEST(Lwm, SubWarpsOfALargeWarpHaveACommonGroup) {
  Scenario scenario;
  scenario.Block('A', 2, "").ThreadBlock(std::vector<std::string>(16, "A"));
  PolicyDriver::Options options = Lwm();
  int looked = 0;
  options.look = [&](Cycle, const DivergencePolicy&, const WarpTable& table) {
    for (size_t slot = 0; slot < table.state.size(); ++slot) {
      if (table.state[slot] == SlotState::kFree) continue;
      EXPECT_EQ(table.group[slot], table.lanes[slot].thread[0] / 8);
      ++looked;
    }
  };
  PolicyDriver(scenario, options).Run();
  EXPECT_GT(looked, 16);
}

}  // namespace
}  // namespace heddle::replay
