// New traces from old ones: what is asked for is there, unchanged; everything else about the run still fits.
#include "traces/format/edit/copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/traces/forge.h"
#include "tests/traces/format/columns/trace_runs.h"
#include "tests/traces/program_builder.h"
#include "traces/format/edit/block_slices.h"
#include "traces/format/edit/compare.h"
#include "traces/format/limits.h"
#include "traces/format/read/check.h"

namespace heddle::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TemporaryFile;

std::unique_ptr<TraceReader> Open(const std::string& path) {
  auto reader = TraceReader::Open(path);
  EXPECT_TRUE(reader.ok()) << reader.status();
  return reader.ok() ? *std::move(reader) : nullptr;
}

// The run of trace_runs.h, and what one may make of it.
class CopyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(testing::WriteRun(run_.path()), absl::OkStatus());
    reader_ = Open(run_.path());
    ASSERT_NE(reader_, nullptr);
  }

  absl::Status Copy(const CopySelection& selection, bool encode_anew = false, const WriterOptions& options = {}) {
    const TraceReader* input = reader_.get();
    auto header = MergeHeaders(std::span(&input, 1), "test");
    if (!header.ok()) return header.status();
    auto writer = TraceWriter::Create(copy_.path(), header->header, options);
    if (!writer.ok()) return writer.status();
    absl::Status status = TraceCopier(**writer, encode_anew).Add(*input, selection, header->source_file[0]);
    return status.ok() ? (*writer)->Finish() : status;
  }

  void ExpectSound(const TraceReader& reader) {
    const auto report = CheckTrace(reader);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->ok()) << report->findings[0].message;
  }

  TemporaryFile run_{"copy-run"};
  TemporaryFile copy_{"copy-copy"};
  std::unique_ptr<TraceReader> reader_;
};

// What every thread of a launch did, by block.
std::map<uint64_t, std::vector<std::pair<std::vector<uint8_t>, std::vector<uint64_t>>>> ThreadsOf(
    const TraceReader& reader, uint32_t launch) {
  std::map<uint64_t, std::vector<std::pair<std::vector<uint8_t>, std::vector<uint64_t>>>> out;
  BlockSlices slices(reader, reader.launches()[launch], reader.launches()[launch].chunks);
  for (auto more = slices.Next(); more.ok() && *more; more = slices.Next()) {
    auto& threads = out[slices.block()];
    threads.resize(slices.threads().size());
    for (size_t t = 0; t < threads.size(); ++t) {
      const ThreadRecord& record = slices.threads()[t];
      threads[t].first.insert(threads[t].first.end(), record.decisions.begin(), record.decisions.end());
      threads[t].second.insert(threads[t].second.end(), record.addresses.begin(), record.addresses.end());
    }
  }
  return out;
}

TEST_F(CopyTest, RecompressingKeepsEveryRecordAndTheDigest) {
  for (const int level : {1, 19}) {
    ASSERT_EQ(RecompressTrace(*reader_, copy_.path(), level, {}), absl::OkStatus());
    EXPECT_EQ(testing::SplitFrames(testing::ReadFile(copy_.path())),
              testing::SplitFrames(testing::ReadFile(run_.path())));
    const auto copy = Open(copy_.path());
    EXPECT_EQ(copy->digest(), reader_->digest());
    ExpectSound(*copy);
  }
}

TEST_F(CopyTest, RecompressingRefusesATraceWithAWrongDigest) {
  std::vector<std::string> frames = testing::SplitFrames(testing::ReadFile(run_.path()));
  v1::Record index = testing::ParseRecord(frames.back());
  (*index.mutable_index()->mutable_content_sha256())[0] ^= 1;
  frames.back() = testing::SerializeRecord(index);
  auto reader = TraceReader::Open(FromMemory(testing::AssembleFile(frames)), "forged");
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(absl::IsDataLoss(RecompressTrace(**reader, copy_.path(), 3, {})));
  EXPECT_TRUE(testing::ReadFile(copy_.path()).empty()) << "nothing may appear under the final name";
}

TEST_F(CopyTest, AWholeCopyHasTheSameRecordsButForTheHeader) {
  ASSERT_EQ(Copy({}), absl::OkStatus());
  std::vector<std::string> before = testing::SplitFrames(testing::ReadFile(run_.path()));
  std::vector<std::string> after = testing::SplitFrames(testing::ReadFile(copy_.path()));
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 1; i + 1 < before.size(); ++i) EXPECT_EQ(before[i], after[i]) << "record " << i;
}

