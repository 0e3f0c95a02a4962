// HARP: its figures, and each table by itself: lookups, barriers, levels, delays; by what issues and what is counted.
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

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Moves between tables take no time; one table for both levels.
constexpr char kIdeal[] = "first_level=0,lookup_delay=0,second_level_port=unlimited";

PolicyDriver::Options Harp(const std::string& parameters = "") {
  PolicyDriver::Options options;
  options.divergence = "harp:" + parameters;
  return options;
}

std::string LogOf(const Scenario& scenario, const std::string& parameters = "") {
  return PolicyDriver(scenario, Harp(parameters)).Run();
}

std::function<uint32_t(uint32_t, Pc)> Slow(const Scenario& scenario, char block, uint32_t cycles,
                                           const std::vector<uint32_t>& threads = {}) {
  const Pc slow = scenario.PcOf(block);
  return [=](uint32_t thread, Pc pc) {
    const bool chosen = threads.empty() || std::find(threads.begin(), threads.end(), thread) != threads.end();
    return pc == slow && chosen ? cycles : 1;
  };
}

// Two warps at a branch; one instruction everywhere.
Scenario Branch(std::vector<std::string> paths) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D").Block('D', 1, "");
  return scenario.ThreadBlock(std::move(paths));
}

// ------------------------------------------------------------------------------------------------------------- figures

// Figure 10, every instruction two cycles from issue to commit. Thread 7 joins the warp of C, which becomes the
// youngest; the warps of A come back to life at D.
TEST(Harp, Figure10) {
  PolicyDriver::Options options = Harp(kIdeal);
  options.latency = [](uint32_t, Pc) { return 2; };
  PolicyDriver driver(HarpFigure10(), options);
  EXPECT_EQ(driver.Run(), "A[0123] A[4567] B[-1-3] B[456-] C[0-27] . D[0123] D[4567]");
  EXPECT_EQ(driver.divergence_counter("divergences"), 2);
  EXPECT_EQ(driver.divergence_counter("ready_merges"), 1);
  EXPECT_EQ(driver.divergence_counter("ready_threads_merged"), 1);
  EXPECT_EQ(driver.divergence_counter("barriers_reserved"), 2);
  EXPECT_EQ(driver.divergence_counter("max_barriers"), 2);
  EXPECT_EQ(driver.divergence_counter("warps_revived"), 2);
  EXPECT_EQ(driver.divergence_counter("barrier_misses"), 0);
}

// A warp that leaves the lookup in a cycle is selected in the next: one cycle more before B, none after C.
TEST(Harp, Figure10WithTransitionsThatTakeTime) {
  PolicyDriver::Options options = Harp();
  options.latency = [](uint32_t, Pc) { return 2; };
  EXPECT_EQ(PolicyDriver(HarpFigure10(), options).Run(), "A[0123] A[4567] . B[-1-3] B[456-] C[0-27] . D[0123] D[4567]");
  options.divergence = "harp:barrier_delay=1";
  EXPECT_EQ(PolicyDriver(HarpFigure10(), options).Run(),
            "A[0123] A[4567] . B[-1-3] B[456-] C[0-27] . . D[0123] D[4567]");
}

