// The scheduler half of CAWA: the example of docs/policies/schedulers.md and its rules.
#include "gtest/gtest.h"
#include "tests/replay/policies/schedule/scheduler_bench.h"

namespace heddle::replay {
namespace {

// In the bench's program the branch at 0 goes to B (1 to 4) or C (5 to 8); the paths meet at 9.
void GoOn(SchedulerBench& bench, SlotId slot, Pc at) {
  bench.MoveTo(slot, Position(at, 0));
  bench.Offer(slot);
}

TEST(Gcaws, TheLongerPathIsMoreCritical) {
  SchedulerBench bench("gcaws");
  for (const SlotId slot : {0, 1, 2}) bench.Form(slot);
  bench.SetClock(0);
  bench.Issue(0);
  bench.SetClock(1);
  bench.Issue(1);
  bench.Issue(2);  // greedy, but never ready again
  GoOn(bench, 0, 5);
  GoOn(bench, 1, 8);
  bench.SetClock(10);
  EXPECT_EQ(bench.Order(), "0 1") << "4 x 10 + 9 against 1 x 9 + 8";
  bench.Withdraw(0);
  bench.Withdraw(1);
  GoOn(bench, 0, 8);
  GoOn(bench, 1, 5);
  EXPECT_EQ(bench.Order(), "1 0") << "1 x 10 + 9 against 4 x 9 + 8";
}

TEST(Gcaws, TheGreedyWarpGoesOnWhileItCan) {
  SchedulerBench bench("gcaws");
  for (const SlotId slot : {0, 1}) bench.Form(slot);
  bench.SetClock(0);
  bench.Issue(0);
  bench.SetClock(1);
  bench.Issue(1);
  GoOn(bench, 0, 5);
  GoOn(bench, 1, 8);
  bench.SetClock(10);
  EXPECT_EQ(bench.Pick(), 1);
}

TEST(Gcaws, EveryIssueLeavesLessToGo) {
  SchedulerBench bench("gcaws");
  for (const SlotId slot : {0, 1, 2}) bench.Form(slot);
  for (const SlotId slot : {0, 1}) bench.Issue(slot);
  GoOn(bench, 0, 5);  // 4 to go
  GoOn(bench, 1, 5);
  for (const Pc pc : {6, 7, 8}) {
    bench.Issue(1);
    GoOn(bench, 1, pc);
  }
  bench.Issue(2);
  bench.SetClock(12);
  EXPECT_EQ(bench.Order(), "0 1") << "4 x 12 / 1 + 11 against 1 x 12 / 4 + 8";
  EXPECT_EQ(bench.counter("longest_path"), 4u);
}

TEST(Gcaws, CountsIssuesFromOneAndWaitsWithoutThem) {
  SchedulerBench bench("gcaws");
  for (const SlotId slot : {0, 1, 2}) bench.Form(slot);
  bench.Issue(0);
  GoOn(bench, 0, 8);  // 1 to go
  bench.Issue(1);
  for (const Pc pc : {4, 5}) {  // from 5 to 3 to go
    GoOn(bench, 1, pc);
    bench.Issue(1);
  }
  GoOn(bench, 1, 6);
  bench.Issue(2);
  bench.SetClock(12);
  EXPECT_EQ(bench.Order(), "0 1") << "1 x 12 / 1 + 11 against 3 x 12 / 3 + 9";
}

// Without branches and with equal waits the oldest goes first.
TEST(Gcaws, TiesGoToTheOlderWarp) {
  SchedulerBench bench("gcaws");
  for (const SlotId slot : {2, 1, 0}) bench.Form(slot);
  EXPECT_EQ(bench.Order(), "2 1 0");
}

// A warp that waits becomes more critical; one that has just come is not critical yet.
TEST(Gcaws, AWarpThatHasWaitedGoesBeforeANewOne) {
  SchedulerBench bench("gcaws");
  bench.Form(0);
  bench.Form(1);
  bench.Issue(1);
  bench.Issue(0);
  bench.Withdraw(0);
  bench.Form(2);
  GoOn(bench, 1, 9);
  bench.SetClock(20);
  EXPECT_EQ(bench.Order(), "1 2");
}

}  // namespace
}  // namespace heddle::replay
