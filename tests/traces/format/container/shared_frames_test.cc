// Chunks of a launch whose blocks repeat one another share frames; readers, copies and recovery get at each of them.
#include "traces/format/container/shared_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/traces/forge.h"
#include "tests/traces/format/columns/repeating_blocks.h"
#include "tests/traces/program_builder.h"
#include "traces/format/container/frame_joiner.h"
#include "traces/format/edit/add_last_writers.h"
#include "traces/format/edit/compare.h"
#include "traces/format/edit/copy.h"
#include "traces/format/edit/recover.h"
#include "traces/format/limits.h"
#include "traces/format/read/check.h"

namespace heddle::trace {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ReadEverything;
using testing::RepeatingBlocks;
using testing::TemporaryFile;

constexpr uint64_t kBlocks = 24;  // of each of two launches

std::string Write(const RepeatingBlocks& options) {
  TemporaryFile file("shared");
  EXPECT_EQ(testing::WriteRepeatingBlocks(file.path(), options), absl::OkStatus());
  return testing::ReadFile(file.path());
}

std::unique_ptr<TraceReader> Open(const std::string& bytes) {
  auto reader = TraceReader::Open(FromMemory(bytes), "shared");
  EXPECT_TRUE(reader.ok()) << reader.status();
  return *std::move(reader);
}

void ExpectSound(const TraceReader& reader) {
  const auto report = CheckTrace(reader);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->ok()) << report->findings[0].place << ": " << report->findings[0].message;
}

void ExpectSameThreads(const TraceReader& one, const TraceReader& other) {
  const auto difference = CompareTraces(one, other);
  ASSERT_TRUE(difference.ok()) << difference.status();
  EXPECT_FALSE(difference->has_value());
}

// Records in front of each launch: header and program; launch, 24 chunks, end; launch, 24 chunks, end; index.
constexpr uint64_t kRecords = 2 + 2 * (1 + kBlocks + 1) + 1;

TEST(SharedFrames, HoldTheChunksOfALaunchWhoseBlocksRepeatOneAnother) {
  const std::string bytes = Write({});
  const auto shared = Open(bytes);
  EXPECT_EQ(shared->record_count(), kRecords);
  EXPECT_EQ(shared->frame_count(), 2 + 2 * 3 + 1) << "launch, chunks, end";
  EXPECT_THAT(shared->index().required_feature(), ElementsAre(kSharedFrameFeature));
  EXPECT_EQ(shared->launches()[0].chunks.size(), kBlocks);
  ExpectSound(*shared);

  const std::string apart_bytes = Write({.different = kBlocks});
  const auto apart = Open(apart_bytes);
  EXPECT_EQ(apart->record_count(), kRecords);
  EXPECT_EQ(apart->frame_count(), kRecords);
  EXPECT_THAT(apart->index().required_feature(), ElementsAre());
  ExpectSound(*apart);
  EXPECT_LT(bytes.size() * 5, apart_bytes.size());
}

TEST(SharedFrames, HoldTheSameThreadsAsOneLargeChunk) {
  ExpectSameThreads(*Open(Write({})), *Open(Write({.chunk_thread_instructions = 1u << 20})));
}

TEST(SharedFrames, DoNotDependOnTheNumberOfThreadsOrOnWhatWasAbandoned) {
  const std::string bytes = Write({});
  for (unsigned threads : {1u, 2u, 5u}) {
    EXPECT_EQ(Write({.writer_threads = threads}), bytes);
    EXPECT_EQ(Write({.writer_threads = threads, .abandons = true}), bytes);
  }
}

