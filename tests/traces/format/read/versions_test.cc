// Traces of earlier versions of the format, and of earlier encoders of today's, still read. fixtures/1.0 holds the
// sample traces as version 1.0 wrote them, fixtures/1.1 as the first encoder of version 1.1 did; the same captures,
// written anew, are today's samples. fixtures/1.3 holds a trace with what version 1.3 added, 1.7 one of PTX that was
// handed over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "traces/format/edit/block_slices.h"
#include "traces/format/limits.h"
#include "traces/format/program/code_level.h"
#include "traces/format/read/reader.h"

namespace heddle::trace {
namespace {

std::unique_ptr<TraceReader> OpenTrace(const std::string& path) {
  absl::StatusOr<std::unique_ptr<TraceReader>> reader = TraceReader::Open(path);
  EXPECT_TRUE(reader.ok()) << reader.status();
  return reader.ok() ? *std::move(reader) : nullptr;
}

struct Earlier {
  const char* version;
  uint32_t minor;
  const char* sample;
};

class EarlierTraces : public ::testing::TestWithParam<Earlier> {};

TEST_P(EarlierTraces, HoldTheSameThreadsAsTodaysSample) {
  const Earlier& earlier = GetParam();
  const auto old = OpenTrace(absl::StrCat(HEDDLE_FIXTURES_DIR, "/", earlier.version, "/", earlier.sample, ".htrace"));
  const auto sample = OpenTrace(absl::StrCat(HEDDLE_SAMPLES_DIR, "/", earlier.sample, ".htrace"));
  ASSERT_TRUE(old && sample);
  EXPECT_EQ(old->header().minor(), earlier.minor);
  EXPECT_EQ(old->header().required_feature_size(), earlier.minor == 0 ? 0 : 1);
  EXPECT_EQ(sample->header().minor(), kUsualMinorVersion);
  EXPECT_THAT(sample->header().required_feature(), ::testing::ElementsAre(kChunkFeature));
  EXPECT_EQ(old->VerifyDigest(), absl::OkStatus());

  ASSERT_EQ(old->launches().size(), sample->launches().size());
  DecodedChunk a;
  DecodedChunk b;
  for (size_t l = 0; l < old->launches().size(); ++l) {
    const LaunchView& before = old->launches()[l];
    const LaunchView& now = sample->launches()[l];
    ASSERT_EQ(before.chunks.size(), now.chunks.size());
    for (size_t c = 0; c < before.chunks.size(); ++c) {
      ASSERT_EQ(old->ReadChunk(before.chunks[c], a), absl::OkStatus());
      ASSERT_EQ(sample->ReadChunk(now.chunks[c], b), absl::OkStatus());
      EXPECT_EQ(a.blocks, b.blocks);
      EXPECT_EQ(a.path_of_thread, b.path_of_thread);
      EXPECT_EQ(a.decision_storage, b.decision_storage);
      EXPECT_EQ(a.first_address, b.first_address);
      EXPECT_EQ(a.base, b.base);
      EXPECT_EQ(a.offsets32, b.offsets32);
      EXPECT_EQ(a.addresses64, b.addresses64);
    }
  }
}

std::vector<Earlier> AllEarlier() {
  std::vector<Earlier> all;
  for (const char* sample : {"bfs", "mandelbrot", "nqueens", "reduction", "spmv"}) {
    all.push_back({"1.0", 0, sample});
    all.push_back({"1.1", 1, sample});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Samples, EarlierTraces, ::testing::ValuesIn(AllEarlier()),
                         [](const auto& info) { return absl::StrCat(info.param.sample, "_1_", info.param.minor); });

// Decisions in planes and columns of model INDUCTION. What the threads did is told by numbers that the Python reader,
// which shares no code with this one, worked out.
TEST(Version13, ReadsAsThePythonReaderReadsIt) {
  const auto reader = OpenTrace(absl::StrCat(HEDDLE_FIXTURES_DIR, "/1.3/quasirandom.htrace"));
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->header().minor(), 1u) << "its chunks alone need 1.3";
  EXPECT_THAT(reader->index().required_feature(), ::testing::ElementsAre(kLaterChunkFeature));
  EXPECT_EQ(reader->VerifyDigest(), absl::OkStatus());
  uint64_t hash = 0, accesses = 0, inductions = 0, chunks_with_planes = 0;
  v1::BlockChunk record;
  for (const LaunchView& launch : reader->launches()) {
    for (const v1::ChunkReference& reference : launch.chunks) {
      ASSERT_EQ(reader->ReadChunk(reference, record), absl::OkStatus());
      chunks_with_planes += !record.paths().decision_planes().empty();
      for (const v1::AddressColumn& column : record.column()) {
        inductions += column.model() == v1::AddressColumn::INDUCTION;
      }
    }
    BlockSlices slices(*reader, launch, launch.chunks);
    for (auto more = slices.Next(); more.ok() && *more; more = slices.Next()) {
      for (const ThreadRecord& thread : slices.threads()) {
        for (uint64_t address : thread.addresses) hash = hash * 31 + address;
        accesses += thread.addresses.size();
      }
    }
  }
  EXPECT_EQ(chunks_with_planes, 14u);
  EXPECT_EQ(inductions, 28u);
  EXPECT_EQ(accesses, 491'520u);
  EXPECT_EQ(hash, 5'400'325'819'653'423'104u);
}

// PTX text that was handed over, with accesses under guards.
TEST(Version17, TellsWhoseCodeItIsAndWhatIsGuarded) {
  const auto reader = OpenTrace(absl::StrCat(HEDDLE_FIXTURES_DIR, "/1.7/guarded.htrace"));
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->header().minor(), 7u);
  EXPECT_EQ(reader->VerifyDigest(), absl::OkStatus());
  ASSERT_EQ(reader->programs().size(), 1u);
  const Program& program = reader->programs()[0];
  EXPECT_EQ(program.proto().level(), v1::LEVEL_PTX_GIVEN);
  EXPECT_EQ(CodeInWords(program.proto()), "PTX 8.4 by hand for sm_80");
  EXPECT_EQ(program.guard_count(), 2u);
  std::vector<std::string> guarded;
  for (Pc pc = 0; pc < program.instruction_count(); ++pc) {
    if (program.IsGuarded(pc)) guarded.push_back(program.instruction(pc).mnemonic());
  }
  EXPECT_THAT(guarded, ::testing::ElementsAre("ld.global.u32", "add.s32", "st.global.u32"));
  // Six registers of 32 bits, three of 64, one predicate.
  std::string widths = program.proto().function(0).register_bits();
  std::ranges::sort(widths);
  EXPECT_EQ(widths, std::string("\x01\x20\x20\x20\x20\x20\x20\x40\x40\x40"));
  EXPECT_EQ(reader->launches()[0].totals.accesses(), 200u);
}

}  // namespace
}  // namespace heddle::trace
