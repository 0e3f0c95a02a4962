// Replays that are stopped on request.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "replay/engine/replay.h"
#include "replay/engine/replay_batch.h"
#include "replay/machine/machine.h"
#include "tests/traces/program_builder.h"
#include "traces/format/read/reader.h"
#include "traces/format/write/writer.h"

namespace heddle::replay {
namespace {

constexpr uint32_t kLaunches = 200;

// Many launches, each far shorter than the time after which a launch reports by itself.
class Stop : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const trace::testing::TemporaryFile file("stop.htrace");
    auto writer = trace::TraceWriter::Create(file.path(), trace::testing::MakeHeader()).value();
    ASSERT_TRUE(writer->AddProgram(trace::testing::ProgramBuilder("k").Alu().Exit().Build()).ok());
    const std::vector<trace::ThreadRecord> records(32);
    for (uint32_t launch = 0; launch < kLaunches; ++launch) {
      ASSERT_TRUE(writer->BeginLaunch(trace::testing::MakeLaunch(0, 1, 32)).ok());
      ASSERT_TRUE(writer->AddBlock(0, records, uint64_t{2} * 32).ok());
      ASSERT_TRUE(writer->EndLaunch().ok());
    }
    ASSERT_TRUE(writer->Finish().ok());
    reader_ = trace::TraceReader::Open(trace::FromMemory(trace::testing::ReadFile(file.path())), "stop").value();
    options_.machine = LoadMachine(GetParam()).value();
  }

  std::unique_ptr<trace::TraceReader> reader_;
  ReplayOptions options_;
};

TEST_P(Stop, EveryLaunchReports) {
  std::vector<uint64_t> reports;
  uint64_t all = 0;
  options_.progress = [&](uint64_t done, uint64_t total) {
    reports.push_back(done);
    all = total;
    return true;
  };
  ASSERT_TRUE(Replay(*reader_, {Configuration()}, options_).ok());
  EXPECT_GE(reports.size(), kLaunches);
  EXPECT_TRUE(std::ranges::is_sorted(reports));
  EXPECT_EQ(reports.back(), all);
  EXPECT_EQ(all, uint64_t{kLaunches} * 2 * 32);
}

TEST_P(Stop, ManyShortLaunchesEndEarly) {
  for (const uint32_t jobs : {1u, 4u}) {
    uint64_t most = 0;
    options_.jobs = jobs;
    options_.progress = [&](uint64_t done, uint64_t) {
      most = std::max(most, done);
      return done < uint64_t{3} * 2 * 32;
    };
    const trace::TraceReader* const traces[] = {reader_.get(), reader_.get()};
    const auto outcomes = ReplayEach(traces, {Configuration()}, options_);
    ASSERT_TRUE(outcomes.ok()) << outcomes.status();
    for (const auto& of_trace : *outcomes)
      EXPECT_TRUE(absl::IsCancelled(of_trace.at(0).status())) << jobs << " threads";
    EXPECT_EQ(most, uint64_t{3} * 2 * 32) << jobs << " threads";
  }
}

TEST_P(Stop, WhatHasEndedIsKept) {
  options_.progress = [](uint64_t done, uint64_t total) { return done < total / 2; };
  const trace::TraceReader* const traces[] = {reader_.get(), reader_.get()};
  const auto outcomes = ReplayEach(traces, {Configuration()}, options_);
  ASSERT_TRUE(outcomes.ok()) << outcomes.status();
  EXPECT_TRUE(outcomes->at(0).at(0).ok()) << outcomes->at(0).at(0).status();
  EXPECT_TRUE(absl::IsCancelled(outcomes->at(1).at(0).status()));
}

TEST_P(Stop, ABatchEndsEarly) {
  BatchReplayer replayer(*reader_, CacheBounds::Of(ReplayOptions::kDefaultCacheBytes, /*once=*/true));
  uint32_t asked = 0;
  const std::vector<BatchRun> runs = {{.configuration = *CheckConfiguration({}), .options = options_}};
  const auto outcomes = replayer.Replay(runs, [&asked] { return ++asked < 4; });
  EXPECT_TRUE(absl::IsCancelled(outcomes.at(0).status()));
  EXPECT_EQ(asked, 4u);
}

// Launches that are independent of one another, and launches that share an L2.
INSTANTIATE_TEST_SUITE_P(Memories, Stop, testing::Values("fermi_fixed", "baws_gtx480"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::replay
