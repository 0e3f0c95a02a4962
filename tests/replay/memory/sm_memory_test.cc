// The memory of an SM to the cycle: latencies without contention, and every resource that can run out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/memory/sm/memory_profile.h"
#include "tests/replay/memory/sm_memory_timing.h"

namespace heddle::replay {
namespace {

using machine::v1::Cache;
using testing::Contains;
using testing::ElementsAre;
using trace::v1::OP_LOAD;
using trace::v1::OP_STORE;
using trace::v1::SPACE_GLOBAL;
using trace::v1::SPACE_LOCAL;
using trace::v1::SPACE_SHARED;

TEST_F(SmMemoryTiming, MissAndHit) {
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory);
  Add(200, OP_LOAD, SPACE_GLOBAL, kGlobalMemory);
  RunAccesses();
  EXPECT_THAT(Done(), ElementsAre(kMiss, 200 + 1 + 20));
  EXPECT_EQ(port_->sent[0].at, 2);
  EXPECT_EQ(Data(), (CacheCounters{.accesses = 2, .hits = 1, .misses = 1}));
  EXPECT_EQ(counters_.load_to_use.count(), 2);
  EXPECT_EQ(counters_.load_to_use.sum(), kMiss + 21);
  EXPECT_THAT(driver_->log, Contains("1 off core 0"));
  EXPECT_THAT(driver_->log, Contains("1 miss 0 1048576"));
  EXPECT_THAT(driver_->log, Contains("103 lanes ffffffff of 0 at 103 returned"));
  EXPECT_THAT(driver_->log, Contains("201 lanes ffffffff of 1 at 221"));
}

TEST_F(SmMemoryTiming, OneInstructionPerCycleOneStepPerCycle) {
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory);
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory, 12);  // three lines
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory);
  RunAccesses();
  EXPECT_THAT(Issued(), ElementsAre(0, 1, 4));
}

TEST_F(SmMemoryTiming, ALongWayToTheStageLimitsNoRate) {
  machine_.mutable_core()->mutable_units()->set_memory_issue_latency(5);
  for (int warp = 0; warp < 8; ++warp) Add(0, OP_LOAD, SPACE_SHARED, kSharedWindow);
  RunAccesses();
  EXPECT_THAT(Issued(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(Done(), ElementsAre(15, 16, 17, 18, 19, 20, 21, 22));  // 5 to the stage, 10 to the data
}

TEST_F(SmMemoryTiming, BehindAStallInstructionsCloseUp) {
  machine_.mutable_core()->mutable_units()->set_memory_issue_latency(5);
  Add(0, OP_LOAD, SPACE_SHARED, kSharedWindow, 32);  // eight words per bank
  for (int warp = 1; warp < 9; ++warp) Add(0, OP_LOAD, SPACE_SHARED, kSharedWindow);
  RunAccesses();
  // One in the stage and four on the way. The first makes its passes in 5 to 12, the others one per cycle from 13 on.
  EXPECT_THAT(Issued(), ElementsAre(0, 1, 2, 3, 4, 12, 13, 14, 15));
  EXPECT_THAT(Done(), ElementsAre(5 + 7 + 10, 23, 24, 25, 26, 27, 28, 29, 30));
}

TEST_F(SmMemoryTiming, AnInitiationIntervalIsAnOccupancy) {
  machine_.mutable_core()->mutable_units()->set_memory_issue_latency(5);
  machine_.mutable_core()->mutable_units()->set_memory_initiation_interval(3);
  for (int warp = 0; warp < 5; ++warp) Add(0, OP_LOAD, SPACE_SHARED, kSharedWindow);
  RunAccesses();
  // In the stage from 5, 8, 11, 14, and 17 on; the four cycles before it hold two. (The core spaces issues by itself.)
  EXPECT_THAT(Issued(), ElementsAre(0, 1, 2, 7, 10));
  EXPECT_THAT(Done(), ElementsAre(15, 18, 21, 24, 27));
}

TEST_F(SmMemoryTiming, LanesComeWithTheirLines) {
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory, 8);
  RunAccesses();
  EXPECT_THAT(driver_->log, Contains("103 lanes ffff of 0 at 103 returned"));
  EXPECT_THAT(driver_->log, Contains("104 lanes ffff0000 of 0 at 104 returned"));
}

TEST_F(SmMemoryTiming, PendingHitsWakeOnePerCycleInOrder) {
  for (int warp = 0; warp < 4; ++warp) Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory);
  RunAccesses();
  EXPECT_THAT(Done(), ElementsAre(kMiss, kMiss + 1, kMiss + 2, kMiss + 3));
  EXPECT_EQ(Data(), (CacheCounters{.accesses = 4, .pending_hits = 3, .misses = 1}));
  EXPECT_EQ(port_->sent.size(), 1);
  // One MSHR from cycle 1 until the last waiter is awake.
  EXPECT_EQ(counters_.level[0].mshr_occupancy[1], kMiss + 3 - 1);
}

