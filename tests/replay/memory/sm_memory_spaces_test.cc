// The memory of an SM to the cycle: shared memory, constants, textures, atomics, and fetches of instructions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/memory/sm_memory_timing.h"

namespace heddle::replay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using trace::v1::OP_ATOMIC;
using trace::v1::OP_LOAD;
using trace::v1::OP_STORE;
using trace::v1::OP_TEXTURE;
using trace::v1::SPACE_CONSTANT;
using trace::v1::SPACE_GENERIC;
using trace::v1::SPACE_GLOBAL;
using trace::v1::SPACE_PARAM;
using trace::v1::SPACE_SHARED;
using trace::v1::SPACE_TEXTURE;

TEST_F(SmMemoryTiming, SharedMemoryTakesItsPasses) {
  Add(0, OP_LOAD, SPACE_SHARED, kSharedWindow);
  Add(0, OP_LOAD, SPACE_SHARED, kSharedWindow, 16);  // four lanes per bank
  Add(0, OP_STORE, SPACE_SHARED, kSharedWindow, 8);
  Add(0, OP_LOAD, SPACE_SHARED, kSharedWindow);
  RunAccesses();
  EXPECT_THAT(Issued(), ElementsAre(0, 1, 5, 7));
  EXPECT_THAT(Done(), ElementsAre(1 + 10, 2 + 3 + 10, 6 + 1 + 1, 8 + 10));
  EXPECT_EQ(driver_->acknowledged[2], 8);
  EXPECT_EQ(counters_.shared_passes, 1 + 4 + 2 + 1);
  EXPECT_EQ(counters_.shared_parts, 4);
}

TEST_F(SmMemoryTiming, AWideWarpHidesItsConflicts) {
  // 32 lanes on 8: four cycles in the stage anyway.
  machine_.mutable_core()->set_simd_width(8);
  Add(0, OP_LOAD, SPACE_SHARED, kSharedWindow, 16);
  Add(0, OP_LOAD, SPACE_SHARED, kSharedWindow, 32);  // eight passes
  Add(0, OP_LOAD, SPACE_SHARED, kSharedWindow);
  RunAccesses();
  EXPECT_THAT(Issued(), ElementsAre(0, 4, 12));
  EXPECT_THAT(Done(), ElementsAre(1 + 10, 5 + 4 + 10, 13 + 10));
}

TEST_F(SmMemoryTiming, ConstantsTakeAPassPerAddress) {
  Add(0, OP_LOAD, SPACE_CONSTANT, kConstantWindow, 0);
  Add(200, OP_LOAD, SPACE_CONSTANT, kConstantWindow, 0);
  Add(300, OP_LOAD, SPACE_CONSTANT, kConstantWindow, 4);
  Add(300, OP_LOAD, SPACE_CONSTANT, kConstantWindow, 0);
  RunAccesses();
  EXPECT_THAT(Done(), ElementsAre(kMiss, 206, 301 + 31 + 5, 332 + 1 + 5));
  EXPECT_THAT(Issued(), ElementsAre(0, 200, 300, 332));
}

TEST_F(SmMemoryTiming, ParametersWithoutAddressHit) {
  Add(0, OP_LOAD, SPACE_PARAM, 0);
  accesses_[0].has_addresses = false;
  RunAccesses();
  EXPECT_THAT(Done(), ElementsAre(6));
  EXPECT_EQ(counters_.level[2].cache.accesses, 0);
}

TEST_F(SmMemoryTiming, TexturesHaveTheirCache) {
  Add(0, OP_TEXTURE, SPACE_TEXTURE, kGlobalMemory);
  Add(200, OP_TEXTURE, SPACE_TEXTURE, kGlobalMemory);
  RunAccesses();
  EXPECT_THAT(Done(), ElementsAre(kMiss, 231));
  EXPECT_EQ(port_->sent[0].request.cache, FirstLevel::kTexture);
  EXPECT_EQ(Data().accesses, 0);
}

TEST_F(SmMemoryTiming, GenericAccessesAreSortedByWindow) {
  Add(0, OP_LOAD, SPACE_GENERIC, 0);
  for (int lane = 0; lane < 32; ++lane) {
    accesses_[0].addresses[lane] = (lane % 2 == 0 ? kSharedWindow : kGlobalMemory) + 4 * static_cast<uint64_t>(lane);
  }
  RunAccesses();
  EXPECT_THAT(driver_->log, Contains("1 lanes 55555555 of 0 at 11"));
  EXPECT_THAT(driver_->log, Contains("104 lanes aaaaaaaa of 0 at 104 returned"));
}

