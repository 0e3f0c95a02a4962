// Who of a warp waits for whom.
#include "tracegen/execute/threads/warp_rendezvous.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/tracegen/execute/threads/scheduler_fixture.h"

namespace heddle::tracegen {
namespace {

class WarpRendezvousTest : public SchedulerTest {
 protected:
  void Begin(uint32_t threads, bool follows_code = false) {
    BeginBlock(threads);
    warps_.BeginLaunch(/*has_matrices=*/false, follows_code);
    warps_.BeginBlock();
  }
  // The thread comes to a ballot for `mask`, or to one without a mask at a place in the source, and brings its number.
  bool Ballot(uint32_t thread, uint32_t mask) {
    threads_.SetRunning(thread);
    return warps_.Arrive({WarpOperation::kBallot, 1, mask, false}, {thread, 0, 0});
  }
  bool Converge(uint32_t thread, uint32_t site, WarpOperation operation = WarpOperation::kActiveMask) {
    threads_.SetRunning(thread);
    return warps_.Arrive({operation, site, 0, true}, {thread, 0, 0});
  }
  // Of code that says where lanes come together.
  uint32_t Join(uint32_t thread, uint32_t site) {
    threads_.SetRunning(thread);
    return warps_.Join(site);
  }
  bool Meet(uint32_t thread, uint32_t barrier) {
    threads_.SetRunning(thread);
    return warps_.Arrive({WarpOperation::kMeet, 9, barrier, true}, {});
  }
  bool Diverged(uint32_t thread, uint32_t mask, bool counts = true) {
    threads_.SetRunning(thread);
    return warps_.Arrive({WarpOperation::kDiverged, 8, 0, true}, {counts ? 1u : 0u, mask, 0});
  }
  void Exit(uint32_t thread) {
    threads_.SetRunning(thread);
    threads_.ExitRunning();
    warps_.Exit(thread);
    warps_.Check(thread);
  }

  WarpRendezvous warps_{threads_};
};

TEST_F(WarpRendezvousTest, TheLastLaneOfTheMaskLetsTheOthersGoOn) {
  Begin(64);
  EXPECT_FALSE(Ballot(33, 0b111));
  EXPECT_EQ(threads_[33].state, ThreadState::kAtWarpOperation);
  EXPECT_FALSE(Ballot(34, 0b111));
  EXPECT_FALSE(Ballot(0, 0b111));  // of another warp
  EXPECT_TRUE(Ballot(32, 0b111));
  EXPECT_EQ(threads_[32].state, ThreadState::kRunning);
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{33, 34}));
  for (const uint32_t t : {32, 33, 34}) EXPECT_EQ(threads_[t].result, 0b111u) << t;
}

TEST_F(WarpRendezvousTest, LanesWithOtherMasksDoNotMeet) {
  Begin(32);
  EXPECT_FALSE(Ballot(0, 0b11));
  EXPECT_FALSE(Ballot(1, 0b111));
  EXPECT_FALSE(Ballot(2, 0b111));
  EXPECT_TRUE(TakeReady().empty());
  EXPECT_EQ(warps_.Describe(1, "k.cu:3"), "the vote (mask 0x7) at k.cu:3");
}

TEST_F(WarpRendezvousTest, ExitedLanesAreNotWaitedFor) {
  Begin(2);  // fewer threads than lanes
  EXPECT_FALSE(Ballot(0, ~0u));
  Exit(1);
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0}));
  EXPECT_EQ(threads_[0].result, 0u);  // the mask of those that bring a number other than 0
}

TEST_F(WarpRendezvousTest, ConvergedOperationsWaitUntilTheWarpCannotMove) {
  Begin(4);
  EXPECT_FALSE(Converge(0, 7));
  EXPECT_FALSE(Converge(1, 8));
  EXPECT_FALSE(Converge(2, 7));
  EXPECT_TRUE(threads_.ready().empty());
  threads_.SetRunning(3).state = ThreadState::kAtBarrier;
  warps_.Block(3);
  ASSERT_TRUE(warps_.NeedsCheck(3));
  warps_.Check(3);
  // Those at the first place go on together.
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(threads_[2].result, 0b101u);
  EXPECT_EQ(warps_.Describe(1, "k.cu:8"), "the activemask at k.cu:8");
}

// Who is behind may come to where the others wait.
TEST_F(WarpRendezvousTest, OfSeveralConvergedOperationsTheFirstInTheProgramIsCompleted) {
  Begin(3);
  EXPECT_FALSE(Converge(0, 9));
  EXPECT_FALSE(Converge(1, 9));
  EXPECT_TRUE(Converge(2, 8));
  EXPECT_EQ(threads_[2].result, 0b100u);
  EXPECT_TRUE(Converge(2, 9));
  EXPECT_EQ(threads_[0].result, 0b111u);
}

TEST_F(WarpRendezvousTest, BeforeThemTheOneThatExchangesNothing) {
  Begin(3);
  EXPECT_FALSE(Converge(0, 8));
  EXPECT_FALSE(Converge(1, 8));
  EXPECT_TRUE(Converge(2, 9, WarpOperation::kSync));
  EXPECT_EQ(threads_[0].state, ThreadState::kConverging);
}

