// Phases of transaction barriers, and who waits for them.
#include "tracegen/execute/threads/transaction_barriers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tracegen/execute/threads/scheduler_fixture.h"

namespace heddle::tracegen {
namespace {

using ::testing::HasSubstr;

class Phases : public SchedulerTest {
 protected:
  void Begin(uint32_t threads, uint32_t expected) {
    BeginBlock(threads);
    warps_.BeginLaunch();
    warps_.BeginBlock();
    barriers_.BeginBlock();
    EXPECT_EQ(Apply(0, Transaction::kInit, expected), "");
  }
  std::string Apply(uint32_t thread, Transaction operation, uint32_t number) {
    threads_.SetRunning(thread);
    return barriers_.Apply(operation, at_, number, &before_);
  }
  uint64_t Test(uint32_t thread, uint64_t parity) {
    threads_.SetRunning(thread);
    return barriers_.Test({at_, parity, 7});
  }

  uint64_t object_ = 0;
  const uint64_t at_ = reinterpret_cast<uint64_t>(&object_);
  uint64_t before_ = 0;
  WarpRendezvous warps_{threads_};
  TransactionBarriers barriers_{threads_, warps_};
};

TEST_F(Phases, EndWithTheLastArrival) {
  Begin(4, 3);
  EXPECT_EQ(Test(0, 1), 1u);  // the phase before the first is over: 0 phases had to be
  EXPECT_EQ(Test(0, 0), 0u);
  EXPECT_EQ(threads_[0].state, ThreadState::kAtPhase);
  EXPECT_THAT(barriers_.Describe(0, "k.cu:3"), HasSubstr("at k.cu:3 (3 arrivals are to come)"));
  EXPECT_EQ(Apply(1, Transaction::kArrive, 1), "");
  EXPECT_EQ(TransactionBarriers::ParityOf(before_), 0u);
  EXPECT_EQ(Apply(2, Transaction::kArrive, 1), "");
  EXPECT_TRUE(threads_.ready().empty());
  EXPECT_EQ(Apply(3, Transaction::kArrive, 1), "");
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0}));
  EXPECT_EQ(threads_[0].result, 2u);  // 1 phase is over
  EXPECT_FALSE(warps_.AnyBlocked(0));
  EXPECT_EQ(Test(1, 0), 2u);
}

TEST_F(Phases, WaitForBytes) {
  Begin(2, 1);
  EXPECT_EQ(Apply(0, Transaction::kArriveExpect, 64), "");
  EXPECT_EQ(Test(1, 0), 0u);
  EXPECT_THAT(barriers_.Describe(1, "x"), HasSubstr("0 arrivals and 64 bytes are to come"));
}

TEST_F(Phases, ExpectFewerAfterADrop) {
  Begin(3, 3);
  EXPECT_EQ(Apply(0, Transaction::kArriveDrop, 1), "");
  EXPECT_EQ(Apply(1, Transaction::kArrive, 2), "");
  EXPECT_EQ(Apply(1, Transaction::kArrive, 1), "");
  EXPECT_EQ(Test(2, 1), 0u);
  EXPECT_EQ(Apply(0, Transaction::kArrive, 1), "");
  EXPECT_EQ(threads_[2].result, 3u);
}

TEST_F(Phases, CopiesThatAreCountedChangeNothing) {
  Begin(2, 1);
  EXPECT_EQ(Apply(0, Transaction::kCopiesCounted, 1), "");
  EXPECT_EQ(Test(1, 0), 0u);
  EXPECT_EQ(Apply(0, Transaction::kCopies, 1), "");
  EXPECT_EQ(threads_[1].result, 2u);
}

TEST_F(Phases, ATestFailsOnceIfNobodyCanGoOn) {
  Begin(2, 2);
  EXPECT_FALSE(barriers_.FailOne());
  EXPECT_EQ(Test(0, 0), 0u);
  EXPECT_TRUE(barriers_.FailOne());
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0}));
  EXPECT_EQ(threads_[0].result, 0u);
  EXPECT_EQ(Test(0, 0), 0u);
  EXPECT_FALSE(barriers_.FailOne());
}

TEST_F(Phases, MistakesAreNamed) {
  Begin(2, 1);
  EXPECT_THAT(Apply(0, Transaction::kArrive, 2), HasSubstr("gets 2 arrivals, but its phase waits for 1"));
  EXPECT_THAT(Apply(0, Transaction::kInit, 0), HasSubstr("is to expect 0 arrivals"));
  EXPECT_THAT(Apply(0, Transaction::kInit, 1u << 20), HasSubstr("1 to 1048575 are possible"));
  EXPECT_THAT(Apply(0, Transaction::kExpect, 1u << 20), HasSubstr("more than 1048575 bytes"));
  EXPECT_EQ(Apply(0, Transaction::kInvalidate, 0), "");
  EXPECT_THAT(Apply(0, Transaction::kArrive, 1), HasSubstr("has not been initialized"));
  EXPECT_THAT(barriers_.WhyRefused(at_), HasSubstr("has not been initialized"));
  EXPECT_THAT(barriers_.WhyRefused(at_ + 4), HasSubstr("no multiple of 8"));
}

}  // namespace
}  // namespace heddle::tracegen
