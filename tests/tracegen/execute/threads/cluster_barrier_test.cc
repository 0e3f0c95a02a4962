// The barrier of a cluster of one block: arrivals, and waits for them.
#include "tracegen/execute/threads/cluster_barrier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/tracegen/execute/threads/scheduler_fixture.h"

namespace heddle::tracegen {
namespace {

using ::testing::HasSubstr;

class Cluster : public SchedulerTest {
 protected:
  void Begin(uint32_t threads) {
    BeginBlock(threads);
    warps_.BeginLaunch();
    warps_.BeginBlock();
    barrier_.BeginBlock();
  }
  std::string Arrive(uint32_t thread) {
    threads_.SetRunning(thread);
    return barrier_.Arrive();
  }
  bool Wait(uint32_t thread) {
    threads_.SetRunning(thread);
    EXPECT_EQ(barrier_.WhyNoWait(), "");
    return barrier_.Wait(5);
  }

  WarpRendezvous warps_{threads_};
  ClusterBarrier barrier_{threads_, warps_};
};

TEST_F(Cluster, WaitsForTheArrivalsOfAll) {
  Begin(3);
  EXPECT_EQ(Arrive(0), "");
  EXPECT_FALSE(Wait(0));
  EXPECT_EQ(threads_[0].state, ThreadState::kAtPhase);
  EXPECT_EQ(barrier_.SiteOf(0), 5u);
  EXPECT_EQ(Arrive(1), "");
  EXPECT_EQ(Arrive(2), "");
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0}));
  EXPECT_TRUE(Wait(2));
  EXPECT_TRUE(Wait(1));
  EXPECT_EQ(Arrive(1), "");  // the next phase
  EXPECT_FALSE(Wait(1));
}

TEST_F(Cluster, ThreadsThatHaveExitedCountAsArrived) {
  Begin(3);
  EXPECT_EQ(Arrive(0), "");
  EXPECT_FALSE(Wait(0));
  EXPECT_EQ(Arrive(1), "");
  threads_.SetRunning(1);
  threads_.ExitRunning();  // arrived, and gone: counts once
  barrier_.Check();
  EXPECT_TRUE(threads_.ready().empty());
  threads_.SetRunning(2);
  threads_.ExitRunning();
  barrier_.Check();
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0}));
}

TEST_F(Cluster, MistakesAreNamed) {
  Begin(2);
  threads_.SetRunning(0);
  EXPECT_THAT(barrier_.WhyNoWait(), HasSubstr("without having arrived"));
  EXPECT_EQ(Arrive(0), "");
  EXPECT_THAT(Arrive(0), HasSubstr("twice without waiting"));
}

}  // namespace
}  // namespace heddle::tracegen
