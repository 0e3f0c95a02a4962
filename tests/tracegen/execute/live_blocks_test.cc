// How many blocks can be live at once, and what users are told.
#include "tracegen/execute/launch/live_blocks.h"

#include <gtest/gtest.h>

namespace heddle::tracegen {
namespace {

Geometry Grid(uint32_t blocks, uint32_t threads) {
  Geometry geometry;
  geometry.grid[0] = blocks;
  geometry.block[0] = threads;
  return geometry;
}

TEST(LiveBlocks, AsManyAsAreAskedForExistAndFit) {
  EXPECT_EQ(LiveBlocks(4, Grid(80, 512), false), 4u);
  EXPECT_EQ(LiveBlocks(100, Grid(80, 512), false), 80u);
  EXPECT_EQ(LiveBlocks(100, Grid(80, 512), true), 40u);
  EXPECT_EQ(LiveBlocks(1024, Grid(1000, 1024), false), 48u);
}

TEST(LiveBlocks, AdviceIsWhatHelps) {
  const auto advice = [](const Geometry& geometry, bool uses_local, uint32_t live, bool all) {
    return LiveBlocksAdvice(geometry, uses_local, live, "--resident-blocks ", all);
  };
  EXPECT_EQ(advice(Grid(80, 512), false, 1, true), "--resident-blocks 80 lets all of them live at once");
  EXPECT_EQ(advice(Grid(80, 512), false, 1, false), "--resident-blocks N lets N of them live at once");
  // All are needed, and not all are possible: of more threads than there are stacks, or of more than 1024 blocks.
  EXPECT_EQ(advice(Grid(80, 512), true, 1, true),
            "at most 40 blocks of 512 threads can be live at once: launch fewer blocks, or smaller ones");
  EXPECT_EQ(advice(Grid(2000, 1), false, 1, true),
            "at most 1024 blocks of 1 threads can be live at once: launch fewer blocks, or smaller ones");
  // More may be enough, as long as there can be more.
  EXPECT_EQ(advice(Grid(200, 512), false, 20, false),
            "--resident-blocks N lets N of them live at once; at most 96 blocks of 512 threads can be live at once");
  EXPECT_EQ(advice(Grid(200, 512), false, 96, false),
            "at most 96 blocks of 512 threads can be live at once: launch fewer blocks, or smaller ones");
}

}  // namespace
}  // namespace heddle::tracegen
