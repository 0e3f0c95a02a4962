// The structures of block-wide stacks by themselves: hardware warps, entries, paths, which entry runs, compaction unit,
// slots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "replay/policies/divergence/block_wide/block_stack_counts.h"
#include "replay/policies/divergence/block_wide/block_stack_text.h"
#include "replay/policies/divergence/block_wide/block_stacks.h"
#include "replay/policies/divergence/block_wide/block_static_warps.h"
#include "replay/policies/divergence/block_wide/block_warps.h"
#include "replay/policies/divergence/block_wide/compaction_unit.h"
#include "replay/policies/divergence/block_wide/recycling_pool.h"
#include "replay/warps/formation.h"

namespace heddle::replay {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr int kWarpSize = 4;
constexpr Position kEntry(0, 0);
constexpr Position kFallThrough(1, 0);
constexpr Position kTaken(2, 0);
constexpr Position kMeeting(3, 0);

// Threads of a hardware warp of the SM in their home lanes.
Lanes HwWarp(uint32_t hw_warp, LaneMask mask = 0xf) {
  Lanes lanes;
  lanes.mask = mask;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane)
    lanes.thread[lane] = static_cast<ThreadId>(hw_warp * kWarpSize + lane);
  return lanes;
}

TEST(RecyclingPool, GivesWhatWasFreedLastAndKeepsReferences) {
  RecyclingPool<std::vector<int>> pool;
  const uint32_t first = pool.Take();
  std::vector<int>& kept = pool[first];
  kept = {1, 2};
  for (int i = 0; i < 100; ++i) pool.Take();
  EXPECT_EQ(&kept, &pool[first]);
  pool.Free(7);
  pool.Free(first);
  EXPECT_EQ(pool.Take(), first);
  EXPECT_EQ(pool[first].size(), 2u);  // as it was left
  EXPECT_EQ(pool.Take(), 7u);
}

TEST(BlockStaticWarps, GroupsThreadsByTheStaticWarpsOfTheirBlock) {
  BlockStaticWarps static_warps(kWarpSize, /*max_threads=*/32, /*max_blocks=*/2);
  static_warps.Set(/*block=*/1, /*first_thread=*/8, /*static_warps=*/3);
  EXPECT_EQ(static_warps.static_warps(1), 3u);
  EXPECT_EQ(static_warps.ThreadAt(1, 2, 3), 19);
  Lanes mixed = HwWarp(3, 0b1011);  // of the block's static warp 1, but for lane 1
  mixed.thread[1] = 9;              // of its static warp 0
  std::vector<std::pair<size_t, LaneMask>> seen;
  static_warps.ForEachStaticWarp(1, mixed, mixed.mask,
                                 [&](size_t static_warp, LaneMask lanes) { seen.emplace_back(static_warp, lanes); });
  EXPECT_THAT(seen, ElementsAre(Pair(1u, 0b1001u), Pair(0u, 0b0010u)));
}

TEST(CompactionUnit, FormsOneWarpAfterTheOther) {
  CompactionUnit unit(/*cycles_per_warp=*/3);
  EXPECT_TRUE(unit.takes_time());
  KeptWarp warp;
  warp.index = 5;
  EXPECT_EQ(unit.Push(0, warp, /*now=*/10), 13u);
  warp.index = 6;
  EXPECT_EQ(unit.Push(1, warp, 10), 16u);
  EXPECT_EQ(unit.Pop().warp.index, 5u);
  EXPECT_EQ(unit.Push(2, warp, 15), 19u);    // behind the second one
  EXPECT_EQ(unit.Push(3, warp, 100), 103u);  // the unit has been idle
  EXPECT_EQ(unit.Pop().entry, 1u);
  EXPECT_EQ(unit.Pop().entry, 2u);
  EXPECT_EQ(unit.Pop().entry, 3u);
  EXPECT_FALSE(CompactionUnit(0).takes_time());
}

// Block 0 of two hardware warps of four threads, on an SM of eight.
class Stacks : public testing::Test {
 protected:
  Stacks() {
    formation.AddThreads(0, 8, /*block=*/0, /*first_index=*/0, kEntry);
    BlockAdmission admission;
    admission.block = 0;
    admission.entry = kEntry;
    const std::vector<LaneMask> hw_warps = {0xf, 0xf};
    admission.warps = hw_warps;
    base = stacks.Open(admission);
    for (int warp = 0; warp < 2; ++warp) AddWarp(base);
  }

