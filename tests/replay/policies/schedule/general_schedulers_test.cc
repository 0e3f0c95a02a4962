// LRR, GTO, FIFO: worked examples and rules.
#include <array>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/replay/policies/schedule/scheduler_bench.h"

namespace heddle::replay {
namespace {

// Four warps, each not ready until six cycles after every second issue of its own.
TEST(Lrr, MakesAllWarpsReachTheStallTogether) {
  EXPECT_EQ(SchedulerBench("lrr").Run(4, 12, 6), "0 1 2 3 0 1 2 3 - - 0 1");
}
TEST(Gto, StaggersTheStalls) { EXPECT_EQ(SchedulerBench("gto").Run(4, 12, 6), "0 0 1 1 2 2 3 3 0 0 1 1"); }

TEST(Lrr, IssuesEveryWarpOnceInAnyRound) {
  EXPECT_EQ(SchedulerBench("lrr").Run(5, 15, 0), "0 1 2 3 4 0 1 2 3 4 0 1 2 3 4");
}

TEST(Lrr, PassesOverAWarpThatCannotIssueWithoutWaitingForIt) {
  SchedulerBench bench("lrr");
  for (SlotId slot : {1, 3, 5}) bench.Form(slot);
  EXPECT_EQ(bench.PickAndIssue(), 1);
  bench.Offer(1);
  bench.Withdraw(3);
  EXPECT_EQ(bench.PickAndIssue(), 5);
  bench.Offer(5);
  bench.Offer(3);
  EXPECT_EQ(bench.PickAndIssue(), 1) << "the turn goes on behind 5, it does not return to 3";
}

TEST(Lrr, KeepsItsTurnThroughCyclesWithoutAnIssue) {
  SchedulerBench bench("lrr");
  for (SlotId slot : {0, 1, 2}) bench.Form(slot);
  EXPECT_EQ(bench.PickAndIssue(), 0);
  EXPECT_EQ(bench.Pick(), 1);
  EXPECT_EQ(bench.Pick(), 1) << "asking changes nothing";
}

TEST(Lrr, FindsSlotsBeyondTheFirst64) {
  SchedulerBench bench("lrr", 1000);
  for (SlotId slot : {70, 130, 999}) bench.Form(slot);
  EXPECT_EQ(bench.PickAndIssue(), 70);
  EXPECT_EQ(bench.PickAndIssue(), 130);
  EXPECT_EQ(bench.PickAndIssue(), 999);
  bench.Offer(130);
  EXPECT_EQ(bench.PickAndIssue(), 130);
}

TEST(Gto, TakesTheOldestByOrderOfFormationNotBySlot) {
  SchedulerBench bench("gto");
  for (SlotId slot : {7, 2, 5}) bench.Form(slot);
  EXPECT_EQ(bench.PickAndIssue(), 7);
  EXPECT_EQ(bench.PickAndIssue(), 2);
  EXPECT_EQ(bench.PickAndIssue(), 5);
}

TEST(Gto, StaysWithAWarpThatStalledForACycleOnlyIfNobodyElseIssued) {
  SchedulerBench bench("gto");
  for (SlotId slot : {0, 1, 2}) bench.Form(slot);
  bench.Withdraw(0);
  EXPECT_EQ(bench.PickAndIssue(), 1);
  EXPECT_EQ(bench.PickAndIssue(), 2);  // 1 is in flight
  bench.Offer(1);
  bench.Offer(2);
  EXPECT_EQ(bench.Pick(), 2) << "2 is greedy now, although 1 is older";
  bench.Offer(0);
  EXPECT_EQ(bench.Pick(), 2);
  bench.Withdraw(2);
  EXPECT_EQ(bench.PickAndIssue(), 0) << "2 stalls: the oldest";
}

TEST(Gto, DropsAGreedyWarpThatHasEnded) {
  SchedulerBench bench("gto");
  for (SlotId slot : {0, 1, 2}) bench.Form(slot);
  EXPECT_EQ(bench.PickAndIssue(), 0);
  bench.Retire(0);
  bench.Form(0);  // the warp of another block: the youngest
  EXPECT_EQ(bench.PickAndIssue(), 1);
}

TEST(Gto, IssuesTheGreedyWarpIfItCanElseTheOldestThatCan) {
  // Random readiness; the rule is checked at every issue.
  SchedulerBench bench("gto");
  std::vector<SlotId> by_age = {3, 9, 1, 12, 6, 0};
  for (SlotId slot : by_age) bench.Form(slot);
  uint64_t state = 12345;
  SlotId greedy = kNoSlot;
  for (int i = 0; i < 2000; ++i) {
    SlotSet eligible;
    for (SlotId slot : by_age) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      if (state >> 62 != 0) eligible.Insert(slot);
    }
    if (eligible.empty()) continue;
    SlotId expected = greedy;
    if (greedy == kNoSlot || !eligible.Contains(greedy)) {
      for (auto it = by_age.rbegin(); it != by_age.rend(); ++it) {
        if (eligible.Contains(*it)) expected = *it;
      }
    }
    const SlotId slot = bench.Pick(eligible);
    ASSERT_EQ(slot, expected) << "issue " << i;
    bench.Issue(slot);
    bench.Offer(slot);
    greedy = slot;
  }
}

// As under MIMD, where many warps issue together.
TEST(Gto, HearsOfSeveralIssuesAsOfOneByOne) {
  SchedulerBench one("gto");
  SchedulerBench several("gto");
  for (const SlotId slot : {4, 2, 9, 6}) {
    one.Form(slot);
    several.Form(slot);
  }
  WarpScheduler& scheduler = *several.schedulers()[0];
  const std::array<SlotId, 3> order = {4, 2, 9};
  for (const SlotId slot : order) EXPECT_EQ(one.PickAndIssue(), slot);
  scheduler.IssuedInOrder(order);
  for (const SlotId slot : {4, 9}) one.Offer(slot);
  scheduler.OfferedInOrder(std::array<SlotId, 2>{4, 9});
  EXPECT_EQ(one.Pick(), 9);
  EXPECT_EQ(several.Pick(one.table().offered), 9);
  one.Issue(9);
  scheduler.IssuedInOrder(std::array<SlotId, 1>{9});
  for (const SchedulerBench* bench : {&one, &several}) {
    EXPECT_EQ(bench->counter("hand_overs"), 2);
    EXPECT_EQ(bench->counter("longest_run"), 2);
    EXPECT_EQ(bench->counter("longest_wait"), 2);
  }
}

TEST(Fifo, IssuesInTheOrderInWhichWarpsBecameReady) {
  SchedulerBench bench("fifo");
  for (SlotId slot : {4, 1, 3}) bench.Form(slot);
  EXPECT_EQ(bench.PickAndIssue(), 4);
  bench.Offer(4);
  EXPECT_EQ(bench.PickAndIssue(), 1);
  bench.Withdraw(3);
  bench.Offer(3);  // behind 4 now
  EXPECT_EQ(bench.PickAndIssue(), 4);
  EXPECT_EQ(bench.PickAndIssue(), 3);
}

class AnyScheduler : public testing::TestWithParam<std::string> {};

TEST_P(AnyScheduler, IssuesTheOnlyWarp) { EXPECT_EQ(SchedulerBench(GetParam()).Run(1, 6, 3), "0 0 - - 0 0"); }

TEST_P(AnyScheduler, PicksWithoutSideEffects) {
  SchedulerBench bench(GetParam());
  for (SlotId slot : {5, 2, 9}) bench.Form(slot);
  while (bench.Pick() != kNoSlot) {
    const SlotId slot = bench.Pick();
    SlotSet one;
    one.Insert(slot);
    EXPECT_EQ(bench.Pick(one), slot);
    EXPECT_EQ(bench.PickAndIssue(), slot);
    if (bench.counter("longest_run") + bench.counter("hand_overs") >= 3) break;
  }
}

TEST_P(AnyScheduler, PicksEligibleWarpsOnly) {
  SchedulerBench bench(GetParam());
  std::set<SlotId> left;
  for (SlotId slot = 0; slot < 40; ++slot) {
    bench.Form(slot);
    left.insert(slot);
  }
  for (SlotId only : {17, 39, 0, 21}) {
    SlotSet eligible;
    eligible.Insert(only);
    const SlotId picked = bench.Pick(eligible);
    if (!bench.traits().holds_back || picked != kNoSlot) {
      EXPECT_EQ(picked, only);
    }
  }
  // Warps that end make room for those that a scheduler holds back.
  while (!left.empty()) {
    const SlotId slot = bench.Pick();
    ASSERT_EQ(left.erase(slot), 1);
    bench.ExitWarp(slot);
  }
}

TEST_P(AnyScheduler, CountsHandOversRunsAndWaits) {
  SchedulerBench bench(GetParam());
  bench.Form(0);
  bench.PickAndIssue();
  bench.Offer(0);
  bench.PickAndIssue();  // a run of two
  bench.Form(1);
  bench.PickAndIssue();  // waited for nobody
  bench.Form(2);
  bench.Form(3);
  SlotSet only_2, only_3;
  only_2.Insert(2);
  only_3.Insert(3);
  bench.Issue(bench.Pick(only_2));
  bench.Offer(2);
  bench.Issue(bench.Pick(only_2));
  bench.Issue(bench.Pick(only_3));  // two issues passed since it was ready
  EXPECT_EQ(bench.counter("hand_overs"), 3);
  EXPECT_EQ(bench.counter("longest_run"), 2);
  EXPECT_EQ(bench.counter("longest_wait"), 2);
}

// With default parameters, and with every other choice of one: some choices are schedulers of their own.
std::vector<std::string> AllSchedulers() {
  std::vector<std::string> all;
  for (const auto& [name, entry] : SchedulerRegistry::Get().entries()) {
    all.push_back(name);
    for (const ParameterSpec& parameter : entry.info.parameters) {
      for (const std::string& choice : parameter.choices) {
        if (choice != parameter.default_value) all.push_back(absl::StrCat(name, ":", parameter.name, "=", choice));
      }
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Registered, AnyScheduler, testing::ValuesIn(AllSchedulers()),
                         [](const auto& info) { return absl::StrReplaceAll(info.param, {{":", "_"}, {"=", "_"}}); });

}  // namespace
}  // namespace heddle::replay
