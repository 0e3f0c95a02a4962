// Bins as differences of counters, and how they widen.
#include "replay/stats/time_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

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

// A count of two per cycle, and a gauge that is the present cycle, of the same launch.
LaunchCounters WithPolicies(Cycle cycles) {
  LaunchCounters counters = After(cycles);
  counters.policies = {2 * cycles, cycles};
  return counters;
}

const std::vector<PolicyColumn> kPolicies = {{"scheduler", "turns", "turns", /*adds_up=*/true},
                                             {"dispatch", "now", "cycles", /*adds_up=*/false}};

TEST(Bins, CountsOfPoliciesAddUpAndGaugesAreAsTheBinEnds) {
  for (const auto& [cycles, turns, now] : std::vector<std::tuple<Cycle, std::vector<uint64_t>, std::vector<uint64_t>>>{
           {25, {20, 20, 10}, {10, 20, 25}},
           {65, {40, 40, 40, 10}, {20, 40, 60, 65}},  // bins put together
           {20, {20, 20}, {10, 20}}}) {
    TimeSeries series(10, 8, 4, kPolicies);
    while (series.end() <= cycles) series.EndBin(WithPolicies(series.end()));
    series.Finish(cycles, WithPolicies(cycles));
    result::v1::TimeSeries out;
    series.Fill(out);
    ASSERT_EQ(out.policy_size(), 2);
    EXPECT_EQ(out.policy(0).seam(), "scheduler");
    EXPECT_EQ(out.policy(0).name(), "turns");
    EXPECT_EQ(out.policy(1).unit(), "cycles");
    EXPECT_TRUE(out.policy(0).adds_up());
    EXPECT_FALSE(out.policy(1).adds_up());
    EXPECT_THAT(out.policy(0).value(), testing::ElementsAreArray(turns));
    EXPECT_THAT(out.policy(1).value(), testing::ElementsAreArray(now));
  }
}

TEST(Bins, WhatDrainsIsInTheLastBinOfPoliciesToo) {
  TimeSeries series(10, 8, 4, kPolicies);
  series.EndBin(WithPolicies(10));
  LaunchCounters total = WithPolicies(10);
  total.policies = {23, 4};
  series.Finish(10, total);
  result::v1::TimeSeries out;
  series.Fill(out);
  EXPECT_THAT(out.policy(0).value(), ElementsAre(23));
  EXPECT_THAT(out.policy(1).value(), ElementsAre(4));
}

TEST(Bins, ACountThatBecomesLessIsShownAsAGauge) {
  TimeSeries series(10, 8, 4, kPolicies);
  series.EndBin(WithPolicies(10));
  LaunchCounters less = WithPolicies(20);
  less.policies = {19, 3};
  series.EndBin(less);
  series.Finish(25, WithPolicies(25));
  result::v1::TimeSeries out;
  series.Fill(out);
  EXPECT_FALSE(out.policy(0).adds_up());
  EXPECT_THAT(out.policy(0).value(), ElementsAre(20, 19, 50));
  EXPECT_THAT(out.policy(1).value(), ElementsAre(10, 3, 25));
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
