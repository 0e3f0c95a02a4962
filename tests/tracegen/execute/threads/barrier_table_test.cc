// When barriers open, for whom, and with what.
#include "tracegen/execute/threads/barrier_table.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/tracegen/execute/threads/scheduler_fixture.h"

namespace heddle::tracegen {
namespace {

class Barriers : public SchedulerTest {
 protected:
  void Begin(uint32_t threads) {
    BeginBlock(threads);
    warps_.BeginLaunch();
    warps_.BeginBlock();
    barriers_.BeginLaunch();
    barriers_.BeginBlock();
  }
  bool Arrive(uint32_t thread, const FrameBarrier& barrier, uint32_t predicate = 0) {
    threads_.SetRunning(thread);
    EXPECT_TRUE(barriers_.Accepts(barrier));
    return barriers_.Arrive(barrier, predicate);
  }
  void Exit(uint32_t thread) {
    threads_.SetRunning(thread);
    threads_.ExitRunning();
    warps_.Exit(thread);
    barriers_.CheckAll();
  }

  WarpRendezvous warps_{threads_};
  BarrierTable barriers_{threads_, warps_};
};

constexpr FrameBarrier kAll = {.site = 3, .id = 0, .threads = 0};

TEST_F(Barriers, OpenForAllWithTheLast) {
  Begin(40);
  for (uint32_t t = 39; t > 0; --t) EXPECT_FALSE(Arrive(t, kAll));
  EXPECT_EQ(threads_[7].state, ThreadState::kAtBarrier);
  EXPECT_EQ(barriers_.SiteOf(7), 3u);
  EXPECT_EQ(barriers_.Describe(7, "k.cu:5"), "barrier 0 at k.cu:5");
  EXPECT_TRUE(Arrive(0, kAll));  // goes on at once
  EXPECT_EQ(threads_[0].state, ThreadState::kRunning);
  EXPECT_EQ(TakeReady(), Range(1, 40));
  EXPECT_FALSE(warps_.AnyBlocked(0));
}

TEST_F(Barriers, ExitedThreadsCountAsArrived) {
  Begin(3);
  EXPECT_FALSE(Arrive(0, kAll));
  EXPECT_FALSE(Arrive(2, kAll));
  Exit(1);
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0, 2}));
}

TEST_F(Barriers, ExitedThreadsDoNotCountWhereANumberIsGiven) {
  Begin(3);
  const FrameBarrier two = {.site = 0, .id = 1, .threads = 2};
  EXPECT_FALSE(Arrive(0, two));
  Exit(1);
  EXPECT_TRUE(threads_.ready().empty());
  EXPECT_TRUE(Arrive(2, two));
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0}));
}

TEST_F(Barriers, Reduce) {
  const auto result = [this](BarrierReduction reduction, uint32_t true_predicates) {
    Begin(4);
    const FrameBarrier barrier = {.site = 0, .id = 2, .threads = 0, .reduction = reduction};
    for (uint32_t t = 0; t < 4; ++t) EXPECT_EQ(Arrive(t, barrier, t < true_predicates), t == 3);
    EXPECT_EQ(threads_[0].result, threads_[3].result);
    return threads_[3].result;
  };
  EXPECT_EQ(result(BarrierReduction::kNone, 4), 0u);
  EXPECT_EQ(result(BarrierReduction::kCount, 3), 3u);
  EXPECT_EQ(result(BarrierReduction::kAnd, 3), 0u);
  EXPECT_EQ(result(BarrierReduction::kAnd, 4), 1u);
  EXPECT_EQ(result(BarrierReduction::kOr, 0), 0u);
  EXPECT_EQ(result(BarrierReduction::kOr, 1), 1u);
}