TEST_F(WarpRendezvousTest, AreCountedAgainAfterRounds) {
  Begin(33);
  for (uint32_t t = 0; t < 33; ++t) threads_[t].state = ThreadState::kAtBarrier;
  threads_[1].state = ThreadState::kExited;
  threads_[2].state = ThreadState::kReady;
  warps_.Recount();
  EXPECT_FALSE(warps_.NeedsCheck(0));
  warps_.Exit(2);
  EXPECT_TRUE(warps_.NeedsCheck(0));
  EXPECT_TRUE(warps_.NeedsCheck(32));
  warps_.Unblock(32);
  EXPECT_FALSE(warps_.AnyBlocked(32));
}

// Lane 2 is ahead: it is at the head of the loop, where the others will come again. They are at a place behind it.
TEST_F(WarpRendezvousTest, LanesAheadWaitAtTheirBarrier) {
  Begin(3, /*follows_code=*/true);
  uint32_t barrier = 0;
  for (const uint32_t t : {0, 1, 2}) barrier = Join(t, 4);
  EXPECT_FALSE(Meet(2, barrier));
  EXPECT_FALSE(Converge(0, 7));
  EXPECT_TRUE(Converge(1, 7));  // none of those who are together can come there any more
  EXPECT_EQ(threads_[1].result, 0b11u);
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0}));
  EXPECT_FALSE(Meet(0, barrier));
  EXPECT_TRUE(Meet(1, barrier));
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0, 2}));
  // They are together again.
  EXPECT_FALSE(Converge(2, 3));
  EXPECT_FALSE(Converge(0, 3));
  EXPECT_TRUE(Converge(1, 3));
  EXPECT_EQ(threads_[2].result, 0b111u);
}

TEST_F(WarpRendezvousTest, BarriersDoNotWaitForLanesThatLeaveOrExit) {
  Begin(4, /*follows_code=*/true);
  uint32_t barrier = 0;
  for (const uint32_t t : {0, 1, 2, 3}) barrier = Join(t, 4);
  EXPECT_FALSE(Meet(0, barrier));
  EXPECT_FALSE(Meet(1, barrier));
  threads_.SetRunning(2);
  warps_.Leave(barrier);
  EXPECT_TRUE(TakeReady().empty());
  Exit(3);
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(Meet(2, barrier));  // it is no member any more, and waits for nobody
}

// Lane 1 may still come to the place where lane 0 has set its barrier.
TEST_F(WarpRendezvousTest, BarriersWaitForThoseWhoMayStillJoin) {
  Begin(2, /*follows_code=*/true);
  const uint32_t barrier = Join(0, 4);
  EXPECT_FALSE(Meet(0, barrier));
  EXPECT_EQ(Join(1, 4), barrier);
  EXPECT_TRUE(Meet(1, barrier));
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0}));
  // It does not come.
  const uint32_t another = Join(0, 5);
  EXPECT_FALSE(Meet(0, another));
  EXPECT_TRUE(Converge(1, 9));
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0}));
  EXPECT_EQ(threads_[1].result, 0b10u);
}

TEST_F(WarpRendezvousTest, MasksBringLanesTogetherAndKeepOthersAway) {
  Begin(4, /*follows_code=*/true);
  for (const uint32_t t : {0, 1}) EXPECT_EQ(Ballot(t, 0b11), t == 1);
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0}));
  for (const uint32_t t : {2, 3}) EXPECT_EQ(Ballot(t, 0b1100), t == 3);
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{2}));
  // One place, two groups.
  EXPECT_FALSE(Converge(0, 7));
  EXPECT_FALSE(Converge(2, 7));
  EXPECT_TRUE(Converge(1, 7));
  EXPECT_EQ(threads_[0].result, 0b11u);
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0}));
  EXPECT_TRUE(Converge(3, 7));
  EXPECT_EQ(threads_[2].result, 0b1100u);
}

TEST_F(WarpRendezvousTest, LanesAskWhetherOthersAreThere) {
  Begin(4, /*follows_code=*/true);
  Exit(3);
  for (const uint32_t t : {0, 1, 2}) EXPECT_EQ(Diverged(t, ~0u), t == 2);
  for (const uint32_t t : {0, 1, 2}) EXPECT_EQ(threads_[t].result, 0u) << t;  // who has exited is not missed
  TakeReady();
  // A lane whose guard is false is not there, and lane 2 asks for others.
  EXPECT_FALSE(Diverged(0, 0b11));
  EXPECT_FALSE(Diverged(1, 0b11, /*counts=*/false));
  EXPECT_TRUE(Diverged(2, 0b101));
  EXPECT_EQ(threads_[0].result, 1u);
  EXPECT_EQ(threads_[1].result, 1u);
  EXPECT_EQ(threads_[2].result, 0u);
}

TEST_F(WarpRendezvousTest, WhoeverStandsInTheWayIsLetGo) {
  Begin(3, /*follows_code=*/true);
  uint32_t barrier = 0;
  for (const uint32_t t : {0, 1, 2}) barrier = Join(t, 4);
  // Lane 2 runs: it waits in a loop for what the others do.
  EXPECT_FALSE(Meet(0, barrier));
  EXPECT_FALSE(Converge(1, 7));
  EXPECT_TRUE(TakeReady().empty());
  EXPECT_TRUE(warps_.LetGo());
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{1}));  // an exchange first
  EXPECT_EQ(threads_[1].result, 0b10u);
  EXPECT_TRUE(warps_.LetGo());
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0}));
  EXPECT_FALSE(warps_.LetGo());
}

TEST_F(WarpRendezvousTest, WithoutSuchCodeNobodyIsLetGo) {
  Begin(2);
  EXPECT_FALSE(Converge(0, 7));
  EXPECT_FALSE(warps_.LetGo());
}

}  // namespace
}  // namespace heddle::tracegen