// Figure 6: B takes three cycles. HARP fills them with C, and rejoins.
TEST(Harp, Figure6) {
  const Scenario scenario = HarpFigure6();
  const auto run = [&](const std::string& divergence, const std::string& scheduler, int large) {
    PolicyDriver::Options options;
    options.divergence = divergence + (large != 0 ? ":large_warp_threads=8" : "");
    options.scheduler = scheduler;
    options.latency = Slow(scenario, 'B', 3);
    return PolicyDriver(scenario, options).Run();
  };
  EXPECT_EQ(run("pdom", "fifo", 0),
            "A[0123] A[4567] B[-1-3] B[456-] . C[0-2-] C[---7] D0[0123] D0[4567] D1[0123] D1[4567]");
  EXPECT_EQ(run("dwf:swizzle=none", "dtime", 0),
            "A[0123] A[4567] B[4163] C[0-27] B[-5--] D0[0127] D0[4-63] D1[0127] D0[-5--] D1[4563]");
  EXPECT_EQ(run("lwm", "fifo", 1), "A[0123] A[4567] B[4163] B[-5--] . . C[0-27] D0[0123] D0[4567] D1[0123] D1[4567]");
  EXPECT_EQ(run("tbc:wcu_cycles_per_warp=0", "fifo", 0), run("lwm", "fifo", 1));
  EXPECT_EQ(run(std::string("harp:") + kIdeal, "fifo", 0),
            "A[0123] A[4567] B[-1-3] B[456-] C[0-27] D0[0123] D0[4567] D1[0123] D1[4567]");
}

// -------------------------------------------------------------------------------------------------------- ready-lookup

// A merge makes a warp of the lookup the youngest, or leaves it where it is.
TEST(Harp, LookupOrder) {
  PolicyDriver::Options options = Harp(std::string(kIdeal) + ",lookup_order=insertion");
  options.latency = [](uint32_t, Pc) { return 2; };
  EXPECT_EQ(PolicyDriver(HarpFigure10(), options).Run(), "A[0123] A[4567] B[-1-3] C[0-27] B[456-] D[0123] D[4567]");
}

// With one entry, C's threads bypass the table: nobody can join them.
TEST(Harp, AFullReadyLookupIsBypassed) {
  PolicyDriver driver(HarpFigure10(), Harp("ready_lookup=1"));
  const std::string log = driver.Run();
  EXPECT_EQ(CountIssuesOf(log, "C"), 2);
  EXPECT_EQ(driver.divergence_counter("ready_bypasses"), 2);
  EXPECT_EQ(driver.divergence_counter("max_ready_lookup"), 1);
  EXPECT_EQ(driver.divergence_counter("ready_merges"), 0);
  EXPECT_EQ(CountIssuesOf(log, "D"), 2);  // reconvergence does not depend on the lookup
}

// A warp stays in the lookup while enough others are ready.
TEST(Harp, TheLookupKeepsWarpsWhileOthersAreReady) {
  // Thread 0 parts from the others; its warp waits until theirs have run out.
  std::vector<std::string> paths(16, "ACD");
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 3, "D").Block('D', 1, "");
  paths[0] = "ABD";
  scenario.ThreadBlock(paths);
  PolicyDriver eager(scenario, Harp(std::string(kIdeal) + ",lookup_low_water=16"));
  PolicyDriver late(scenario, Harp(std::string(kIdeal) + ",lookup_low_water=1"));
  const std::string eager_log = eager.Run();
  const std::string late_log = late.Run();
  EXPECT_LT(eager_log.find("B["), late_log.find("B["));
  EXPECT_THAT(late_log, HasSubstr("D[89ab]"));
}

// ------------------------------------------------------------------------------------------------------ waiting-lookup

// B loads. The threads of both warps that go there execute it at different times, and come back as one warp: they are
// in E together, although the ready-lookup could not bring them together.
Scenario Loads(trace::v1::MemorySpace space) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "E").Block('E', 2, "D").Block('C', 1, "D").Block('D', 1, "");
  scenario.Memory('B', 0, space);
  return scenario.ThreadBlock({"ABED", "ABED", "ACD", "ACD", "ACD", "ACD", "ABED", "ABED"});
}

