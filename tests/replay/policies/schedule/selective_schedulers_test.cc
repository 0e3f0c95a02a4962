// Schedulers that hold warps back or choose blocks before warps: oldest, random, sticky_rr, two_level, swl.
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/replay/policies/schedule/scheduler_bench.h"

namespace heddle::replay {
namespace {

// The same rule for all: four warps, each waits for memory for six cycles after every second issue of its own.
TEST(StickyRoundRobin, StaysWithABlockUntilAllItsWarpsAreStalled) {
  EXPECT_EQ(SchedulerBench("sticky_rr").Run(4, 12, 6, /*per_block=*/2), "0 1 0 1 2 3 2 3 0 1 0 1");
}
TEST(TwoLevel, RunsTwoWarpsAtATime) {
  EXPECT_EQ(SchedulerBench("two_level:active=2").Run(4, 12, 6), "0 1 0 1 2 3 2 3 0 0 1 1")
      << "in cycle 8 only warp 0 has been promoted; warp 1 follows in cycle 9, behind it";
}
TEST(TwoLevel, RunsAllWarpsIfTheSetHoldsThem) {
  EXPECT_EQ(SchedulerBench("two_level:active=4").Run(4, 12, 6), "0 1 2 3 0 1 2 3 - - 0 0")
      << "round-robin, but for warp 1, which comes back in cycle 11 and enters behind warp 0";
}
TEST(TwoLevel, FetchGroupsTakeTurns) {
  EXPECT_EQ(SchedulerBench("two_level:variant=fetch_groups,group=2").Run(4, 12, 6), "0 1 0 1 2 3 2 3 0 1 0 1");
}
TEST(TwoLevel, ChangesOfTheFetchGroupAreCounted) {
  SchedulerBench bench("two_level:variant=fetch_groups,group=2");
  EXPECT_EQ(bench.Run(4, 12, 6), "0 1 0 1 2 3 2 3 0 1 0 1");
  EXPECT_EQ(bench.counter("promotions"), 2u);
  EXPECT_EQ(bench.counter("demotions"), 2u);
}
TEST(Oldest, GoesBackToTheOldestAtOnce) {
  EXPECT_EQ(SchedulerBench("oldest").Run(4, 12, 6), "0 0 1 1 2 2 3 0 0 1 1 2");
}

TEST(TwoLevel, IssuesNothingWhileItsActiveWarpsAreOnlyBusy) {
  SchedulerBench bench("two_level:active=1");
  bench.Form(0);
  bench.Form(1);
  EXPECT_EQ(bench.PickAndIssue(), 0);
  EXPECT_EQ(bench.Pick(), kNoSlot) << "0 is in flight, which is short: 1 is not active";
  bench.StartLongWait(0);
  EXPECT_EQ(bench.PickAndIssue(), 1) << "0 has left the set";
  bench.EndLongWait(0);
  bench.Offer(1);
  EXPECT_EQ(bench.Pick(), 1) << "0 is pending until 1 leaves";
  EXPECT_EQ(bench.counter("promotions"), 2u);
  EXPECT_EQ(bench.counter("demotions"), 1u);
}

TEST(TwoLevel, WarpsAtABarrierGiveUpTheirPlace) {
  SchedulerBench bench("two_level:active=1");
  for (SlotId slot : {0, 1, 2}) bench.Form(slot);
  bench.ArriveAtBarrier(0);
  bench.ArriveAtBarrier(1);
  EXPECT_EQ(bench.Pick(), 2);
  bench.ArriveAtBarrier(2);
  bench.ReleaseBarrier(0);
  EXPECT_EQ(bench.Pick(), 0) << "the pending queue is first in, first out";
}

TEST(TwoLevel, AWarpThatEndedMakesRoom) {
  SchedulerBench bench("two_level:active=1");
  bench.Form(0);
  bench.Form(1);
  bench.ExitWarp(0);
  EXPECT_EQ(bench.PickAndIssue(), 1);
  bench.Form(0);
  bench.Offer(1);
  EXPECT_EQ(bench.Pick(), 1) << "the new warp in slot 0 has to wait for its turn";
}

TEST(TwoLevel, AWarpThatThePolicyHoldsBackMakesRoom) {
  SchedulerBench bench("two_level:active=1");
  bench.Form(0);
  bench.Form(1);
  bench.Withdraw(0);
  EXPECT_EQ(bench.PickAndIssue(), 1);
  bench.Offer(0);
  bench.Offer(1);
  EXPECT_EQ(bench.Pick(), 1);
}

TEST(TwoLevel, PromotingTheHeadWhateverItWaitsFor) {
  SchedulerBench bench("two_level:active=1,promote=head");
  for (SlotId slot : {0, 1}) bench.Form(slot);
  EXPECT_EQ(bench.PickAndIssue(), 0);
  bench.StartLongWait(0);
  EXPECT_EQ(bench.PickAndIssue(), 1);
  bench.StartLongWait(1);
  bench.EndLongWait(1);
  EXPECT_EQ(bench.Pick(), 1) << "0 is in the set but waits, so that the next of the queue counts";
}

TEST(StickyRoundRobin, GoesOnBehindTheBlocksLastIssue) {
  SchedulerBench bench("sticky_rr");
  bench.AdmitBlock(1);
  for (SlotId slot : {0, 1, 2}) bench.FormIn(0, slot);
  for (SlotId slot : {3, 4}) bench.FormIn(1, slot);
  EXPECT_EQ(bench.Order(), "0 1 2 3 4");
  EXPECT_EQ(bench.PickAndIssue(), 0);
  EXPECT_EQ(bench.PickAndIssue(), 1);
  bench.Offer(0);
  EXPECT_EQ(bench.Order(), "2 0 3 4");
  EXPECT_EQ(bench.counter("block_changes"), 0u);
}

TEST(StickyRoundRobin, TheTurnOfAnotherBlockIsNotItsOwn) {
  SchedulerBench bench("sticky_rr");
  bench.AdmitBlock(1);
  for (SlotId slot : {0, 1}) bench.FormIn(0, slot);
  for (SlotId slot : {2, 3}) bench.FormIn(1, slot);
  EXPECT_EQ(bench.PickAndIssue(), 0);
  bench.Withdraw(1);
  EXPECT_EQ(bench.PickAndIssue(), 2) << "no warp of block 0 can issue";
  EXPECT_EQ(bench.counter("block_changes"), 1u);
  bench.Offer(1);
  bench.Offer(2);
  bench.Withdraw(3);
  EXPECT_EQ(bench.Pick(), 2) << "1 is behind the last of block 0, but block 1 runs";
}

// Block 0 runs, retires, and makes room for a new one; the others have a warp in the slot of their number.
std::string OrderBehindBlock0(const std::vector<BlockId>& others) {
  SchedulerBench bench("sticky_rr");
  bench.FormIn(0, 0);
  for (const BlockId block : others) {
    bench.AdmitBlock(block);
    bench.FormIn(block, block);
  }
  EXPECT_EQ(bench.PickAndIssue(), 0);
  bench.Retire(0);
  bench.RetireBlock(0);
  bench.AdmitBlock(0);
  bench.FormIn(0, 0);
  return bench.Order();
}

TEST(StickyRoundRobin, GoesToTheNextBlockThereIsWhenItsOwnRetires) {
  EXPECT_EQ(OrderBehindBlock0({1, 2}), "1 2 0") << "the new block in place 0 is not the running one";
  EXPECT_EQ(OrderBehindBlock0({3, 2}), "2 3 0") << "there is no block 1";
}

TEST(StickyRoundRobin, KeepsTheTurnThroughShortGapsIfToldTo) {
  SchedulerBench bench("sticky_rr:stalled=long_op");
  bench.AdmitBlock(1);
  bench.FormIn(0, 0);
  bench.FormIn(1, 1);
  EXPECT_EQ(bench.PickAndIssue(), 0);
  EXPECT_EQ(bench.Pick(), kNoSlot) << "warp 0 is only in flight";
  bench.StartLongWait(0);
  EXPECT_EQ(bench.PickAndIssue(), 1);
  EXPECT_EQ(bench.counter("block_changes"), 1u);
}

TEST(Swl, OnlyTheOldestWarpsIssue) {
  EXPECT_EQ(SchedulerBench("swl:limit=2").Run(4, 12, 6), "0 0 1 1 - - - 0 0 1 1 -");
}

TEST(Swl, StaysWithAWarpAsLongAsItIsAmongThem) {
  SchedulerBench bench("swl:limit=2");
  for (SlotId slot : {0, 1, 2}) bench.Form(slot);
  SlotSet only_1;
  only_1.Insert(1);
  bench.Issue(bench.Pick(only_1));
  bench.Offer(1);
  EXPECT_EQ(bench.PickAndIssue(), 1) << "greedy, although 0 is older";
  EXPECT_EQ(bench.PickAndIssue(), 0) << "1 is in flight";
}

TEST(Swl, WarpsAtABarrierDoNotCount) {
  SchedulerBench bench("swl:limit=1");
  for (SlotId slot : {0, 1, 2}) bench.Form(slot);
  EXPECT_EQ(bench.Order(), "0");
  bench.ArriveAtBarrier(0);
  EXPECT_EQ(bench.Order(), "1") << "else 0 would wait for ever for a warp that may not issue";
  bench.ExitWarp(1);
  EXPECT_EQ(bench.Order(), "2");
}

TEST(Random, DependsOnTheSeedAndAsksTwiceAlike) {
  const std::string one = SchedulerBench("random:seed=1").Run(8, 64, 0);
  EXPECT_EQ(one, SchedulerBench("random:seed=1").Run(8, 64, 0));
  EXPECT_NE(one, SchedulerBench("random:seed=2").Run(8, 64, 0));
  SchedulerBench bench("random");
  for (SlotId slot = 0; slot < 8; ++slot) bench.Form(slot);
  EXPECT_EQ(bench.Pick(), bench.Pick());
}

TEST(Random, GivesEveryWarpItsShare) {
  SchedulerBench bench("random", 256);
  const std::vector<SlotId> slots = {5, 63, 64, 192};  // in words of 64, which it counts
  for (const SlotId slot : slots) bench.Form(slot);
  std::map<SlotId, int> issues;
  for (int i = 0; i < 4000; ++i) {
    const SlotId slot = bench.PickAndIssue();
    ++issues[slot];
    bench.Offer(slot);
  }
  for (const SlotId slot : slots) EXPECT_NEAR(issues[slot], 1000, 120) << "slot " << slot;
}

}  // namespace
}  // namespace heddle::replay
