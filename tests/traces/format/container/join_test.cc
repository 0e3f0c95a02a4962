// Parts of a block that a writer joins: the same threads, in fewer chunks.
#include <gtest/gtest.h>

#include "tests/traces/format/columns/trace_runs.h"
#include "tests/traces/program_builder.h"
#include "traces/format/edit/compare.h"
#include "traces/format/limits.h"
#include "traces/format/read/check.h"
#include "traces/format/read/reader.h"

namespace heddle::trace {
namespace {

using testing::RunOptions;
using testing::TemporaryFile;
using testing::WriteRun;

constexpr size_t kLaunchInParts = 2;  // of the runs of trace_runs.h

std::unique_ptr<TraceReader> Write(const TemporaryFile& file, const RunOptions& run) {
  const absl::Status status = WriteRun(file.path(), run);
  EXPECT_EQ(status, absl::OkStatus());
  auto reader = TraceReader::Open(file.path());
  EXPECT_TRUE(reader.ok()) << reader.status();
  return *std::move(reader);
}

void ExpectSameThreads(const TraceReader& one, const TraceReader& other) {
  const auto difference = CompareTraces(one, other);
  ASSERT_TRUE(difference.ok()) << difference.status();
  EXPECT_FALSE(difference->has_value());
  const auto report = CheckTrace(other);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->ok());
}

TEST(JoinedParts, BecomeWholeBlocksWhereTheyFit) {
  size_t parts = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    TemporaryFile apart("apart"), joined("joined");
    const RunOptions run = {.seed = seed, .part_blocks = 3 + seed, .writer = {}};
    const auto before = Write(apart, run);
    RunOptions joins = run;
    joins.writer.join_parts = true;
    const auto after = Write(joined, joins);
    ExpectSameThreads(*before, *after);
    const auto& chunks = after->launches()[kLaunchInParts].chunks;
    parts += before->launches()[kLaunchInParts].chunks.size();
    ASSERT_EQ(chunks.size(), 3u) << "one for each block";
    DecodedChunk chunk;
    for (const v1::ChunkReference& reference : chunks) {
      ASSERT_EQ(after->ReadChunk(reference, chunk), absl::OkStatus());
      EXPECT_EQ(chunk.part, 0u);
      EXPECT_TRUE(chunk.last_part);
    }
  }
  EXPECT_GT(parts, 60u) << "of 36 blocks";
}

// 16 threads of up to 300 instructions per block, in slices of which some 15 to 20 fit into a part.
TEST(JoinedParts, StayBelowTheSizeThatWasAskedFor) {
  constexpr uint64_t kMost = 1500;
  size_t parts = 0, joined_parts = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    TemporaryFile apart("apart"), joined("joined"), again("again");
    const RunOptions run = {.seed = seed, .part_blocks = 1, .writer = {.chunk_thread_instructions = kMost}};
    const auto before = Write(apart, run);
    RunOptions joins = run;
    joins.writer.join_parts = true;
    const auto after = Write(joined, joins);
    ExpectSameThreads(*before, *after);
    uint64_t largest_slice = 0;
    for (const v1::ChunkReference& reference : before->launches()[kLaunchInParts].chunks) {
      largest_slice = std::max(largest_slice, reference.thread_instructions());
    }
    const auto& chunks = after->launches()[kLaunchInParts].chunks;
    parts += before->launches()[kLaunchInParts].chunks.size();
    joined_parts += chunks.size();
    for (const v1::ChunkReference& reference : chunks) {
      EXPECT_LE(reference.thread_instructions(), std::max(kMost, largest_slice));
    }
    joins.writer.threads = 3;
    EXPECT_EQ(Write(again, joins)->digest(), after->digest()) << "whatever the threads that encode";
  }
  EXPECT_GT(joined_parts, 3 * 12u) << "some blocks are too long for one";
  EXPECT_GT(parts, 2 * joined_parts);
}

// Where threads access memory at every other instruction, a part has more bytes than are joined.
TEST(JoinedParts, AreJoinedOnlyWhileFewBytesAreLeft) {
  using testing::ProgramBuilder;
  const auto chunks_of = [](bool loads) {
    TemporaryFile file("bytes");
    ProgramBuilder builder("loop");
    builder.Block("head");
    if (loads) {
      builder.Load();
    } else {
      builder.Alu();
    }
    auto writer = TraceWriter::Create(file.path(), testing::MakeHeader(), {.join_parts = true});
    EXPECT_TRUE((*writer)->AddProgram(builder.Branch("exit", "head").Block("exit").Exit().Build()).ok());
    EXPECT_EQ((*writer)->BeginLaunch(testing::MakeLaunch(0, 1, 1)), absl::OkStatus());
    constexpr size_t kRounds = 20'000;
    const std::vector<uint8_t> on(kRounds, 1), end = {0};
    const std::vector<uint64_t> addresses(loads ? kRounds : 0, 64), last_address(loads ? 1 : 0, 64);
    uint64_t consumed = 0;
    for (int part = 0; part < 5; ++part) {
      const ThreadRecord record = part < 4 ? ThreadRecord{on, addresses} : ThreadRecord{end, last_address, true};
      EXPECT_EQ((*writer)->AddBlockPart(0, std::span(&record, 1), part == 4, std::span(&consumed, 1)),
                absl::OkStatus());
      EXPECT_EQ(consumed, record.addresses.size());
    }
    EXPECT_EQ((*writer)->EndLaunch(), absl::OkStatus());
    EXPECT_EQ((*writer)->Finish(), absl::OkStatus());
    EXPECT_EQ((*writer)->totals().thread_instructions, 4 * 2 * kRounds + 3);
    return (*writer)->totals().chunks;
  };
  static_assert(20'000 * 8 > kJoinedBytes);
  EXPECT_EQ(chunks_of(false), 1u);
  EXPECT_EQ(chunks_of(true), 5u);
}

}  // namespace
}  // namespace heddle::trace
