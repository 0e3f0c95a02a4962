// Threads that poll memory in vain.
#include "tracegen/execute/threads/polling_watch.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/tracegen/execute/threads/scheduler_fixture.h"

namespace heddle::tracegen {
namespace {

constexpr uint64_t kFlag = kGlobalBase + 256;

class Polling : public SchedulerTest {
 protected:
  void Begin(uint32_t threads, size_t loops = 2) {
    kernel_.waits.assign(loops, WaitSite{.site = {"k.cu", 12}, .instruction = 5});
    BeginBlock(threads);
    polling_.BeginLaunch(kernel_, /*first_blocks=*/true, /*record=*/true);
    polling_.BeginBlock(3, 3);
    for (uint32_t t = 0; t < threads; ++t) {
      threads_.SetRunning(t);
      polling_.Start();
      polling_.Keep();
    }
  }
  void Run(uint32_t thread) {
    threads_.SetRunning(thread);
    polling_.Resume();
  }
  // An iteration in vain: the thread polls again and then yields, as it does in a loop.
  void Spin(uint32_t thread, uint64_t address = kFlag) {
    polling_.Wait(0, address);
    threads_.Release(thread);
    polling_.Keep();
  }
  void SpinAgain(uint32_t thread) {
    EXPECT_EQ(threads_.TakeReady(), thread);
    Run(thread);
    polling_.Poll();
    Spin(thread);
  }

  InstrumentedKernel kernel_;
  PollingWatch polling_{context_, threads_, nullptr};
};

TEST_F(Polling, AKernelWithoutSuchLoopsNeedsNothing) {
  Begin(2, 0);
  EXPECT_FALSE(polling_.is_active());
  const uint64_t epoch = polling_.marks().epoch();
  context_.progress = 7;
  polling_.NoteActivity();
  polling_.NoteSynchronization(1, true, 1);
  polling_.Keep();
  polling_.Exit();
  EXPECT_EQ(polling_.marks().epoch(), epoch);
}

TEST_F(Polling, ABlockIsIdleWhenAllThreadsHavePolledSinceTheLastChange) {
  Begin(2);
  for (const uint32_t t : {0, 1}) {
    Run(t);
    Spin(t);
  }
  EXPECT_FALSE(polling_.AllIdle());
  // The first iteration of each tells that it waits; the second that nothing has changed meanwhile.
  for (const uint32_t t : {0, 1}) SpinAgain(t);
  EXPECT_TRUE(polling_.AllIdle());
  EXPECT_EQ(threads_.ready().front(), 0u);
  EXPECT_EQ(polling_.Describe(1), "waits in a loop at k.cu:12 for a change of address 0x200000000100");
  EXPECT_EQ(polling_.marks().watching(), 2u);
  polling_.marks().Changed();
  EXPECT_FALSE(polling_.AllIdle());
}

TEST_F(Polling, ThreadsThatMayGoOnComeToTheFront) {
  Begin(3);
  for (const uint32_t t : {0, 1}) {
    Run(t);
    Spin(t);
  }
  for (const uint32_t t : {0, 1}) SpinAgain(t);
  threads_.Release(2);
  EXPECT_FALSE(polling_.AllIdle());
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{2, 0, 1}));
}

TEST_F(Polling, ProgressEndsAWait) {
  Begin(1);
  Run(0);
  Spin(0);
  SpinAgain(0);
  EXPECT_TRUE(polling_.AllIdle());
  EXPECT_EQ(threads_.TakeReady(), 0u);
  Run(0);
  polling_.Poll();
  context_.progress += 5;  // it has changed something, and polls again
  Spin(0);
  EXPECT_FALSE(polling_.AllIdle());
}

TEST_F(Polling, WhoWaitedForWhomIsTold) {
  Begin(2);
  Run(0);
  Spin(0);
  threads_.SetRunning(1);
  polling_.Wrote(kFlag, 4);
  EXPECT_EQ(threads_.TakeReady(), 0u);
  Run(0);
  polling_.Poll();
  threads_.ExitRunning();
  polling_.Exit();
  trace::v1::LaunchEnd end;
  polling_.marks().Store(end);
  ASSERT_EQ(end.wait_size(), 1);
  EXPECT_EQ(end.wait(0).instruction(), 5u);
  EXPECT_EQ(end.wait(0).address(), kFlag);
  EXPECT_EQ(end.wait(0).block(), 3u);
  EXPECT_EQ(end.wait(0).thread(), 0u);
  EXPECT_TRUE(end.wait(0).writer_known());
  EXPECT_EQ(end.wait(0).writer_thread(), 1u);
}

