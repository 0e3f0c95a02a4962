#include "traces/format/program/clusters.h"

#include <gtest/gtest.h>

#include <set>

#include "traces/format/program/geometry.h"

namespace heddle::trace {
namespace {

void Set(v1::Dim3& dim, uint32_t x, uint32_t y, uint32_t z) {
  dim.set_x(x);
  dim.set_y(y);
  dim.set_z(z);
}

TEST(Clusters, WithoutClustersEachBlockIsOne) {
  v1::Launch launch;
  Set(*launch.mutable_grid(), 3, 2, 2);
  const Clusters clusters(launch);
  EXPECT_FALSE(clusters.have_several_blocks());
  EXPECT_EQ(clusters.count(), 12u);
  for (uint64_t block = 0; block < 12; ++block) {
    EXPECT_EQ(clusters.ClusterOf(block), block);
    EXPECT_EQ(clusters.RankOf(block), 0u);
    EXPECT_EQ(clusters.BlockOf(block, 0), block);
  }
}

TEST(Clusters, AlongXAreConsecutiveBlocks) {
  const Clusters clusters({8, 3, 1}, {4, 1, 1});
  EXPECT_EQ(clusters.blocks(), 4u);
  EXPECT_EQ(clusters.count(), 6u);
  for (uint64_t block = 0; block < 24; ++block) {
    EXPECT_EQ(clusters.ClusterOf(block), block / 4);
    EXPECT_EQ(clusters.RankOf(block), block % 4);
  }
}

TEST(Clusters, OfSeveralDimensionsLieApartInTheGrid) {
  v1::Launch launch;
  Set(*launch.mutable_grid(), 4, 6, 2);
  Set(*launch.mutable_block(), 32, 1, 1);
  Set(*launch.mutable_cluster(), 2, 3, 1);
  ASSERT_TRUE(GeometryOf(launch).ok());
  const Clusters clusters(launch);
  EXPECT_EQ(clusters.count(), 8u);
  // Block (3, 4, 1): of cluster (1, 1, 1), at (1, 1, 0) in it.
  const uint64_t block = 3 + 4 * (4 + 6 * 1);
  EXPECT_EQ(clusters.ClusterOf(block), 1u + 2 * (1 + 2 * 1));
  EXPECT_EQ(clusters.RankOf(block), 1u + 2 * 1);
  std::set<uint64_t> seen;
  for (uint64_t cluster = 0; cluster < clusters.count(); ++cluster) {
    for (uint32_t rank = 0; rank < clusters.blocks(); ++rank) {
      const uint64_t at = clusters.BlockOf(cluster, rank);
      seen.insert(at);
      EXPECT_EQ(clusters.ClusterOf(at), cluster);
      EXPECT_EQ(clusters.RankOf(at), rank);
    }
  }
  EXPECT_EQ(seen.size(), 48u);
  EXPECT_EQ(*seen.rbegin(), 47u);
}

TEST(Clusters, SpansAreMadeOfConsecutiveBlocks) {
  const Clusters::Extent grid = {4, 6, 4};
  for (const Clusters::Extent& extent : {Clusters::Extent{1, 1, 1}, {2, 1, 1}, {2, 3, 1}, {1, 2, 2}, {4, 1, 2}}) {
    const Clusters clusters(grid, extent);
    const uint64_t span = clusters.span();
    ASSERT_EQ(clusters.count() % span, 0u);
    const uint64_t blocks = span * clusters.blocks();
    for (uint64_t cluster = 0; cluster < clusters.count(); ++cluster) {
      for (uint32_t rank = 0; rank < clusters.blocks(); ++rank) {
        EXPECT_EQ(clusters.BlockOf(cluster, rank) / blocks, cluster / span);
      }
    }
  }
  EXPECT_EQ(Clusters(grid, {4, 1, 1}).span(), 1u);
  EXPECT_EQ(Clusters(grid, {2, 2, 1}).span(), 2u);
}

TEST(Clusters, ThatDoNotDivideTheGridOrAreTooLargeAreRefused) {
  const auto status = [](uint32_t x, uint32_t y, uint32_t z) {
    v1::Launch launch;
    Set(*launch.mutable_grid(), 32, 6, 1);
    Set(*launch.mutable_block(), 32, 1, 1);
    Set(*launch.mutable_cluster(), x, y, z);
    return GeometryOf(launch).status();
  };
  EXPECT_TRUE(status(16, 1, 1).ok());
  EXPECT_TRUE(status(8, 2, 1).ok());
  EXPECT_FALSE(status(32, 1, 1).ok());
  EXPECT_FALSE(status(16, 3, 1).ok());
  EXPECT_FALSE(status(3, 1, 1).ok());
  EXPECT_FALSE(status(1, 4, 1).ok());
  EXPECT_FALSE(status(1, 1, 2).ok());
  EXPECT_FALSE(status(2, 0, 1).ok());
}

v1::FileHeader Header(uint64_t own_bytes, uint64_t cluster_bytes) {
  v1::FileHeader header;
  const auto add = [&header](v1::MemorySpace space, uint64_t base, uint64_t bytes) {
    if (bytes == 0) return;
    v1::AddressWindow& window = *header.add_window();
    window.set_space(space);
    window.set_base(base);
    window.set_bytes(bytes);
  };
  add(v1::SPACE_SHARED, 0x10000, own_bytes);
  add(v1::SPACE_CLUSTER_SHARED, 0x100000, cluster_bytes);
  return header;
}

TEST(SharedWindows, TellTheRankAndTheOffset) {
  const SharedWindows windows(Header(0x1000, 16 * 0x1000));
  const auto own = windows.Find(0x10008, 5);
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->rank, 5u);
  EXPECT_EQ(own->offset, 8u);
  const auto other = windows.Find(0x100000 + 3 * 0x1000 + 0x24, 5);
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->rank, 3u);
  EXPECT_EQ(other->offset, 0x24u);
  EXPECT_FALSE(windows.Find(0x11000, 0).has_value());
  EXPECT_FALSE(windows.Find(0x100000 + 16 * 0x1000, 0).has_value());
  EXPECT_FALSE(windows.Find(0, 0).has_value());
}

TEST(SharedWindows, OfAHeaderWithoutOneOfThemHoldNothingThere) {
  EXPECT_FALSE(SharedWindows(Header(0, 0x10000)).Find(0x100000, 0).has_value());
  EXPECT_FALSE(SharedWindows(Header(0x1000, 0)).Find(0x100000, 0).has_value());
  // A window of more than the largest cluster's is cut.
  EXPECT_FALSE(SharedWindows(Header(0x1000, 0x100000)).Find(0x100000 + 16 * 0x1000, 0).has_value());
}

}  // namespace
}  // namespace heddle::trace
