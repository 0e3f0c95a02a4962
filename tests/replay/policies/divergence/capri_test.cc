// CAPRI: the worked examples of the paper's Figures 6(c), 7 and 8 with stack, WCnt, update mask and table, the
// histories, table sizes, how far bypassed warps run ahead, and how decisions are judged.
#include <algorithm>
#include <bit>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/policies/divergence/block_wide/adequacy_table.h"
#include "replay/policies/divergence/block_wide/ideal_waiting.h"
#include "tests/replay/engine_runner.h"
#include "tests/replay/policies/divergence/figures_capri.h"
#include "tests/replay/policies/divergence/run_on.h"
#include "tests/replay/policies/divergence/stack_text.h"
#include "tests/replay/policy_driver.h"

namespace heddle::replay {
namespace {

using testing::ElementsAre;
using testing::EndsWith;

constexpr char kCapri[] = "capri:wcu_cycles_per_warp=0";

std::string With(const std::string& parameters) { return absl::StrCat(kCapri, ",", parameters); }
size_t Idle(const std::string& log) {
  return std::vector<std::string>(absl::StrSplit(log, ' ')).size() - static_cast<size_t>(CountIssues(log));
}

// ------------------------------------------------------------------------------------------- Figures 6(c), 7 and 8

constexpr char kFigure6[] =
    "A0[0123] A0[4567] A0[89ab] A1[0123] A1[89ab] B0[0123] B1[0123] . A1[4567] B0[49-7] B0[8---] B1[49-7] B1[8---] "
    "C0[-56b] C0[--a-] C1[-56b] C1[--a-] G0[0123] G0[4567] G0[89ab] G1[0123] G1[4567] G1[89ab]";

machine::v1::ScriptedLatency MissOfWarp1() {
  machine::v1::ScriptedLatency latency;
  latency.set_instruction(0);
  latency.set_first_thread(4);
  latency.set_last_thread(7);
  latency.set_cycles(7);
  return latency;
}

TEST(Capri, LetsTheWarpOfFigure6ThatDoesNotDivergeGoOn) {
  PolicyDriver driver = DriverWith(CapriFigure6(), kCapri, CapriFigure6Latency);
  EXPECT_EQ(driver.Run(), kFigure6);
  EXPECT_EQ(RunOnEngine(CapriFigure6(), kCapri, "fifo", 4, {MissOfWarp1()}).log, kFigure6);
  EXPECT_EQ(driver.divergence_counter("bypassed_uniform"), 1);
  EXPECT_EQ(driver.divergence_counter("stalled"), 2);
  EXPECT_EQ(driver.divergence_counter("table_misses"), 1);
  EXPECT_EQ(driver.divergence_counter("table_hits"), 1);
  EXPECT_EQ(driver.divergence_counter("trained_inadequate"), 1);
  EXPECT_EQ(driver.divergence_counter("trained_adequate"), 0);
}

// Idle cycles by the latency of the miss, as under TBC but two fewer: warp 0 has two instructions of B to run.
TEST(Capri, IdleCyclesOfFigure6) {
  for (uint32_t cycles = 5; cycles <= 9; ++cycles) {
    const std::string log = LogWith(CapriFigure6(), kCapri, [cycles](uint32_t thread, Pc pc) {
      return pc == 0 && thread >= 4 && thread <= 7 ? cycles : 1;
    });
    EXPECT_EQ(Idle(log), cycles < 6 ? 0 : cycles - 6) << cycles;
  }
}

TEST(Capri, HasTheStackCountsMaskAndTableOfFigure7) {
  PolicyDriver::Options options;
  options.divergence = kCapri;
  options.latency = CapriFigure6Latency;
  auto stacks = StacksByCycle(CapriFigure6(), options);
  EXPECT_EQ(stacks[3], "");
  // (a) Warp 0 does not diverge and goes on.
  EXPECT_EQ(stacks[4], "(-,0123456789ab,A,2)+(G,0123xxxxxxxx,B,1) UMask 011");
  // (b) Warp 2 diverges at a branch that the table does not know, and waits.
  EXPECT_EQ(stacks[5], "(-,0123456789ab,A,1)+(G,xxxxxxxxxxab,C,0)+(G,0123xxxx89xx,B,1) UMask 011 CAPT A=1");
  EXPECT_EQ(stacks[8], stacks[5]);  // warp 0 has come to the end of B, which does not count before B runs
  // (c) and (d) Warp 1 comes; two more warps are formed for B, so that its WCnt is 1 + 2, and warp 0's arrival at G
  // counts at once.
  EXPECT_EQ(stacks[9], "(-,0123456789ab,G,0)(G,xxxxx56xxxab,C,0)(G,xxxx4xx789xx,B,2) CAPT A=0");
  EXPECT_EQ(stacks[13], "(-,0123456789ab,G,0)(G,xxxxx56xxxab,C,2) CAPT A=0");
  EXPECT_EQ(stacks[17], "CAPT A=0");
}

// Figure 7(d) to the letter: while warp 0 is still in B, all three warps are counted.
TEST(Capri, CountsTheWarpThatRanAheadWithTheCompactedOnes) {
  PolicyDriver::Options options;
  options.divergence = kCapri;
  const Pc slow = CapriFigure6().PcOf('B', 1);
  options.latency = [slow](uint32_t thread, Pc pc) {
    return pc == slow && thread < 4 ? 5 : CapriFigure6Latency(thread, pc);
  };
  auto stacks = StacksByCycle(CapriFigure6(), options);
  EXPECT_EQ(stacks[9], "(-,0123456789ab,G,0)(G,xxxxx56xxxab,C,0)(G,01234xx789xx,B,3) CAPT A=0");
}

// Figure 8: the predictor counts 3, 2, 1, 2 threads in B's lanes, so three warps of three are needed.
TEST(Capri, CountsTheLanesOfFigure8) {
  LaneCounts counts;
  counts.Add(0b1111);  // warp 0: 0 1 2 3
  counts.Add(0b1001);  // warp 1: 4 - - 7
  counts.Add(0b0011);  // warp 2: 8 9 - -
  EXPECT_THAT((std::vector<uint32_t>{counts.of_lane(0), counts.of_lane(1), counts.of_lane(2), counts.of_lane(3)}),
              ElementsAre(3, 2, 1, 2));
  EXPECT_EQ(counts.needed(), 3);
  EXPECT_EQ(counts.active(), 3);
  counts.Add(0);
  EXPECT_EQ(counts.active(), 3);
}

// Two thread blocks with the kernel of Figure 6, the second far behind the first, so that the table is trained.
TEST(Capri, SecondVisitBypassesTheBranchThatWasFoundInadequate) {
  Scenario scenario = CapriFigure6();
  std::vector<std::string> paths;
  for (uint32_t thread = 0; thread < 12; ++thread) {
    paths.push_back(thread <= 4 || (thread >= 7 && thread <= 9) ? "ABG" : "ACG");
  }
  scenario.ThreadBlock(paths);
  // The engine admits one block at a time; it sees the second one when the first has retired.
  const std::string second =
      "A0[0123] A0[4567] A0[89ab] A1[0123] A1[89ab] B0[0123] B0[89--] B1[0123] B1[89--] "
      "A1[4567] B0[4--7] B1[4--7] C0[--ab] C0[-56-] C1[--ab] C1[-56-] G0[0123] G0[4567] "
      "G0[89ab] G1[0123] G1[4567] G1[89ab]";
  const EngineRun run = RunOnEngine(scenario, kCapri, "fifo", 4, {MissOfWarp1()}, /*resident_blocks=*/1);
  std::vector<LoggedIssue> later;
  for (const LoggedIssue& issue : run.issues) {
    if (issue.members[0].block == 1) later.push_back(issue);
  }
  ASSERT_FALSE(later.empty()) << run.log;
  const Cycle first = later[0].cycle;
  for (LoggedIssue& issue : later) {
    issue.cycle -= first;
    for (LoggedIssue::Member& member : issue.members) member.block = 0;
  }
  EXPECT_EQ(CapriFigure6().Format(later, 4), second);
  EXPECT_EQ(Idle(second), 0);
  EXPECT_EQ(CountIssues(second), CountIssues(LogWith(CapriFigure6(), "pdom", CapriFigure6Latency)));
  // A branch that never waits does the same at its first visit.
  EXPECT_EQ(LogWith(CapriFigure6(), With("prediction=never_stall"), CapriFigure6Latency), second);
}

TEST(Capri, CompactsWhereCompactionPays) {
  PolicyDriver driver = DriverWith(CapriFigure1(), kCapri);
  EXPECT_EQ(driver.Run(), LogWith(CapriFigure1(), "tbc:wcu_cycles_per_warp=0"));
  EXPECT_EQ(driver.divergence_counter("stalled"), 2);
  EXPECT_EQ(driver.divergence_counter("trained_adequate"), 1);
}

// On the path that runs next, B, one warp is needed instead of two; with C and without it compaction pays. If the
// fall-through runs first it is C that counts: two warps of two.
TEST(Capri, JudgesThePathThatRunsNext) {
  PolicyDriver first = DriverWith(CapriFigure1(), With("taken_first=false"));
  first.Run();
  EXPECT_EQ(first.divergence_counter("trained_inadequate"), 1);
  PolicyDriver both = DriverWith(CapriFigure1(), With("taken_first=false,adequacy_scope=both"));
  both.Run();
  EXPECT_EQ(both.divergence_counter("trained_adequate"), 1);
}

// -------------------------------------------------------------------------------------------- table and histories

bool Touch(AdequacyTable& table, Pc branch) {
  bool adequate = false;
  table.Touch(branch, adequate);
  return adequate;
}

TEST(AdequacyTable, UnknownBranchesAreAdequate) {
  for (const AdequacyHistory history : {AdequacyHistory::kLatest, AdequacyHistory::kSticky, AdequacyHistory::kTwoBit}) {
    AdequacyTable table(4, history);
    EXPECT_FALSE(table.Train(7, false));  // not in the table: ignored
    EXPECT_TRUE(Touch(table, 7));
    EXPECT_EQ(table.entries().size(), 1);
  }
}

TEST(AdequacyTable, LatestFollowsEveryResult) {
  AdequacyTable table(4, AdequacyHistory::kLatest);
  Touch(table, 7);
  table.Train(7, false);
  EXPECT_FALSE(Touch(table, 7));
  table.Train(7, true);
  EXPECT_TRUE(Touch(table, 7));
}

TEST(AdequacyTable, StickyStaysAdequate) {
  AdequacyTable table(4, AdequacyHistory::kSticky);
  Touch(table, 7);
  for (int i = 0; i < 5; ++i) table.Train(7, false);
  EXPECT_TRUE(Touch(table, 7));
}

TEST(AdequacyTable, TwoBitCounterSaturates) {
  AdequacyTable table(4, AdequacyHistory::kTwoBit);
  const auto after = [&](bool result) {
    table.Train(7, result);
    return Touch(table, 7);
  };
  Touch(table, 7);             // 2
  EXPECT_TRUE(after(true));    // 3
  EXPECT_TRUE(after(true));    // 3
  EXPECT_TRUE(after(false));   // 2
  EXPECT_FALSE(after(false));  // 1
  EXPECT_FALSE(after(false));  // 0
  EXPECT_FALSE(after(false));  // 0
  EXPECT_FALSE(after(true));   // 1
  EXPECT_TRUE(after(true));    // 2
}

TEST(AdequacyTable, DropsTheLeastRecentlyUsedBranchAndLearnsItAnew) {
  AdequacyTable table(2, AdequacyHistory::kLatest);
  bool adequate = false;
  EXPECT_EQ(table.Touch(1, adequate), AdequacyTable::Found::kMiss);
  EXPECT_EQ(table.Touch(2, adequate), AdequacyTable::Found::kMiss);
  table.Train(1, false);
  table.Train(2, false);  // training is no use
  EXPECT_EQ(table.Touch(1, adequate), AdequacyTable::Found::kHit);
  EXPECT_EQ(table.Touch(3, adequate), AdequacyTable::Found::kMissEvicted);  // 2 goes
  EXPECT_FALSE(Touch(table, 1));
  EXPECT_EQ(table.Touch(2, adequate), AdequacyTable::Found::kMissEvicted);
  EXPECT_TRUE(adequate);
  EXPECT_EQ(table.entries().size(), 2);
}

TEST(AdequacyTable, WithoutALimitKeepsEveryBranch) {
  AdequacyTable table(0, AdequacyHistory::kLatest);
  for (Pc branch = 0; branch < 1000; ++branch) Touch(table, branch);
  EXPECT_EQ(table.entries().size(), 1000);
}

// A loop with two branches that always diverge and never compact. A table of one entry holds neither of them long
// enough; one of two entries learns both in the first iteration.
Scenario TwoAlignedBranches(int iterations) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D");
  scenario.Block('D', 1, "EF", 'G').Block('E', 1, "G").Block('F', 1, "G").Block('G', 1, "AH", 'H').Block('H', 1, "");
  std::string even;
  std::string odd;
  for (int i = 0; i < iterations; ++i) {
    even += "ABDEG";
    odd += "ACDFG";
  }
  return scenario.ThreadBlock({even + "H", odd + "H", even + "H", odd + "H"});
}

TEST(Capri, TableThatIsTooSmallForgetsItsBranches) {
  PolicyDriver one = DriverWith(TwoAlignedBranches(5), With("capt_entries=1"), {}, 2);
  one.Run();
  EXPECT_EQ(one.divergence_counter("table_evictions"), 9);
  EXPECT_EQ(one.divergence_counter("bypassed_diverged"), 0);
  EXPECT_EQ(one.divergence_counter("stalled"), 20);
  for (const char* entries : {"capt_entries=2", "capt_entries=0"}) {
    PolicyDriver two = DriverWith(TwoAlignedBranches(5), With(entries), {}, 2);
    two.Run();
    EXPECT_EQ(two.divergence_counter("table_evictions"), 0);
    EXPECT_EQ(two.divergence_counter("table_misses"), 2);
    EXPECT_EQ(two.divergence_counter("table_entries"), 2);
    EXPECT_EQ(two.divergence_counter("stalled"), 4);
    EXPECT_EQ(two.divergence_counter("bypassed_diverged"), 16);
  }
}

TEST(Capri, HistoriesDifferInWhatTheyRemember) {
  for (const auto& [history, stalled] : {std::pair("history=1bL", 4), std::pair("history=1bS", 20),
                                         // From 2 it takes one result to fall to 1.
                                         std::pair("history=2b", 4)}) {
    PolicyDriver driver = DriverWith(TwoAlignedBranches(5), With(history), {}, 2);
    driver.Run();
    EXPECT_EQ(driver.divergence_counter("stalled"), stalled) << history;
  }
}

TEST(Capri, ForcedToStallCountsEveryWarpThatWaits) {
  PolicyDriver driver = DriverWith(CapriFigure6(), With("prediction=always_stall"), CapriFigure6Latency);
  driver.Run();
  EXPECT_EQ(driver.divergence_counter("stalled"), 3);
  EXPECT_EQ(driver.divergence_counter("bypassed_uniform"), 0);
  EXPECT_EQ(driver.divergence_counter("table_misses"), 0);
}

// Two warps of two diverge at A, then all threads go to B, then the warps diverge as before. In B the first and the
// third time one warp is needed where there are two. By default the second time says that waiting is of no use.
TEST(Capri, LearnsFromUniformExecutionsIfToldTo) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D").Block('D', 1, "AH", 'H').Block('H', 1, "");
  scenario.ThreadBlock({"ABDABDABDH", "ACDABDACDH", "ACDABDACDH", "ABDABDABDH"});
  PolicyDriver always = DriverWith(scenario, With("train_uniform=true"), {}, 2);
  always.Run();
  EXPECT_EQ(always.divergence_counter("trained_adequate"), 2);
  EXPECT_EQ(always.divergence_counter("trained_inadequate"), 1);
  EXPECT_EQ(always.divergence_counter("stalled"), 2);
  EXPECT_EQ(always.divergence_counter("bypassed_diverged"), 2);
  PolicyDriver diverged = DriverWith(scenario, With("train_uniform=false"), {}, 2);
  diverged.Run();
  EXPECT_EQ(diverged.divergence_counter("trained_adequate"), 2);
  EXPECT_EQ(diverged.divergence_counter("trained_inadequate"), 0);
  EXPECT_EQ(diverged.divergence_counter("stalled"), 4);
  EXPECT_EQ(diverged.divergence_counter("bypassed_diverged"), 0);
}

