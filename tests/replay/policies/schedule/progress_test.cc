// The progress-aware scheduler of VTW (Anantpur and Govindarajan, Algorithm 1).
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/replay/policies/schedule/scheduler_bench.h"

namespace heddle::replay {
namespace {

WarpScheduler& SchedulerOf(SchedulerBench& bench) { return *bench.schedulers()[0]; }

// Warps in slots of their own number come with their block, and have issued so much.
void Admit(SchedulerBench& bench, BlockId block, SlotId first, const std::vector<int>& progress, uint32_t place,
           uint64_t iteration) {
  bench.AdmitBlock(block);
  SchedulerOf(bench).VirtualBlock(block, place, iteration);
  for (size_t i = 0; i < progress.size(); ++i) {
    const SlotId slot = static_cast<SlotId>(first + i);
    SchedulerOf(bench).WarpsAdmitted(block, slot, 1);
    bench.FormIn(block, slot);
    for (int issue = 0; issue < progress[i]; ++issue) SchedulerOf(bench).IssuedOnSm(slot);
  }
}

// Five virtual blocks: A in one iteration; B and C with warps at a barrier; D and E in two iterations. Slots: a0 to a3
// are 0 to 3, b 4 to 7, c 8 to 11, d 12 to 15, e 16 to 19.
void SetUpFiveBlocks(SchedulerBench& bench) {
  WarpScheduler& scheduler = SchedulerOf(bench);
  Admit(bench, 0, 0, {10, 12, 8, 9}, 0, 0);
  Admit(bench, 1, 4, {11, 12, 5, 7}, 1, 0);
  Admit(bench, 2, 8, {22, 20, 18, 25}, 2, 0);
  Admit(bench, 3, 12, {40, 42, 30, 28}, 3, 0);  // d0, d1 go on
  Admit(bench, 4, 16, {15, 22, 21, 20}, 4, 0);  // e1, e2, e3 go on
  const auto go_on = [&](BlockId from, BlockId to, uint32_t place, const std::vector<SlotId>& slots) {
    bench.AdmitBlock(to);
    scheduler.VirtualBlock(to, place, 1);
    for (const SlotId slot : slots) {
      bench.Withdraw(slot);
      scheduler.WarpExited(from);
      scheduler.WarpsAdmitted(to, slot, 1);
      bench.FormIn(to, slot);
    }
  };
  go_on(3, 5, 3, {12, 13});
  go_on(4, 6, 4, {17, 18, 19});
  for (const SlotId warp : {4, 5, 8}) bench.ArriveAtBarrier(warp);
}

TEST(Progress, FastPhase) {
  SchedulerBench bench("progress");
  SetUpFiveBlocks(bench);
  EXPECT_EQ(bench.Order(), "6 7 10 9 11 16 15 14 1 0 3 2 19 18 17 12 13")
      << "b2 b3, c2 c1 c3; e0, d3 d2; a1 a0 a3 a2; e3 e2 e1, d0 d1";
}

TEST(Progress, SlowPhase) {
  SchedulerBench bench("progress");
  SetUpFiveBlocks(bench);
  SchedulerOf(bench).GridAssigned();
  EXPECT_EQ(bench.Order(), "6 7 2 3 0 1 16 19 18 17 10 9 11 15 14 12 13")
      << "by the blocks' sums B 35, A 39, E 78, C 85, D 140, whatever waits";
}

TEST(Progress, SlowPhaseWithBarriersFirst) {
  SchedulerBench bench("progress:slow=barriers_first");
  SetUpFiveBlocks(bench);
  SchedulerOf(bench).GridAssigned();
  EXPECT_EQ(bench.Order(), "6 7 10 9 11 2 3 0 1 16 19 18 17 15 14 12 13");
}

// Algorithm 1 orders all live warps that do not wait, each once.
TEST(Progress, OrdersEveryReadyWarpOnce) {
  SchedulerBench bench("progress");
  SetUpFiveBlocks(bench);
  const std::string order = " " + bench.Order() + " ";
  int count = 0;
  bench.table().offered.ForEach([&](SlotId slot) {
    const std::string word = " " + std::to_string(slot) + " ";
    EXPECT_NE(order.find(word), std::string::npos) << slot;
    EXPECT_EQ(order.find(word), order.rfind(word)) << slot;
    ++count;
  });
  EXPECT_EQ(count, 17);
}

// When the last warp of the older iteration has gone on, the block is in one iteration again.
TEST(Progress, TheStragglersEndTheirIteration) {
  SchedulerBench bench("progress");
  SetUpFiveBlocks(bench);
  WarpScheduler& scheduler = SchedulerOf(bench);
  bench.Withdraw(16);
  scheduler.WarpExited(4);
  bench.RetireBlock(4);
  scheduler.WarpsAdmitted(6, 16, 1);
  bench.FormIn(6, 16);
  EXPECT_EQ(bench.Order(), "6 7 10 9 11 15 14 17 18 19 16 1 0 3 2 12 13")
      << "E has 78 behind it and A 39, so E goes before A, its most advanced warp first";
}

// Without virtual blocks there is one iteration, and progress begins anew with every block.
TEST(Progress, OrdinaryBlocks) {
  SchedulerBench bench("progress");
  WarpScheduler& scheduler = SchedulerOf(bench);
  bench.AdmitBlock(1);
  for (SlotId slot = 0; slot < 4; ++slot) {
    scheduler.WarpsAdmitted(slot / 2, slot, 1);
    bench.FormIn(slot / 2, slot);
    for (int issue = 0; issue <= slot; ++issue) scheduler.IssuedOnSm(slot);
  }
  EXPECT_EQ(bench.Order(), "3 2 1 0") << "the most advanced block and warp first";
  bench.ArriveAtBarrier(1);
  EXPECT_EQ(bench.Order(), "0 3 2") << "block 0 has a warp at a barrier";
  bench.ArriveAtBarrier(0);
  bench.ReleaseBarrier(0);
  EXPECT_EQ(bench.Order(), "3 2 1 0");
  for (const SlotId slot : {2, 3}) bench.ExitWarp(slot);
  bench.RetireBlock(1);
  bench.AdmitBlock(1);
  scheduler.WarpsAdmitted(1, 2, 1);
  bench.FormIn(1, 2);
  EXPECT_EQ(bench.Order(), "1 0 2") << "the new block has done nothing yet";
}

}  // namespace
}  // namespace heddle::replay
