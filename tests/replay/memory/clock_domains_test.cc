// Time: periods, which edges are still to run, and the calendar of components.
#include "replay/memory/ports/clock_domains.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace heddle::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

machine::v1::Clocks Clocks(uint32_t core, uint32_t network, uint32_t l2, uint32_t dram) {
  machine::v1::Clocks clocks;
  clocks.set_core_mhz(core);
  clocks.set_network_mhz(network);
  clocks.set_l2_mhz(l2);
  clocks.set_dram_mhz(dram);
  return clocks;
}

TEST(ClockPeriodsTest, AreTheSmallestIntegersWithTheRatiosOfTheFrequencies) {
  // In the order DRAM, L2, network, core.
  EXPECT_THAT(*ClockPeriods(Clocks(700, 700, 700, 924)), ElementsAre(25, 33, 33, 33));
  EXPECT_THAT(*ClockPeriods(Clocks(650, 650, 650, 650)), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(*ClockPeriods(Clocks(325, 650, 650, 800)), ElementsAre(13, 16, 16, 32));
  EXPECT_THAT(*ClockPeriods(Clocks(1150, 650, 650, 1500)), ElementsAre(299, 690, 690, 390));
}

TEST(ClockPeriodsTest, NoFrequencyMeansOneClockForEverything) {
  EXPECT_THAT(*ClockPeriods(Clocks(0, 0, 0, 0)), ElementsAre(1, 1, 1, 1));
}

TEST(ClockPeriodsTest, SomeFrequenciesAreRefusedByName) {
  const absl::Status status = ClockPeriods(Clocks(700, 700, 0, 924)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("clocks.l2_mhz"));
}

TEST(ClockPeriodsTest, RatiosThatWouldOverflowTimeAreRefused) {
  EXPECT_THAT(ClockPeriods(Clocks(99991, 99989, 99971, 99961)).status().message(), HasSubstr("small integer ratios"));
}

TEST(ClockDomainsTest, WhatRunsLaterAtTheSameTimeStillSeesIt) {
  ClockDomains clocks({1, 1, 1, 1});
  clocks.Enter(Domain::kL2, 7);
  EXPECT_EQ(clocks.Soonest(Domain::kDram), 8);     // has run at this time
  EXPECT_EQ(clocks.Soonest(Domain::kL2), 8);       // is running
  EXPECT_EQ(clocks.Soonest(Domain::kNetwork), 7);  // runs after
  EXPECT_EQ(clocks.Soonest(Domain::kCore), 7);
  clocks.Enter(Domain::kCore, 7);
  for (const Domain domain : {Domain::kDram, Domain::kL2, Domain::kNetwork, Domain::kCore}) {
    EXPECT_EQ(clocks.Soonest(domain), 8);
  }
}

TEST(ClockDomainsTest, SoonestEdgeEqualsASearchOverAllEdges) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    std::array<Tick, kDomains> periods;
    for (Tick& period : periods) period = 1 + random() % 40;
    ClockDomains clocks(periods);
    Tick time = 0;
    int order = -1;
    for (int step = 0; step < 60; ++step) {
      // Some edge that comes later in (time, order).
      const int domain = static_cast<int>(random() % kDomains);
      const Tick jump = random() % 8 == 0 ? random() % 5000 : random() % 50;
      Edge edge = (time + jump) / periods[domain];
      while (std::pair(edge * periods[domain], domain) <= std::pair(time, order)) ++edge;
      time = edge * periods[domain];
      order = domain;
      clocks.Enter(static_cast<Domain>(domain), edge);
      EXPECT_EQ(clocks.now(), time);
      for (int other = 0; other < kDomains; ++other) {
        if (random() % 3 == 0) continue;  // not every domain is asked every time
        Edge expected = time / periods[other];
        while (std::pair(expected * periods[other], other) <= std::pair(time, order)) ++expected;
        EXPECT_EQ(clocks.Soonest(static_cast<Domain>(other)), expected);
      }
    }
  }
}

TEST(EdgeCalendarTest, RunsTheComponentsOfAnEdgeInAscendingOrder) {
  ClockDomains clocks({1, 3, 1, 1});
  EdgeCalendar calendar(130, clocks, Domain::kL2);
  EXPECT_EQ(calendar.next(), kNoEdge);
  for (const uint32_t component : {129u, 64u, 0u, 63u, 64u}) calendar.Wake(component, 5);
  calendar.Wake(7, kNoEdge);
  EXPECT_EQ(calendar.next(), 5);
  EXPECT_EQ(calendar.next_time(), 15);
  std::vector<uint32_t> run;
  calendar.RunNext([&](uint32_t component) { run.push_back(component); });
  EXPECT_THAT(run, ElementsAre(0, 63, 64, 129));
  EXPECT_EQ(clocks.now(), 15);
  EXPECT_EQ(calendar.next(), kNoEdge);
}

TEST(EdgeCalendarTest, NeverRunsAComponentTooLate) {
  // Against a sorted set: a component may run early (what it asked for is beyond the ring), then asks again; it has run
  // at the edge it asked for, and nothing runs that did not ask.
  std::mt19937_64 random(5);
  for (const uint32_t components : {1u, 64u, 65u, 200u}) {
    ClockDomains clocks({1, 1, 1, 1});
    EdgeCalendar calendar(components, clocks, Domain::kNetwork);
    std::set<std::pair<Edge, uint32_t>> asked;
    std::set<uint32_t> early;  // have asked for an edge that may have been beyond the ring, so that they may run early
    Edge last = 0;
    const auto wake = [&](Edge from) {
      const Edge at = from + (random() % 10 == 0 ? random() % 5000 : random() % 30);
      const uint32_t component = static_cast<uint32_t>(random() % components);
      calendar.Wake(component, at);
      asked.insert({at, component});
      if (at > from + 900) early.insert(component);
    };
    wake(0);
    for (int step = 0; step < 3000 && calendar.next() != kNoEdge; ++step) {
      const Edge now = calendar.next();
      ASSERT_GE(now, last);
      ASSERT_LE(now, asked.begin()->first);
      last = now;
      bool strangers = false;
      calendar.RunNext([&](uint32_t component) {
        const bool due = asked.erase({now, component}) != 0;
        const auto later =
            std::find_if(asked.begin(), asked.end(), [&](const auto& a) { return a.second == component; });
        if (later != asked.end()) calendar.Wake(component, later->first);
        strangers |= !due && later == asked.end() && !early.contains(component);
        if (random() % 4 != 0) wake(now + 1);
      });
      ASSERT_FALSE(strangers);
      if (!asked.empty() || calendar.next() != kNoEdge) continue;
      // Everything sleeps for long; then something comes from outside.
      const Edge core = now + random() % 10000;
      clocks.Enter(Domain::kCore, core);
      wake(core + 1);
      last = core + 1;
    }
  }
}

}  // namespace
}  // namespace heddle::replay
