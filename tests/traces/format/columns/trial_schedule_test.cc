// When models are tried anew: often at first, seldom once trials find what was known, soon if chunks grow.
#include "traces/format/columns/trial_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace heddle::trace {
namespace {

using ::testing::ElementsAre;

constexpr TrialSchedule::Size kUsual = {8'000, 100'000};

// Chunks, of those up to `end`, that are trials; `at` is the number of the next one.
template <typename SizeOf, typename Same>
std::vector<int> Trials(TrialSchedule& schedule, int at, int end, SizeOf size_of, Same same) {
  std::vector<int> trials;
  for (; at < end; ++at) {
    if (schedule.IsDue() || schedule.IsDueAfterAll(/*known=*/true, size_of(at))) {
      trials.push_back(at);
      schedule.NoteTrial(same(at), size_of(at));
    } else {
      schedule.NoteChunk(size_of(at));
    }
  }
  return trials;
}

TrialSchedule::Size Usual(int) { return kUsual; }
bool Always(int) { return true; }
bool Never(int) { return false; }

TEST(TrialScheduleTest, PausesDoubleWhileTrialsFindWhatWasKnown) {
  TrialSchedule schedule;
  EXPECT_THAT(Trials(schedule, 0, 1100, Usual, Always), ElementsAre(0, 1, 32, 96, 224, 480, 736, 992));
}

TEST(TrialScheduleTest, EverySixteenthChunkIfTrialsFindSomethingNew) {
  TrialSchedule schedule;
  EXPECT_THAT(Trials(schedule, 0, 80, Usual, Never), ElementsAre(0, 1, 16, 32, 48, 64));
}

TEST(TrialScheduleTest, ATrialThatFindsSomethingNewBeginsAgainWithShortPauses) {
  TrialSchedule schedule;
  EXPECT_THAT(Trials(schedule, 0, 200, Usual, [](int chunk) { return chunk != 96; }),
              ElementsAre(0, 1, 32, 96, 112, 144));
}

TEST(TrialScheduleTest, ChunksThatGrowAskForATrial) {
  TrialSchedule schedule;
  const auto grows = [](int chunk) { return chunk < 60 ? kUsual : TrialSchedule::Size{16'000, 100'000}; };
  EXPECT_THAT(Trials(schedule, 0, 130, grows, Always), ElementsAre(0, 1, 32, 64, 80, 112));
}

TEST(TrialScheduleTest, WithMoreAccessesAChunkMayTakeMoreBytes) {
  TrialSchedule schedule;
  const auto larger = [](int chunk) { return chunk < 60 ? kUsual : TrialSchedule::Size{16'000, 200'000}; };
  EXPECT_THAT(Trials(schedule, 0, 130, larger, Always), ElementsAre(0, 1, 32, 96));
}

TEST(TrialScheduleTest, WhatEachChunkBeginsWithDoesNotCount) {
  TrialSchedule schedule;
  const auto tiny = [](int chunk) {
    return chunk < 60 ? TrialSchedule::Size{200, 100'000} : TrialSchedule::Size{200, 10};
  };
  EXPECT_THAT(Trials(schedule, 0, 130, tiny, Always), ElementsAre(0, 1, 32, 96));
}

TEST(TrialScheduleTest, AFurtherLaunchKeepsChoicesAndPauseIfItsFirstChunkIsLikeTheOneThatWasTried) {
  TrialSchedule schedule;
  Trials(schedule, 0, 300, Usual, Always);
  schedule.BeginLaunch();
  EXPECT_THAT(Trials(schedule, 1, 300, Usual, Always), ElementsAre(256));
  schedule.BeginLaunch();
  EXPECT_THAT(Trials(schedule, 1, 300, Usual, Never), ElementsAre(256, 272, 288));
}

TEST(TrialScheduleTest, ALaunchWhoseFirstChunkIsNotLikeTheOneThatWasTriedBeginsWithATrial) {
  for (const TrialSchedule::Size other :
       {TrialSchedule::Size{9'001, 100'000}, {7'111, 100'000}, {8'000, 112'501}, {8'000, 88'888}}) {
    TrialSchedule schedule;
    Trials(schedule, 0, 300, Usual, Always);
    schedule.BeginLaunch();
    EXPECT_THAT(Trials(
                    schedule, 1, 60, [&](int) { return other; }, [](int chunk) { return chunk != 1; }),
                ElementsAre(1, 16, 48));
    schedule.BeginLaunch();  // that is usual now
    EXPECT_THAT(Trials(schedule, 1, 16, [&](int) { return other; }, Always), ElementsAre());
  }
}

TEST(TrialScheduleTest, ALaunchWhoseFirstChunkRunsOtherInstructionsBeginsWithATrial) {
  TrialSchedule schedule;
  Trials(schedule, 0, 20, Usual, Always);
  EXPECT_FALSE(schedule.IsDueAfterAll(/*known=*/false, kUsual));  // within a launch
  schedule.BeginLaunch();
  EXPECT_FALSE(schedule.IsDue());
  EXPECT_TRUE(schedule.IsDueAfterAll(/*known=*/false, kUsual));
}

TEST(TrialScheduleTest, TheSecondChunkIsATrialInWhateverLaunch) {
  TrialSchedule schedule;
  EXPECT_THAT(Trials(schedule, 0, 1, Usual, Always), ElementsAre(0));
  schedule.BeginLaunch();
  EXPECT_THAT(Trials(schedule, 1, 2, Usual, Always), ElementsAre(1));
  schedule.BeginLaunch();
  EXPECT_THAT(Trials(schedule, 1, 16, Usual, Always), ElementsAre());
}

TEST(TrialScheduleTest, AnEmptyChunkIsNoReason) {
  TrialSchedule schedule;
  const auto empty = [](int chunk) { return chunk == 20 ? TrialSchedule::Size{} : kUsual; };
  EXPECT_THAT(Trials(schedule, 0, 100, empty, Always), ElementsAre(0, 1, 32, 96));
}

}  // namespace
}  // namespace heddle::trace
