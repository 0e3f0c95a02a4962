// Rounds of threads whose code is a test: each writes down who it is, and returns at barriers.
#include "tracegen/execute/block/frame_rounds.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/tracegen/execute/threads/scheduler_fixture.h"

namespace heddle::tracegen {
namespace {

// What the threads do: they pass `barriers` barriers; thread 1 ends earlier, when it has passed `early_exit`.
struct Script {
  uint32_t barriers = 2;
  uint32_t early_exit = ~0u;
  uint32_t frame_barrier = 1;
  std::vector<uint32_t> ran;      // threads, in the order in which they ran
  std::vector<uint32_t> results;  // that they got from barriers
  ThreadContext* context = nullptr;
};
Script* script = nullptr;

struct Frame {
  void (*resume)(void*) = nullptr;
  uint32_t passed = 0;
};

void ToBarrier(Frame& frame) {
  ThreadContext& context = *script->context;
  script->ran.push_back(context.own.linear_tid);
  *context.decision_cursor++ = static_cast<uint8_t>(frame.passed);
  ++context.instructions;
  const bool exits = context.own.linear_tid == 1 && frame.passed == script->early_exit;
  context.frame_barrier = frame.passed == script->barriers || exits ? 0 : script->frame_barrier;
  context.frame_barrier_predicate = context.own.linear_tid % 2;
}

void Resume(void* memory) {
  Frame& frame = *static_cast<Frame*>(memory);
  script->results.push_back(script->context->frame_barrier_result);
  ++frame.passed;
  ToBarrier(frame);
}

void Enter(ThreadContext* context, const void* const*) {
  Frame& frame = *static_cast<Frame*>(context->frame);
  frame = {Resume, 0};
  ToBarrier(frame);
}

class Rounds : public SchedulerTest {
 protected:
  Rounds() {
    script = &script_;
    script_.context = &context_;
    kernel_.frame_bytes = sizeof(Frame);
    kernel_.has_barriers = true;
    kernel_.barriers = {{.site = 4, .id = 0},
                        {.site = 5, .id = 1, .reduction = BarrierReduction::kCount},
                        {.site = 6, .id = 2, .threads = 2}};
  }
  void Begin(uint32_t threads, uint64_t part_instructions = 1000) {
    options_.part_instructions = part_instructions;
    geometry_.block[0] = threads;
    threads_.BeginLaunch(geometry_, 0);
    warps_.BeginLaunch();
    barriers_.BeginLaunch();
    rounds_.BeginLaunch({&kernel_, &Enter, nullptr}, true);
    threads_.BeginBlock();
    warps_.BeginBlock();
    barriers_.BeginBlock();
    rounds_.BeginBlock();
    log_.Begin(1000, 1000);
    context_.address_cursor = log_.addresses();
    context_.decision_cursor = log_.decisions();
    limits_.BeginPart();
  }
  std::vector<uint32_t> Times(uint32_t times, const std::vector<uint32_t>& what) {
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < times; ++i) all.insert(all.end(), what.begin(), what.end());
    return all;
  }

  Script script_;
  InstrumentedKernel kernel_;
  RunnerOptions options_;
  RecordLimits limits_{options_, context_, threads_};
  RecordLog log_;
  WarpRendezvous warps_{threads_};
  BarrierTable barriers_{threads_, warps_};
  FrameRounds rounds_{context_, threads_, limits_, log_, barriers_, warps_};
};

TEST_F(Rounds, WholeBlocksPassBarriersWithoutTheTables) {
  Begin(3);
  EXPECT_TRUE(rounds_.is_active());
  EXPECT_FALSE(rounds_.Run(FrameRounds::kNoThread));
  EXPECT_EQ(threads_.exited(), 3u);
  EXPECT_FALSE(rounds_.in_round());
  // The last one to arrive goes on first, as it has not waited.
  EXPECT_EQ(script_.ran, (std::vector<uint32_t>{0, 1, 2, 2, 0, 1, 1, 0, 2}));
  log_.Finish(3);
  for (const trace::ThreadRecord& record : log_.records()) {
    EXPECT_EQ(std::vector<uint8_t>(record.decisions.begin(), record.decisions.end()), (std::vector<uint8_t>{0, 1, 2}));
  }
}

TEST_F(Rounds, ThreadsGetWhatTheBarrierReduces) {
  script_.frame_barrier = 2;
  script_.early_exit = 1;
  Begin(4);
  EXPECT_FALSE(rounds_.Run(FrameRounds::kNoThread));
  // Threads 1 and 3 bring a true predicate; at the second barrier thread 1 has exited.
  std::vector<uint32_t> expected = Times(4, {2});
  expected.insert(expected.end(), 3, 1);
  EXPECT_EQ(script_.results, expected);
}

TEST_F(Rounds, ABarrierForSomeThreadsEndsTheRound) {
  Begin(3);
  script_.frame_barrier = 3;
  EXPECT_TRUE(rounds_.Run(FrameRounds::kNoThread));
  EXPECT_FALSE(rounds_.in_round());
  EXPECT_EQ(threads_.running(), 0u);
  EXPECT_EQ(threads_[0].state, ThreadState::kRunning);
  EXPECT_TRUE(threads_.has_new());
}

TEST_F(Rounds, AFullRecordEndsTheRound) {
  Begin(3, 2);
  EXPECT_FALSE(rounds_.Run(FrameRounds::kNoThread));
  EXPECT_EQ(script_.ran, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(threads_[1].state, ThreadState::kAtBarrier);
  EXPECT_EQ(barriers_.SiteOf(1), 4u);
  EXPECT_EQ(threads_[2].state, ThreadState::kNotStarted);
  // The tables go on: the barrier opens with the last thread.
  limits_.BeginPart();
  threads_.StartNext(context_);
  EXPECT_TRUE(barriers_.Arrive(kernel_.barriers[0], 0));
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0, 1}));
}

TEST_F(Rounds, AThreadThatDoesSomethingElseLeavesTheOthersReady) {
  Begin(3);
  for (uint32_t t = 0; t < 3; ++t) {
    threads_.StartNext(context_);
    rounds_.StartRunning();
    threads_[t].Keep(context_, nullptr);
    threads_[t].state = ThreadState::kAtBarrier;
  }
  script_.frame_barrier = 3;
  script_.ran.clear();
  threads_.SetRunning(2);
  EXPECT_TRUE(rounds_.Run(2));
  EXPECT_EQ(script_.ran, (std::vector<uint32_t>{2}));
  EXPECT_EQ(threads_.running(), 2u);
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{0, 1}));
}

}  // namespace
}  // namespace heddle::tracegen