TEST_F(SmMemoryTiming, TheFifthAccessToALineWaitsForTheOthersToLeave) {
  for (int warp = 0; warp < 5; ++warp) Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory);
  RunAccesses();
  // It would have been made in 5. When the line comes, in 103, it hits.
  EXPECT_EQ(Done()[4], kMiss + 20);
  EXPECT_EQ(Fails(ReservationFail::kMerge), kMiss - 5);
  EXPECT_EQ(Data(),
            (CacheCounters{
                .accesses = 5, .hits = 1, .pending_hits = 3, .misses = 1, .reservation_fails = {0, 0, kMiss - 5, 0}}));
}

TEST_F(SmMemoryTiming, RunsOutOfWays) {
  // Lines 0, 4, 8 are of set 0, which has two ways.
  for (uint64_t warp = 0; warp < 3; ++warp) Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory + 512 * warp);
  RunAccesses();
  EXPECT_EQ(Fails(ReservationFail::kWay), kMiss - 3);
  // Line 0 came in 103 and gave way in the same cycle.
  EXPECT_EQ(Done()[2], kMiss + kMiss - 1);
  EXPECT_THAT(driver_->log, Contains("103 eviction 0 1048576"));
}

TEST_F(SmMemoryTiming, RunsOutOfMshrs) {
  memory().mutable_l1_data()->set_mshrs(2);
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory, 12);
  RunAccesses();
  // The third line is tried from 3 to 102; the first one's MSHR is free in 103.
  EXPECT_EQ(Fails(ReservationFail::kMshr), 100);
  EXPECT_EQ(Done()[0], 103 + 102);
}

TEST_F(SmMemoryTiming, RunsOutOfPlacesInTheMissQueue) {
  memory().mutable_l1_data()->set_miss_queue(1);
  script_.places = 1;
  script_.service = 0;
  script_.period = 0;
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory, 12);
  RunAccesses();
  // Sent in 2, 3, 4: each leaves before the next miss wants its place.
  EXPECT_EQ(Fails(ReservationFail::kMissQueue), 0);
  script_.service = 40;
  RunAccesses();
  EXPECT_GT(Fails(ReservationFail::kMissQueue), 0);
}

TEST_F(SmMemoryTiming, StoresGoThroughAndAreAcknowledged) {
  Add(0, OP_STORE, SPACE_GLOBAL, kGlobalMemory);
  RunAccesses();
  EXPECT_THAT(Done(), ElementsAre(2));
  EXPECT_THAT(driver_->acknowledged, ElementsAre(kMiss));
  EXPECT_EQ(port_->sent[0].request.bytes, 128);
  EXPECT_EQ(counters_.level[0].requests[static_cast<int>(RequestKind::kWrite)], 1);
}

TEST_F(SmMemoryTiming, AStoreDropsTheLineOfALoad) {
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory);
  Add(200, OP_STORE, SPACE_GLOBAL, kGlobalMemory);
  Add(300, OP_LOAD, SPACE_GLOBAL, kGlobalMemory);
  RunAccesses();
  EXPECT_EQ(Data().misses, 2);
  EXPECT_EQ(Data().hits, 1);
}

TEST_F(SmMemoryTiming, LocalMemoryIsInterleavedByThread) {
  // All lanes access word 3 of their own memory: one line, at word 3 * 128 threads + 64 (those of SM 0).
  Add(0, OP_LOAD, SPACE_LOCAL, kLocalWindow + 12, 0);
  RunAccesses();
  ASSERT_EQ(port_->sent.size(), 1);
  EXPECT_EQ(port_->sent[0].request.address, kLocalWindow + 4 * (3 * 128 + 64));
}

TEST_F(SmMemoryTiming, WideLocalAccessesAreOneLinePerWordAndComeTogether) {
  Add(0, OP_LOAD, SPACE_LOCAL, kLocalWindow, 0).bytes = 8;
  RunAccesses();
  ASSERT_EQ(port_->sent.size(), 2);
  EXPECT_EQ(port_->sent[1].request.address, port_->sent[0].request.address + 4 * 128);
  EXPECT_THAT(driver_->log, Contains("104 lanes ffffffff of 0 at 104 returned"));
}

TEST_F(SmMemoryTiming, LocalStoresStayUntilTheirLineIsEvicted) {
  Add(0, OP_STORE, SPACE_LOCAL, kLocalWindow, 0);
  Add(200, OP_STORE, SPACE_LOCAL, kLocalWindow, 0);
  for (uint64_t line = 1; line < 3; ++line) {
    Add(200 + 200 * line, OP_LOAD, SPACE_GLOBAL, kGlobalMemory + 512 * line + kLocalWindow % 512 + 256);
  }
  RunAccesses();
  EXPECT_THAT(Done()[0], 2);
  EXPECT_EQ(driver_->acknowledged[0], kMiss);  // when its line is there
  EXPECT_EQ(driver_->acknowledged[1], 202);    // a hit is in the cache when it has left the stage
  EXPECT_EQ(Data().write_backs, 1);
  EXPECT_EQ(counters_.level[0].requests[static_cast<int>(RequestKind::kWrite)], 1);
}