TEST_F(Barriers, AWaitingWarpCompletesItsOtherLanesOperations) {
  Begin(2);
  threads_.SetRunning(0);
  EXPECT_FALSE(warps_.Arrive({WarpOperation::kActiveMask, 1, 0, true}, {}));
  EXPECT_FALSE(Arrive(1, kAll));
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0}));
  EXPECT_EQ(threads_[0].result, 0b01u);
}

TEST_F(Barriers, RefuseWhatNoDeviceCompletes) {
  Begin(4);
  const FrameBarrier unknown = {.site = 0, .id = 16};
  EXPECT_FALSE(barriers_.Accepts(unknown));
  EXPECT_EQ(barriers_.WhyRefused(unknown, "k.cu:5"),
            "barrier 16 at k.cu:5 does not exist: a block has barriers 0 to 15");
  const FrameBarrier many = {.site = 0, .id = 0, .threads = 5};
  EXPECT_FALSE(barriers_.Accepts(many));
  EXPECT_EQ(barriers_.WhyRefused(many, "k.cu:5"), "the barrier at k.cu:5 waits for 5 threads, but the block has 4");
  EXPECT_FALSE(Arrive(0, kAll));
  const FrameBarrier other = {.site = 0, .id = 0, .threads = 2};
  EXPECT_FALSE(barriers_.Accepts(other));
  EXPECT_EQ(barriers_.WhyRefused(other, "k.cu:5"),
            "barrier 0 at k.cu:5 waits for another number of threads than the threads that wait there already");
}

TEST_F(Barriers, GoOnWithWhatARoundHasBrought) {
  Begin(3);
  BarrierCount brought;
  brought.reduction = BarrierReduction::kCount;
  brought.count = 1;
  barriers_.Restore(4, brought);
  for (const uint32_t t : {0, 1}) {
    threads_[t].state = ThreadState::kAtBarrier;
    barriers_.RestoreThread(4, t, 9);
    warps_.Block(t);
  }
  EXPECT_TRUE(Arrive(2, {.site = 9, .id = 4, .threads = 0, .reduction = BarrierReduction::kCount}, 1));
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(threads_[0].result, 2u);
}

TEST_F(Barriers, ArrivalsCountAndGoOn) {
  Begin(96);
  constexpr FrameBarrier kFull = {.site = 1, .id = 2, .threads = 96};
  for (uint32_t t = 0; t < 64; ++t) {
    threads_.SetRunning(t);
    EXPECT_TRUE(barriers_.Accepts(kFull));
    barriers_.Count(kFull);
    EXPECT_EQ(threads_[t].state, ThreadState::kRunning);
  }
  for (uint32_t t = 64; t < 95; ++t) EXPECT_FALSE(Arrive(t, kFull));
  EXPECT_TRUE(Arrive(95, kFull));
  EXPECT_EQ(TakeReady(), Range(64, 95));
  // It begins again, also for another number of threads.
  threads_.SetRunning(0);
  EXPECT_TRUE(barriers_.Accepts({.site = 1, .id = 2, .threads = 32}));
}

TEST_F(Barriers, AnArrivalThatIsTheLastOpensForTheOthers) {
  Begin(64);
  constexpr FrameBarrier kBarrier = {.site = 1, .id = 3, .threads = 64};
  for (uint32_t t = 0; t < 32; ++t) EXPECT_FALSE(Arrive(t, kBarrier));
  for (uint32_t t = 32; t < 64; ++t) {
    threads_.SetRunning(t);
    barriers_.Count(kBarrier);
  }
  EXPECT_EQ(TakeReady(), Range(0, 32));
}

TEST_F(Barriers, ANumberThatIsThatOfTheBlockIsNoOtherNumber) {
  Begin(64);
  threads_.SetRunning(0);
  barriers_.Count({.site = 1, .id = 0, .threads = 64});
  EXPECT_TRUE(barriers_.Accepts(kAll));
  EXPECT_FALSE(barriers_.Accepts({.site = 1, .id = 0, .threads = 32}));
}

}  // namespace
}  // namespace heddle::tracegen