// --------------------------------------------------------------------------------------------- running ahead

// A branches to B (the first warp) or C (the second one, which is slow); B goes on to X, Y and the reconvergence point.
Scenario LongSide() {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "X").Block('X', 1, "Y").Block('Y', 1, "D").Block('C', 1, "D");
  scenario.Block('D', 1, "");
  return scenario.ThreadBlock({"ABXYD", "ABXYD", "ACD", "ACD"});
}
uint32_t SlowSecondWarp(uint32_t thread, Pc pc) { return pc == 0 && thread >= 2 ? 9 : 1; }

// The second warp does not wait at its branch either: it runs C at once, although B comes first, and no further.
TEST(Capri, RunsOneBasicBlockAhead) {
  EXPECT_EQ(LogWith(LongSide(), kCapri, SlowSecondWarp, 2),
            "A[01] A[23] B[01] . . . . . . . C[23] X[01] Y[01] D[01] D[23]");
}
TEST(Capri, RunsAsFarAheadAsItIsAllowed) {
  EXPECT_EQ(LogWith(LongSide(), With("run_ahead_blocks=0"), SlowSecondWarp, 2),
            "A[01] A[23] . . . . . . . . B[01] X[01] Y[01] C[23] D[01] D[23]");
  EXPECT_EQ(LogWith(LongSide(), With("run_ahead_blocks=2"), SlowSecondWarp, 2),
            "A[01] A[23] B[01] X[01] . . . . . . C[23] Y[01] D[01] D[23]");
  // Without the limit it gets to the reconvergence point, and no further.
  EXPECT_EQ(LogWith(LongSide(), With("limit_jumps=false"), SlowSecondWarp, 2),
            "A[01] A[23] B[01] X[01] Y[01] . . . . . C[23] D[01] D[23]");
}

