// The tables of a HARP scheduler by themselves: levels, Ready-Lookup, Waiting-Lookup, pending commits, low water.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "replay/policies/divergence/harp/harp_counters.h"
#include "replay/policies/divergence/harp/harp_options.h"
#include "replay/policies/divergence/harp/harp_timer.h"
#include "replay/policies/divergence/harp/issue_levels.h"
#include "replay/policies/divergence/harp/low_water.h"
#include "replay/policies/divergence/harp/pending_commits.h"
#include "replay/policies/divergence/harp/ready_lookup.h"
#include "replay/policies/divergence/harp/waiting_lookup.h"
#include "replay/warps/formation.h"

namespace heddle::replay {
namespace {

using testing::ElementsAre;

constexpr int kWarpSize = 4;
constexpr Position kHere(3, 0);
constexpr Position kThere(5, 0);

// An SM of four hardware warps of four threads, all of them unassigned at kHere.
class HarpParts : public testing::Test {
 protected:
  HarpParts() {
    formation.AddThreads(0, 8, /*block=*/0, /*first_index=*/0, kHere);
    formation.AddThreads(8, 8, /*block=*/1, /*first_index=*/0, kHere);
  }

  static Formation::Setup Small() {
    Formation::Setup setup;
    setup.warp_size = kWarpSize;
    setup.max_threads = 16;
    setup.policy_name = "harp";
    return setup;
  }
  // Threads of a hardware warp in their home lanes.
  static Lanes HwWarp(uint32_t hw_warp, LaneMask mask) {
    Lanes lanes;
    lanes.mask = mask;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      lanes.thread[lane] = static_cast<ThreadId>(hw_warp * kWarpSize + lane);
    }
    return lanes;
  }
  SlotId Spawn(uint32_t hw_warp, LaneMask mask = 0xf) {
    return editor.SpawnParked(kHere, HwWarp(hw_warp, mask), HeldReason::kReady);
  }
  SlotState StateOf(SlotId slot) const { return formation.table().state[slot]; }
  // The timer that is due in cycle `now`.
  std::optional<HarpTimer> DueIn(Cycle now) {
    formation.SetNow(now);
    uint64_t tag = 0;
    if (!formation.PopTimer(tag)) return std::nullopt;
    return HarpTimer::Of(tag);
  }