TEST(SharedFrames, AreReadInAnyOrder) {
  const auto reader = Open(Write({}));
  std::vector<v1::ChunkReference> references;
  std::vector<std::string> chunks;
  v1::BlockChunk chunk;
  for (const LaunchView& launch : reader->launches()) {
    for (const v1::ChunkReference& reference : launch.chunks) {
      ASSERT_EQ(reader->ReadChunk(reference, chunk), absl::OkStatus());
      EXPECT_EQ(chunk.launch(), reference.launch());
      EXPECT_EQ(chunk.first_block(), reference.first_block());
      references.push_back(reference);
      chunks.push_back(chunk.SerializeAsString());
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const size_t n = random() % references.size();
    ASSERT_EQ(reader->ReadChunk(references[n], chunk), absl::OkStatus());
    EXPECT_EQ(chunk.SerializeAsString(), chunks[n]);
    if (i % 16 == 0) {
      EXPECT_EQ(reader->VerifyDigest(), absl::OkStatus());
    }
  }
  uint64_t bytes = 0;
  for (uint64_t record = 0; record < reader->record_count(); ++record) bytes += reader->record_bytes(record);
  EXPECT_EQ(bytes, reader->file_bytes() - (17 + 8 * reader->frame_count())) << "all but the seek table";
}

TEST(SharedFrames, AreOneMessageTogether) {
  const std::string bytes = Write({});
  std::string all;
  for (const std::string& raw : testing::SplitFrames(bytes)) all += raw;
  v1::TraceFile file;
  ASSERT_TRUE(file.ParseFromString(all));
  ASSERT_EQ(static_cast<uint64_t>(file.record_size()), kRecords);
  for (int i = 0; i < file.record_size(); ++i) EXPECT_EQ(file.record(i).ordinal(), static_cast<uint64_t>(i));
}

TEST(SharedFrames, KeepTheirRecordsAndDigestAtAnotherLevel) {
  const std::string bytes = Write({});
  const auto reader = Open(bytes);
  TemporaryFile copy("copy");
  ASSERT_EQ(RecompressTrace(*reader, copy.path(), 19, {}), absl::OkStatus());
  EXPECT_EQ(testing::SplitFrames(testing::ReadFile(copy.path())), testing::SplitFrames(bytes));
  EXPECT_EQ(Open(testing::ReadFile(copy.path()))->digest(), reader->digest());
}

TEST(SharedFrames, AreMadeAnewWhenBlocksAreExtracted) {
  const auto reader = Open(Write({}));
  const TraceReader* readers[] = {reader.get()};
  const auto header = MergeHeaders(readers, "test");
  ASSERT_TRUE(header.ok()) << header.status();
  TemporaryFile file("extract");
  auto writer = TraceWriter::Create(file.path(), header->header);
  ASSERT_TRUE(writer.ok()) << writer.status();
  CopySelection selection;
  selection.launches = {false, true};
  const auto blocks = NumberRanges::Parse("3-20", "blocks");
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  selection.blocks = *blocks;
  ASSERT_EQ(TraceCopier(**writer, false).Add(*reader, selection, header->source_file[0]), absl::OkStatus());
  ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
  const auto copy = Open(testing::ReadFile(file.path()));
  EXPECT_EQ(copy->launches()[0].chunks.size(), 18u);
  EXPECT_EQ(copy->frame_count(), 2u + 3u + 1u);
  ExpectSound(*copy);
}

TEST(SharedFrames, GetLastWriters) {
  const std::string bytes = Write({});
  TemporaryFile file("writers");
  {
    std::ofstream(file.path(), std::ios::binary) << bytes;
  }
  const auto summary = AddLastWriters(file.path(), kDefaultLevel, 1);
  ASSERT_TRUE(summary.ok()) << summary.status();
  const auto with = Open(testing::ReadFile(file.path()));
  EXPECT_EQ(with->record_count(), kRecords);
  EXPECT_LT(with->frame_count(), kRecords);
  ExpectSound(*with);
}

// The frame of launch 0's chunks.
constexpr size_t kSharedFrame = 3;

TEST(Recovery, GetsTheChunksOfCompleteSharedFrames) {
  const std::string bytes = Write({});
  const std::vector<std::string> frames = testing::SplitFrames(bytes);
  const auto recover = [](const std::string& damaged, RecoveryReport& out) {
    TemporaryFile file("recovered");
    auto report = RecoverTrace(FromMemory(damaged), "damaged", file.path(), {}, {});
    EXPECT_TRUE(report.ok()) << report.status();
    out = *std::move(report);
    return Open(testing::ReadFile(file.path()));
  };
  RecoveryReport report;
  EXPECT_EQ(recover(bytes, report)->digest(), Open(bytes)->digest());
  EXPECT_THAT(report.missing, ElementsAre());

  std::string lost;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (i != kSharedFrame) lost += testing::CompressFrame(frames[i]);
  }
  const auto without = recover(lost, report);
  ExpectSound(*without);
  EXPECT_EQ(without->launches()[0].chunks.size(), 0u);
  EXPECT_EQ(without->launches()[1].chunks.size(), kBlocks);
  for (uint64_t block = 0; block < kBlocks; ++block) {
    EXPECT_THAT(report.missing,
                Contains(HasSubstr(absl::StrCat("record ", kSharedFrame + block, " (chunk of launch 0, ", "blocks ",
                                                block, " to ", block, ")"))));
  }

  // Cut off within the frame of launch 1's chunks.
  std::string cut;
  for (size_t i = 0; i < kSharedFrame + 3; ++i) cut += testing::CompressFrame(frames[i]);
  cut += testing::CompressFrame(frames[kSharedFrame + 3]).substr(0, 500);
  const auto first = recover(cut, report);
  ExpectSound(*first);
  EXPECT_EQ(first->launches()[0].chunks.size(), kBlocks);
  EXPECT_EQ(first->launches()[1].chunks.size(), 0u);
}