// The second warp runs ahead into C, which the block runs after B.
TEST(Capri, RunsAheadIntoThePathThatRunsLater) {
  EXPECT_EQ(LogWith(
                LongSide(), kCapri, [](uint32_t thread, Pc pc) { return pc == 0 && thread < 2 ? 9 : 1; }, 2),
            "A[01] A[23] C[23] . . . . . . B[01] X[01] Y[01] D[01] D[23]");
}

Scenario SkippedSide() {
  Scenario scenario;
  scenario.Block('A', 1, "BR", 'R').Block('B', 1, "R").Block('R', 2, "");
  return scenario.ThreadBlock({"AR", "AR", "ABR", "ABR"});
}

TEST(Capri, RunsAheadIntoTheReconvergenceBlockIfAllowed) {
  EXPECT_EQ(LogWith(SkippedSide(), kCapri, SlowSecondWarp, 2),
            "A[01] A[23] R0[01] R1[01] . . . . . . B[23] R0[23] "
            "R1[23]");
  EXPECT_EQ(LogWith(SkippedSide(), With("run_ahead_into_rpc=false"), SlowSecondWarp, 2),
            "A[01] A[23] . . . . . . . . B[23] R0[01] R0[23] R1[01] R1[23]");
}

// Two warps diverge at a branch that never waits. Their sides of C come later: as they were, or compacted.
TEST(Capri, SecondSideIsKeptOrCompacted) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D").Block('D', 1, "");
  scenario.ThreadBlock({"ABD", "ACD", "ACD", "ABD"});
  EXPECT_EQ(LogWith(scenario, With("prediction=never_stall"), {}, 2),
            "A[01] A[23] B[0-] B[-3] C[-1] C[2-] D[01] D[23]");
  EXPECT_EQ(LogWith(scenario, With("prediction=never_stall,second_side=recompact"), {}, 2),
            "A[01] A[23] B[0-] B[-3] C[21] D[01] D[23]");
}

