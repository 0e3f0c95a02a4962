// Bins as differences of counters, and how they widen.
#include "replay/stats/time_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::replay {
namespace {

using testing::ElementsAre;

// A launch that issues one warp of four threads in every cycle.
LaunchCounters After(Cycle cycles) {
  LaunchCounters counters;
  counters.sm.warp_instructions = cycles;
  counters.sm.thread_instructions = 4 * cycles;
  counters.sm.issues_by_size[3] = cycles;
  return counters;
}

result::v1::TimeSeries Series(uint64_t bin_cycles, size_t most_bins, Cycle cycles, uint32_t warp_size = 8) {
  TimeSeries series(bin_cycles, warp_size, most_bins);
  while (series.end() <= cycles) series.EndBin(After(series.end()));
  series.Finish(cycles, After(cycles));
  result::v1::TimeSeries out;
  series.Fill(out);
  return out;
}

TEST(Bins, TheLastOneEndsWithTheLaunch) {
  const result::v1::TimeSeries series = Series(10, 100, 25);
  EXPECT_EQ(series.bin_cycles(), 10);
  EXPECT_THAT(series.warp_instructions(), ElementsAre(10, 10, 5));
  EXPECT_THAT(series.thread_instructions(), ElementsAre(40, 40, 20));
  ASSERT_EQ(series.issues_by_size_size(), 2);
  EXPECT_EQ(series.issues_by_size(0).least_threads(), 1);
  EXPECT_EQ(series.issues_by_size(0).most_threads(), 4);
  EXPECT_THAT(series.issues_by_size(0).issues(), ElementsAre(10, 10, 5));
  EXPECT_THAT(series.issues_by_size(1).issues(), ElementsAre(0, 0, 0));
}

TEST(Bins, NeighboursArePutTogetherWhenThereAreTooMany) {
  EXPECT_THAT(Series(10, 4, 39).warp_instructions(), ElementsAre(10, 10, 10, 9));
  const result::v1::TimeSeries twice = Series(10, 4, 65);
  EXPECT_EQ(twice.bin_cycles(), 20);
  EXPECT_THAT(twice.warp_instructions(), ElementsAre(20, 20, 20, 5));
  const result::v1::TimeSeries often = Series(1, 4, 1000);
  EXPECT_EQ(often.bin_cycles(), 256);
  EXPECT_THAT(often.warp_instructions(), ElementsAre(256, 256, 256, 232));
}

TEST(Bins, WhatIsCountedAfterTheLastCycleIsInTheLastBin) {
  TimeSeries series(10, 4);
  series.EndBin(After(10));
  LaunchCounters total = After(10);
  total.retired_blocks = 1;
  series.Finish(10, total);
  result::v1::TimeSeries out;
  series.Fill(out);
  EXPECT_THAT(out.warp_instructions(), ElementsAre(10));
  EXPECT_THAT(out.retired_blocks(), ElementsAre(1));
}

TEST(Bins, ALaunchWithoutCyclesHasOne) { EXPECT_THAT(Series(10, 4, 0).warp_instructions(), ElementsAre(0)); }

TEST(Bins, AWarpSizeThatIsNotAMultipleOfFourHasASmallerLastClass) {
  const result::v1::TimeSeries series = Series(10, 4, 10, 6);
  ASSERT_EQ(series.issues_by_size_size(), 2);
  EXPECT_EQ(series.issues_by_size(1).least_threads(), 5);
  EXPECT_EQ(series.issues_by_size(1).most_threads(), 6);
}

TEST(Bins, WhatAMachineDoesNotHaveIsAbsent) {
  const result::v1::TimeSeries without = Series(10, 4, 10);
  EXPECT_FALSE(without.has_stalls());
  EXPECT_FALSE(without.has_memory_system());
  TimeSeries series(10, 4);
  LaunchCounters counters = After(5);
  counters.has_stalls = counters.has_memory = true;
  counters.stalls.fetch = 3;
  counters.memory.dram_bus_busy = 8;
  series.Finish(5, counters);
  result::v1::TimeSeries out;
  series.Fill(out);
  EXPECT_THAT(out.stalls().fetch(), ElementsAre(3));
  EXPECT_THAT(out.memory_system().dram_bus_busy(), ElementsAre(8));
}

}  // namespace
}  // namespace heddle::replay
