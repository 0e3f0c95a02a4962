// Cache-conscious wavefront scheduling: the example of docs/policies/ccws.md and its rules.
#include <string>

#include "gtest/gtest.h"
#include "tests/replay/policies/schedule/scheduler_bench.h"

namespace heddle::replay {
namespace {

const Position kLoad(9, 0);  // an instruction of the bench's program that reads global memory

void Notice(SchedulerBench& bench, CacheNotice::Kind kind, SlotId slot, uint64_t line) {
  bench.schedulers()[0]->CacheEvent({kind, slot, line});
}
void Lose(SchedulerBench& bench, SlotId slot, uint64_t line) {
  Notice(bench, CacheNotice::Kind::kEviction, slot, line);
}
void Miss(SchedulerBench& bench, SlotId slot, uint64_t line) { Notice(bench, CacheNotice::Kind::kMiss, slot, line); }

// Four warps before a load; warp 0 has issued eight times. In cycle 1000 warp 2 misses on a line that it has lost.
void SetUpExample(SchedulerBench& bench) {
  for (SlotId slot = 0; slot < 4; ++slot) bench.Form(slot, kLoad);
  for (int issue = 0; issue < 8; ++issue) {
    bench.Issue(0);
    bench.Offer(0);
  }
  bench.SetClock(1000);
  Lose(bench, 2, 128);
  Miss(bench, 2, 128);
}

TEST(Ccws, TheScoreFallsAndTheOthersComeBackByAge) {
  SchedulerBench bench("ccws");
  SetUpExample(bench);
  EXPECT_EQ(bench.counter("lost_locality"), 1u);
  EXPECT_EQ(bench.Order(), "2");
  bench.SetClock(1099);
  EXPECT_EQ(bench.Order(), "2");
  bench.SetClock(1100);
  EXPECT_EQ(bench.Order(), "0 2") << "0 is greedy";
  bench.SetClock(1200);
  EXPECT_EQ(bench.Order(), "0 1 2");
  bench.SetClock(1299);
  EXPECT_EQ(bench.Order(), "0 1 2");
  bench.SetClock(1300);
  EXPECT_EQ(bench.Order(), "0 1 2 3");
}

TEST(Ccws, OtherInstructionsAreNotHeldBack) {
  SchedulerBench bench("ccws");
  SetUpExample(bench);
  bench.Withdraw(3);
  bench.Form(3, Position(0, 0));
  EXPECT_EQ(bench.Order(), "2 3");
}

TEST(Ccws, WhatReadsThroughTheCacheIsHeldBack) {
  const auto order = [](Pc at) {
    SchedulerBench bench("ccws");
    SetUpExample(bench);
    bench.Withdraw(3);
    bench.Form(3, Position(at, 0));
    return bench.Order();
  };
  EXPECT_EQ(order(10), "2") << "a load of local memory";
  EXPECT_EQ(order(11), "2 3") << "of shared memory";
  EXPECT_EQ(order(12), "2 3") << "a store to global memory";
}

TEST(Ccws, OnlyALineThatTheWarpItselfHasLostCounts) {
  SchedulerBench bench("ccws");
  for (SlotId slot = 0; slot < 4; ++slot) bench.Form(slot, kLoad);
  Lose(bench, 1, 128);
  Miss(bench, 2, 128);
  Miss(bench, 1, 256);
  EXPECT_EQ(bench.counter("lost_locality"), 0u);
  EXPECT_EQ(bench.Order(), "0 1 2 3");
  Miss(bench, 1, 128);
  EXPECT_EQ(bench.counter("lost_locality"), 1u);
  Miss(bench, 1, 128);
  EXPECT_EQ(bench.counter("lost_locality"), 1u) << "the tag has been taken out";
}

TEST(Ccws, RemembersOnlySoManyLines) {
  for (const int lines : {2, 3}) {
    SchedulerBench bench("ccws:victim_tags=2,victim_ways=2");
    bench.Form(0, kLoad);
    for (int line = 1; line <= lines; ++line) Lose(bench, 0, static_cast<uint64_t>(line) * 128);
    Miss(bench, 0, 128);
    EXPECT_EQ(bench.counter("lost_locality"), lines == 2 ? 1u : 0u);
  }
}

// Two warps that lose: the higher score goes below, and the one on top of the stack may load even above the cut-off.
TEST(Ccws, TheHighestScoreIsNeverBarred) {
  SchedulerBench bench("ccws");
  SetUpExample(bench);
  Lose(bench, 3, 512);
  Miss(bench, 3, 512);  // 8 * 400 * 2 / 8 = 800
  EXPECT_EQ(bench.Order(), "3");
  bench.SetClock(1000 + 700);
  EXPECT_EQ(bench.Order(), "0 1 2 3");
}

TEST(Ccws, WithoutLossesIsGto) { EXPECT_EQ(SchedulerBench("ccws").Run(4, 40, 6), SchedulerBench("gto").Run(4, 40, 6)); }

TEST(Ccws, AWarpThatHasEndedLosesNothing) {
  SchedulerBench bench("ccws");
  SetUpExample(bench);
  bench.ExitWarp(2);
  Lose(bench, 2, 256);
  Miss(bench, 2, 256);
  EXPECT_EQ(bench.counter("lost_locality"), 1u);
}

// A new warp in the slot of one that has ended begins with nothing.
TEST(Ccws, ScoresEndWithTheirWarp) {
  SchedulerBench bench("ccws");
  SetUpExample(bench);
  bench.ExitWarp(2);
  bench.Form(2, kLoad);
  EXPECT_EQ(bench.Order(), "0 1 3 2") << "by age";
}

}  // namespace
}  // namespace heddle::replay