// A warp that runs ahead and ends must not be waited for.
TEST(Capri, WarpsThatEndWhileTheyRunAheadAreNotWaitedFor) {
  Scenario scenario;
  scenario.Block('A', 1, "XB").Block('X', 1, "").Block('B', 2, "");
  scenario.ThreadBlock({"AX", "AX", "AX", "AB"});
  EXPECT_EQ(LogWith(scenario, kCapri, SlowSecondWarp, 2), "A[01] A[23] X[01] . . . . . . . X[2-] B0[-3] B1[-3]");
}

// A barrier in the block that a warp runs ahead into: it waits there, and the block's branch does not wait for it.
TEST(Capri, BarrierInTheBlockAhead) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 2, "D").Block('C', 2, "D").Block('D', 1, "");
  scenario.Barrier('B', 0).Barrier('C', 0).ThreadBlock({"ABD", "ABD", "ABD", "ACD"});
  const std::string log = LogWith(scenario, kCapri, SlowSecondWarp, 2);
  EXPECT_THAT(log, testing::StartsWith("A[01] A[23] B0[01] . . . . . . . B0[2-] C0[-3] "));
  EXPECT_THAT(log, EndsWith("D[01] D[23]"));
  EXPECT_EQ(CountIssues(log), 10);
}

// -------------------------------------------------------------------------------------------- quality of decisions