  Formation formation{Small()};
  WarpEditor& editor = formation.editor();
  HarpOptions options;
  HarpCounters counters;
};

TEST_F(HarpParts, TheOldestOfTheSecondLevelMovesUpWhenAWarpIsIssued) {
  options.first_level = 1;
  IssueLevels levels(options, /*port=*/0, counters);
  const std::vector<SlotId> slots = {Spawn(0), Spawn(1), Spawn(2)};
  for (const SlotId slot : slots) levels.MakeReady(slot, editor);
  EXPECT_EQ(StateOf(slots[0]), SlotState::kOffered);
  EXPECT_EQ(StateOf(slots[1]), SlotState::kParked);
  EXPECT_EQ(levels.first_level(), 1);
  EXPECT_EQ(levels.ready(), 2);  // those of the Second-Level
  formation.Issue(slots[0]);
  levels.Issued(editor);
  EXPECT_EQ(StateOf(slots[1]), SlotState::kOffered);
  EXPECT_EQ(StateOf(slots[2]), SlotState::kParked);
  EXPECT_EQ(levels.ready(), 1);
  EXPECT_EQ(counters[kMaxFirstLevel], 1u);
  EXPECT_TRUE(formation.status().ok()) << formation.status();
}

TEST_F(HarpParts, ReadyWarpsOfBothLevelsIfTheFirstCounts) {
  options.first_level = 1;
  options.count_first_level = true;
  IssueLevels levels(options, 0, counters);
  levels.MakeReady(Spawn(0), editor);
  levels.MakeReady(Spawn(1), editor);
  EXPECT_EQ(levels.ready(), 2);
}

TEST_F(HarpParts, OneTableForBothLevelsHasAlwaysRoom) {
  options.first_level = 0;
  options.first_level_delay = 7;  // of no meaning then
  IssueLevels levels(options, 0, counters);
  for (uint32_t hw_warp = 0; hw_warp < 4; ++hw_warp) {
    const SlotId slot = Spawn(hw_warp);
    levels.MakeReady(slot, editor);
    EXPECT_EQ(StateOf(slot), SlotState::kOffered);
  }
  EXPECT_EQ(counters[kMaxFirstLevel], 4u);
}

TEST_F(HarpParts, MovesTakeTheirTime) {
  options.first_level_delay = 2;
  IssueLevels levels(options, /*port=*/1, counters);
  const SlotId slot = Spawn(0);
  formation.SetNow(10);
  levels.MoveIn(slot, /*delay=*/3, editor);
  EXPECT_EQ(levels.ready(), 1);  // on its way
  EXPECT_EQ(levels.first_level(), 0);
  EXPECT_FALSE(DueIn(12).has_value());
  const std::optional<HarpTimer> arrival = DueIn(13);
  ASSERT_TRUE(arrival.has_value());
  EXPECT_EQ(arrival->event, HarpTimer::Event::kArrival);
  EXPECT_EQ(arrival->port, 1);
  EXPECT_EQ(arrival->which, slot);
  levels.Arrived(slot, editor);
  EXPECT_EQ(levels.ready(), 0);
  EXPECT_EQ(levels.first_level(), 1);
  EXPECT_EQ(StateOf(slot), SlotState::kParked);
  const std::optional<HarpTimer> first_level = DueIn(15);
  ASSERT_TRUE(first_level.has_value());
  EXPECT_EQ(first_level->event, HarpTimer::Event::kFirstLevel);
}

TEST_F(HarpParts, ThreadsJoinWarpsOfTheReadyLookupWhereTheirLanesAreFree) {
  ReadyLookup lookup(/*entries=*/2, /*restamp=*/true, counters);
  const SlotId first = Spawn(0, 0b0001);
  const SlotId second = Spawn(1, 0b0010);
  lookup.Push(first);
  lookup.Push(second);
  EXPECT_TRUE(lookup.full());
  // Of hardware warp 0, lanes 1 and 2 fit into the first warp.
  EXPECT_EQ(lookup.Merge(kHere, /*block=*/0, HwWarp(0, 0b0110), editor).mask, 0u);
  EXPECT_EQ(formation.table().lanes[first].mask, 0b0111u);
  // Of hardware warp 1, lane 0 finds a place in the second one only; then nothing fits lane 1 there.
  EXPECT_EQ(lookup.Merge(kHere, 0, HwWarp(1, 0b0001), editor).mask, 0u);
  EXPECT_EQ(formation.table().lanes[second].mask, 0b0011u);
  EXPECT_EQ(counters[kReadyMerges], 2u);
  EXPECT_EQ(counters[kReadyThreadsMerged], 3u);
  EXPECT_EQ(counters[kMaxReadyLookup], 2u);
  // The merge of the second warp came last, so it is the youngest.
  EXPECT_EQ(lookup.Pop(), first);
  EXPECT_EQ(lookup.Pop(), second);
  EXPECT_TRUE(lookup.empty());
  EXPECT_TRUE(formation.status().ok()) << formation.status();
}

TEST_F(HarpParts, AMergeMakesAWarpTheYoungestOnlyIfItIsRestamped) {
  for (const bool restamp : {false, true}) {
    SCOPED_TRACE(restamp);
    Formation own(Small());
    own.AddThreads(0, 8, 0, 0, kHere);
    ReadyLookup lookup(4, restamp, counters);
    const SlotId first = own.editor().SpawnParked(kHere, HwWarp(0, 0b0001));
    const SlotId second = own.editor().SpawnParked(kHere, HwWarp(1, 0b1111));
    lookup.Push(first);
    lookup.Push(second);
    lookup.Merge(kHere, 0, HwWarp(0, 0b0010), own.editor());
    EXPECT_EQ(lookup.Pop(), restamp ? second : first);
  }
}

TEST_F(HarpParts, OtherBlocksAndPlacesDoNotMerge) {
  ReadyLookup lookup(4, true, counters);
  lookup.Push(Spawn(0, 0b0001));
  EXPECT_EQ(lookup.Merge(kHere, /*block=*/1, HwWarp(2, 0b0010), editor).mask, 0b0010u);
  EXPECT_EQ(lookup.Merge(kThere, /*block=*/0, HwWarp(0, 0b0010), editor).mask, 0b0010u);
  EXPECT_EQ(counters[kReadyMerges], 0u);
}

// Threads of two warps at one load, in lanes 0 and 1, and 1 to 3.
TEST_F(HarpParts, ThreadsGatherUntilAllTheirDataHaveCome) {
  WaitingLookup lookup(options, counters);
  const SlotId one = Spawn(0, 0b0011);
  const SlotId two = Spawn(1, 0b1110);
  lookup.Enter(one, formation.table());
  lookup.Enter(two, formation.table());  // lanes 2 and 3 join; lane 1 has an entry of its own
  EXPECT_TRUE(lookup.Holds(two));
  EXPECT_EQ(lookup.warps(), 2);
  EXPECT_EQ(counters[kWaitingMerges], 1u);
  EXPECT_EQ(counters[kWaitingThreadsMerged], 2u);
  EXPECT_EQ(counters[kMaxWaitingLookup], 2u);

  std::vector<LaneMask> waiting;
  std::vector<Lanes> complete;
  const auto waits = [&](LaneMask mask) { waiting.push_back(mask); };
  const auto goes_on = [&](const Lanes& lanes) { complete.push_back(lanes); };
  EXPECT_FALSE(lookup.LeaveAlone(two, 0b1110));
  EXPECT_EQ(lookup.Leave(two, HwWarp(1, 0b1110), waits, goes_on), 0u);
  EXPECT_THAT(waiting, ElementsAre(0b1100u));  // for the other warp's data
  ASSERT_EQ(complete.size(), 1u);
  EXPECT_EQ(complete[0].mask, 0b0010u);
  EXPECT_FALSE(lookup.Holds(two));

  EXPECT_FALSE(lookup.LeaveAlone(one, 0b0011));
  lookup.Leave(one, HwWarp(0, 0b0011), waits, goes_on);
  ASSERT_EQ(complete.size(), 2u);
  EXPECT_EQ(complete[1].mask, 0b1111u);
  EXPECT_EQ(complete[1].thread[0], 0);
  EXPECT_EQ(complete[1].thread[3], 7);  // of hardware warp 1
  EXPECT_EQ(lookup.warps(), 0);
}

TEST_F(HarpParts, AWarpAloneInItsEntryGoesOnAsItIs) {
  WaitingLookup lookup(options, counters);
  const SlotId slot = Spawn(0);
  lookup.Enter(slot, formation.table());
  EXPECT_TRUE(lookup.LeaveAlone(slot, 0xf));
  EXPECT_FALSE(lookup.Holds(slot));
  EXPECT_EQ(lookup.warps(), 0);
}

TEST_F(HarpParts, WholeWarpsOrNothing) {
  options.whole_warps = true;
  WaitingLookup lookup(options, counters);
  lookup.Enter(Spawn(0, 0b0011), formation.table());
  lookup.Enter(Spawn(1, 0b1110), formation.table());
  EXPECT_EQ(counters[kWaitingMerges], 0u);
  EXPECT_EQ(counters[kMaxWaitingLookup], 2u);
}

TEST_F(HarpParts, AWarpThatFindsTheWaitingLookupFullWaitsAsItIs) {
  options.waiting_lookup = 1;
  WaitingLookup lookup(options, counters);
  lookup.Enter(Spawn(0, 0b0011), formation.table());
  const SlotId two = Spawn(1, 0b1110);
  lookup.Enter(two, formation.table());
  EXPECT_EQ(counters[kWaitingBypasses], 1u);
  EXPECT_EQ(lookup.warps(), 1);  // the second is not wholly in the table
  const auto nothing = [](const auto&) {};
  EXPECT_EQ(lookup.Leave(two, HwWarp(1, 0b1110), nothing, nothing), 0b0010u);
}

TEST(PendingCommits, TheSmallestFreeNumber) {
  PendingCommits commits;
  EXPECT_EQ(commits.Take(), 0u);
  EXPECT_EQ(commits.Take(), 1u);
  commits[0].slot = 7;
  commits.Free(0);
  EXPECT_EQ(commits.Take(), 0u);
  EXPECT_EQ(commits[0].slot, kNoSlot);
  EXPECT_EQ(commits.Take(), 2u);
}

TEST(LowWater, CountsTheCyclesBetweenChanges) {
  HarpCounters counters;
  LowWater low(counters);
  low.Set(false, 5);
  low.Set(true, 10);
  low.Set(true, 12);
  low.Set(false, 25);
  low.Set(false, 30);
  EXPECT_EQ(counters[kLowCycles], 15u);
}

TEST(HarpTimer, GoesThroughATag) {
  const HarpTimer timer = HarpTimer::Of(HarpTimer{HarpTimer::Event::kCommit, 3, 4'000'000'000u}.Tag());
  EXPECT_EQ(timer.event, HarpTimer::Event::kCommit);
  EXPECT_EQ(timer.port, 3);
  EXPECT_EQ(timer.which, 4'000'000'000u);
}

}  // namespace
}  // namespace heddle::replay