TEST(Harp, WarpsAtOneMemoryInstructionComeBackAsOne) {
  const Scenario scenario = Loads(trace::v1::SPACE_GLOBAL);
  PolicyDriver::Options options = Harp("ready_lookup=0,first_level=0");
  options.latency = Slow(scenario, 'B', 6);
  PolicyDriver driver(scenario, options);
  EXPECT_EQ(driver.Run(), "A[0123] A[4567] B[01--] C[--23] B[--67] C[45--] . . . . E0[0167] E1[0167] D[0123] D[4567]");
  EXPECT_EQ(driver.divergence_counter("waiting_merges"), 1);
  EXPECT_EQ(driver.divergence_counter("waiting_threads_merged"), 2);
  EXPECT_EQ(driver.divergence_counter("max_waiting_lookup"), 1);
}

TEST(Harp, SharedMemoryDoesNotUseTheWaitingLookup) {
  const Scenario scenario = Loads(trace::v1::SPACE_SHARED);
  PolicyDriver::Options options = Harp("ready_lookup=0,first_level=0");
  options.latency = Slow(scenario, 'B', 6);
  PolicyDriver driver(scenario, options);
  EXPECT_EQ(CountIssuesOf(driver.Run(), "E0"), 2);
  EXPECT_EQ(driver.divergence_counter("max_waiting_lookup"), 0);
}

// B and C both load. With one place, only the threads of B's first warp can be joined.
TEST(Harp, AFullWaitingLookupIsBypassed) {
  Scenario scenario = Loads(trace::v1::SPACE_GLOBAL);
  scenario.Memory('C', 0, trace::v1::SPACE_GLOBAL);
  const auto run = [&](int entries, uint64_t bypasses, int issues_of_e) {
    PolicyDriver::Options options = Harp("ready_lookup=0,waiting_lookup=" + std::to_string(entries));
    const auto slow_b = Slow(scenario, 'B', 6, {0, 1});
    const auto slow_c = Slow(scenario, 'C', 6);
    options.latency = [=](uint32_t thread, Pc pc) { return std::max(slow_b(thread, pc), slow_c(thread, pc)); };
    PolicyDriver driver(scenario, options);
    EXPECT_EQ(CountIssuesOf(driver.Run(), "E0"), issues_of_e) << entries;
    EXPECT_EQ(driver.divergence_counter("waiting_bypasses"), bypasses) << entries;
  };
  run(8, 0, 1);
  run(1, 2, 1);  // B's first warp has the entry, and its second joins; both warps of C find none
  run(0, 0, 2);
}

// Lane 0 is taken: thread 4 keeps an entry of its own; with whole warps only, so do threads 5 and 6.
TEST(Harp, ThreadsWhoseLanesAreTakenWaitOnTheirOwn) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "E").Block('E', 1, "D").Block('C', 1, "D").Block('D', 1, "");
  scenario.Memory('B', 0, trace::v1::SPACE_GLOBAL);
  scenario.ThreadBlock({"ABED", "ACD", "ACD", "ABED", "ABED", "ABED", "ABED", "ACD"});
  PolicyDriver::Options options = Harp("ready_lookup=0");
  options.latency = Slow(scenario, 'B', 6);
  PolicyDriver driver(scenario, options);
  const std::string log = driver.Run();
  EXPECT_THAT(log, AllOf(HasSubstr("E[0563]"), HasSubstr("E[4---]"), HasSubstr("D[4567]")));
  EXPECT_EQ(driver.divergence_counter("max_waiting_lookup"), 2);
  options.divergence = "harp:ready_lookup=0,waiting_merge=warps";
  EXPECT_THAT(PolicyDriver(scenario, options).Run(), AllOf(HasSubstr("E[0--3]"), HasSubstr("E[456-]")));
}

// --------------------------------------------------------------------------------------------- reconvergence barriers

// Without barriers threads are regrouped, but never rejoined.
TEST(Harp, WithoutBarriersNothingReconverges) {
  PolicyDriver driver(HarpFigure10(), Harp("barrier_entries=0"));
  const std::string log = driver.Run();
  EXPECT_EQ(CountIssuesOf(log, "D"), 3);
  EXPECT_EQ(driver.divergence_counter("barrier_misses"), 8);
  EXPECT_EQ(driver.divergence_counter("max_barriers"), 0);
}

