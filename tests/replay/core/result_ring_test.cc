// Results of the fast path by cycle: their order, and that rings that are too small grow.
#include "replay/core/fast_path/result_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace heddle::replay {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::vector<Pc> TakeDue(ResultRing& ring, Cycle now) {
  std::vector<Pc> pcs;
  ring.TakeDue(now, [&](const ResultRing::Result& result) {
    pcs.push_back(result.pc);
    return true;
  });
  return pcs;
}

TEST(ResultRing, GivesResultsOfACycleInTheirOrder) {
  ResultRing ring(8);
  ring.Add(0, 3, {.pc = 1});
  ring.Add(0, 2, {.pc = 2});
  ring.Add(1, 3, {.pc = 3});
  EXPECT_EQ(ring.Next(1, 100), 2u);
  EXPECT_THAT(TakeDue(ring, 2), ElementsAre(2));
  EXPECT_EQ(ring.Next(3, 100), 3u);
  EXPECT_TRUE(ring.HasDue(3));
  EXPECT_THAT(TakeDue(ring, 3), ElementsAre(1, 3));
  EXPECT_FALSE(ring.HasDue(3));
  EXPECT_EQ(ring.Next(4, 100), 100u);
}

TEST(ResultRing, GrowsForResultsThatAreFarAwayOrMany) {
  ResultRing ring(8);
  for (Pc pc = 0; pc < 9; ++pc) ring.Add(5, 7, {.pc = pc});
  ring.Add(5, 100, {.pc = 50});
  EXPECT_GE(ring.Horizon(5), 100u);
  EXPECT_THAT(TakeDue(ring, 7), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(ring.Next(8, 1000), 100u);
  EXPECT_THAT(TakeDue(ring, 100), ElementsAre(50));
}

TEST(ResultRing, KeepsWhatIsNotForTheFastPath) {
  ResultRing ring(8);
  for (Pc pc = 0; pc < 3; ++pc) ring.Add(0, 1, {.pc = pc});
  ring.Add(0, 2, {.pc = 9});
  EXPECT_FALSE(ring.TakeDue(1, [](const ResultRing::Result& result) { return result.pc == 0; }));
  std::vector<std::pair<Cycle, Pc>> left;
  ring.TakeAll(1, [&](Cycle at, const ResultRing::Result& result) { left.emplace_back(at, result.pc); });
  EXPECT_THAT(left, ElementsAre(Pair(1, 1), Pair(1, 2), Pair(2, 9)));
  EXPECT_FALSE(ring.HasDue(1));
  EXPECT_FALSE(ring.HasDue(2));
}

}  // namespace
}  // namespace heddle::replay
