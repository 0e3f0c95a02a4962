// Bins of latencies.
#include "replay/memory/ports/latency_histogram.h"

#include <gtest/gtest.h>

namespace heddle::replay {
namespace {

TEST(LatencyHistogram, BinsAreExactThenFourPerPowerOfTwo) {
  for (uint64_t cycles = 0; cycles < 100000; ++cycles) {
    const uint32_t bin = LatencyHistogram::BinOf(cycles);
    ASSERT_GE(cycles, LatencyHistogram::LowestOf(bin));
    ASSERT_LT(cycles, LatencyHistogram::LowestOf(bin + 1));
  }
  EXPECT_EQ(LatencyHistogram::BinOf(7), 7);
  EXPECT_EQ(LatencyHistogram::BinOf(9), 8);
  EXPECT_EQ(LatencyHistogram::BinOf(~uint64_t{0}), LatencyHistogram::kBins - 1);
}

}  // namespace
}  // namespace heddle::replay