TEST_F(Polling, WhatAThreadKeepsComesBack) {
  Begin(2);
  Run(0);
  context_.progress = 11;
  context_.waiting = 2;
  const uint64_t epoch = polling_.marks().epoch();
  polling_.Keep();
  EXPECT_GT(polling_.marks().epoch(), epoch);  // progress is a change
  Run(1);
  EXPECT_EQ(context_.progress, 0u);
  EXPECT_EQ(context_.waiting, 0u);
  Run(0);
  EXPECT_EQ(context_.progress, 11u);
  EXPECT_EQ(context_.waiting, 2u);
}

TEST_F(Polling, ThreadsThatOnlyRepeatThemselvesChangeNothing) {
  Begin(1);
  Run(0);
  Spin(0);
  SpinAgain(0);
  EXPECT_EQ(threads_.TakeReady(), 0u);
  Run(0);
  polling_.Poll();
  uint64_t epoch = polling_.marks().epoch();
  polling_.NoteActivity();
  EXPECT_EQ(polling_.marks().epoch(), epoch);
  polling_.NoteSynchronization(1, true, 9);  // brings a new value
  EXPECT_GT(polling_.marks().epoch(), epoch);
  epoch = polling_.marks().epoch();
  polling_.NoteSynchronization(1, true, 9);
  EXPECT_EQ(polling_.marks().epoch(), epoch);
}

// How many iterations pass before a thread is found to go round in circles, through `lead` states and then `period`
// ones again and again; 0: not within 200.
int IterationsUntilRepeat(PollingWatch& polling, int lead, int period) {
  for (int i = 0; i < 200; ++i) {
    const int state = i < lead ? 1000 + i : (i - lead) % period;
    if (polling.Repeats(0, static_cast<uint64_t>(state))) return i + 1;
  }
  return 0;
}

TEST_F(Polling, AnyCycleOfStatesIsFound) {
  for (int lead : {0, 1, 2, 5, 20}) {
    for (int period : {1, 2, 3, 7, 24}) {
      Begin(1);
      threads_.SetRunning(0);
      const int found = IterationsUntilRepeat(polling_, lead, period);
      EXPECT_GT(found, lead + period) << "the first state that comes again";
      EXPECT_LE(found, 4 * (lead + period) + 1);
      // From then on each time round.
      for (int i = 1; i <= 3 * period; ++i) {
        EXPECT_EQ(polling_.Repeats(0, static_cast<uint64_t>((found - 1 - lead + i) % period)), i % period == 0);
      }
    }
  }
}

TEST_F(Polling, StatesThatDoNotComeAgainAreNoCycle) {
  Begin(1);
  threads_.SetRunning(0);
  EXPECT_EQ(IterationsUntilRepeat(polling_, 200, 1), 0);
}

TEST_F(Polling, ALoopThatIsEnteredAgainBeginsAnew) {
  Begin(1);
  threads_.SetRunning(0);
  EXPECT_FALSE(polling_.Repeats(0, 5));
  polling_.LeaveLoop(1);
  EXPECT_TRUE(polling_.Repeats(0, 5));
  polling_.LeaveLoop(0);
  EXPECT_FALSE(polling_.Repeats(0, 5));
  EXPECT_FALSE(polling_.Repeats(1, 5)) << "another loop";
}

TEST_F(Polling, ALoopWithinALoopHasACycleOfItsOwn) {
  Begin(1);
  threads_.SetRunning(0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(polling_.Repeats(0, 5), i > 0);
    EXPECT_FALSE(polling_.Repeats(1, 6));
    EXPECT_FALSE(polling_.Repeats(1, 7));
    polling_.LeaveLoop(1);
  }
}

TEST_F(Polling, AThreadThatLeavesItsCycleWaitsNoLonger) {
  Begin(2);
  Run(0);
  EXPECT_FALSE(polling_.Repeats(0, 5));
  EXPECT_TRUE(polling_.Repeats(0, 5));
  Spin(0, 0);
  EXPECT_EQ(context_.waiting, 1);
  Run(0);
  polling_.Poll();
  EXPECT_FALSE(polling_.Repeats(0, 6));
  EXPECT_EQ(context_.waiting, 0);
}

}  // namespace
}  // namespace heddle::tracegen
