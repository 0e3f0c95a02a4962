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
    polling_.BeginBlock(3);
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
  // An iteration in vain: the thread polls again and then gives way, as it does in a loop.
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
  polling_.NoteMeeting(1, true, 1);
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
  polling_.NoteMeeting(1, true, 9);  // brings a new value
  EXPECT_GT(polling_.marks().epoch(), epoch);
  epoch = polling_.marks().epoch();
  polling_.NoteMeeting(1, true, 9);
  EXPECT_EQ(polling_.marks().epoch(), epoch);
}

}  // namespace
}  // namespace heddle::tracegen
