// Hardware warps of threads that take one path are followed by one cursor. Whoever asks, for whole hardware warps or
// for any of their threads, in any order, gets what was recorded.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "replay/trace/chunk_cache.h"
#include "replay/trace/thread_cursors.h"
#include "replay/trace/warp_cursor.h"
#include "tests/replay/core/engine_harness.h"
#include "traces/format/write/writer.h"

namespace heddle::replay {
namespace {

constexpr uint32_t kWarp = WarpCursor::kThreads;
constexpr uint32_t kBlocks = 3;
constexpr uint32_t kThreads = 2 * kWarp;  // of a block
constexpr uint32_t kAll = kBlocks * kThreads;

struct Setup {
  uint64_t span;         // addresses lie below; above 4 GiB, chunks keep 64 bits of them
  uint64_t cache_bytes;  // of decoded chunks; few: chunks are narrowed, and few windows of accesses come at a time
  uint64_t most_bytes;   // few: chunks go and come back
};

class WarpCursors : public testing::TestWithParam<Setup> {
 protected:
  struct Thread {
    std::vector<uint8_t> decisions;
    std::vector<uint64_t> addresses;
    size_t next_decision = 0;
    size_t next_address = 0;
    bool HasDecision() const { return next_decision < decisions.size(); }
    bool HasAddress() const { return next_address < addresses.size(); }
  };

  // Of four accesses one rises by equal steps from thread to thread, one falls, one rises but for a single thread, and
  // one is at random.
  static uint64_t Address(size_t access, uint64_t thread, uint64_t random) {
    const uint64_t first = 0x1000'0000 + access * 4096;
    if (access % 4 == 0) return first + thread * 4;
    if (access % 4 == 1) return first + (kWarp - thread) * 8;
    if (access % 4 == 2) return first + thread * 128 + (thread == 17 ? 4 : 0);
    return 0x1000'0000 + random;
  }

  // Loops of one load. The first hardware warp of a block has 40 iterations in all of its threads, so that decisions
  // fill more than a word, or so few that all accesses are looked at together: with equal steps, and one without. In
  // the second hardware warp every third thread has one more.
  static constexpr std::array<size_t, kBlocks> kTrips = {40, 2, 4};
  void SetUp() override {
    threads_.resize(kAll);
    std::uniform_int_distribution<uint64_t> any(0, GetParam().span / 4);
    for (uint32_t i = 0; i < kAll; ++i) {
      const size_t trips = kTrips[i / kThreads] + (i % kThreads >= kWarp && i % 3 == 0 ? 1 : 0);
      threads_[i].decisions.assign(trips, 1);
      threads_[i].decisions.back() = 0;
      threads_[i].addresses.resize(trips);
      for (size_t access = 0; access < trips; ++access) {
        threads_[i].addresses[access] = Address(access, i % kWarp, any(random_) * 4);
      }
    }
    const trace::testing::TemporaryFile file("warp_cursors.htrace");
    trace::WriterOptions options;
    options.chunk_thread_instructions = 1;  // a chunk for every block
    auto writer = trace::TraceWriter::Create(file.path(), trace::testing::MakeHeader(), options).value();
    ASSERT_TRUE(writer
                    ->AddProgram(trace::testing::ProgramBuilder("loop")
                                     .Block("head")
                                     .Load()
                                     .Branch("exit", "head")
                                     .Block("exit")
                                     .Exit()
                                     .Build())
                    .ok());
    ASSERT_TRUE(writer->BeginLaunch(trace::testing::MakeLaunch(0, kBlocks, kThreads)).ok());
    for (uint32_t block = 0; block < kBlocks; ++block) {
      std::vector<trace::ThreadRecord> records(kThreads);
      for (uint32_t i = 0; i < kThreads; ++i) {
        records[i].decisions = threads_[block * kThreads + i].decisions;
        records[i].addresses = threads_[block * kThreads + i].addresses;
      }
      ASSERT_TRUE(writer->AddBlock(block, records, trace::TraceWriter::kNoExpectation).ok());
    }
    ASSERT_TRUE(writer->EndLaunch().ok());
    ASSERT_TRUE(writer->Finish().ok());
    trace_ = trace::TraceReader::Open(trace::FromMemory(trace::testing::ReadFile(file.path())), "rows").value();
    cache_ = std::make_unique<ChunkCache>(
        *trace_, CacheBounds{GetParam().cache_bytes, GetParam().cache_bytes, GetParam().most_bytes});
    cursors_ = std::make_unique<ThreadCursors>(trace_->launches()[0], *cache_, kAll, error_flag_);
    for (uint32_t first = 0; first < kAll; first += kWarp) {
      cursors_->Start(static_cast<ThreadId>(first), kWarp, {.chunk = first / kThreads, .place = 0}, first % kThreads);
    }
  }

