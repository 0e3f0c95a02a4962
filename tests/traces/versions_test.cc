// Traces of earlier versions of the format, and of earlier encoders of today's, still read. fixtures/1.0 holds the
// sample traces as version 1.0 wrote them, fixtures/1.1 as the first encoder of version 1.1 did; the same captures,
// written anew, are today's samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

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

}  // namespace
}  // namespace heddle::trace
