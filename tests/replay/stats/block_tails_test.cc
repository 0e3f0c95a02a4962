// Means of shares, and which blocks count for the tail.
#include "replay/stats/block_tails.h"

#include <gtest/gtest.h>

#include "replay/stats/mean_share.h"

namespace heddle::replay {
namespace {

TEST(MeanShare, OfSharesNotOfSums) {
  MeanShare mean;
  EXPECT_EQ(mean.count(), 0u);
  mean.Add(1, 2);
  mean.Add(10, 100);
  EXPECT_EQ(mean.count(), 2u);
  EXPECT_DOUBLE_EQ(mean.percent(), 30.0);  // 11 of 102 would be 10.8 %
}

TEST(MeanShare, OfNothingIsZeroAndCounts) {
  MeanShare mean;
  mean.Add(0, 0);
  mean.Add(1, 1);
  EXPECT_EQ(mean.count(), 2u);
  EXPECT_DOUBLE_EQ(mean.percent(), 50.0);
}

TEST(MeanShare, EachShareIsRoundedDown) {
  EXPECT_EQ(MeanShare::PartsPerBillion(2, 3), 666'666'666u);
  EXPECT_EQ(MeanShare::PartsPerBillion(~uint64_t{0}, ~uint64_t{0}), MeanShare::kBillion);  // no overflow
}

TEST(BlockTails, TheLastBlocksDoNotCount) {
  BlockTails tails(/*resident=*/2);
  tails.Add(/*retired=*/100, /*sm=*/0, /*least=*/50, /*most=*/100);
  tails.Add(200, 0, 0, 100);
  EXPECT_EQ(tails.early().count(), 0u);
  tails.Add(300, 0, 0, 100);  // pushes out the block of cycle 100
  EXPECT_EQ(tails.early().count(), 1u);
  EXPECT_DOUBLE_EQ(tails.early().percent(), 50.0);
}

TEST(BlockTails, BlocksMayComeInAnyOrder) {
  BlockTails tails(1);
  tails.Add(300, 1, 0, 100);
  tails.Add(100, 0, 75, 100);  // an SM that is behind: this block finished first
  EXPECT_EQ(tails.early().count(), 1u);
  EXPECT_DOUBLE_EQ(tails.early().percent(), 25.0);
}

TEST(BlockTails, OfTheSameCycleTheLowerSmFinishedFirst) {
  BlockTails tails(1);
  tails.Add(100, 1, 0, 100);
  tails.Add(100, 0, 90, 100);
  EXPECT_DOUBLE_EQ(tails.early().percent(), 10.0);
}

TEST(BlockTails, ABlockWithoutTimeHasNoTail) {
  BlockTails tails(0);
  tails.Add(100, 0, 0, 0);
  EXPECT_EQ(tails.early().count(), 0u);
  tails.Add(100, 0, 4, 8);
  EXPECT_EQ(tails.early().count(), 1u);
}

}  // namespace
}  // namespace heddle::replay