  // A hardware warp of threads, each in its home lane, of which `mask` are meant.
  static Lanes LanesOfWarp(uint32_t hw_warp, LaneMask mask = WarpCursor::kLanes) {
    Lanes lanes;
    lanes.mask = mask;
    std::iota(lanes.thread.begin(), lanes.thread.begin() + kWarp, static_cast<ThreadId>(hw_warp * kWarp));
    return lanes;
  }
  Thread& ThreadOf(const Lanes& lanes, int lane) { return threads_[lanes.thread[static_cast<size_t>(lane)]]; }
  // The lanes of which wanted(thread) is true.
  template <typename Wanted>
  Lanes Those(Lanes lanes, Wanted wanted) {
    for (LaneMask rest = lanes.mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (!wanted(ThreadOf(lanes, lane))) lanes.mask &= ~(LaneMask{1} << lane);
    }
    return lanes;
  }

  void TakeAddresses(const Lanes& whole, bool peek) {
    const Lanes lanes = Those(whole, [](const Thread& thread) { return thread.HasAddress(); });
    std::array<uint64_t, kMaxLanes> found{};
    const uint32_t number = lanes.thread[0] / kWarp;
    const bool in_order = lanes.mask == WarpCursor::kLanes && lanes.thread == LanesOfWarp(number).thread;
    const bool as_warp = !peek && in_order && random_() % 2 == 0 && cursors_->TakeWarpAddresses(number, 0, found);
    if (peek) {
      cursors_->PeekAddresses(lanes, 0, found);
    } else if (!as_warp) {
      cursors_->TakeAddresses(lanes, 0, found);
    }
    for (LaneMask rest = lanes.mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      Thread& thread = ThreadOf(lanes, lane);
      EXPECT_EQ(found[static_cast<size_t>(lane)], thread.addresses[thread.next_address]) << "lane " << lane;
      thread.next_address += peek ? 0 : 1;
    }
  }
  void SkipAddresses(const Lanes& whole) {
    const Lanes lanes = Those(whole, [](const Thread& thread) { return thread.HasAddress(); });
    cursors_->SkipAddresses(lanes);
    for (LaneMask rest = lanes.mask; rest != 0; rest &= rest - 1)
      ++ThreadOf(lanes, std::countr_zero(rest)).next_address;
  }
  void TakeDecisions(const Lanes& whole, bool peek) {
    const Lanes lanes = Those(whole, [](const Thread& thread) { return thread.HasDecision(); });
    LaneMask expected = 0;
    for (LaneMask rest = lanes.mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      Thread& thread = ThreadOf(lanes, lane);
      expected |= LaneMask{thread.decisions[thread.next_decision]} << lane;
      thread.next_decision += peek ? 0 : 1;
    }
    EXPECT_EQ(peek ? cursors_->PeekDecisions(lanes) : cursors_->TakeDecisions(lanes), expected);
  }
  // One random step of the lanes.
  void Step(const Lanes& lanes) {
    const bool peek = random_() % 4 == 0;
    switch (random_() % 5) {
      case 0:
        SkipAddresses(lanes);
        break;
      case 1:
      case 2:
        TakeAddresses(lanes, peek);
        break;
      default:
        TakeDecisions(lanes, peek);
    }
  }
  void UseUp(uint32_t hw_warp) {
    const auto any = [this, hw_warp](auto has) { return Those(LanesOfWarp(hw_warp), has).mask != 0; };
    while (any([](const Thread& thread) { return thread.HasAddress(); })) SkipAddresses(LanesOfWarp(hw_warp));
    while (any([](const Thread& thread) { return thread.HasDecision(); })) TakeDecisions(LanesOfWarp(hw_warp), false);
  }

