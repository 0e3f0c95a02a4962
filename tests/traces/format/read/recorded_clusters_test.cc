#include "traces/format/read/recorded_clusters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <vector>

#include "tests/traces/program_builder.h"
#include "traces/format/read/check.h"

namespace heddle::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MakeHeader;
using testing::MakeLaunch;
using testing::ProgramBuilder;
using testing::TemporaryFile;

// A launch of 4 x 4 blocks in clusters of 2 x 2, of which these blocks were recorded.
std::unique_ptr<TraceReader> Recorded(const std::vector<uint64_t>& blocks, bool clusters = true) {
  TemporaryFile file("clusters");
  auto writer = *TraceWriter::Create(file.path(), MakeHeader());
  EXPECT_TRUE(writer->AddProgram(ProgramBuilder("k").Block("a").Alu().Exit().Build()).ok());
  v1::Launch launch = MakeLaunch(0, 4, 1);
  launch.mutable_grid()->set_y(4);
  if (blocks.size() < 16) {
    launch.mutable_selection()->set_rule(v1::BlockSelection::LISTED);
    launch.mutable_selection()->set_blocks(blocks.size());
  }
  if (clusters) {
    launch.mutable_cluster()->set_x(2);
    launch.mutable_cluster()->set_y(2);
    launch.mutable_cluster()->set_z(1);
  }
  EXPECT_EQ(writer->BeginLaunch(launch), absl::OkStatus());
  const ThreadRecord thread;
  for (const uint64_t block : blocks) {
    EXPECT_EQ(writer->AddBlock(block, std::span(&thread, 1), TraceWriter::kNoExpectation), absl::OkStatus());
  }
  EXPECT_EQ(writer->EndLaunch(), absl::OkStatus());
  EXPECT_EQ(writer->Finish(), absl::OkStatus());
  return *TraceReader::Open(file.path());
}

std::vector<uint64_t> PositionsOf(const RecordedClusters& recorded, uint64_t cluster) {
  std::vector<uint64_t> positions;
  for (uint32_t rank = 0; rank < recorded.clusters().blocks(); ++rank) {
    positions.push_back(recorded.PositionOf(cluster, rank));
  }
  return positions;
}

TEST(RecordedClusters, OfAWholeGrid) {
  std::vector<uint64_t> all(16);
  for (uint64_t i = 0; i < 16; ++i) all[i] = i;
  const auto reader = Recorded(all);
  const auto recorded = RecordedClusters::Of(*reader, reader->launches()[0]);
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  EXPECT_EQ(recorded->count(), 4u);
  EXPECT_THAT(PositionsOf(*recorded, 0), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(PositionsOf(*recorded, 3), ElementsAre(10, 11, 14, 15));
}

TEST(RecordedClusters, OfAPart) {
  const auto reader = Recorded({2, 3, 6, 7, 8, 9, 12, 13});
  const auto numbers = RecordedBlockNumbers(*reader, reader->launches()[0]);
  ASSERT_TRUE(numbers.ok());
  EXPECT_THAT(*numbers, ElementsAre(2, 3, 6, 7, 8, 9, 12, 13));
  const auto recorded = RecordedClusters::Of(*reader, reader->launches()[0]);
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  EXPECT_EQ(recorded->count(), 2u);
  EXPECT_THAT(PositionsOf(*recorded, 1), ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(recorded->clusters().ClusterOf((*numbers)[4]), 2u);
}

TEST(RecordedClusters, ThatAreCutAreRefused) {
  const auto reader = Recorded({0, 1, 4, 5, 7});
  const auto recorded = RecordedClusters::Of(*reader, reader->launches()[0]);
  EXPECT_THAT(std::string(recorded.status().message()), HasSubstr("of the 4 blocks of cluster 1 only 1 were recorded"));
}

TEST(RecordedClusters, WithoutClustersEveryBlockIsOne) {
  const auto reader = Recorded({0, 1, 7}, /*clusters=*/false);
  const auto recorded = RecordedClusters::Of(*reader, reader->launches()[0]);
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  EXPECT_EQ(recorded->count(), 3u);
  EXPECT_EQ(recorded->PositionOf(2, 0), 2u);
}

}  // namespace
}  // namespace heddle::trace
