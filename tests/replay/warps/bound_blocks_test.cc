// Blocks that are bound to a port: all their warps are on it, and no warp holds threads of two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replay/warps/formation.h"
#include "tests/replay/warps/four_lanes.h"

namespace heddle::replay {
namespace {

using testing::HasSubstr;

// Threads 0 to 7 are of block 0, 8 to 15 of block 1; each block has a port of its own.
class BoundBlocksTest : public testing::Test {
 protected:
  BoundBlocksTest() : formation_(Bound()) {
    for (ThreadId thread = 0; thread < 16; ++thread) {
      formation_.AddThread(thread, static_cast<BlockId>(thread / 8), thread % 8, kEntry);
    }
  }
  static Formation::Setup Bound() {
    Formation::Setup setup;
    setup.warp_size = 4;
    setup.max_threads = 16;
    setup.ports = 2;
    setup.one_port_per_block = true;
    setup.policy_name = "tested";
    return setup;
  }
  WarpEditor& editor() { return formation_.editor(); }
  std::string failure() const { return std::string(formation_.status().message()); }

  Formation formation_;
};

TEST_F(BoundBlocksTest, AllWarpsOfABlockAreOnItsPort) {
  EXPECT_EQ(editor().Spawn(kEntry, Home({0, 1, 2, 3})), 0);
  EXPECT_EQ(editor().Spawn(kEntry, Home({4, 5, 6, 7})), 1);
  EXPECT_EQ(editor().Split(1, 0x3), 2);
  EXPECT_EQ(editor().Spawn(kEntry, Home({8, 9})), 3);
  editor().Join(3, Home({10}));
  EXPECT_EQ(editor().Spawn(kEntry, Home({12, 13, 14, 15})), 4);
  for (const SlotId slot : {0, 1, 2}) EXPECT_EQ(formation_.table().port[slot], 0) << slot;
  for (const SlotId slot : {3, 4}) EXPECT_EQ(formation_.table().port[slot], 1) << slot;
  EXPECT_TRUE(formation_.status().ok()) << failure();
}

TEST_F(BoundBlocksTest, RefusesAWarpOfTwoPorts) {
  editor().Spawn(kEntry, Home({0, 1, 10, 11}));
  EXPECT_THAT(failure(), HasSubstr("thread 10 is of a block on scheduler 1, the warp is on 0"));
}

TEST_F(BoundBlocksTest, RefusesToJoinAWarpOfAnotherPort) {
  const SlotId slot = editor().Spawn(kEntry, Home({0, 1}));
  editor().Join(slot, Home({10}));
  EXPECT_THAT(failure(), HasSubstr("Join"));
}

TEST_F(BoundBlocksTest, RefusesToMergeWarpsOfTwoPorts) {
  const SlotId one = editor().Spawn(kEntry, Home({0, 1}));
  const SlotId two = editor().Spawn(kEntry, Home({10, 11}));
  editor().Merge(two, one);
  EXPECT_THAT(failure(), HasSubstr("thread 10 is of a block on scheduler 1"));
}

TEST_F(BoundBlocksTest, RefusesAnotherPort) {
  const SlotId slot = editor().Spawn(kEntry, Home({0, 1}));
  editor().SetPort(slot, 1);
  EXPECT_THAT(failure(), HasSubstr("SetPort"));
}

}  // namespace
}  // namespace heddle::replay
