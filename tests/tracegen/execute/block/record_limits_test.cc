// How far threads may run before they yield.
#include "tracegen/execute/block/record_limits.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/tracegen/execute/threads/scheduler_fixture.h"

namespace heddle::tracegen {
namespace {

class Limits : public SchedulerTest {
 protected:
  Limits() {
    options_.part_instructions = 64'000;
    options_.part_accesses = 32'000;
  }
  void Begin(uint32_t threads) {
    BeginBlock(threads);
    context_.instructions = 0;
    context_.address_cursor = addresses_.data();
    limits_.BeginBlock();
    limits_.BeginPart();
  }
  uint64_t Instructions() const { return context_.instruction_limit - context_.instructions; }
  uint64_t Accesses() const { return static_cast<uint64_t>(context_.address_limit - context_.address_cursor); }

  std::vector<uint64_t> addresses_ = std::vector<uint64_t>(100'000);
  RunnerOptions options_;
  RecordLimits limits_{options_, context_, threads_};
};

TEST_F(Limits, ThreadsShareWhatIsLeftOfThePart) {
  Begin(4);
  limits_.Set();
  EXPECT_EQ(Instructions(), 16'000u);
  EXPECT_EQ(Accesses(), 8'000u);
  threads_.SetRunning(0);
  threads_.ExitRunning();
  context_.instructions = 4'000;
  context_.address_cursor += 2'000;
  limits_.Set();
  EXPECT_EQ(Instructions(), 20'000u);
  EXPECT_EQ(Accesses(), 10'000u);
  EXPECT_FALSE(limits_.IsFull());
  context_.instructions = 64'000;
  EXPECT_TRUE(limits_.IsFull());
  limits_.BeginPart();
  EXPECT_FALSE(limits_.IsFull());
  context_.address_cursor += 32'000;
  EXPECT_TRUE(limits_.IsFull());
}

TEST_F(Limits, TheRunsLimitCutsAPartShort) {
  options_.max_instructions = 1'000;
  Begin(1);
  limits_.Set();
  EXPECT_EQ(Instructions(), 1'000u);
  context_.instructions = 1'000;
  EXPECT_TRUE(limits_.IsFull());
}

TEST_F(Limits, ATurnEndsWhereItIsTold) {
  Begin(1);
  EXPECT_FALSE(limits_.IsTurnOver());
  limits_.EndTurnAt(10);
  EXPECT_FALSE(limits_.IsTurnOver());
  context_.instructions = 10;
  EXPECT_TRUE(limits_.IsTurnOver());
  options_.turn_instructions = 100;
  limits_.Set();
  EXPECT_EQ(Instructions(), 100u);
}

TEST_F(Limits, EstimatesAreNoLargerAndAreMadeExactWhenReached) {
  Begin(5);
  limits_.ForgetShares();
  context_.instructions = 100;
  EXPECT_FALSE(limits_.SharesHold());
  ASSERT_TRUE(limits_.EstimateShares());
  EXPECT_TRUE(limits_.SharesHold());
  limits_.Set();
  const uint64_t exact = context_.instruction_limit;
  const uint64_t* const exact_address = context_.address_limit;
  limits_.SetEstimate();
  EXPECT_LT(context_.instruction_limit, exact);
  EXPECT_LT(context_.address_limit, exact_address);
  context_.instructions = context_.instruction_limit;
  EXPECT_TRUE(limits_.Relax());
  EXPECT_EQ(context_.instruction_limit, exact);
  EXPECT_EQ(context_.address_limit, exact_address);
  EXPECT_FALSE(limits_.Relax());  // these are exact
}

TEST_F(Limits, EstimatesHoldUntilHalfOfWhatIsLeft) {
  Begin(1);
  ASSERT_TRUE(limits_.EstimateShares());
  context_.instructions = 32'000;
  EXPECT_TRUE(limits_.SharesHold());
  ++context_.instructions;
  EXPECT_FALSE(limits_.SharesHold());
  context_.instructions = 64'000;
  EXPECT_FALSE(limits_.EstimateShares());
}

}  // namespace
}  // namespace heddle::tracegen
