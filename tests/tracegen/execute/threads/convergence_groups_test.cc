// Which lanes are together, and who is a member of which barrier.
#include "tracegen/execute/threads/convergence_groups.h"

#include <gtest/gtest.h>

namespace heddle::tracegen {
namespace {

class ConvergenceGroupsTest : public ::testing::Test {
 protected:
  ConvergenceGroupsTest() {
    groups_.BeginLaunch(2);
    groups_.BeginBlock();
  }

  ConvergenceGroups groups_;
};

TEST_F(ConvergenceGroupsTest, AWarpBeginsTogether) {
  EXPECT_EQ(groups_.TogetherWith(0, 5), ~0u);
  groups_.Unite(0, 0b110);
  EXPECT_EQ(groups_.TogetherWith(0, 1), 0b110u);
  EXPECT_EQ(groups_.TogetherWith(0, 0), ~0b110u);
  EXPECT_EQ(groups_.TogetherWith(1, 1), ~0u);
  groups_.BeginBlock();
  EXPECT_EQ(groups_.TogetherWith(0, 1), ~0u);
}

TEST_F(ConvergenceGroupsTest, MembersComeToOnePlaceEquallyOften) {
  const uint32_t first = groups_.Join(0, 0, 7);
  const uint32_t second = groups_.Join(0, 0, 7);
  EXPECT_NE(first, 0u);
  EXPECT_NE(first, second);
  EXPECT_EQ(groups_.Join(0, 3, 7), first);
  EXPECT_EQ(groups_.Join(0, 3, 7), second);
  EXPECT_NE(groups_.Join(0, 4, 8), first);  // another place
  EXPECT_EQ(groups_.MembersOf(0, first), 0b1001u);
  groups_.Leave(0, 0, first);
  EXPECT_EQ(groups_.MembersOf(0, first), 0b1000u);
  EXPECT_EQ(groups_.Join(0, 5, 7), first);
}

TEST_F(ConvergenceGroupsTest, OthersAreNoMembers) {
  const uint32_t barrier = groups_.Join(0, 0, 7);
  groups_.Unite(0, 0b1100);
  const uint32_t another = groups_.Join(0, 2, 7);
  EXPECT_NE(another, barrier);
  EXPECT_EQ(groups_.MembersOf(0, another), 0b100u);
  EXPECT_TRUE(groups_.MayJoin(0, barrier, 0b10));
  EXPECT_FALSE(groups_.MayJoin(0, barrier, 0b1101));
  EXPECT_TRUE(groups_.MayJoin(0, another, 0b1000));
  EXPECT_FALSE(groups_.MayJoin(0, 99, ~0u));
}

TEST_F(ConvergenceGroupsTest, NumbersAreUsedAgain) {
  const uint32_t barrier = groups_.Join(0, 0, 7);
  groups_.Leave(0, 0, barrier);
  EXPECT_EQ(groups_.MembersOf(0, barrier), 0u);
  EXPECT_EQ(groups_.Join(0, 0, 9), barrier);
  groups_.Exit(0, 0);
  EXPECT_EQ(groups_.MembersOf(0, barrier), 0u);
  EXPECT_EQ(groups_.Join(0, 1, 9), barrier);
  EXPECT_EQ(groups_.MembersOf(0, 0), 0u);
}

TEST_F(ConvergenceGroupsTest, ThereAreOnlySoMany) {
  for (uint32_t i = 0; i < ConvergenceGroups::kMostBarriers; ++i) EXPECT_EQ(groups_.Join(0, 0, i), i + 1);
  EXPECT_EQ(groups_.Join(0, 0, 99999), 0u);
  EXPECT_EQ(groups_.Join(1, 0, 99999), 1u);
}

}  // namespace
}  // namespace heddle::tracegen