TEST(SharedFrames, MustBeAsTheIndexSays) {
  const std::vector<std::string> right = testing::SplitFrames(Write({}));
  ASSERT_EQ(ReadEverything(testing::AssembleFile(right)), absl::OkStatus());
  const auto refusal = [&](const std::function<void(std::vector<std::string>&, v1::Record&)>& change) {
    std::vector<std::string> frames = right;
    v1::Record index = testing::ParseRecord(frames.back());
    change(frames, index);
    frames.back() = testing::SerializeRecord(index);
    const absl::Status status = ReadEverything(testing::AssembleFile(frames));
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    return std::string(status.message());
  };
  const auto index_change = [&](const std::function<void(v1::Index&)>& change) {
    return refusal([&](auto&, v1::Record& record) { change(*record.mutable_index()); });
  };
  EXPECT_THAT(index_change([](v1::Index& i) { i.clear_required_feature(); }), HasSubstr("ordinal"));
  EXPECT_THAT(refusal([](auto& frames, v1::Record& index) {
                index.mutable_index()->clear_required_feature();
                index.set_ordinal(frames.size() - 1);
              }),
              HasSubstr("out of order"));
  EXPECT_THAT(index_change([](v1::Index& i) { i.set_records(i.records() - 1); }), HasSubstr("ordinal"));
  EXPECT_THAT(refusal([](auto&, v1::Record& index) {
                index.mutable_index()->set_records(kRecords);
                index.set_ordinal(kRecords);
              }),
              HasSubstr("records in front of it"));
  // One reference less, with everything that counts put right.
  EXPECT_THAT(refusal([](auto&, v1::Record& index) {
                index.mutable_index()->mutable_chunk()->RemoveLast();
                index.mutable_index()->set_records(kRecords - 2);
                index.set_ordinal(kRecords - 2);
              }),
              HasSubstr("ordinal"));
  EXPECT_THAT(index_change([](v1::Index& i) { i.mutable_chunk(3)->set_frame(kSharedFrame + 1); }),
              HasSubstr("out of order"));
  EXPECT_THAT(index_change([](v1::Index& i) { i.mutable_chunk()->SwapElements(2, 3); }), HasSubstr("do not follow"));
  // A record that the index does not know of, and one that is cut off.
  EXPECT_THAT(refusal([](auto& frames, v1::Record&) { frames[kSharedFrame] += frames[1]; }),
              HasSubstr("does not hold exactly the 24 records"));
  EXPECT_THAT(refusal([](auto& frames, v1::Record&) { frames[kSharedFrame].pop_back(); }),
              HasSubstr("does not hold exactly the 24 records"));
  EXPECT_THAT(refusal([](auto& frames, v1::Record&) { frames[kSharedFrame].resize(kMaxSharedFrameBytes + 1); }),
              HasSubstr("shared by more than"));
  EXPECT_THAT(index_change([](v1::Index& i) {
                const v1::ChunkReference chunk = i.chunk(2);
                for (uint64_t n = 0; n < kMaxSharedRecords; ++n) *i.add_chunk() = chunk;
                std::sort(i.mutable_chunk()->begin(), i.mutable_chunk()->end(),
                          [](const auto& a, const auto& b) { return a.frame() < b.frame(); });
              }),
              HasSubstr("shared by more than"));
}

