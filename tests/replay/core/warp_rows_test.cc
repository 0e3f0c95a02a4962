// Which slots have threads of which row of hardware threads.
#include "replay/core/ibuffer/warp_rows.h"

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

std::map<uint32_t, LaneMask> Rows(const WarpRows& rows, SlotId slot, const WarpEntry& warp) {
  std::map<uint32_t, LaneMask> found;
  rows.ForEach(slot, warp, [&](uint32_t row, LaneMask lanes) { found[row] = lanes; });
  return found;
}

TEST(WarpRows, AWarpOfOneRowInOrder) {
  WarpRows rows(/*rows=*/4, /*slots=*/8, /*warp_size=*/4, /*listed=*/true);
  WarpEntry warp;
  rows.Locate(3, Of({4, 5, 6}), warp);
  EXPECT_EQ(warp.row, 1);
  EXPECT_EQ(warp.threads, 3);
  EXPECT_TRUE(warp.in_order);
  EXPECT_EQ(rows[1].only, 3);
  EXPECT_THAT(Rows(rows, 3, warp), ElementsAre(Pair(1, 0b0111)));
}

TEST(WarpRows, AWarpOfOneRowOutOfOrder) {
  WarpRows rows(4, 8, 4, true);
  WarpEntry warp;
  rows.Locate(0, Of({7, 5}), warp);
  EXPECT_EQ(warp.row, 1);
  EXPECT_FALSE(warp.in_order);
  EXPECT_EQ(warp.own, 0b1010u);
}

TEST(WarpRows, AWarpOfSeveralRowsIsListedInEach) {
  WarpRows rows(4, 8, 4, true);
  WarpEntry mixed;
  WarpEntry other;
  rows.Locate(5, Of({0, 9, 2}), mixed);
  rows.Locate(1, Of({8, 10}), other);
  EXPECT_EQ(mixed.row, kMixedRows);
  EXPECT_THAT(Rows(rows, 5, mixed), ElementsAre(Pair(0, 0b0101), Pair(2, 0b0010)));
  EXPECT_THAT(rows[2].slots, ElementsAre(1, 5));
  EXPECT_EQ(rows[2].only, kNoSlot);
  rows.Locate(5, Of({}), mixed);
  EXPECT_THAT(rows[0].slots, IsEmpty());
  EXPECT_EQ(rows[2].only, 1);
}

TEST(WarpRows, ListsNothingWhereThereIsNoScoreboard) {
  WarpRows rows(4, 8, 4, /*listed=*/false);
  WarpEntry warp;
  rows.Locate(3, Of({4, 5}), warp);
  EXPECT_EQ(warp.row, 1);
  EXPECT_THAT(rows[1].slots, IsEmpty());
}

}  // namespace
}  // namespace heddle::replay
