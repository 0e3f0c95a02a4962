// Cursors hand out what was recorded, whether the threads of an access are a whole run of neighbours, which are looked
// at together, or any others, which are looked at one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "replay/trace/chunk_cache.h"
#include "replay/trace/thread_cursors.h"
#include "tests/replay/core/engine_harness.h"
#include "traces/format/write/writer.h"

namespace heddle::replay {
namespace {

constexpr uint32_t kBlocks = 3;
constexpr uint32_t kThreads = 40;  // of a block: runs of 32 lie in one block, or in two
constexpr uint32_t kAll = kBlocks * kThreads;
constexpr uint32_t kAccesses = 8;

struct Setup {
  uint64_t span;         // addresses lie below; above 4 GiB, chunks keep 64 bits of them
  uint64_t cache_bytes;  // of decoded chunks; few: chunks are narrowed, and few windows of accesses come at a time
  uint64_t most_bytes;   // few: chunks go and come back
};

class CursorGroups : public testing::TestWithParam<Setup> {
 protected:
  void SetUp() override {
    addresses_.assign(kAll, std::vector<uint64_t>(kAccesses));
    std::uniform_int_distribution<uint64_t> any(0, GetParam().span / 4);
    for (auto& thread : addresses_) {
      for (uint64_t& address : thread) address = 0x1000'0000 + any(random_) * 4;
    }
    trace::testing::ProgramBuilder builder("loads");
    for (uint32_t access = 0; access < kAccesses; ++access) builder.Load();
    const trace::testing::TemporaryFile file("cursor_groups.htrace");
    trace::WriterOptions options;
    options.chunk_thread_instructions = 1;  // a chunk for every block
    auto writer = trace::TraceWriter::Create(file.path(), trace::testing::MakeHeader(), options).value();
    ASSERT_TRUE(writer->AddProgram(builder.Exit().Build()).ok());
    ASSERT_TRUE(writer->BeginLaunch(trace::testing::MakeLaunch(0, kBlocks, kThreads)).ok());
    for (uint32_t block = 0; block < kBlocks; ++block) {
      std::vector<trace::ThreadRecord> records(kThreads);
      for (uint32_t i = 0; i < kThreads; ++i) records[i].addresses = addresses_[block * kThreads + i];
      ASSERT_TRUE(writer->AddBlock(block, records, trace::TraceWriter::kNoExpectation).ok());
    }
    ASSERT_TRUE(writer->EndLaunch().ok());
    ASSERT_TRUE(writer->Finish().ok());
    trace_ = trace::TraceReader::Open(trace::FromMemory(trace::testing::ReadFile(file.path())), "rows").value();
    ASSERT_EQ(trace_->launches()[0].chunks.size(), kBlocks);
    cache_ = std::make_unique<ChunkCache>(
        *trace_, CacheBounds{GetParam().cache_bytes, GetParam().cache_bytes, GetParam().most_bytes});
    cursors_ = std::make_unique<ThreadCursors>(trace_->launches()[0], *cache_, kAll, error_flag_);
    for (uint32_t block = 0; block < kBlocks; ++block) {
      cursors_->Start(static_cast<ThreadId>(block * kThreads), kThreads, {.chunk = block, .place = 0}, 0);
    }
  }

  // All threads, in groups of at most 32: a run of neighbours from a random thread on, the others in a random order.
  std::vector<Lanes> Groups() {
    std::vector<ThreadId> threads(kAll);
    std::iota(threads.begin(), threads.end(), ThreadId{0});
    const auto first = static_cast<ptrdiff_t>(random_() % (kAll - 31));
    std::rotate(threads.begin(), threads.begin() + first, threads.begin() + first + 32);
    std::shuffle(threads.begin() + 32, threads.end(), random_);
    std::vector<Lanes> groups;
    for (size_t next = 0; next < kAll; next += 32) {
      Lanes& lanes = groups.emplace_back();
      for (size_t i = next; i < std::min<size_t>(next + 32, kAll); ++i) {
        lanes.mask |= LaneMask{1} << (i - next);
        lanes.thread[i - next] = threads[i];
      }
    }
    return groups;
  }
  void ExpectAddresses(const Lanes& lanes, uint32_t access, const std::array<uint64_t, kMaxLanes>& found) const {
    for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
      const int lane = std::countr_zero(mask);
      EXPECT_EQ(found[lane], addresses_[lanes.thread[lane]][access]) << "thread " << lanes.thread[lane];
    }
  }