struct Quality {
  uint64_t bypass_bypass, stall_stall, bypass_stall, stall_bypass;
  friend bool operator==(const Quality&, const Quality&) = default;
};
void PrintTo(const Quality& quality, std::ostream* out) {
  *out << "B/B " << quality.bypass_bypass << " S/S " << quality.stall_stall << " B/S " << quality.bypass_stall
       << " S/B " << quality.stall_bypass;
}
Quality QualityOf(const Scenario& scenario, const std::string& divergence, const Latency& latency = {}) {
  PolicyDriver driver = DriverWith(scenario, divergence, latency);
  driver.Run();
  return {driver.divergence_counter("bypass_bypass"), driver.divergence_counter("stall_stall"),
          driver.divergence_counter("bypass_stall"), driver.divergence_counter("stall_bypass")};
}

TEST(PredictionQuality, OfFigure6) {
  EXPECT_EQ(QualityOf(CapriFigure6(), "tbc", CapriFigure6Latency), (Quality{0, 0, 0, 3}));
  EXPECT_EQ(QualityOf(CapriFigure6(), kCapri, CapriFigure6Latency), (Quality{1, 0, 0, 2}));
  EXPECT_EQ(QualityOf(CapriFigure6(), With("prediction=never_stall"), CapriFigure6Latency), (Quality{3, 0, 0, 0}));
}

