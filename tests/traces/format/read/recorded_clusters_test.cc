#include "traces/format/read/recorded_clusters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/traces/program_builder.h"
#include "traces/format/edit/copy.h"
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

TEST(RecordedClusters, ThatAreCutAreFoundByTheChecker) {
  const auto findings = [](const TraceReader& reader) {
    const absl::StatusOr<CheckReport> report = CheckTrace(reader);
    EXPECT_TRUE(report.ok());
    return report->findings;
  };
  const std::vector<Finding> found = findings(*Recorded({0, 1, 4, 5, 7}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Finding::Severity::kError);
  EXPECT_EQ(found[0].rule, "cluster");
  EXPECT_TRUE(findings(*Recorded({0, 1, 4, 5})).empty());
}

TEST(RecordedClusters, AreExtractedWhole) {
  const auto reader = Recorded({0, 1, 2, 3, 4, 5, 6, 7});
  TemporaryFile file("extract");
  auto writer = *TraceWriter::Create(file.path(), reader->header());
  const std::vector<uint32_t> source_files(1);
  TraceCopier copier(*writer, false);
  ASSERT_EQ(copier.Add(*reader, {{}, *NumberRanges::Parse("6", "--blocks")}, source_files), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  const auto copy = *TraceReader::Open(file.path());
  EXPECT_THAT(*RecordedBlockNumbers(*copy, copy->launches()[0]), ElementsAre(2, 3, 6, 7));
}

// One thread loads 4 bytes from that address, in a trace with the windows of shared memory and of clusters.
std::vector<Finding> FindingsOfLoad(v1::MemorySpace space, uint64_t address, uint32_t cluster) {
  TemporaryFile file("load");
  v1::FileHeader header = MakeHeader();
  header.clear_window();
  for (const auto& [of, base] : {std::pair(v1::SPACE_SHARED, 0x10000), std::pair(v1::SPACE_CLUSTER_SHARED, 0x100000)}) {
    v1::AddressWindow& window = *header.add_window();
    window.set_space(of);
    window.set_base(static_cast<uint64_t>(base));
    window.set_bytes(of == v1::SPACE_SHARED ? 0x1000 : 0x10000);
  }
  auto writer = *TraceWriter::Create(file.path(), header);
  EXPECT_TRUE(writer->AddProgram(ProgramBuilder("k").Block("a").Load(space).Exit().Build()).ok());
  v1::Launch launch = MakeLaunch(0, 4, 1);
  launch.mutable_cluster()->set_x(cluster);
  launch.mutable_cluster()->set_y(1);
  launch.mutable_cluster()->set_z(1);
  EXPECT_EQ(writer->BeginLaunch(launch), absl::OkStatus());
  const ThreadRecord thread{{}, std::span(&address, 1)};
  for (const uint64_t block : {0, 1, 2, 3}) {
    EXPECT_EQ(writer->AddBlock(block, std::span(&thread, 1), TraceWriter::kNoExpectation), absl::OkStatus());
  }
  EXPECT_EQ(writer->EndLaunch(), absl::OkStatus());
  EXPECT_EQ(writer->Finish(), absl::OkStatus());
  const auto reader = *TraceReader::Open(file.path());
  return CheckTrace(*reader)->findings;
}

TEST(ClusterAddresses, LieInTheSharedMemoryOfTheClustersBlocks) {
  for (const v1::MemorySpace space : {v1::SPACE_CLUSTER_SHARED, v1::SPACE_GENERIC}) {
    EXPECT_TRUE(FindingsOfLoad(space, 0x100000 + 0x1000 + 8, 2).empty());
    EXPECT_TRUE(FindingsOfLoad(space, 0x10008, 2).empty());  // its own
    const std::vector<Finding> beyond = FindingsOfLoad(space, 0x100000 + 2 * 0x1000, 2);
    ASSERT_EQ(beyond.size(), 1u);
    EXPECT_EQ(beyond[0].rule, "cluster");
    EXPECT_THAT(beyond[0].message, HasSubstr("block 2 of a cluster of 2"));
  }
  const std::vector<Finding> outside = FindingsOfLoad(v1::SPACE_CLUSTER_SHARED, 0x8000, 2);
  ASSERT_EQ(outside.size(), 1u);
  EXPECT_EQ(outside[0].rule, "window");
  // An instruction that only knows the own block's may not name another one's.
  EXPECT_EQ(FindingsOfLoad(v1::SPACE_SHARED, 0x101000, 2)[0].rule, "window");
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