// One set of one way: the second warp finds it taken, and its threads run past D on their own.
TEST(Harp, AFullSetMeansMissedReconvergence) {
  PolicyDriver driver(HarpFigure10(), Harp("barrier_entries=1,barrier_ways=1"));
  const std::string log = driver.Run();
  EXPECT_THAT(log, HasSubstr("D[0123]"));
  EXPECT_THAT(log, Not(HasSubstr("D[4567]")));
  EXPECT_EQ(driver.divergence_counter("barrier_misses"), 4);
  EXPECT_EQ(driver.divergence_counter("max_barriers"), 1);
}

// Hardware warps 0 and 2 share a set of two sets, hardware warps 0 and 1 do not.
TEST(Harp, HwWarpsFindTheirSetByTheirLowestBits) {
  std::vector<std::string> paths;
  for (int thread = 0; thread < 12; ++thread) paths.push_back(thread % 2 == 0 ? "ABD" : "ACD");
  Scenario scenario = Branch(paths);
  PolicyDriver driver(scenario, Harp("barrier_entries=2,barrier_ways=1,ready_lookup=0"));
  const std::string log = driver.Run();
  EXPECT_EQ(driver.divergence_counter("barrier_misses"), 4);
  EXPECT_THAT(log, AllOf(HasSubstr("D[0123]"), HasSubstr("D[4567]"), Not(HasSubstr("D[89ab]"))));
}

// A warp of threads from two hardware warps has a barrier in each hardware warp's set, and comes back as two.
TEST(Harp, RegroupedWarpsComeBackHwWarpByHwWarp) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'G')
      .Block('B', 1, "DE", 'F')
      .Block('C', 1, "G")
      .Block('D', 1, "F")
      .Block('E', 1, "F")
      .Block('F', 1, "G")
      .Block('G', 1, "");
  // B: 0 and 1 of hardware warp 0, 6 and 7 of hardware warp 1, in one warp; it diverges again. Hardware warp 2 keeps
  // them in the lookup until then.
  std::vector<std::string> paths = {"ABDFG", "ABEFG", "ACG", "ACG", "ACG", "ACG", "ABDFG", "ABEFG"};
  paths.insert(paths.end(), 4, "ACG");
  scenario.ThreadBlock(paths);
  PolicyDriver::Options options = Harp(std::string(kIdeal) + ",lookup_low_water=1");
  options.latency = Slow(scenario, 'A', 2);
  PolicyDriver driver(scenario, options);
  const std::string log = driver.Run();
  EXPECT_THAT(log, HasSubstr("B[0167]"));
  EXPECT_EQ(CountIssuesOf(log, "F"), 2);
  EXPECT_THAT(log, AllOf(HasSubstr("F[01--]"), HasSubstr("F[--67]"), HasSubstr("G[0123]"), HasSubstr("G[4567]")));
  options.divergence = std::string("harp:barriers=per_warp,lookup_low_water=1,") + kIdeal;
  EXPECT_THAT(PolicyDriver(scenario, options).Run(), HasSubstr("F[0167]"));
}

// Threads leave the loop one by one: they keep the barrier of the first divergence.
TEST(Harp, LoopsKeepTheirBarrier) {
  Scenario scenario;
  scenario.Block('L', 1, "LE", 'E').Block('E', 1, "");
  scenario.ThreadBlock({"LE", "LLE", "LLLE", "LLLLE"});
  for (const char* barriers : {"table", "per_warp"}) {
    PolicyDriver driver(scenario, Harp(std::string("lookup_delay=0,barriers=") + barriers));
    EXPECT_EQ(driver.Run(), "L[0123] L[-123] L[--23] L[---3] E[0123]");
    EXPECT_EQ(driver.divergence_counter("max_barriers"), std::string(barriers) == "table" ? 1 : 3);
  }
}