  std::mt19937_64 random_{11};
  std::vector<Thread> threads_;
  std::unique_ptr<trace::TraceReader> trace_;
  std::unique_ptr<ChunkCache> cache_;
  bool error_flag_ = false;
  std::unique_ptr<ThreadCursors> cursors_;
};

TEST_P(WarpCursors, WholeHwWarpsGetWhatWasRecorded) {
  for (int step = 0; step < 1000; ++step) Step(LanesOfWarp(static_cast<uint32_t>(random_() % (kAll / kWarp))));
  for (uint32_t hw_warp = 0; hw_warp < kAll / kWarp; ++hw_warp) {
    UseUp(hw_warp);
    EXPECT_EQ(cursors_->Finish(LanesOfWarp(hw_warp), WarpCursor::kLanes), WarpCursor::kLanes);
  }
  EXPECT_TRUE(cursors_->ok()) << cursors_->status();
}

TEST_P(WarpCursors, SoDoSomeOfTheThreadsAtAnyTime) {
  for (int step = 0; step < 2000; ++step) {
    const auto hw_warp = static_cast<uint32_t>(random_() % (kAll / kWarp));
    // Hardware warps come apart one after the other.
    const bool some = random_() % 64 == 0 && step / 300 >= static_cast<int>(hw_warp);
    Step(LanesOfWarp(hw_warp, some ? random_() & WarpCursor::kLanes : WarpCursor::kLanes));
  }
  for (uint32_t hw_warp = 0; hw_warp < kAll / kWarp; ++hw_warp) {
    UseUp(hw_warp);
    EXPECT_EQ(cursors_->Finish(LanesOfWarp(hw_warp), 0x0000'ffff), 0x0000'ffffu);
    EXPECT_EQ(cursors_->Finish(LanesOfWarp(hw_warp), 0xffff'0000), 0xffff'0000u);
  }
  EXPECT_TRUE(cursors_->ok()) << cursors_->status();
}

// In lanes of their own order, threads are no hardware warp.
TEST_P(WarpCursors, ThreadsInOtherLanesGetTheirOwn) {
  Lanes lanes = LanesOfWarp(0);
  std::swap(lanes.thread[3], lanes.thread[17]);
  TakeAddresses(lanes, /*peek=*/false);
  TakeAddresses(LanesOfWarp(0), /*peek=*/false);
  TakeDecisions(lanes, /*peek=*/false);
  EXPECT_TRUE(cursors_->ok()) << cursors_->status();
}

// A block that comes to the same threads begins anew.
TEST_P(WarpCursors, AHwWarpIsUsedAgain) {
  for (int round = 0; round < 3; ++round) {
    TakeAddresses(LanesOfWarp(0), /*peek=*/false);
    if (round == 1) TakeAddresses(LanesOfWarp(0, 0xff), /*peek=*/false);
    UseUp(0);
    EXPECT_EQ(cursors_->Finish(LanesOfWarp(0), WarpCursor::kLanes), WarpCursor::kLanes);
    cursors_->Start(0, kWarp, {.chunk = 0, .place = 0}, 0);
    for (uint32_t i = 0; i < kWarp; ++i) threads_[i].next_address = threads_[i].next_decision = 0;
  }
  EXPECT_TRUE(cursors_->ok()) << cursors_->status();
}

TEST_P(WarpCursors, AnExitBeforeTheEndIsSeen) {
  for (int access = 0; access < 39; ++access) SkipAddresses(LanesOfWarp(0));
  for (int branch = 0; branch < 40; ++branch) TakeDecisions(LanesOfWarp(0), /*peek=*/false);
  EXPECT_EQ(cursors_->Finish(LanesOfWarp(0), WarpCursor::kLanes), 0u);
}

TEST_P(WarpCursors, WhatIsBeyondTheEndIsAnError) {
  UseUp(0);
  ASSERT_TRUE(cursors_->ok());
  cursors_->TakeDecisions(LanesOfWarp(0));
  EXPECT_FALSE(cursors_->ok());
}

INSTANTIATE_TEST_SUITE_P(Traces, WarpCursors,
                         testing::Values(Setup{1 << 20, 1 << 24, 1 << 24}, Setup{1 << 20, 1, 1 << 24},
                                         Setup{1 << 20, 1, 1}, Setup{uint64_t{1} << 40, 1 << 24, 1 << 24},
                                         Setup{uint64_t{1} << 40, 1, 1 << 24}, Setup{uint64_t{1} << 40, 1, 1}));

}  // namespace
}  // namespace heddle::replay