  std::mt19937_64 random_{7};
  std::vector<std::vector<uint64_t>> addresses_;  // by thread
  std::unique_ptr<trace::TraceReader> trace_;
  std::unique_ptr<ChunkCache> cache_;
  bool error_flag_ = false;
  std::unique_ptr<ThreadCursors> cursors_;
};

TEST_P(CursorGroups, EveryThreadGetsItsAddressesInOrder) {
  for (uint32_t access = 0; access < kAccesses; ++access) {
    for (const Lanes& lanes : Groups()) {
      std::array<uint64_t, kMaxLanes> found{};
      cursors_->PeekAddresses(lanes, access, found);
      ExpectAddresses(lanes, access, found);
      found.fill(0);
      cursors_->TakeAddresses(lanes, access, found);
      ExpectAddresses(lanes, access, found);
    }
  }
  for (const Lanes& lanes : Groups()) EXPECT_EQ(cursors_->Finish(lanes, lanes.mask), lanes.mask);
  EXPECT_TRUE(cursors_->ok()) << cursors_->status();
}

TEST_P(CursorGroups, AnExitBeforeTheEndIsSeen) {
  for (uint32_t access = 0; access + 1 < kAccesses; ++access) {
    for (const Lanes& lanes : Groups()) cursors_->SkipAddresses(lanes);
  }
  // Threads of the upper half of each group have one access left.
  for (const Lanes& lanes : Groups()) {
    Lanes lower = lanes;
    lower.mask &= 0xffff;
    cursors_->SkipAddresses(lower);
    EXPECT_EQ(cursors_->Finish(lanes, lanes.mask), lower.mask);
  }
  EXPECT_TRUE(cursors_->ok()) << cursors_->status();
}

TEST_P(CursorGroups, AnAccessBeyondTheEndIsAnError) {
  Lanes lanes;
  lanes.mask = 0xffff'ffff;
  std::iota(lanes.thread.begin(), lanes.thread.begin() + 32, ThreadId{0});
  for (uint32_t access = 0; access < kAccesses; ++access) cursors_->SkipAddresses(lanes);
  ASSERT_TRUE(cursors_->ok());
  std::array<uint64_t, kMaxLanes> found{};
  cursors_->TakeAddresses(lanes, 0, found);
  EXPECT_FALSE(cursors_->ok());
}

TEST_P(CursorGroups, AThreadThatAsksForMoreThanItHasIsAnErrorThatSetsTheErrorFlag) {
  const Lanes lanes = Groups().front();
  std::array<uint64_t, kMaxLanes> found{};
  for (uint32_t access = 0; access < kAccesses; ++access) cursors_->TakeAddresses(lanes, 0, found);
  EXPECT_TRUE(cursors_->ok());
  EXPECT_FALSE(error_flag_);
  cursors_->TakeAddresses(lanes, 0, found);
  EXPECT_FALSE(cursors_->ok());
  EXPECT_TRUE(error_flag_);
}

INSTANTIATE_TEST_SUITE_P(Traces, CursorGroups,
                         testing::Values(Setup{1 << 20, 1 << 24, 1 << 24}, Setup{1 << 20, 1, 1 << 24},
                                         Setup{1 << 20, 1, 1}, Setup{uint64_t{1} << 40, 1 << 24, 1 << 24},
                                         Setup{uint64_t{1} << 40, 1, 1 << 24}, Setup{uint64_t{1} << 40, 1, 1}));

}  // namespace
}  // namespace heddle::replay
