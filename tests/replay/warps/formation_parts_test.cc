// The parts of the formation by themselves: threads, timers, changes, offered slots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "replay/warps/offered_slots.h"
#include "replay/warps/policy_timers.h"
#include "replay/warps/slot_changes.h"
#include "replay/warps/slot_pool.h"
#include "replay/warps/thread_table.h"

namespace heddle::replay {
namespace {

constexpr Position kEntry(0, 0);

uint64_t CountOf(const ThreadTable& threads, ThreadState state) { return threads.counts()[static_cast<size_t>(state)]; }

Lanes HwWarp(ThreadId first, int count) {
  Lanes lanes;
  for (int lane = 0; lane < count; ++lane) {
    lanes.mask |= LaneMask{1} << lane;
    lanes.thread[lane] = static_cast<ThreadId>(first + lane);
  }
  return lanes;
}

TEST(ThreadTable, ThreadsGoThroughASlot) {
  ThreadTable threads(16);
  threads.AddWarp(4, 4, /*block=*/2, /*first_index=*/8, kEntry);
  EXPECT_TRUE(threads.AllUnassignedAt(4, 4, kEntry));
  EXPECT_FALSE(threads.AllUnassignedAt(4, 5, kEntry));
  EXPECT_EQ(threads.index_in_block(6), 10u);
  EXPECT_EQ(CountOf(threads, ThreadState::kInactive), 4u);
  Lanes inside;
  threads.Enter(3, ThreadState::kReady, HwWarp(4, 4), inside);
  EXPECT_EQ(inside.mask, 0b1111u);
  EXPECT_EQ(threads.slot(5), 3);
  EXPECT_EQ(CountOf(threads, ThreadState::kReady), 4u);
  threads.Count(ThreadState::kReady, ThreadState::kDependency, 4);
  threads.Finish(inside, 0b0011);
  threads.Unassign(6, Position(7, 0), ThreadTable::kResolving);
  threads.Unassign(7, Position(9, 0), ThreadTable::kInactive);
  EXPECT_EQ(threads.StateOfUnassigned(6), ThreadState::kDependency);
  threads.SettleUnassigned(inside);
  EXPECT_EQ(threads.StateOfUnassigned(6), ThreadState::kInactive);
  EXPECT_EQ(threads.position(6), Position(7, 0));
  EXPECT_EQ(CountOf(threads, ThreadState::kFinished), 2u);
}

TEST(ThreadTable, ABlockMustBeFinishedBeforeItLeaves) {
  ThreadTable threads(16);
  threads.AddWarp(0, 4, 1, 0, kEntry);
  threads.Finish(HwWarp(0, 4), 0b1011);
  EXPECT_EQ(threads.Remove(1, 0, 4), std::optional<ThreadId>(2));
  EXPECT_EQ(CountOf(threads, ThreadState::kFinished), 3u);
  threads.Finish(HwWarp(2, 1), 1);
  EXPECT_EQ(threads.Remove(1, 0, 4), std::nullopt);
  EXPECT_EQ(CountOf(threads, ThreadState::kFinished), 0u);
}

TEST(PolicyTimers, RunOutInOrderOfTimeThenOfStart) {
  PolicyTimers timers;
  EXPECT_EQ(timers.next(), kNever);
  timers.Start(9, 1);
  timers.Start(5, 2);
  timers.Start(9, 3);
  EXPECT_EQ(timers.next(), 5u);
  uint64_t tag = 0;
  EXPECT_FALSE(timers.Pop(4, tag));
  for (const uint64_t expected : {2, 1, 3}) {
    EXPECT_TRUE(timers.Pop(9, tag));
    EXPECT_EQ(tag, expected);
  }
  EXPECT_FALSE(timers.Pop(9, tag));
}

TEST(SlotChanges, GivesEverySlotOnce) {
  SlotChanges changes(8);
  changes.Note(1, SlotChanges::kState);
  EXPECT_FALSE(changes.any());
  changes.Enable();
  changes.Note(1, SlotChanges::kState);
  changes.Note(2, SlotChanges::kState);
  changes.Note(2, SlotChanges::kThreads);
  SlotId slot = kNoSlot;
  bool threads = false;
  EXPECT_TRUE(changes.Take(slot, threads));
  EXPECT_EQ(slot, 2);
  EXPECT_TRUE(threads);
  EXPECT_TRUE(changes.Take(slot, threads));
  EXPECT_EQ(slot, 1);
  EXPECT_FALSE(threads);
  EXPECT_FALSE(changes.Take(slot, threads));
}

TEST(OfferedSlots, KnowsThemByPortAndPriority) {
  WarpTable table(8);
  OfferedSlots offered(table, /*ports=*/2);
  for (SlotId slot = 0; slot < 4; ++slot) {
    table.port[slot] = static_cast<uint8_t>(slot % 2);
    table.state[slot] = SlotState::kOffered;
    offered.Insert(slot);
  }
  EXPECT_TRUE(offered.of(1).Contains(3));
  EXPECT_FALSE(offered.of(0).Contains(3));
  EXPECT_LT(table.offered_at[2], table.offered_at[3]);
  EXPECT_FALSE(offered.prioritised());
  offered.SetPriority(2, 1);
  EXPECT_TRUE(offered.prioritised());
  EXPECT_TRUE(offered.HighestPriority(offered.of(0)).Contains(2));
  EXPECT_FALSE(offered.HighestPriority(offered.of(0)).Contains(0));
  offered.Erase(2);
  EXPECT_FALSE(offered.prioritised());
  EXPECT_FALSE(table.offered.Contains(2));
}

TEST(SlotPool, GivesTheSmallestFreeSlot) {
  WarpTable table(8);
  SlotPool pool(table, /*ports=*/2);
  EXPECT_EQ(pool.Take(), 0);
  EXPECT_EQ(pool.Take(), 1);
  EXPECT_EQ(table.live, 2);
  pool.Return(0);
  pool.ContinueWarp(/*age=*/77, /*port=*/1);
  EXPECT_EQ(pool.Take(), 0);
  EXPECT_EQ(table.formed[0], 77u);
  EXPECT_EQ(table.port[0], 1);
}

}  // namespace
}  // namespace heddle::replay