TEST_F(SmMemoryTiming, AtomicsGoToThePartition) {
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory);
  Add(200, OP_ATOMIC, SPACE_GLOBAL, kGlobalMemory, 0);
  Add(400, OP_LOAD, SPACE_GLOBAL, kGlobalMemory);
  RunAccesses();
  EXPECT_THAT(Done(), ElementsAre(kMiss, 200 + kMiss, 400 + kMiss));  // the line is gone
  EXPECT_EQ(port_->sent[1].request.kind, RequestKind::kAtomic);
  EXPECT_EQ(port_->sent[1].request.passes, 32);
  EXPECT_EQ(port_->sent[1].request.bytes, 128);
}

TEST_F(SmMemoryTiming, AtomicsOfAFewLanesCarryFewOperands) {
  Add(0, OP_ATOMIC, SPACE_GLOBAL, kGlobalMemory).lanes = 0x7;
  RunAccesses();
  EXPECT_EQ(port_->sent[0].request.bytes, 12);
  EXPECT_EQ(port_->sent[0].request.passes, 1);
}

TEST_F(SmMemoryTiming, FetchesWaitForTheirLine) {
  fetches_ = {{0, 0}, {0, 64}, {0, 128}, {300, 8}};
  RunAccesses();
  EXPECT_THAT(driver_->log, Contains("0 fetch 0 1"));
  EXPECT_THAT(driver_->log, Contains("0 fetch 1 1"));  // the same line
  // Asked for in 0, sent in 1, there in 102.
  EXPECT_THAT(driver_->log, Contains("102 arrived 0"));
  EXPECT_THAT(driver_->log, Contains("102 fetch 0 0"));
  EXPECT_THAT(driver_->log, Contains("103 arrived 1"));
  EXPECT_THAT(driver_->log, Contains("104 fetch 2 0"));
  EXPECT_THAT(driver_->log, Contains("300 fetch 3 0"));
  EXPECT_EQ(port_->sent[0].request.address, InstructionFetches::kProgramBase);
}

// Who fetches, and which of its fetches have a line by now.
struct Fetcher final : MemoryClient {
  void LanesDone(AccessId, LaneMask, Cycle, bool) override {}
  void StoreAcknowledged(AccessId, Cycle) override {}
  void WaitsOffCore(AccessId) override {}
  void FetchArrived(uint32_t fetcher) override { arrived.push_back(fetcher); }
  void CacheEvent(const CacheNotice&) override {}
  std::vector<uint32_t> arrived;
};

// Two that want different lines of one way could otherwise take it from each other for ever.
TEST_F(SmMemoryTiming, ALineServesWhoAskedForItOnceEvenIfTheCacheHasLostIt) {
  memory().mutable_l1_instruction()->set_sets(1);
  memory().mutable_l1_instruction()->set_ways(1);
  ScriptedPort port(script_);
  Fetcher fetcher;
  HierarchySm sm(machine_, windows_, 0, port, fetcher);
  Cycle now = 0;
  const auto run_until_arrived = [&](size_t count) {
    for (; fetcher.arrived.size() < count && now < 1000; ++now) {
      port.Begin(now);
      sm.RunCycle(now);
    }
  };
  ASSERT_EQ(sm.Fetch(0, 0, now), FetchResult::kPending);
  run_until_arrived(1);
  ASSERT_THAT(fetcher.arrived, ElementsAre(0));
  ASSERT_EQ(sm.Fetch(128, 1, now), FetchResult::kPending);  // takes the only way before 0 has fetched
  EXPECT_EQ(sm.Fetch(0, 2, now), FetchResult::kRefused) << "did not ask for the line";
  EXPECT_EQ(sm.Fetch(8, 0, now), FetchResult::kHit);
  EXPECT_EQ(sm.Fetch(8, 0, now), FetchResult::kRefused) << "once";
  run_until_arrived(2);
  ASSERT_EQ(sm.Fetch(0, 0, now), FetchResult::kPending);
  EXPECT_EQ(sm.Fetch(256, 1, now), FetchResult::kRefused) << "another line than the one that came";
  EXPECT_EQ(sm.Fetch(128, 1, now), FetchResult::kRefused) << "which it has given up by that";
  EXPECT_EQ(sm.Counters(now).level[static_cast<int>(FirstLevel::kInstruction)].cache.hits, 1);
  run_until_arrived(3);
}

}  // namespace
}  // namespace heddle::replay
