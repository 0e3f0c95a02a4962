// Selections of blocks that take whole clusters.
#include "traces/format/program/whole_clusters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "traces/base/random.h"

namespace heddle::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

TEST(WholeClusters, AreThoseOfEachBlock) {
  Random random(5);
  const auto below = [&random](uint64_t end) { return static_cast<uint32_t>(random.Below(end)); };
  for (int round = 0; round < 3000; ++round) {
    const Clusters::Extent extent = {1 + below(3), 1 + below(3), 1 + below(3)};
    const Clusters::Extent grid = {extent[0] * (1 + below(4)), extent[1] * (1 + below(4)), extent[2] * (1 + below(4))};
    const Clusters clusters(grid, extent);
    const uint64_t blocks = clusters.count() * clusters.blocks();
    Ranges ranges;
    std::set<uint64_t> expected;
    for (uint64_t n = below(4); n > 0; --n) {
      const uint64_t first = random.Below(blocks + 3), last = first + random.Below(blocks);
      ranges.emplace_back(first, last);
      for (uint64_t block = first; block <= last && block < blocks; ++block) {
        for (uint32_t rank = 0; rank < clusters.blocks(); ++rank) {
          expected.insert(clusters.BlockOf(clusters.ClusterOf(block), rank));
        }
      }
    }
    const NumberRanges whole = WholeClusters(NumberRanges(ranges), clusters);
    for (uint64_t block = 0; block < blocks; ++block) {
      ASSERT_EQ(whole.Holds(block), expected.contains(block))
          << "block " << block << " of a grid of " << grid[0] << " x " << grid[1] << " x " << grid[2]
          << " in clusters of " << extent[0] << " x " << extent[1] << " x " << extent[2];
    }
    if (!clusters.have_several_blocks()) continue;
    ASSERT_EQ(whole.CountWithin(0, ~uint64_t{0} - 1), expected.size());
  }
}

TEST(WholeClusters, OfTheLargestGridsTakeNoTime) {
  const uint32_t width = 2147483646, height = 65534, depth = 65534;
  const uint64_t plane = uint64_t{width} * height;
  const Clusters clusters({width, height, depth}, {2, 2, 2});
  // One block, and all but the first and the last.
  EXPECT_THAT(WholeClusters(NumberRanges(Ranges{{7, 7}}), clusters).ranges(),
              ElementsAre(Pair(6, 7), Pair(width + 6, width + 7), Pair(plane + 6, plane + 7),
                          Pair(plane + width + 6, plane + width + 7)));
  const uint64_t last = plane * depth - 1;
  EXPECT_THAT(WholeClusters(NumberRanges(Ranges{{1, last - 1}}), clusters).ranges(), ElementsAre(Pair(0, last)));
  EXPECT_THAT(WholeClusters(NumberRanges(Ranges{{last + 1, ~uint64_t{0}}}), clusters).ranges(), IsEmpty());
}

TEST(WholeClusters, WithoutThemEachBlockStandsAlone) {
  EXPECT_THAT(WholeClusters(NumberRanges(Ranges{{3, 4}}), Clusters({9, 1, 1}, {1, 1, 1})).ranges(),
              ElementsAre(Pair(3, 4)));
  EXPECT_TRUE(WholeClusters(NumberRanges(), Clusters({8, 1, 1}, {2, 1, 1})).everything());
}

}  // namespace
}  // namespace heddle::trace