TEST(PredictionQuality, OfFigure1) {
  EXPECT_EQ(QualityOf(CapriFigure1(), "tbc"), (Quality{0, 2, 0, 0}));
  EXPECT_EQ(QualityOf(CapriFigure1(), kCapri), (Quality{0, 2, 0, 0}));
  EXPECT_EQ(QualityOf(CapriFigure1(), With("prediction=never_stall")), (Quality{0, 0, 2, 0}));
}

// Fewest waiting warps by trying all subsets: after a compaction of those that wait, and of nobody else, the warps must
// be as few as if all had waited.
uint32_t FewestBySearch(const std::vector<std::vector<LaneMask>>& masks, int warp_size) {
  const size_t warps = masks.size();
  const size_t paths = masks[0].size();
  const auto total = [&](uint32_t waiting) {
    uint32_t sum = 0;
    for (size_t path = 0; path < paths; ++path) {
      uint32_t most = 0;
      for (int lane = 0; lane < warp_size; ++lane) {
        uint32_t count = 0;
        for (size_t warp = 0; warp < warps; ++warp) count += waiting >> warp & masks[warp][path] >> lane & 1;
        most = std::max(most, count);
      }
      sum += most;
      for (size_t warp = 0; warp < warps; ++warp) sum += (waiting >> warp & 1) == 0 && masks[warp][path] != 0;
    }
    return sum;
  };
  const uint32_t all = (1u << warps) - 1;
  uint32_t fewest = static_cast<uint32_t>(warps);
  for (uint32_t waiting = 0; waiting <= all; ++waiting) {
    if (total(waiting) == total(all)) fewest = std::min(fewest, static_cast<uint32_t>(std::popcount(waiting)));
  }
  return fewest;
}

