// The device's time of the CUDA runtime: streams and events, step by step. Whatever the host asks for takes 2 us to
// submit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tracegen/runtime/cuda/timeline.h"

namespace heddle::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TimelineTest : public ::testing::Test {
 protected:
  Timeline timeline_;
  CUstream_st* default_ = timeline_.Find(nullptr);
};

TEST_F(TimelineTest, WorkOfOneStreamFollowsItself) {
  timeline_.AddLaunch(default_, 0, 10'000);  // submitted at 2 us
  EXPECT_EQ(default_->ready_ns, 12'000u);
  timeline_.AddLaunch(default_, 1, 5'000);  // submitted at 4 us, waits for the first
  EXPECT_EQ(default_->ready_ns, 17'000u);
  timeline_.Synchronize(default_);
  timeline_.AddLaunch(default_, 2, 1'000);  // the host goes on at 17 us
  EXPECT_EQ(default_->ready_ns, 20'000u);
}

TEST_F(TimelineTest, EventsShowWhatLiesBetweenThem) {
  CUevent_st* start = timeline_.NewEvent(cudaEventDefault);
  CUevent_st* end = timeline_.NewEvent(cudaEventDefault);
  timeline_.Record(start, default_);
  EXPECT_EQ(start->time_ns, 2'000u);
  timeline_.AddLaunch(default_, 0, 100'000);
  timeline_.Record(end, default_);
  EXPECT_EQ(end->time_ns, 104'000u);
}

TEST_F(TimelineTest, StreamsOverlapUnlessTheDefaultStreamComesBetween) {
  CUstream_st* a = timeline_.NewStream(cudaStreamDefault, 0);
  CUstream_st* b = timeline_.NewStream(cudaStreamDefault, 0);
  CUstream_st* apart = timeline_.NewStream(cudaStreamNonBlocking, 0);
  timeline_.AddLaunch(a, 0, 50'000);
  timeline_.AddLaunch(b, 1, 20'000);
  EXPECT_EQ(a->ready_ns, 52'000u);
  EXPECT_EQ(b->ready_ns, 24'000u);
  EXPECT_THAT(timeline_.Dependencies(default_), ElementsAre(0, 1));
  timeline_.AddLaunch(default_, 2, 1'000);
  EXPECT_EQ(default_->ready_ns, 53'000u);
  EXPECT_THAT(timeline_.Dependencies(b), ElementsAre(2));
  EXPECT_THAT(timeline_.Dependencies(apart), IsEmpty());
  timeline_.AddLaunch(apart, 3, 1'000);  // submitted at 8 us
  EXPECT_EQ(apart->ready_ns, 9'000u);
}

TEST_F(TimelineTest, AStreamWaitsForAnEventOfAnother) {
  CUstream_st* a = timeline_.NewStream(cudaStreamNonBlocking, 0);
  CUstream_st* b = timeline_.NewStream(cudaStreamNonBlocking, 0);
  CUevent_st* event = timeline_.NewEvent(cudaEventDisableTiming);
  timeline_.Wait(b, event);  // not recorded: no wait
  EXPECT_THAT(timeline_.Dependencies(b), IsEmpty());
  timeline_.AddLaunch(a, 7, 30'000);
  timeline_.Record(event, a);
  timeline_.Wait(b, event);
  EXPECT_THAT(timeline_.Dependencies(b), ElementsAre(7));
  EXPECT_THAT(timeline_.Dependencies(b), IsEmpty());  // what follows in the stream follows that launch
  timeline_.AddLaunch(b, 8, 1'000);
  EXPECT_EQ(b->ready_ns, 33'000u);
}

TEST_F(TimelineTest, CopiesTakeALatencyAndABandwidth) {
  EXPECT_EQ(Timeline::CopyNanoseconds(0, false), 5'000u);
  EXPECT_EQ(Timeline::CopyNanoseconds(12'000'000, false), 1'005'000u);
  EXPECT_EQ(Timeline::CopyNanoseconds(350'000'000, true), 1'005'000u);
}

TEST_F(TimelineTest, HandlesAreCheckedAndEnd) {
  CUstream_st* stream = timeline_.NewStream(cudaStreamDefault, 0);
  EXPECT_EQ(timeline_.Find(stream), stream);
  EXPECT_EQ(timeline_.Find(cudaStreamLegacy), default_);
  EXPECT_TRUE(timeline_.DeleteStream(stream));
  EXPECT_EQ(timeline_.Find(stream), nullptr);
  EXPECT_FALSE(timeline_.DeleteStream(stream));
  EXPECT_FALSE(timeline_.DeleteStream(default_));
}

}  // namespace
}  // namespace heddle::cuda