TEST_F(SmMemoryTiming, WithoutADataCacheLoadsReadSectors) {
  memory().mutable_l1_data()->set_sets(0);
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory);
  RunAccesses();
  EXPECT_EQ(port_->sent.size(), 4);
  EXPECT_EQ(port_->sent[3].request.bytes, 32);
  EXPECT_EQ(Done()[0], kMiss + 3);
  EXPECT_EQ(Data().accesses, 0);
}

TEST_F(SmMemoryTiming, OneWayToTheRegistersIsTakenInTurns) {
  memory().set_returns_per_cycle(1);
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory);
  // A hit, made in 182, whose data are there in 202; the data of shared memory, made in 192, too; and textures.
  Add(181, OP_LOAD, SPACE_GLOBAL, kGlobalMemory);
  Add(191, OP_LOAD, SPACE_SHARED, kSharedWindow);
  RunAccesses();
  // The last turn was that of returned data: shared memory goes first.
  EXPECT_THAT(Done(), ElementsAre(kMiss, 203, 202));
}

TEST_F(SmMemoryTiming, AllMissesOrNone) {
  Cache& data = SinglePipelineMemory();
  data.set_banks(16);
  data.set_mshrs(4);
  data.set_miss_queue(4);
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory, 12);        // three lines in three banks
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory + 4096, 8);  // two lines: one MSHR is left
  RunAccesses();
  // All three in cycle 1; replies in 103, 104, 105.
  EXPECT_EQ(Done()[0], 105);
  // The second frees the second MSHR in 103: both misses enter then, and are sent in 104 and 105.
  EXPECT_EQ(Fails(ReservationFail::kMshr), 103 - 2);
  EXPECT_EQ(Done()[1], 103 + 103);
  // Every lane is an access: the first on each line misses, the others find it on its way.
  EXPECT_EQ(Data().accesses, 64);
  EXPECT_EQ(Data().misses, 5);
  EXPECT_EQ(Data().pending_hits, 59);
}

TEST_F(SmMemoryTiming, BankConflictsStallFirst) {
  Cache& data = SinglePipelineMemory();
  data.set_sets(64);
  data.set_ways(8);
  data.set_mshrs(32);
  data.set_miss_queue(32);
  data.set_banks(4);
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory, 128);    // 32 lines, eight per bank
  Add(400, OP_LOAD, SPACE_GLOBAL, kGlobalMemory, 128);  // the same, hits
  Add(500, OP_LOAD, SPACE_GLOBAL, kGlobalMemory, 0);    // one line: no conflict
  machine_.mutable_core()->set_simd_width(8);           // four lane groups hide four of the eight
  RunAccesses();
  EXPECT_EQ(Done()[1], 401 + 4 + 1);
  EXPECT_EQ(Done()[2], 501 + 1);
  EXPECT_EQ(counters_.data_conflict_cycles, 8);
}

TEST_F(SmMemoryTiming, TransactionsPerInstruction) {
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory, 12).pc = 3;
  Add(0, OP_LOAD, SPACE_SHARED, kSharedWindow).pc = 4;
  ScriptedPort port(script_);
  MemoryDriver driver(port);
  HierarchySm sm(machine_, windows_, 0, port, driver);
  MemoryProfile profile(6, 32);
  sm.SetProfile(&profile);
  ASSERT_NE(driver.Run(sm, accesses_, {}, {}), 0);
  EXPECT_EQ(profile[3].accesses, 1);
  EXPECT_EQ(profile[3].transactions, 3);
  EXPECT_EQ(profile[3].misses, 3);
  EXPECT_EQ(profile[3].returns, 1);
  EXPECT_EQ(profile[4].accesses, 1);
  EXPECT_EQ(profile[4].data_accesses, 0);
  EXPECT_EQ(profile[4].shared_parts, 1);
  EXPECT_EQ(profile[4].shared_passes, 1);
  EXPECT_EQ(profile[4].load_to_use_sum, 11);
  EXPECT_EQ(profile[5].accesses, 0);
}

TEST_F(SmMemoryTiming, SleepsWhileItWaits) {
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory);
  script_.latency = 10000;
  RunAccesses();
  EXPECT_LT(driver_->cycles_run, 10);
}

TEST_F(SmMemoryTiming, ExplainsWhatItWaitsFor) {
  memory().mutable_l1_data()->set_mshrs(1);
  Add(0, OP_LOAD, SPACE_GLOBAL, kGlobalMemory, 8);
  ScriptedPort port(script_);
  MemoryDriver driver(port);
  HierarchySm sm(machine_, windows_, 0, port, driver);
  EXPECT_EQ(driver.Run(sm, accesses_, {}, {.most_cycles = 50}), 0);
  EXPECT_EQ(
      sm.Explain(),
      "memory stage: OP_LOAD of warp 0, 1 accesses left, waits for an MSHR of the data cache; data cache: 1 MSHRs "
      "in use, 0 of 8 places of the miss queue; 1 requests without a reply");
}

}  // namespace
}  // namespace heddle::replay