// barrier_match=point: the second warp's threads enter the free lanes of the first warp's barrier; warps mix.
TEST(Harp, BarriersMatchedByPointMixWarps) {
  Scenario scenario;
  scenario.Block('Z', 1, "AD", 'D').Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 3, "D").Block('D', 1, "");
  scenario.ThreadBlock({"ZABD", "ZACD", "ZD", "ZD", "ZD", "ZD", "ZABD", "ZACD"});
  PolicyDriver event(scenario, Harp("barrier_entries=1,barrier_ways=1"));
  event.Run();
  PolicyDriver point(scenario, Harp("barrier_entries=1,barrier_ways=1,barrier_match=point"));
  point.Run();
  EXPECT_EQ(point.issued_threads(), scenario.thread_instructions());
  EXPECT_LE(point.divergence_counter("barrier_misses"), event.divergence_counter("barrier_misses"));
}

// A pipelined table makes every commit later by its further stages.
TEST(Harp, PipelinedBarrierTables) {
  const Scenario scenario = Branch({"ABD", "ACD", "ABD", "ACD"});
  EXPECT_EQ(LogOf(scenario, "lookup_delay=0"), "A[0123] B[0-2-] C[-1-3] D[0123]");
  EXPECT_EQ(LogOf(scenario, "lookup_delay=0,barrier_latency=2"), "A[0123] . B[0-2-] C[-1-3] . D[0123]");
  EXPECT_EQ(LogOf(scenario, "lookup_delay=0,barrier_latency=4"), "A[0123] . . . B[0-2-] C[-1-3] . . . D[0123]");
}

// Revived warps go before those of the lookup, one in a cycle.
TEST(Harp, OneWayIntoTheSecondLevel) {
  const Scenario scenario = HarpFigure10();
  PolicyDriver::Options options = Harp("first_level=0,lookup_delay=0");
  options.latency = [](uint32_t, Pc) { return 2; };
  EXPECT_EQ(PolicyDriver(scenario, options).Run(), "A[0123] A[4567] B[-1-3] B[456-] C[0-27] . D[0123] D[4567]");
}

// --------------------------------------------------------------------------------------------------- levels of warps

TEST(Harp, OnlyTheFirstLevelIssues) {
  Scenario scenario;
  scenario.Block('A', 3, "").ThreadBlock(std::vector<std::string>(16, "A"));
  PolicyDriver::Options options = Harp("first_level=2");
  int most = 0;
  options.look = [&](Cycle, const DivergencePolicy&, const WarpTable& table) {
    int offered = 0;
    table.offered.ForEach([&](SlotId) { ++offered; });
    most = std::max(most, offered);
  };
  PolicyDriver driver(scenario, options);
  EXPECT_EQ(driver.Run(),
            "A0[0123] A0[4567] A0[89ab] A0[cdef] A1[0123] A1[4567] A1[89ab] A1[cdef] A2[0123] A2[4567] "
            "A2[89ab] A2[cdef]");
  EXPECT_EQ(most, 2);
  EXPECT_EQ(driver.divergence_counter("max_first_level"), 2);
  // The oldest-first scheduler can only choose among two.
  options.scheduler = "gto";
  EXPECT_THAT(PolicyDriver(scenario, options).Run(), testing::StartsWith("A0[0123] A0[4567]"));
}

TEST(Harp, TheWayIntoTheFirstLevelMayTakeTime) {
  Scenario scenario;
  scenario.Block('A', 2, "").ThreadBlock({"A", "A", "A", "A"});
  EXPECT_EQ(LogOf(scenario, "first_level_delay=2"), ". . A0[0123] . . A1[0123]");
}

