// The barrier of a cluster: arrivals, and waits for them.
#include "tracegen/execute/threads/cluster_barrier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
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

// Two blocks of two threads each.
class TwoBlocks : public ::testing::Test {
 protected:
  struct Block {
    Block() {
      Geometry geometry;
      geometry.block[0] = 2;
      threads.BeginLaunch(geometry, 0);
      threads.BeginBlock();
      ThreadContext context;
      for (int t = 0; t < 2; ++t) threads.StartNext(context);
      warps.BeginLaunch();
      warps.BeginBlock();
      barrier.BeginBlock();
    }
    bool Meet(uint32_t thread) {
      threads.SetRunning(thread);
      EXPECT_EQ(barrier.Arrive(), "");
      return barrier.Wait(7);
    }
    void Exit(uint32_t thread) {
      threads.SetRunning(thread);
      threads.ExitRunning();
      barrier.Check();
    }
    ThreadScheduler threads{std::nullopt};
    WarpRendezvous warps{threads};
    ClusterBarrier barrier{threads, warps};
  };
  TwoBlocks() {
    phase_.on_end = [this] { ++ended_; };
    for (Block& block : blocks_) block.barrier.Join(phase_);
  }

  int ended_ = 0;
  ClusterPhase phase_;
  Block blocks_[2];
};

TEST_F(TwoBlocks, WaitForOneAnother) {
  EXPECT_FALSE(blocks_[0].Meet(0));
  EXPECT_FALSE(blocks_[0].Meet(1));
  EXPECT_EQ(ended_, 0);
  EXPECT_FALSE(blocks_[1].Meet(1));
  EXPECT_TRUE(blocks_[1].Meet(0));  // the last one goes on at once
  EXPECT_EQ(ended_, 1);
  EXPECT_EQ(blocks_[0].threads.ready().size(), 2u);
  EXPECT_EQ(blocks_[1].threads.ready().size(), 1u);
}

TEST_F(TwoBlocks, DoNotWaitForThoseThatHaveLeft) {
  blocks_[1].Exit(0);
  EXPECT_FALSE(blocks_[0].Meet(0));
  EXPECT_FALSE(blocks_[0].Meet(1));
  EXPECT_EQ(ended_, 0);
  blocks_[1].Exit(1);  // without ever having arrived
  EXPECT_EQ(ended_, 1);
  EXPECT_EQ(blocks_[0].threads.ready().size(), 2u);
  // Only the first is left: it meets nobody else.
  for (uint32_t thread : {0u, 1u}) {
    EXPECT_EQ(blocks_[0].threads.TakeReady(), thread);
  }
  EXPECT_FALSE(blocks_[0].Meet(0));
  EXPECT_TRUE(blocks_[0].Meet(1));
  EXPECT_EQ(ended_, 2);
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
