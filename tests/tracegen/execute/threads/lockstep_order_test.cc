// Which lanes of a warp go on together.
#include "tracegen/execute/threads/lockstep_order.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/tracegen/execute/threads/scheduler_fixture.h"

namespace heddle::tracegen {
namespace {

class Lockstep : public SchedulerTest {
 protected:
  void Begin(uint32_t threads, size_t loops = 0) {
    kernel_.kernel_instructions = 100;
    kernel_.waits.assign(loops, WaitSite{.site = {}, .instruction = 10, .first_access = 10, .last_access = 20});
    BeginBlock(threads);
    polling_.BeginLaunch(kernel_, true, true);
    order_.BeginLaunch(kernel_);
  }
  void Wait(uint32_t thread, uint32_t pc) {
    threads_.SetRunning(thread);
    order_.Wait(pc);
  }
  std::vector<uint32_t> Release() {
    order_.ReleaseTogether();
    const std::vector<uint32_t> released = TakeReady();
    for (const uint32_t thread : released) threads_.SetRunning(thread);
    return released;
  }

  InstrumentedKernel kernel_;
  PollingWatch polling_{context_, threads_, nullptr};
  LockstepOrder order_{threads_, polling_};
};

TEST_F(Lockstep, ThoseFurthestBehindGoFirst) {
  Begin(4);
  EXPECT_EQ(order_.FindHeldBack(), ThreadScheduler::kNoThread);
  Wait(0, 30);
  Wait(1, 10);
  Wait(2, 30);
  Wait(3, 10);
  EXPECT_EQ(order_.FindHeldBack(), 0u);
  EXPECT_EQ(Release(), (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(Release(), (std::vector<uint32_t>{0, 2}));
  EXPECT_TRUE(Release().empty());
}

TEST_F(Lockstep, FunctionsComeBeforeTheKernel) {
  Begin(2);
  Wait(0, 30);
  Wait(1, 130);  // behind the kernel's instructions: in a call
  EXPECT_EQ(Release(), (std::vector<uint32_t>{1}));
}

TEST_F(Lockstep, WarpsTakeTurns) {
  Begin(64);
  for (uint32_t t = 0; t < 64; ++t) Wait(t, 5);
  EXPECT_EQ(Release(), Range(0, 32));
  for (uint32_t t = 0; t < 32; ++t) Wait(t, 1);
  EXPECT_EQ(Release(), Range(32, 64));
  EXPECT_EQ(Release(), Range(0, 32));
}

TEST_F(Lockstep, ALaunchOfFewerWarpsBeginsWithTheFirst) {
  Begin(128);
  Wait(40, 5);
  EXPECT_EQ(Release(), (std::vector<uint32_t>{40}));  // it is the third warp's turn
  Begin(32);
  Wait(3, 5);
  EXPECT_EQ(Release(), (std::vector<uint32_t>{3}));
}

TEST_F(Lockstep, AWarpWaitsForLanesThatPollInVain) {
  Begin(2, 1);
  const auto poll = [this] {
    Wait(0, 15);
    threads_.SetRunning(0);
    polling_.Start();
    polling_.Wait(0, kGlobalBase);
    threads_.Release(0);
  };
  poll();
  Wait(1, 50);  // has left the loop, whose last access is 20
  order_.ReleaseTogether();
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0}));  // that polls, and nobody else
  poll();
  Wait(1, 18);  // is still in it
  order_.ReleaseTogether();
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0, 1}));
}

}  // namespace
}  // namespace heddle::tracegen
