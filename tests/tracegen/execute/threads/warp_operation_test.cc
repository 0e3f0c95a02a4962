// What lanes get from the operations of a warp.
#include "tracegen/execute/threads/warp_operation.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace heddle::tracegen {
namespace {

constexpr uint64_t kPredicate = uint64_t{1} << 32;
constexpr uint64_t kUntouched = 0xdeadbeef;
using Results = std::array<uint64_t, kWarpWidth>;

// Lane i brings 100 + i, and the same b and c as all others.
Results Compute(WarpOperation operation, uint32_t lanes, uint32_t b = 0, uint32_t c = 0) {
  std::array<LaneOperands, kWarpWidth> operands;
  for (uint32_t i = 0; i < kWarpWidth; ++i) operands[i] = {100 + i, b, c};
  Results results;
  results.fill(kUntouched);
  ComputeWarpOperation(operation, lanes, operands.data(), results.data());
  for (uint32_t i = 0; i < kWarpWidth; ++i) EXPECT_EQ(results[i] == kUntouched, (lanes >> i & 1) == 0) << i;
  return results;
}

// Compute with values of the test's.
Results Compute(WarpOperation operation, uint32_t lanes, const Results& values) {
  std::array<LaneOperands, kWarpWidth> operands;
  for (uint32_t i = 0; i < kWarpWidth; ++i) operands[i].value = values[i];
  Results results = {};
  ComputeWarpOperation(operation, lanes, operands.data(), results.data());
  return results;
}

TEST(WarpOperation, ShufflesTakeFromTheirSource) {
  const Results up = Compute(WarpOperation::kShuffleUp, ~0u, 2, 0);
  EXPECT_EQ(up[0], 100u);  // out of range: its own value, without the predicate
  EXPECT_EQ(up[1], 101u);
  EXPECT_EQ(up[2], 100 | kPredicate);
  EXPECT_EQ(up[31], 129 | kPredicate);
  const Results down = Compute(WarpOperation::kShuffleDown, ~0u, 4, 31);
  EXPECT_EQ(down[0], 104 | kPredicate);
  EXPECT_EQ(down[27], 131 | kPredicate);
  EXPECT_EQ(down[28], 128u);
  const Results butterfly = Compute(WarpOperation::kShuffleButterfly, ~0u, 1, 31);
  EXPECT_EQ(butterfly[6], 107 | kPredicate);
  EXPECT_EQ(butterfly[7], 106 | kPredicate);
}

TEST(WarpOperation, ShufflesStayInTheirSegment) {
  const Results index = Compute(WarpOperation::kShuffleIndex, ~0u, 3, 24 << 8 | 31);  // segments of 8 lanes
  for (uint32_t lane = 0; lane < kWarpWidth; ++lane) EXPECT_EQ(index[lane], (100 + lane / 8 * 8 + 3) | kPredicate);
}

TEST(WarpOperation, AShuffleFromALaneThatIsNotThereGivesZero) {
  const Results down = Compute(WarpOperation::kShuffleDown, 0b101, 1, 31);
  EXPECT_EQ(down[0], kPredicate);
  EXPECT_EQ(down[2], kPredicate);
}

TEST(WarpOperation, Votes) {
  Results values = {};
  EXPECT_EQ(Compute(WarpOperation::kVoteAny, ~0u, values)[3], 0u);
  EXPECT_EQ(Compute(WarpOperation::kVoteUniform, ~0u, values)[3], 1u);
  values[5] = 1;
  EXPECT_EQ(Compute(WarpOperation::kVoteAny, ~0u, values)[3], 1u);
  EXPECT_EQ(Compute(WarpOperation::kVoteAll, ~0u, values)[3], 0u);
  EXPECT_EQ(Compute(WarpOperation::kVoteAll, 1u << 5, values)[5], 1u);
  EXPECT_EQ(Compute(WarpOperation::kVoteUniform, ~0u, values)[3], 0u);
  EXPECT_EQ(Compute(WarpOperation::kBallot, ~0u, values)[3], 1u << 5);
  EXPECT_EQ(Compute(WarpOperation::kActiveMask, 0xf0, values)[5], 0xf0u);
}

TEST(WarpOperation, MatchesTellWhoHasTheSame) {
  Results values = {};
  values[1] = values[4] = 7;
  EXPECT_EQ(Compute(WarpOperation::kMatchAny, 0x1f, values)[4], 0b10010u);
  EXPECT_EQ(Compute(WarpOperation::kMatchAny, 0x1f, values)[0], 0b01101u);
  EXPECT_EQ(Compute(WarpOperation::kMatchAll, 0x1f, values)[4], 0u);
  EXPECT_EQ(Compute(WarpOperation::kMatchAll, 0b10010, values)[4], 0b10010 | kPredicate);
}

TEST(WarpOperation, Reductions) {
  Results values = {};
  values[0] = 5;
  values[1] = static_cast<uint32_t>(-3);
  values[2] = 6;
  EXPECT_EQ(Compute(WarpOperation::kReduceAdd, 7, values)[1], 8u);
  EXPECT_EQ(Compute(WarpOperation::kReduceMin, 7, values)[1], static_cast<uint32_t>(-3));
  EXPECT_EQ(Compute(WarpOperation::kReduceMax, 7, values)[1], 6u);
  EXPECT_EQ(Compute(WarpOperation::kReduceUnsignedMin, 7, values)[1], 5u);
  EXPECT_EQ(Compute(WarpOperation::kReduceUnsignedMax, 7, values)[1], static_cast<uint32_t>(-3));
  EXPECT_EQ(Compute(WarpOperation::kReduceAnd, 5, values)[0], 4u);
  EXPECT_EQ(Compute(WarpOperation::kReduceOr, 5, values)[0], 7u);
  EXPECT_EQ(Compute(WarpOperation::kReduceXor, 5, values)[2], 3u);
}

TEST(WarpOperation, LanesThatAreMissingAndLanesThatDiffer) {
  Results values = {};
  values[0] = values[1] = 1;  // lane 2 is there, and does not count
  std::array<LaneOperands, kWarpWidth> operands;
  for (uint32_t i = 0; i < kWarpWidth; ++i) operands[i] = {values[i], i == 0 ? 0b11u : 0b111u, 0};
  Results results = {};
  ComputeWarpOperation(WarpOperation::kDiverged, 0b111, operands.data(), results.data());
  EXPECT_EQ(results[0], 0u);
  EXPECT_EQ(results[1], 1u);
  EXPECT_EQ(results[2], 1u);
  const Results differs = Compute(WarpOperation::kDiffers, 0b111, values);
  EXPECT_EQ(differs[0], 0u);
  EXPECT_EQ(differs[1], 0u);
  EXPECT_EQ(differs[2], 1u);
}

}  // namespace
}  // namespace heddle::tracegen
