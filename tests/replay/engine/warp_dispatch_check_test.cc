// What is found in the assignments of dispatchers of single warps.
#include "replay/engine/dispatch/warp_dispatch_check.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

namespace heddle::replay {
namespace {

// Clusters of two blocks of one warp each, on groups of two SMs with two hardware warps.
WarpDispatchCheck Pairs(uint32_t cluster_blocks = 2) {
  DispatchContext context;
  context.blocks = 12;
  context.cluster_blocks = cluster_blocks;
  context.sms = 4;
  context.cluster_sms = 2;
  return WarpDispatchCheck(context);
}

WarpAssignment Warp(uint32_t sm, uint64_t block, uint32_t hw_warp = 0) {
  return {.sm = sm, .block = block, .warp = 0, .hw_warp = hw_warp, .instructions = 0, .virtual_block = std::nullopt};
}
// Virtual blocks whose place is their hardware warp.
WarpAssignment Virtual(uint32_t sm, uint64_t block, uint64_t iteration, uint32_t hw_warp = 0) {
  WarpAssignment warp = Warp(sm, block, hw_warp);
  warp.virtual_block = {hw_warp, iteration};
  return warp;
}

TEST(WarpDispatchCheck, ClustersBeginInOneRoundAndGroup) {
  WarpDispatchCheck whole = Pairs();
  EXPECT_EQ(whole.Take(Warp(0, 0)), "");
  EXPECT_EQ(whole.Take(Warp(1, 1)), "");
  EXPECT_EQ(whole.EndRound(), "");
  WarpDispatchCheck torn = Pairs();
  EXPECT_EQ(torn.Take(Warp(0, 0)), "");
  EXPECT_EQ(torn.EndRound(), "1 of the 2 warps of a cluster without the others");
  WarpDispatchCheck apart = Pairs();
  EXPECT_EQ(apart.Take(Warp(1, 0)), "");
  EXPECT_EQ(apart.Take(Warp(2, 1)), ", which is not of the group of SMs that has its cluster");
}

TEST(WarpDispatchCheck, VirtualClustersGoOnBlockByBlock) {
  WarpDispatchCheck check = Pairs();
  for (uint32_t sm = 0; sm < 2; ++sm) EXPECT_EQ(check.Take(Virtual(sm, sm, 0)), "");
  EXPECT_EQ(check.EndRound(), "");
  EXPECT_EQ(check.Take(Virtual(1, 3, 1)), "");
  EXPECT_EQ(check.EndRound(), "") << "the other block may follow later";
  EXPECT_EQ(check.Take(Virtual(0, 2, 1)), "");
  EXPECT_EQ(check.EndRound(), "");
}

// How far a virtual block is follows from what its hardware warps have had. What says that it goes on where nothing has
// been would begin a part of a cluster.
TEST(WarpDispatchCheck, IterationsAreCounted) {
  for (const uint32_t cluster_blocks : {1u, 2u}) {
    WarpDispatchCheck check = Pairs(cluster_blocks);
    EXPECT_EQ(check.Take(Virtual(0, 0, 1)), " as iteration 1 of a virtual block, where 0 have been");
  }
  WarpDispatchCheck check = Pairs();
  for (uint32_t sm = 0; sm < 2; ++sm) EXPECT_EQ(check.Take(Virtual(sm, sm, 0)), "");
  EXPECT_EQ(check.Take(Virtual(0, 2, 0)), " as iteration 0 of a virtual block, where 1 have been");
}

TEST(WarpDispatchCheck, ABlockGoesToItsRankOfOneVirtualCluster) {
  const auto begun = [] {
    WarpDispatchCheck check = Pairs();
    for (uint32_t block = 0; block < 4; ++block) EXPECT_EQ(check.Take(Virtual(block, block, 0)), "");
    EXPECT_EQ(check.EndRound(), "");
    return check;
  };
  EXPECT_EQ(begun().Take(Virtual(0, 5, 1)), ", to a virtual block of another rank");
  WarpDispatchCheck check = begun();
  EXPECT_EQ(check.Take(Virtual(0, 4, 1)), "");
  EXPECT_EQ(check.Take(Virtual(3, 5, 1)), ", to another virtual cluster than others of its cluster");
}

}  // namespace
}  // namespace heddle::replay