TEST(IdealWaiting, IsWhatASearchOverAllSubsetsFinds) {
  uint64_t state = 1;
  const auto random = [&](uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  for (int round = 0; round < 1500; ++round) {
    const int warp_size = 1 << (1 + random(3));
    const size_t warps = 1 + random(8);
    const uint32_t paths = static_cast<uint32_t>(1 + random(3));
    std::vector<std::vector<LaneMask>> masks(warps, std::vector<LaneMask>(paths, 0));
    for (auto& warp : masks) {
      const uint64_t lean = random(4);  // some warps go one way, some have idle lanes
      for (int lane = 0; lane < warp_size; ++lane) {
        const uint64_t path = lean == 0 ? 0 : random(paths + (lean == 1));
        if (path < paths) warp[path] |= LaneMask{1} << lane;
      }
    }
    std::vector<BranchSide> sides;
    std::vector<LaneCounts> counts(paths);
    for (uint32_t warp = 0; warp < warps; ++warp) {
      for (uint32_t path = 0; path < paths; ++path) {
        counts[path].Add(masks[warp][path]);
        if (masks[warp][path] != 0) sides.push_back({warp, path, masks[warp][path]});
      }
    }
    IdealWaiting ideal;
    EXPECT_EQ(ideal.Fewest(sides, counts, warp_size), FewestBySearch(masks, warp_size)) << "round " << round;
  }
}

TEST(IdealWaiting, OfManyWarpsIsNoSmallerThanNecessary) {
  // 40 warps of which 20 use the lower and 20 the upper lanes: all of them have to wait.
  std::vector<BranchSide> sides;
  std::vector<LaneCounts> counts(1);
  for (uint32_t warp = 0; warp < 40; ++warp) {
    sides.push_back({warp, 0, warp % 2 == 0 ? LaneMask{0x0f} : LaneMask{0xf0}});
    counts[0].Add(sides.back().lanes);
  }
  EXPECT_EQ(IdealWaiting().Fewest(sides, counts, 8), 40);
  // Ten full warps more need not.
  for (uint32_t warp = 40; warp < 50; ++warp) {
    sides.push_back({warp, 0, LaneMask{0xff}});
    counts[0].Add(sides.back().lanes);
  }
  EXPECT_EQ(IdealWaiting().Fewest(sides, counts, 8), 40);
}

}  // namespace
}  // namespace heddle::replay