  static Formation::Setup Small() {
    Formation::Setup setup;
    setup.warp_size = kWarpSize;
    setup.max_threads = 8;
    setup.policy_name = "tbc";
    return setup;
  }
  void AddWarp(StackEntryId id) {
    StackEntry& entry = stacks.At(id);
    ++entry.wcnt;
    ++entry.running;
    ++entry.next_index;
  }
  // A warp of the entry comes to its branch and stalls: these lanes of the hardware warp take each side.
  bool Stall(StackEntryId id, uint32_t hw_warp, LaneMask fall_through, LaneMask taken, Position from = kEntry) {
    std::vector<PathGroup> groups;
    if (fall_through != 0) groups.push_back({kFallThrough, fall_through, false});
    if (taken != 0) groups.push_back({kTaken, taken, true});
    const Lanes lanes = HwWarp(hw_warp);
    ArrivedWarp arrival;
    arrival.from = from;
    arrival.groups = groups;
    arrival.lanes = &lanes;
    arrival.reconvergence = kMeeting;
    arrival.conditional = true;
    StackEntry& entry = stacks.At(id);
    const bool agrees = stacks.Stage(entry, arrival);
    ++entry.branch.stalled;
    --entry.wcnt;
    --entry.running;
    return agrees;
  }

  Formation formation{Small()};
  WarpEditor& editor = formation.editor();
  BlockStackCounts counts{kBlockStackCounters};
  BlockStacks stacks{BlockStaticWarps(kWarpSize, 8, 1), /*taken_first=*/true, counts};
  StackEntryId base = 0;
  std::optional<BranchOutcome> outcome;
};

TEST_F(Stacks, ABranchIsCarriedOutWhenItsLastWarpHasCome) {
  Stall(base, 0, 0b0011, 0b1100);
  EXPECT_FALSE(stacks.Reduce(0, editor, outcome));
  EXPECT_EQ(BlockStackText(stacks), "block 0: (0,-,11111111,1)+(8,24,11000000,0)+(16,24,00110000,0) update mask 11");
  Stall(base, 1, 0b1100, 0b0011);
  EXPECT_TRUE(stacks.Reduce(0, editor, outcome));
  // The entry waits at the reconvergence point; the taken side is on top.
  EXPECT_EQ(BlockStackText(stacks), "block 0: (24,-,11111111,0)(8,24,11000011,0)(16,24,00111100,0)");
  ASSERT_EQ(stacks.stack(0).size(), 3u);
  EXPECT_EQ(stacks.Runnable(0), stacks.stack(0)[2]);
  EXPECT_EQ(counts[kMaxStackDepth], 3u);
  // Two paths of two halves each, which fit into one warp each.
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->diverged);
  EXPECT_EQ(outcome->next_active, 2u);
  EXPECT_EQ(outcome->next_needed, 1u);
  EXPECT_EQ(outcome->all_active, 4u);
  EXPECT_EQ(outcome->all_needed, 2u);
  EXPECT_EQ(counts[kCompactableBranches], 1u);
  EXPECT_EQ(counts[kWarpsBefore], 4u);
  EXPECT_EQ(counts[kStallStall], 2u);  // both had to wait
}

TEST_F(Stacks, CompactionDoesNotPayIfTheLanesAreTheSame) {
  Stall(base, 0, 0b0011, 0b1100);
  Stall(base, 1, 0b0011, 0b1100);
  stacks.Reduce(0, editor, outcome);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->all_active, outcome->all_needed);
  EXPECT_EQ(counts[kIncompactableBranches], 1u);
  EXPECT_EQ(counts[kStallBypass], 2u);
}

TEST_F(Stacks, AUniformBranchPushesNothing) {
  Stall(base, 0, 0, 0b1111);
  Stall(base, 1, 0, 0b1111);
  EXPECT_TRUE(stacks.Reduce(0, editor, outcome));
  ASSERT_EQ(stacks.stack(0).size(), 1u);
  const StackEntry& entry = stacks.At(stacks.stack(0)[0]);
  EXPECT_EQ(entry.next, kTaken);
  EXPECT_EQ(entry.rpc, Position::Exit());
  EXPECT_EQ(entry.threads.count(), 8u);
  EXPECT_FALSE(entry.started);
  EXPECT_EQ(counts[kUniformBranches], 1u);
}

