// A trace that was cut off or damaged: exactly what is complete comes back, and what is missing is told.
#include "traces/format/edit/recover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include "absl/strings/str_join.h"
#include "tests/traces/forge.h"
#include "tests/traces/format/columns/trace_runs.h"
#include "tests/traces/program_builder.h"
#include "traces/format/read/check.h"

namespace heddle::trace {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFile;

const std::string& WholeRun() {
  static const std::string bytes = [] {
    TemporaryFile file("recover-run");
    EXPECT_EQ(testing::WriteRun(file.path()), absl::OkStatus());
    return testing::ReadFile(file.path());
  }();
  return bytes;
}

// Where each frame of the run begins; the last element is the start of the seek table.
const std::vector<size_t>& Offsets() {
  static const std::vector<size_t> offsets = [] {
    std::vector<size_t> out;
    size_t at = 0;
    for (size_t frames = testing::SplitFrames(WholeRun()).size(); frames > 0; --frames) {
      out.push_back(at);
      at += ZSTD_findFrameCompressedSize(WholeRun().data() + at, WholeRun().size() - at);
    }
    out.push_back(at);
    return out;
  }();
  return offsets;
}

// Chunks of a trace without what recovery changes: their launches' numbers.
std::vector<std::string> ChunksOf(const std::vector<v1::Record>& records) {
  std::vector<std::string> chunks;
  for (const v1::Record& record : records) {
    if (record.kind_case() != v1::Record::kChunk) continue;
    v1::BlockChunk chunk = record.chunk();
    chunk.clear_launch();
    chunks.push_back(chunk.SerializeAsString());
  }
  return chunks;
}

// The chunks that a file with the first `frames` records of the run should give: all of them but those of blocks whose
// parts are not all there.
std::vector<std::string> ExpectedChunks(size_t frames) {
  std::vector<v1::Record> records = testing::RecordsOf(WholeRun());
  records.resize(std::min(records.size(), frames));
  while (!records.empty() &&
         (records.back().kind_case() != v1::Record::kChunk || !records.back().chunk().last_part())) {
    if (records.back().kind_case() == v1::Record::kLaunchEnd) break;
    records.pop_back();
  }
  return ChunksOf(records);
}

struct Recovered {
  absl::Status status;
  RecoveryReport report;
  std::unique_ptr<TraceReader> reader;
  std::vector<v1::Record> records;
  std::string missing() const { return absl::StrJoin(report.missing, "\n"); }
};

Recovered Recover(std::string bytes) {
  Recovered out;
  TemporaryFile file("recover-out");
  auto report = RecoverTrace(FromMemory(std::move(bytes)), "bad.htrace", file.path(), {}, {});
  out.status = report.status();
  if (!report.ok()) return out;
  out.report = *report;
  out.records = testing::RecordsOf(testing::ReadFile(file.path()));
  auto reader = TraceReader::Open(FromMemory(testing::ReadFile(file.path())), "recovered");
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return out;
  out.reader = *std::move(reader);
  const auto checked = CheckTrace(*out.reader);
  EXPECT_TRUE(checked.ok()) << checked.status();
  EXPECT_TRUE(checked->ok()) << checked->findings[0].place << ": " << checked->findings[0].message;
  return out;
}

TEST(Recover, AWholeFileComesBackWhole) {
  const Recovered recovered = Recover(WholeRun());
  ASSERT_EQ(recovered.status, absl::OkStatus());
  EXPECT_EQ(recovered.missing(), "");
  EXPECT_EQ(recovered.reader->digest(), (*TraceReader::Open(FromMemory(WholeRun()), "run"))->digest());
}

// Waits stand with the end of their launch; those of blocks that are lost go with them.
TEST(Recover, WaitsComeBackWithTheirBlocks) {
  TemporaryFile file("recover-waits");
  auto writer = TraceWriter::Create(file.path(), testing::MakeHeader(), {.chunk_thread_instructions = 1});
  ASSERT_TRUE(writer.ok());
  auto program = (*writer)->AddProgram(testing::ProgramBuilder("k").Block("b").Load().Exit().Build());
  ASSERT_TRUE(program.ok());
  ASSERT_EQ((*writer)->BeginLaunch(testing::MakeLaunch(0, 2, 1)), absl::OkStatus());
  const std::vector<uint64_t> addresses = {64};
  const ThreadRecord thread{{}, addresses};
  v1::LaunchEnd waits;
  for (uint64_t block = 0; block < 2; ++block) {
    ASSERT_EQ((*writer)->AddBlock(block, std::span(&thread, 1), TraceWriter::kNoExpectation), absl::OkStatus());
    v1::Wait& wait = *waits.add_wait();
    wait.set_block(block);
    wait.set_polls(3 + block);
  }
  waits.set_waits_not_listed(7);
  ASSERT_EQ((*writer)->AddWaits(waits), absl::OkStatus());
  ASSERT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
  std::string bytes = testing::ReadFile(file.path());

  const Recovered whole = Recover(bytes);
  ASSERT_EQ(whole.status, absl::OkStatus());
  ASSERT_EQ(whole.reader->launches()[0].totals.wait_size(), 2);
  EXPECT_EQ(whole.reader->launches()[0].totals.wait(1).polls(), 4);
  EXPECT_EQ(whole.reader->launches()[0].totals.waits_not_listed(), 7);

  // The second chunk is the fifth record.
  size_t at = 0;
  for (int frame = 0; frame < 5; ++frame) at += ZSTD_findFrameCompressedSize(bytes.data() + at, bytes.size() - at);
  bytes[at - 1] = static_cast<char>(bytes[at - 1] ^ 0x5a);
  const Recovered part = Recover(bytes);
  ASSERT_EQ(part.status, absl::OkStatus());
  ASSERT_EQ(part.reader->launches()[0].totals.wait_size(), 1);
  EXPECT_EQ(part.reader->launches()[0].totals.wait(0).block(), 0);
}

TEST(Recover, ACutFileGivesExactlyItsCompleteRecords) {
  // Behind each frame, in the middle of the next one, and one byte before its end.
  for (size_t frames = 1; frames + 1 < Offsets().size(); ++frames) {
    const size_t from = Offsets()[frames];
    const size_t to = Offsets()[frames + 1];
    for (const size_t size : {from, (from + to) / 2, to - 1}) {
      const Recovered recovered = Recover(WholeRun().substr(0, size));
      ASSERT_EQ(recovered.status, absl::OkStatus()) << size;
      EXPECT_EQ(recovered.report.records, frames) << size;
      EXPECT_EQ(ChunksOf(recovered.records), ExpectedChunks(frames)) << size;
      EXPECT_THAT(recovered.missing(), HasSubstr("the index is missing"));
      if (size != from) {
        EXPECT_THAT(recovered.missing(), HasSubstr("the file was cut off there"));
      }
    }
  }
}

TEST(Recover, BlocksThatAreMissingAreCounted) {
  // The file ends behind the first chunk of launch 0.
  const Recovered recovered = Recover(WholeRun().substr(0, Offsets()[4]));
  ASSERT_EQ(recovered.status, absl::OkStatus());
  const auto chunk = (*TraceReader::Open(FromMemory(WholeRun()), "run"))->index().chunk(0);
  EXPECT_THAT(recovered.missing(),
              HasSubstr(absl::StrCat("launch 0: ", 12 - chunk.block_count(),
                                     " of 12 recorded blocks are missing: ", chunk.last_block() + 1, "-11")));
  const v1::BlockSelection& selection = recovered.reader->launches()[0].launch.selection();
  EXPECT_EQ(selection.rule(), v1::BlockSelection::LISTED);
  EXPECT_EQ(selection.blocks(), chunk.block_count());
  ASSERT_EQ(recovered.reader->annotations().size(), 1);
  EXPECT_EQ(recovered.reader->annotations()[0].key(), "heddle.recover");
}

TEST(Recover, ADamagedFrameCostsOnlyItself) {
  for (size_t frame = 1; frame + 2 < Offsets().size(); ++frame) {
    for (const size_t at : {Offsets()[frame], Offsets()[frame] + 5, Offsets()[frame + 1] - 1}) {
      std::string damaged = WholeRun();
      damaged[at] = static_cast<char>(damaged[at] ^ 0x5a);
      const Recovered recovered = Recover(damaged);
      ASSERT_EQ(recovered.status, absl::OkStatus()) << frame;
      EXPECT_EQ(recovered.report.records, Offsets().size() - 2) << "frame " << frame << ", byte " << at;
      EXPECT_THAT(recovered.missing(), HasSubstr(absl::StrCat("record ", frame, " (")));
      EXPECT_THAT(recovered.missing(), HasSubstr("is missing"));
    }
  }
}

TEST(Recover, WhatNeedsALostRecordIsLeftOutAndTold) {
  const std::vector<v1::Record> records = testing::RecordsOf(WholeRun());
  const auto without = [&](size_t lost) {
    std::string file;
    const std::vector<std::string> frames = testing::SplitFrames(WholeRun());
    for (size_t i = 0; i < frames.size(); ++i) {
      if (i != lost) file += testing::CompressFrame(frames[i]);
    }
    return Recover(file);
  };
  for (size_t i = 1; i < records.size(); ++i) {
    const Recovered recovered = without(i);
    ASSERT_EQ(recovered.status, absl::OkStatus());
    EXPECT_THAT(recovered.missing(), HasSubstr(absl::StrCat("record ", i, " (")));
    switch (records[i].kind_case()) {
      case v1::Record::kProgram: {
        const size_t left = records[i].program().id() == 0 ? 1 : 3;
        EXPECT_EQ(recovered.reader->launches().size(), left);
        EXPECT_THAT(recovered.missing(), HasSubstr("cannot be used: program"));
        break;
      }
      case v1::Record::kLaunch:
        EXPECT_EQ(recovered.reader->launches().size(), 3);
        if (records[i].launch().recorded()) {
          EXPECT_THAT(recovered.missing(),
                      HasSubstr(absl::StrCat("cannot be used: launch ", records[i].launch().id(), " is missing")));
        }
        break;
      case v1::Record::kChunk: {
        EXPECT_EQ(recovered.reader->launches().size(), 4);
        EXPECT_THAT(recovered.missing(), HasSubstr("recorded blocks are missing"));
        break;
      }
      case v1::Record::kLaunchEnd:
        EXPECT_EQ(ChunksOf(recovered.records), ChunksOf(records)) << "the index knows how many blocks there were";
        break;
      default:
        EXPECT_EQ(ChunksOf(recovered.records), ChunksOf(records));
        break;
    }
  }
  EXPECT_TRUE(absl::IsDataLoss(without(0).status)) << "without a header nothing is known";
}

TEST(Recover, FramesBetweenRubbishAreFound) {
  const std::vector<std::string> frames = testing::SplitFrames(WholeRun());
  std::string file;
  for (const std::string& frame : frames)
    file += testing::CompressFrame(frame) + "rubbish \x28\xb5\x2f\xfd with a magic";
  const Recovered recovered = Recover(file);
  ASSERT_EQ(recovered.status, absl::OkStatus());
  EXPECT_EQ(ChunksOf(recovered.records), ChunksOf(testing::RecordsOf(WholeRun())));
}

TEST(Recover, NoTraceIsRefused) {
  for (const std::string& bytes : {std::string(), std::string("hello, world"), std::string(100'000, '\0')}) {
    EXPECT_TRUE(absl::IsDataLoss(Recover(bytes).status));
  }
  EXPECT_TRUE(absl::IsDataLoss(Recover(WholeRun().substr(0, Offsets()[1] - 1)).status));
}

TEST(Recover, BytesThatLookLikeFramesEverywhereTakeBoundedWork) {
  // Each magic number starts a chain of empty blocks that leads through the whole file.
  std::string hostile = testing::CompressFrame(testing::SplitFrames(WholeRun())[0]);
  const std::string step("\x28\xb5\x2f\xfd\x00\x00\x00\x00\x00\x00\x00\x00", 12);
  while (hostile.size() < (1u << 20)) hostile += step;
  const Recovered recovered = Recover(hostile);
  EXPECT_TRUE(recovered.status.ok() || absl::IsDataLoss(recovered.status)) << recovered.status;
}

}  // namespace
}  // namespace heddle::trace
