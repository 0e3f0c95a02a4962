// Traces of earlier versions of the format still read. fixtures/1.0 holds the sample traces as version 1.0 wrote them;
// the same captures, written anew, are today's samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "traces/format/limits.h"
#include "traces/format/reader.h"

namespace heddle::trace {
namespace {

std::unique_ptr<TraceReader> OpenTrace(const std::string& path) {
  absl::StatusOr<std::unique_ptr<TraceReader>> reader = TraceReader::Open(path);
  EXPECT_TRUE(reader.ok()) << reader.status();
  return reader.ok() ? *std::move(reader) : nullptr;
}

class Version10 : public ::testing::TestWithParam<const char*> {};

TEST_P(Version10, HoldsTheSameThreadsAsTodaysSample) {
  const auto old = OpenTrace(absl::StrCat(HEDDLE_FIXTURES_DIR, "/1.0/", GetParam(), ".htrace"));
  const auto sample = OpenTrace(absl::StrCat(HEDDLE_SAMPLES_DIR, "/", GetParam(), ".htrace"));
  ASSERT_TRUE(old && sample);
  EXPECT_EQ(old->header().minor(), 0);
  EXPECT_EQ(old->header().required_feature_size(), 0);
  EXPECT_EQ(sample->header().minor(), kMinorVersion);
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

INSTANTIATE_TEST_SUITE_P(Samples, Version10, ::testing::Values("bfs", "mandelbrot", "nqueens", "reduction", "spmv"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace heddle::trace