TEST_F(Stacks, WarpsAtOtherBranchesReconvergeWhereTheEntryDoes) {
  EXPECT_TRUE(Stall(base, 0, 0b0011, 0b1100));
  EXPECT_FALSE(Stall(base, 1, 0b1111, 0, /*from=*/kMeeting));
  EXPECT_EQ(stacks.At(base).branch.target, Position::Exit());
  stacks.Reduce(0, editor, outcome);
  EXPECT_FALSE(outcome.has_value());  // nothing to learn of a mixture
}

TEST_F(Stacks, AnEntryThatAllThreadsHaveLeftIsPopped) {
  Stall(base, 0, 0b0011, 0b1100);
  Stall(base, 1, 0b1100, 0b0011);
  stacks.Reduce(0, editor, outcome);
  const StackEntryId top = stacks.stack(0)[2];
  StackEntry& entry = stacks.At(top);
  entry.started = true;
  AddWarp(top);
  EXPECT_FALSE(stacks.Reduce(0, editor, outcome));
  EXPECT_TRUE(stacks.AnyRuns(0));
  stacks.Leave(entry, HwWarp(0), 0b1100);
  stacks.Leave(entry, HwWarp(1), 0b0011);
  entry.wcnt = entry.running = 0;
  EXPECT_FALSE(stacks.AnyRuns(0));
  EXPECT_TRUE(stacks.Reduce(0, editor, outcome));
  EXPECT_EQ(stacks.stack(0).size(), 2u);
  EXPECT_EQ(stacks.Runnable(0), stacks.stack(0)[1]);
}

TEST_F(Stacks, ThreadsThatHaveEndedAreForgottenInAllEntriesAndPaths) {
  Stall(base, 0, 0b0011, 0b1100);
  stacks.Forget(0, HwWarp(0), 0b0101);
  EXPECT_EQ(stacks.At(base).threads.count(), 6u);
  EXPECT_EQ(BlockStackText(stacks), "block 0: (0,-,01011111,1)+(8,24,01000000,0)+(16,24,00010000,0) update mask 11");
}

TEST_F(Stacks, AnEntryUnderAnotherWithItsThreadsCannotRun) {
  Stall(base, 0, 0b0011, 0b1100);
  Stall(base, 1, 0b1100, 0b0011);
  stacks.Reduce(0, editor, outcome);
  // The topmost one has started and waits at a barrier: the other side, whose threads are others, can run.
  stacks.At(stacks.stack(0)[2]).started = true;
  EXPECT_EQ(stacks.Runnable(0), stacks.stack(0)[1]);
  stacks.At(stacks.stack(0)[1]).started = true;
  EXPECT_EQ(stacks.Runnable(0), std::nullopt);  // the base waits for both
}

TEST_F(Stacks, ASpareSlotIsTakenByTheNextWarp) {
  BlockWarps warps;
  KeptWarp warp;
  warp.at = kEntry;
  warp.lanes = HwWarp(0);
  warp.index = 1;
  ASSERT_TRUE(warps.Start(base, warp, editor));
  const SlotId slot = formation.slot_of(0);
  EXPECT_EQ(warps[slot].entry, base);
  EXPECT_EQ(warps[slot].index, 1u);
  // It is issued, and resolves to the second hardware warp's threads' place.
  formation.Issue(slot);
  const std::vector<PathGroup> groups = {{kTaken, 0xf, true}};
  formation.BeginResolve(slot, groups, 0);
  warps.Spare(slot, editor);
  warp.at = kTaken;
  warp.index = 2;
  ASSERT_TRUE(warps.Start(base, warp, editor));
  EXPECT_EQ(formation.slot_of(0), slot);
  EXPECT_EQ(warps[slot].index, 2u);
  EXPECT_EQ(formation.table().live, 1);
  warps.DissolveSpare(editor);  // there is none
  EXPECT_TRUE(formation.status().ok()) << formation.status();
}

}  // namespace
}  // namespace heddle::replay