TEST(SharedFrames, NoFlippedBitPassesUnnoticed) {
  const std::string right = Write({});
  std::mt19937 random(1);
  int same = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string damaged = right;
    const size_t bit = random() % (8 * damaged.size());
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    same += ReadEverything(damaged).ok();  // the digest is right then
  }
  EXPECT_LE(same, 10) << "some bits of Zstandard's headers mean nothing";
}

// Sizes of the frames that a joiner makes of chunks.
std::vector<size_t> Joined(const std::vector<std::string>& chunks) {
  std::vector<size_t> frames;
  std::string all, joined;
  FrameJoiner joiner([&](absl::string_view raw, size_t records) {
    joined.append(raw.data(), raw.size());
    frames.push_back(records);
    return absl::OkStatus();
  });
  for (const std::string& chunk : chunks) {
    all += chunk;
    EXPECT_EQ(joiner.Add(chunk), absl::OkStatus());
  }
  EXPECT_EQ(joiner.Close(), absl::OkStatus());
  EXPECT_EQ(joined, all);
  return frames;
}

std::string Noise(size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::string out(bytes, '\0');
  for (char& byte : out) byte = static_cast<char>(random());
  return out;
}

// An eighth of it is noise.
std::string Calm(size_t bytes) { return Noise(bytes / 8, 1) + std::string(bytes - bytes / 8, '\0'); }

TEST(FrameJoiner, KeepsToTheLimits) {
  EXPECT_THAT(Joined(std::vector<std::string>(600, Noise(1000, 1))), ElementsAre(256, 256, 88));
  EXPECT_THAT(Joined(std::vector<std::string>(5, Calm(900'000))), ElementsAre(2, 2, 1));
  EXPECT_THAT(Joined(std::vector<std::string>(30, Calm(150'000))), ElementsAre(13, 13, 4)) << "2 MiB each";
  EXPECT_THAT(Joined({Noise(3u << 20, 1)}), ElementsAre(1));
  EXPECT_THAT(Joined({}), ElementsAre());
}

TEST(FrameJoiner, TriesAgainWhereTheFirstChunksHadNothingInCommon) {
  std::vector<std::string> chunks;
  for (unsigned i = 0; i < 64; ++i) chunks.push_back(Noise(1000, i));
  chunks.insert(chunks.end(), 20, Noise(1000, 99));
  std::vector<size_t> expected(64, 1);
  expected.push_back(20);
  EXPECT_EQ(Joined(chunks), expected);
}

// A trial takes as long as the frame, so that one holds for 16 frames.
TEST(FrameJoiner, TriesAgainWhereChunksHaveNothingInCommonAnyMore) {
  std::vector<std::string> chunks(4, Calm(900'000));
  for (unsigned i = 0; i < 40; ++i) chunks.push_back(Noise(900'000, i));
  std::vector<size_t> expected(16, 2);
  expected.insert(expected.end(), chunks.size() - 32, 1);
  EXPECT_EQ(Joined(chunks), expected);
}

TEST(FrameJoiner, LeavesChunksApartThatGainLittle) {
  EXPECT_THAT(Joined(std::vector<std::string>(4, "some fifty bytes that are the same in each of them")),
              ElementsAre(1, 1, 1, 1));
}

// Of chunks of which little repeats itself, the share that sharing takes off counts.
TEST(FrameJoiner, LeavesChunksApartThatHardlyShrinkTogether) {
  const auto chunks = [](size_t common) {
    std::vector<std::string> all;
    for (unsigned i = 0; i < 4; ++i) all.push_back(Noise(common, 1) + Noise(150'000 - common, 2 + i));
    return all;
  };
  EXPECT_THAT(Joined(chunks(30'000)), ElementsAre(1, 1, 1, 1)) << "by a seventh";
  EXPECT_THAT(Joined(chunks(75'000)), ElementsAre(4)) << "by more than a third";
  EXPECT_THAT(Joined(chunks(150'000)), ElementsAre(4)) << "to a quarter";
}

}  // namespace
}  // namespace heddle::trace
