// Which slots have threads of which hardware warp.
#include "replay/core/ibuffer/hw_warp_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <vector>

namespace heddle::replay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Threads in lanes 0, 1 and so on.
Lanes Of(const std::vector<ThreadId>& threads) {
  Lanes lanes;
  for (const ThreadId thread : threads) {
    lanes.thread[std::popcount(lanes.mask)] = thread;
    lanes.mask = lanes.mask << 1 | 1;
  }
  return lanes;
}

std::map<uint32_t, LaneMask> HwWarps(const HwWarpTable& hw_warps, SlotId slot, const WarpEntry& warp) {
  std::map<uint32_t, LaneMask> found;
  hw_warps.ForEach(slot, warp, [&](uint32_t hw_warp, LaneMask lanes) { found[hw_warp] = lanes; });
  return found;
}

TEST(HwWarpTable, AWarpOfOneHwWarpInOrder) {
  HwWarpTable hw_warps(/*hw_warps=*/4, /*slots=*/8, /*warp_size=*/4, /*listed=*/true);
  WarpEntry warp;
  hw_warps.Locate(3, Of({4, 5, 6}), warp);
  EXPECT_EQ(warp.hw_warp, 1);
  EXPECT_EQ(warp.threads, 3);
  EXPECT_TRUE(warp.in_order);
  EXPECT_EQ(hw_warps[1].only, 3);
  EXPECT_THAT(HwWarps(hw_warps, 3, warp), ElementsAre(Pair(1, 0b0111)));
}

TEST(HwWarpTable, AWarpOfOneHwWarpOutOfOrder) {
  HwWarpTable hw_warps(4, 8, 4, true);
  WarpEntry warp;
  hw_warps.Locate(0, Of({7, 5}), warp);
  EXPECT_EQ(warp.hw_warp, 1);
  EXPECT_FALSE(warp.in_order);
  EXPECT_EQ(warp.own, 0b1010u);
}

TEST(HwWarpTable, AWarpOfSeveralHwWarpsIsListedInEach) {
  HwWarpTable hw_warps(4, 8, 4, true);
  WarpEntry mixed;
  WarpEntry other;
  hw_warps.Locate(5, Of({0, 9, 2}), mixed);
  hw_warps.Locate(1, Of({8, 10}), other);
  EXPECT_EQ(mixed.hw_warp, kMixedHwWarps);
  EXPECT_THAT(HwWarps(hw_warps, 5, mixed), ElementsAre(Pair(0, 0b0101), Pair(2, 0b0010)));
  EXPECT_THAT(hw_warps[2].slots, ElementsAre(1, 5));
  EXPECT_EQ(hw_warps[2].only, kNoSlot);
  hw_warps.Locate(5, Of({}), mixed);
  EXPECT_THAT(hw_warps[0].slots, IsEmpty());
  EXPECT_EQ(hw_warps[2].only, 1);
}

TEST(HwWarpTable, ListsNothingWhereThereIsNoScoreboard) {
  HwWarpTable hw_warps(4, 8, 4, /*listed=*/false);
  WarpEntry warp;
  hw_warps.Locate(3, Of({4, 5}), warp);
  EXPECT_EQ(warp.hw_warp, 1);
  EXPECT_THAT(hw_warps[1].slots, IsEmpty());
}

}  // namespace
}  // namespace heddle::replay