TEST(Harp, AFullSecondLevelIsReportedOrSpills) {
  Scenario scenario;
  scenario.Block('A', 3, "").ThreadBlock(std::vector<std::string>(16, "A"));
  EXPECT_THAT(LogOf(scenario, "first_level=1,second_level=2"),
              AllOf(HasSubstr("failed"), HasSubstr("met a limit"), HasSubstr("needs 3 entries, but second_level is 2"),
                    Not(HasSubstr("internal error"))));
  PolicyDriver driver(scenario, Harp("first_level=1,second_level=2,second_level_overflow=spill"));
  EXPECT_THAT(driver.Run(), Not(HasSubstr("failed")));
  EXPECT_GT(driver.divergence_counter("second_level_overflows"), 0);
}

// ------------------------------------------------------------------------------------------- barriers, exits, blocks

TEST(Harp, BarriersInsideAndBehindADivergence) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 2, "D").Block('C', 3, "D").Block('D', 2, "");
  scenario.Barrier('B', 0).Barrier('C', 1).Barrier('D', 0);
  scenario.ThreadBlock({"ABD", "ACD", "ABD", "ACD", "ABD", "ACD", "ACD", "ACD"});
  for (const char* parameters : {"", "barriers=per_warp", "barrier_latency=2", "barrier_entries=0", "ready_lookup=0"}) {
    PolicyDriver driver(scenario, Harp(parameters));
    EXPECT_THAT(driver.Run(), Not(HasSubstr("stuck"))) << parameters;
    EXPECT_EQ(driver.issued_threads(), scenario.thread_instructions()) << parameters;
  }
}

// Illegal code: one side waits for the block, the other for that side. Reported with the barrier, not broken.
TEST(Harp, ABarrierThatCannotOpenIsReported) {
  Scenario scenario;
  scenario.Block('A', 1, "BD", 'D').Block('B', 1, "D").Block('D', 1, "").Barrier('B', 0);
  scenario.ThreadBlock({"ABD", "AD", "ABD", "AD"});
  EXPECT_THAT(LogOf(scenario), HasSubstr("stuck"));
  EXPECT_THAT(RunOnEngine(scenario, "harp", "fifo").log,
              AllOf(HasSubstr("deadlock"), HasSubstr("a reconvergence barrier at pc 16 has 2 of 4 threads")));
}

// Threads that end leave their barrier: 1 and 3 go on without 0 and 2.
TEST(Harp, EarlyExitsLeaveTheBarrier) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "XD", 'D').Block('X', 1, "").Block('C', 1, "D").Block('D', 1, "");
  scenario.ThreadBlock({"ABX", "ABD", "ACD", "ACD"});
  for (const char* barriers : {"table", "per_warp"}) {
    const std::string log = LogOf(scenario, std::string("barriers=") + barriers);
    EXPECT_THAT(log, AllOf(HasSubstr("X[0---]"), HasSubstr("D[-123]"))) << barriers;
  }
}

TEST(Harp, ThreadsOfDifferentBlocksStayApart) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D").Block('D', 1, "");
  scenario.ThreadBlock({"ABD", "ACD", "ACD", "ACD"}).ThreadBlock({"ACD", "ABD", "ACD", "ACD"});
  PolicyDriver driver(scenario, Harp("barrier_entries=16"));
  const std::string log = driver.Run();
  EXPECT_EQ(CountIssuesOf(log, "B"), 2);
  EXPECT_EQ(CountIssuesOf(log, "D"), 2);
  EXPECT_EQ(driver.divergence_counter("ready_merges"), 0);
}

// Threads at the same PC but different call depths are not at the same place.
TEST(Harp, RecursionDoesNotFakeAReconvergence) {
  const Scenario scenario = Recursion();
  EXPECT_EQ(LogOf(scenario, "lookup_delay=0"),
            "A[0123] F[0123] R[-12-] F[-12-] S[0--3] R[--2-] S[-1--] F[--2-] S[--2-] T[--2-] C[--2-] T[-12-] C[-12-] "
            "T[0123] B[0123]");
}

}  // namespace
}  // namespace heddle::replay