TEST_F(CopyTest, OtherChunksHoldTheSameThreads) {
  for (const uint64_t chunk : {1, 1000, 1 << 20}) {
    ASSERT_EQ(Copy({}, true, {.chunk_thread_instructions = chunk}), absl::OkStatus());
    const auto copy = Open(copy_.path());
    ExpectSound(*copy);
    for (uint32_t launch : {0, 2, 3}) EXPECT_EQ(ThreadsOf(*reader_, launch), ThreadsOf(*copy, launch)) << chunk;
    const auto difference = CompareTraces(*reader_, *copy);
    ASSERT_TRUE(difference.ok()) << difference.status();
    EXPECT_FALSE(difference->has_value()) << (*difference)->Place() << ": " << (*difference)->what;
    EXPECT_EQ(copy->launches()[0].chunks.size(), chunk == 1 ? 12 : copy->launches()[0].chunks.size());
    EXPECT_LE(copy->launches()[3].chunks.size(), 8);
  }
  EXPECT_EQ(Open(copy_.path())->launches()[0].chunks.size(), 1) << "twelve small blocks fit into one chunk";
}

TEST_F(CopyTest, EncodedAnewWithTheSameChunksIsTheSameTrace) {
  ASSERT_EQ(Copy({}, true, testing::RunOptions().writer), absl::OkStatus());
  std::vector<std::string> before = testing::SplitFrames(testing::ReadFile(run_.path()));
  std::vector<std::string> after = testing::SplitFrames(testing::ReadFile(copy_.path()));
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 1; i + 1 < before.size(); ++i) EXPECT_EQ(before[i], after[i]) << "record " << i;
}

TEST_F(CopyTest, ExtractedLaunchesAreNumberedAnewAndDependOnWhatIsLeft) {
  ASSERT_EQ(Copy({.launches = {true, false, false, true}, .blocks = {}}), absl::OkStatus());
  const auto copy = Open(copy_.path());
  ExpectSound(*copy);
  ASSERT_EQ(copy->launches().size(), 2);
  EXPECT_EQ(copy->programs().size(), 1) << "only programs that are used";
  EXPECT_EQ(ThreadsOf(*copy, 0), ThreadsOf(*reader_, 0));
  EXPECT_EQ(ThreadsOf(*copy, 1), ThreadsOf(*reader_, 3));
  // Launch 3 depended on 0 and 2, launch 2 on 1, and launch 1 on 0.
  EXPECT_THAT(copy->launches()[1].launch.depends_on(), ElementsAre(0));
  EXPECT_EQ(copy->launches()[1].launch.selection().rule(), v1::BlockSelection::EVENLY_SPACED);
  EXPECT_EQ(copy->transfers().size(), 1);
  EXPECT_EQ(copy->annotations().size(), 1);
  EXPECT_EQ(copy->certificates().size(), 0) << "its launch is not there";
}

TEST_F(CopyTest, ACertificateGoesWithItsLaunch) {
  ASSERT_EQ(Copy({.launches = {false, false, true, false}, .blocks = {}}), absl::OkStatus());
  const auto copy = Open(copy_.path());
  ExpectSound(*copy);
  ASSERT_EQ(copy->certificates().size(), 1);
  EXPECT_EQ(copy->certificates()[0].launch(), 0);
  EXPECT_EQ(ThreadsOf(*copy, 0), ThreadsOf(*reader_, 2)) << "blocks in parts";
  EXPECT_TRUE(copy->launches()[0].launch.depends_on().empty());
}

