// When asynchronous copies arrive.
#include "tracegen/execute/threads/async_copies.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace heddle::tracegen {
namespace {

uint64_t Address(const void* place) { return reinterpret_cast<uint64_t>(place); }

class Copies : public ::testing::Test {
 protected:
  Copies() { copies_.BeginBlock(2); }

  void Copy(uint32_t thread, int word) {
    copies_.Copy(thread, Address(&to_[word]), Address(&from_[word]), sizeof(uint32_t), sizeof(uint32_t));
  }

  AsyncCopies copies_;
  uint32_t from_[4] = {1, 2, 3, 4};
  uint32_t to_[4] = {};
};

TEST_F(Copies, ArriveAtTheWaitThatCoversThem) {
  Copy(0, 0);
  copies_.Commit(0);
  Copy(0, 1);
  Copy(0, 2);
  copies_.Commit(0);
  Copy(0, 3);
  EXPECT_FALSE(copies_.Wait(0, 2));
  EXPECT_EQ(to_[0], 0u);
  EXPECT_TRUE(copies_.Wait(0, 1));
  EXPECT_EQ(to_[0], 1u);
  EXPECT_EQ(to_[1], 0u);
  EXPECT_TRUE(copies_.Wait(0, 0));
  EXPECT_EQ(to_[1] + to_[2], 5u);
  EXPECT_EQ(to_[3], 0u);  // its group is open
  EXPECT_TRUE(copies_.WaitForAll(0));
  EXPECT_EQ(to_[3], 4u);
  EXPECT_FALSE(copies_.WaitForAll(0));
}

TEST_F(Copies, GroupsWithoutCopiesCount) {
  Copy(0, 0);
  copies_.Commit(0);
  copies_.Commit(0);
  copies_.Commit(0);
  EXPECT_TRUE(copies_.Wait(0, 2));
  EXPECT_EQ(to_[0], 1u);
}

TEST_F(Copies, AThreadWaitsForItsOwn) {
  Copy(0, 0);
  Copy(1, 1);
  EXPECT_TRUE(copies_.WaitForAll(1));
  EXPECT_EQ(to_[0], 0u);
  EXPECT_EQ(to_[1], 2u);
}

TEST_F(Copies, ReadTheirSourceAtOnceAndFillUpWithZeros) {
  uint8_t to[16];
  for (uint8_t& byte : to) byte = 0xff;
  copies_.Copy(0, Address(to), Address(from_), 16, 5);
  from_[0] = 77;
  copies_.WaitForAll(0);
  EXPECT_EQ(to[0], 1);
  EXPECT_EQ(to[4], 2);
  EXPECT_EQ(to[5], 0);
  EXPECT_EQ(to[15], 0);
  copies_.Copy(0, Address(to), 0, 16, 0);  // nothing is read, so the source may be anything
  copies_.WaitForAll(0);
  EXPECT_EQ(to[0], 0);
}

TEST_F(Copies, TooManyArriveByThemselves) {
  Copy(0, 0);
  for (size_t i = 1; i < AsyncCopies::kMostOnTheirWay; ++i) Copy(0, 1);
  EXPECT_EQ(to_[0], 0u);
  Copy(0, 2);
  EXPECT_EQ(to_[0], 1u);
  EXPECT_EQ(to_[2], 0u);
}

TEST_F(Copies, ABlockBeginsWithoutAny) {
  Copy(0, 0);
  copies_.BeginBlock(2);
  EXPECT_FALSE(copies_.WaitForAll(0));
  EXPECT_EQ(to_[0], 0u);
}

// Threads of a larger block wait before any has copied.
TEST_F(Copies, ALargerBlockMayBeginWithAWait) {
  Copy(0, 0);
  copies_.BeginBlock(256);
  copies_.Commit(200);
  EXPECT_FALSE(copies_.Wait(200, 0));
  EXPECT_FALSE(copies_.WaitForAll(255));
}

}  // namespace
}  // namespace heddle::tracegen
