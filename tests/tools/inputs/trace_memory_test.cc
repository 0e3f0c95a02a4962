// What a person is told when decoded trace data do not fit.
#include "tools/inputs/trace_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace heddle::tools {
namespace {

std::string Told(const replay::DecodingCounters& decoding) {
  testing::internal::CaptureStderr();
  NoteDecoding(decoding, 64);
  return testing::internal::GetCapturedStderr();
}

TEST(TraceMemory, OneLineSaysHowMuchWasDecodedAgain) {
  const std::string line = Told({.chunks = 120, .again = 20, .most_bytes = 1});
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);
  EXPECT_THAT(line, testing::HasSubstr("note: "));
  EXPECT_THAT(line, testing::HasSubstr("64 MiB"));
  EXPECT_THAT(line, testing::HasSubstr("20 of 120 parts"));
  EXPECT_THAT(line, testing::HasSubstr("--trace-memory"));
}

TEST(TraceMemory, NothingIsSaidWhereEverythingFits) {
  EXPECT_EQ(Told({.chunks = 120, .again = 0, .most_bytes = 1}), "");
}

}  // namespace
}  // namespace heddle::tools