TEST_F(CopyTest, ExtractedBlocksSayHowTheyWereChosen) {
  const auto ranges = [](absl::string_view text) { return *NumberRanges::Parse(text, "--blocks"); };
  ASSERT_EQ(Copy({.launches = {true, false, true, true}, .blocks = ranges("0-1,4-6")}), absl::OkStatus());
  auto copy = Open(copy_.path());
  ExpectSound(*copy);
  const auto expected = [&](uint32_t launch, std::vector<uint64_t> blocks) {
    auto all = ThreadsOf(*reader_, launch);
    std::erase_if(
        all, [&](const auto& block) { return std::find(blocks.begin(), blocks.end(), block.first) == blocks.end(); });
    EXPECT_EQ(all.size(), blocks.size());
    return all;
  };
  EXPECT_EQ(ThreadsOf(*copy, 0), expected(0, {0, 1, 4, 5, 6}));
  EXPECT_EQ(ThreadsOf(*copy, 1), expected(2, {0, 1}));
  EXPECT_EQ(ThreadsOf(*copy, 2), expected(3, {1, 4}));
  EXPECT_EQ(copy->launches()[0].launch.selection().rule(), v1::BlockSelection::LISTED);
  EXPECT_EQ(copy->launches()[0].launch.selection().blocks(), 5);
  EXPECT_EQ(copy->launches()[1].launch.selection().rule(), v1::BlockSelection::FIRST);
  EXPECT_EQ(copy->launches()[1].launch.selection().blocks(), 2);
  EXPECT_EQ(copy->launches()[2].launch.selection().rule(), v1::BlockSelection::LISTED)
      << "the first two of those that were recorded are not the first two of the grid";

  const absl::Status status = Copy({.launches = {true, false, true, false}, .blocks = ranges("5-7")});
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("launch 2"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("from 0 to 2"));
}

TEST_F(CopyTest, MergedTracesHaveAllLaunchesAndShareEqualPrograms) {
  TemporaryFile other("copy-other");
  ASSERT_EQ(testing::WriteRun(other.path(), {.seed = 2}), absl::OkStatus());
  const auto second = Open(other.path());
  const TraceReader* inputs[] = {reader_.get(), second.get(), reader_.get()};
  const auto header = MergeHeaders(inputs, "test");
  ASSERT_TRUE(header.ok()) << header.status();
  auto writer = TraceWriter::Create(copy_.path(), header->header);
  TraceCopier copier(**writer, false);
  for (size_t i = 0; i < 3; ++i) ASSERT_EQ(copier.Add(*inputs[i], {}, header->source_file[i]), absl::OkStatus());
  ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
  const auto copy = Open(copy_.path());
  ExpectSound(*copy);
  ASSERT_EQ(copy->launches().size(), 12);
  EXPECT_EQ(copy->programs().size(), 4);
  for (uint32_t launch : {0, 2, 3}) {
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(ThreadsOf(*copy, 4 * i + launch), ThreadsOf(*inputs[i], launch)) << i << ", launch " << launch;
    }
  }
  EXPECT_THAT(copy->launches()[7].launch.depends_on(), ElementsAre(4, 6));
  ASSERT_EQ(copy->certificates().size(), 3);
  EXPECT_EQ(copy->certificates()[1].launch(), 6);
  EXPECT_THAT(copy->header().source_file(), ElementsAre("one.cu", "two.cu"));
}

