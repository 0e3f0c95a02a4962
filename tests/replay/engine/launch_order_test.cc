// Which launches of a trace wait for which, and how many SMs each is to have.
#include "replay/engine/order/launch_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "replay/engine/order/work_distributor.h"
#include "tests/traces/program_builder.h"
#include "traces/format/read/reader.h"
#include "traces/format/write/writer.h"

namespace heddle::replay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A launch per element: the launches that it depends on. Those of `unrecorded` are not recorded.
std::unique_ptr<trace::TraceReader> Launches(const std::vector<std::vector<uint32_t>>& depends_on,
                                             const std::vector<uint32_t>& unrecorded = {}) {
  const trace::testing::TemporaryFile file("launch_order.htrace");
  auto writer = trace::TraceWriter::Create(file.path(), trace::testing::MakeHeader()).value();
  EXPECT_TRUE(writer->AddProgram(trace::testing::ProgramBuilder("k").Alu().Exit().Build()).ok());
  const std::vector<trace::ThreadRecord> records(32);
  for (uint32_t id = 0; id < depends_on.size(); ++id) {
    trace::v1::Launch launch = trace::testing::MakeLaunch(0, 1, 32);
    for (const uint32_t earlier : depends_on[id]) launch.add_depends_on(earlier);
    const bool recorded = std::ranges::find(unrecorded, id) == unrecorded.end();
    launch.set_recorded(recorded);
    EXPECT_TRUE(writer->BeginLaunch(launch).ok());
    if (!recorded) continue;
    EXPECT_TRUE(writer->AddBlock(0, records, uint64_t{2} * 32).ok());
    EXPECT_TRUE(writer->EndLaunch().ok());
  }
  EXPECT_TRUE(writer->Finish().ok());
  return trace::TraceReader::Open(trace::FromMemory(trace::testing::ReadFile(file.path())), "launches").value();
}

std::vector<const trace::LaunchView*> Recorded(const trace::TraceReader& reader) {
  std::vector<const trace::LaunchView*> launches;
  for (const trace::LaunchView& launch : reader.launches()) {
    if (launch.launch.recorded()) launches.push_back(&launch);
  }
  return launches;
}

TEST(LaunchOrder, WhoHasNobodyToWaitForIsReady) {
  const auto reader = Launches({{}, {0}, {}, {1, 2}});
  LaunchOrder order(*reader, Recorded(*reader));
  EXPECT_THAT(order.TakeReady(), ElementsAre(0, 2));
  EXPECT_THAT(order.TakeReady(), IsEmpty());
  order.End(2);
  EXPECT_THAT(order.TakeReady(), IsEmpty());
  order.End(0);
  EXPECT_THAT(order.TakeReady(), ElementsAre(1));
  order.End(1);
  EXPECT_THAT(order.TakeReady(), ElementsAre(3));
  EXPECT_FALSE(order.done());
  order.End(3);
  EXPECT_TRUE(order.done());
}

// Launch 3 waits for 2, which is not recorded, and with it for 1 and, by 1, for 0. Indices are those of recorded ones.
TEST(LaunchOrder, WhatIsNotRecordedTakesNoTime) {
  const auto reader = Launches({{}, {0}, {1}, {2}}, {1, 2});
  LaunchOrder order(*reader, Recorded(*reader));
  EXPECT_THAT(order.TakeReady(), ElementsAre(0));
  order.End(0);
  EXPECT_THAT(order.TakeReady(), ElementsAre(1));
}

std::vector<uint32_t> SharesOf(LaunchRule rule, uint32_t sms, const std::vector<LaunchDemand>& launches) {
  std::vector<uint32_t> shares(launches.size(), 99);
  MakeWorkDistributor(rule)->Share(sms, launches, shares);
  return shares;
}

TEST(WorkDistributor, SharesByTheRule) {
  const std::vector<LaunchDemand> launches = {{.unsent_blocks = 1, .busy_sms = 3}, {20, 0}, {1, 1}};
  EXPECT_THAT(SharesOf(LaunchRule::kFillFirst, 8, launches), ElementsAre(4, 4, 0));
  EXPECT_THAT(SharesOf(LaunchRule::kFillFirst, 30, launches), ElementsAre(4, 20, 2));
  EXPECT_THAT(SharesOf(LaunchRule::kSpatialSplit, 8, launches), ElementsAre(3, 3, 2));
  EXPECT_THAT(SharesOf(LaunchRule::kSpatialSplit, 5, launches), ElementsAre(2, 2, 1));
  EXPECT_THAT(SharesOf(LaunchRule::kSpatialSplit, 30, launches), ElementsAre(4, 20, 2));
  EXPECT_EQ(MakeWorkDistributor(LaunchRule::kInOrder), nullptr);
}

TEST(WorkDistributor, NamesAreFound) {
  for (const std::string_view name : LaunchRuleNames()) EXPECT_EQ(NameOf(LaunchRuleOf(name).value()), name);
  EXPECT_FALSE(LaunchRuleOf("first_come").has_value());
}

// Launch 0 keeps its busy SMs 1 and 3 of four; launch 1, which has SM 4, takes the lowest of those that are not busy.
TEST(WorkDistributor, PlacesAreKeptAndTaken) {
  constexpr uint32_t kNone = SmHolding::kNone;
  const std::vector<SmHolding> sms = {{0, false}, {0, true}, {0, false}, {0, true}, {1, false}, {kNone, false}};
  std::vector<uint32_t> places;
  PlaceLaunches(std::vector<uint32_t>{2, 3}, sms, places);
  EXPECT_THAT(places, ElementsAre(1, 0, 1, 0, 1, kNone));
  // A busy one comes last, and is to be emptied.
  PlaceLaunches(std::vector<uint32_t>{1, 5}, sms, places);
  EXPECT_THAT(places, ElementsAre(1, 0, 1, 1, 1, 1));
}

}  // namespace
}  // namespace heddle::replay