TEST_F(CopyTest, MergedHeadersMustFit) {
  struct Case {
    std::function<void(v1::FileHeader&)> change;
    const char* field;
  };
  const Case cases[] = {
      {[](v1::FileHeader& h) { h.set_target("sm_90"); }, "target"},
      {[](v1::FileHeader& h) { h.set_optimization("-O0"); }, "optimization"},
      {[](v1::FileHeader& h) { h.set_abstraction_level("sass"); }, "abstraction_level"},
      {[](v1::FileHeader& h) { h.mutable_window(0)->set_bytes(4096); }, "window"},
  };
  const auto changed = [&](const std::function<void(v1::FileHeader&)>& change) {
    std::vector<v1::Record> records = testing::RecordsOf(testing::ReadFile(run_.path()));
    change(*records[0].mutable_header());
    return *TraceReader::Open(FromMemory(testing::AssembleFile(testing::WithIndex(records))), "other");
  };
  for (const Case& one : cases) {
    const auto other = changed(one.change);
    const TraceReader* inputs[] = {reader_.get(), other.get()};
    const auto header = MergeHeaders(inputs, "test");
    ASSERT_TRUE(absl::IsInvalidArgument(header.status())) << one.field;
    EXPECT_THAT(std::string(header.status().message()), HasSubstr(one.field));
    EXPECT_THAT(std::string(header.status().message()), HasSubstr("other"));
  }
  const auto newer = changed([](v1::FileHeader& h) { h.set_minor(kMinorVersion); });
  const TraceReader* versions[] = {reader_.get(), newer.get()};
  EXPECT_LT(reader_->header().minor(), kMinorVersion);
  EXPECT_EQ(MergeHeaders(versions, "test")->header.minor(), kMinorVersion);
  const auto of_clusters = [&](uint64_t base) {
    return changed([base](v1::FileHeader& h) {
      v1::AddressWindow& window = *h.add_window();
      window.set_space(v1::SPACE_CLUSTER_SHARED);
      window.set_base(base);
      window.set_bytes(1 << 20);
    });
  };
  const auto one_window = of_clusters(uint64_t{1} << 50), other_window = of_clusters(uint64_t{1} << 51);
  const TraceReader* with_clusters[] = {reader_.get(), one_window.get(), one_window.get()};
  const auto merged = MergeHeaders(with_clusters, "test");
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(merged->header.window_size(), reader_->header().window_size() + 1);
  const TraceReader* two_windows[] = {reader_.get(), one_window.get(), other_window.get()};
  EXPECT_THAT(std::string(MergeHeaders(two_windows, "test").status().message()), HasSubstr("window"));
  const auto wide = changed([](v1::FileHeader& h) { h.set_warp_width(32); });
  const auto narrow = changed([](v1::FileHeader& h) { h.set_warp_width(16); });
  const TraceReader* fits[] = {reader_.get(), wide.get()};
  EXPECT_EQ(MergeHeaders(fits, "test")->header.warp_width(), 32);
  const TraceReader* conflict[] = {reader_.get(), wide.get(), narrow.get()};
  EXPECT_THAT(std::string(MergeHeaders(conflict, "test").status().message()), HasSubstr("warp_width"));

  const auto more = changed([](v1::FileHeader& h) {
    h.clear_source_file();
    h.add_source_file("two.cu");
    h.add_source_file("three.cu");
    (*h.mutable_provenance())["recipe"] = "34cd";
  });
  const TraceReader* united[] = {reader_.get(), more.get()};
  const auto header = MergeHeaders(united, "test");
  ASSERT_TRUE(header.ok());
  EXPECT_THAT(header->header.source_file(), ElementsAre("one.cu", "two.cu", "three.cu"));
  EXPECT_THAT(header->source_file[1], ElementsAre(0, 2, 3));
  EXPECT_EQ(header->header.provenance().at("recipe"), "12ab");
  EXPECT_EQ(header->header.provenance().at("recipe@2"), "34cd");
}

TEST_F(CopyTest, AnEncodedChunkMustComeInOrder) {
  const TraceReader* input = reader_.get();
  const auto header = MergeHeaders(std::span(&input, 1), "test");
  const auto writes = [&](const std::function<absl::Status(TraceWriter&)>& calls) {
    auto writer = TraceWriter::Create(copy_.path(), header->header);
    EXPECT_TRUE((*writer)->AddProgram(input->programs()[0].proto()).ok());
    EXPECT_TRUE((*writer)->AddProgram(input->programs()[1].proto()).ok());
    return calls(**writer);
  };
  const auto chunk = [&](uint32_t launch, size_t number) {
    v1::BlockChunk out;
    EXPECT_EQ(input->ReadChunk(input->launches()[launch].chunks[number], out), absl::OkStatus());
    return out;
  };
  EXPECT_TRUE(absl::IsFailedPrecondition(writes([&](TraceWriter& w) { return w.AddChunk(chunk(0, 0), 0); })));
  const auto in_launch = [&](uint32_t launch, const std::vector<size_t>& chunks) {
    return writes([&](TraceWriter& w) {
      v1::Launch alone = input->launches()[launch].launch;
      alone.clear_depends_on();
      EXPECT_EQ(w.BeginLaunch(alone), absl::OkStatus());
      for (size_t c : chunks) {
        absl::Status status = w.AddChunk(chunk(launch, c), input->launches()[launch].chunks[c].last_block());
        if (!status.ok()) return status;
      }
      return w.EndLaunch();
    });
  };
  ASSERT_GE(input->launches()[0].chunks.size(), 3);
  size_t first_part = 0;  // of a block that is cut in time
  while (first_part + 1 < input->launches()[2].chunks.size() && chunk(2, first_part).last_part()) ++first_part;
  ASSERT_EQ(chunk(2, first_part + 1).part(), 1u);
  EXPECT_EQ(in_launch(0, {0, 2}), absl::OkStatus());
  EXPECT_TRUE(absl::IsInvalidArgument(in_launch(0, {1, 0})));
  EXPECT_TRUE(absl::IsInvalidArgument(in_launch(0, {0, 0})));
  EXPECT_TRUE(absl::IsInvalidArgument(in_launch(2, {first_part + 1}))) << "the first part is missing";
  EXPECT_TRUE(absl::IsFailedPrecondition(in_launch(2, {first_part}))) << "the last part is missing";
}

}  // namespace
}  // namespace heddle::trace
