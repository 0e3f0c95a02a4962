#include "replay/memory/cache/cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::replay {
namespace {

using Config = machine::v1::Cache;
using testing::ElementsAre;

// One set of two ways, two MSHRs of two accesses.
Config Small(Config::Allocate allocate = Config::ON_MISS) {
  Config config;
  config.set_sets(1);
  config.set_line_bytes(128);
  config.set_ways(2);
  config.set_mshrs(2);
  config.set_mshr_merges(2);
  config.set_allocate(allocate);
  return config;
}

class CacheTest : public testing::Test {
 protected:
  CacheOutcome Access(uint64_t line, CacheOperation operation, Config::Write policy, SlotId owner = 0,
                      uint32_t room = 8) {
    const CacheOutcome outcome = cache_.Access(line, cache_.SetOf(line), operation, policy, owner, room, now_);
    EXPECT_TRUE(cache_.Consistent());
    return outcome;
  }
  CacheOutcome Read(uint64_t line, SlotId owner = 0, uint32_t room = 8) {
    return Access(line, CacheOperation::kRead, Config::READ_ONLY, owner, room);
  }
  CacheOutcome Write(uint64_t line, Config::Write policy, uint32_t room = 8) {
    return Access(line, CacheOperation::kWrite, policy, 0, room);
  }
  // The line comes; its waiters leave.
  CacheEviction Fill(uint16_t entry) {
    const CacheEviction eviction = cache_.Fill(entry);
    while (!cache_.mshrs().Drained(entry)) cache_.mshrs().TakeWaiter(entry, now_);
    cache_.mshrs().Release(entry, now_);
    EXPECT_TRUE(cache_.Consistent());
    return eviction;
  }
  void Bring(uint64_t line, SlotId owner = 0) { Fill(Read(line, owner).entry); }
  void Use(Config::Allocate allocate) { cache_ = Cache(Small(allocate)); }

  Cache cache_{Small()};
  Cycle now_ = 0;
};

TEST_F(CacheTest, MissPendingHitHit) {
  const CacheOutcome miss = Read(7);
  EXPECT_EQ(miss.result, CacheResult::kMiss);
  EXPECT_TRUE(miss.fetch && miss.waits);
  const CacheOutcome pending = Read(7);
  EXPECT_EQ(pending.result, CacheResult::kPendingHit);
  EXPECT_FALSE(pending.fetch);
  EXPECT_TRUE(pending.waits);
  EXPECT_EQ(pending.entry, miss.entry);
  EXPECT_NE(pending.waiter, miss.waiter);
  Fill(miss.entry);
  EXPECT_EQ(Read(7).result, CacheResult::kHit);
  EXPECT_EQ(cache_.counters(), (CacheCounters{.accesses = 3, .hits = 1, .pending_hits = 1, .misses = 1}));
}

TEST_F(CacheTest, WaitersLeaveInTheOrderInWhichTheyCame) {
  const CacheOutcome miss = Read(7);
  const CacheOutcome pending = Read(7);
  cache_.Fill(miss.entry);
  EXPECT_EQ(cache_.mshrs().TakeWaiter(miss.entry, now_), miss.waiter);
  EXPECT_EQ(cache_.mshrs().TakeWaiter(miss.entry, now_), pending.waiter);
  EXPECT_TRUE(cache_.mshrs().Drained(miss.entry));
}

TEST_F(CacheTest, EvictsTheLeastRecentlyUsed) {
  Bring(1, 11);
  Bring(2, 12);
  EXPECT_EQ(Read(1).result, CacheResult::kHit);
  const CacheOutcome miss = Read(3);
  EXPECT_TRUE(miss.eviction.happened);
  EXPECT_EQ(miss.eviction.line, 2);
  EXPECT_EQ(miss.eviction.owner, 12);
  EXPECT_FALSE(miss.eviction.dirty);
}

TEST_F(CacheTest, NeverEvictsALineOnItsWay) {
  Read(1);
  Bring(2);
  Fill(Read(3).entry);  // in place of 2, although 1 is older
  EXPECT_EQ(cache_.Peek(1, 0), Cache::LineState::kReserved);
  EXPECT_EQ(cache_.Peek(2, 0), Cache::LineState::kInvalid);
  Read(4);  // in place of 3
  const CacheOutcome refused = Read(5);
  EXPECT_EQ(refused.result, CacheResult::kReservationFail);
  EXPECT_EQ(refused.cause, ReservationFail::kWay);
}

TEST_F(CacheTest, AReservationFailChangesOnlyItsCounter) {
  Read(1);
  Read(1);
  const CacheCounters before = cache_.counters();
  EXPECT_EQ(Read(1).cause, ReservationFail::kMerge);
  EXPECT_EQ(Read(2, 0, /*room=*/0).cause, ReservationFail::kMissQueue);
  EXPECT_EQ(cache_.Peek(2, 0), Cache::LineState::kInvalid);
  CacheCounters expected = before;
  expected.reservation_fails = {0, 0, 1, 1};
  EXPECT_EQ(cache_.counters(), expected);
}

TEST_F(CacheTest, RunsOutOfMshrs) {
  Use(Config::ON_FILL);
  Read(1);
  Read(2);
  EXPECT_EQ(Read(3).cause, ReservationFail::kMshr);
  EXPECT_EQ(Read(2).result, CacheResult::kPendingHit);
}

TEST_F(CacheTest, APendingHitMayTakeAnMshrOfItsOwn) {  // Fung's thesis, section 5.1.1, memory stage
  Config config = Small();
  config.set_mshrs(3);
  config.set_mshr_merges(3);
  config.set_pending_hits(Config::OWN_MSHR);
  cache_ = Cache(config);
  now_ = 10;
  const CacheOutcome first = Read(1);
  const CacheOutcome second = Read(1);
  EXPECT_EQ(second.result, CacheResult::kPendingHit);
  EXPECT_FALSE(second.fetch);
  EXPECT_EQ(second.entry, first.entry);
  EXPECT_EQ(cache_.mshrs().used(), 2);
  Read(2);
  EXPECT_EQ(Read(1).cause, ReservationFail::kMshr);
  EXPECT_EQ(Read(3).cause, ReservationFail::kWay);
  now_ = 20;
  cache_.Fill(first.entry);
  EXPECT_EQ(cache_.mshrs().TakeWaiter(first.entry, now_), first.waiter);
  EXPECT_EQ(cache_.mshrs().used(), 2) << "one is left of the line, and the other line's";
  EXPECT_TRUE(cache_.Consistent());
  EXPECT_EQ(cache_.mshrs().TakeWaiter(first.entry, now_), second.waiter);
  cache_.mshrs().Release(first.entry, now_);
  EXPECT_EQ(cache_.mshrs().used(), 1);
  EXPECT_TRUE(cache_.Consistent());
  EXPECT_THAT(cache_.mshrs().Occupancy(25), ElementsAre(10, 5, 0, 10));
}

TEST_F(CacheTest, APendingHitMayAskAgain) {  // GPGPU-Sim 2.x without merging between warps
  for (const Config::Allocate allocate : {Config::ON_MISS, Config::ON_FILL}) {
    Config config = Small(allocate);
    config.set_mshrs(3);
    config.set_pending_hits(Config::OWN_REQUEST);
    cache_ = Cache(config);
    const CacheOutcome first = Read(1);
    EXPECT_EQ(Read(1, 0, /*room=*/0).cause, ReservationFail::kMissQueue);
    const CacheOutcome second = Read(1);
    EXPECT_EQ(second.result, CacheResult::kPendingHit);
    EXPECT_TRUE(second.fetch && second.waits);
    EXPECT_NE(second.entry, first.entry);
    EXPECT_FALSE(second.eviction.happened);
    Write(1, Config::WRITE_BACK);
    EXPECT_EQ(Read(1).cause, ReservationFail::kMshr);
    // The reply to the first request brings the line, dirty as a store waits; the others bring data for their waiter.
    Fill(first.entry);
    EXPECT_EQ(cache_.Peek(1, 0), Cache::LineState::kDirty);
    EXPECT_EQ(Read(1).result, CacheResult::kHit);
    EXPECT_FALSE(Fill(second.entry).happened);
    EXPECT_EQ(cache_.Peek(1, 0), Cache::LineState::kDirty);
    EXPECT_EQ(cache_.mshrs().used(), 1);
    EXPECT_EQ(cache_.counters().pending_hits, 2);
  }
}

TEST_F(CacheTest, AnMshrThatDrainsTakesNoMore) {
  const CacheOutcome first = Read(1);
  Read(1);
  cache_.Fill(first.entry);
  cache_.mshrs().TakeWaiter(first.entry, now_);
  EXPECT_EQ(Read(1).result, CacheResult::kHit);
  // Evicted while its MSHR still drains: asked for again, with another MSHR.
  cache_.Invalidate(1, 0);
  const CacheOutcome second = Read(1);
  EXPECT_EQ(second.result, CacheResult::kMiss);
  EXPECT_NE(second.entry, first.entry);
}

TEST_F(CacheTest, AllocationOnAFillEvictsWhenTheLineComes) {
  Use(Config::ON_FILL);
  Bring(1, 11);
  Bring(2, 12);
  const CacheOutcome miss = Read(3);
  EXPECT_FALSE(miss.eviction.happened);
  EXPECT_EQ(Read(1).result, CacheResult::kHit);
  const CacheEviction eviction = Fill(miss.entry);
  EXPECT_TRUE(eviction.happened);
  EXPECT_EQ(eviction.line, 2);
}

TEST_F(CacheTest, WriteEvictGoesThroughAndDropsTheLine) {
  Bring(1);
  const CacheOutcome hit = Write(1, Config::WRITE_EVICT);
  EXPECT_EQ(hit.result, CacheResult::kHit);
  EXPECT_TRUE(hit.forward);
  EXPECT_EQ(Write(1, Config::WRITE_EVICT).result, CacheResult::kMiss);
  EXPECT_EQ(cache_.counters().evictions, 0);
  // A line on its way stays on its way.
  const CacheOutcome read = Read(1);
  const CacheOutcome pending = Write(1, Config::WRITE_EVICT);
  EXPECT_EQ(pending.result, CacheResult::kPendingHit);
  EXPECT_TRUE(pending.forward);
  EXPECT_FALSE(pending.waits);
  Fill(read.entry);
  EXPECT_EQ(cache_.Peek(1, 0), Cache::LineState::kValid);
}

TEST_F(CacheTest, WriteUpdateKeepsTheLine) {
  Bring(1);
  EXPECT_TRUE(Write(1, Config::WRITE_UPDATE).forward);
  EXPECT_EQ(Read(1).result, CacheResult::kHit);
  EXPECT_EQ(Write(1, Config::WRITE_UPDATE, /*room=*/0).cause, ReservationFail::kMissQueue);
}

TEST_F(CacheTest, WriteBackFetchesDirtiesAndWritesOnEviction) {
  const CacheOutcome miss = Write(1, Config::WRITE_BACK);
  EXPECT_TRUE(miss.fetch && miss.waits);
  EXPECT_FALSE(miss.forward);
  Fill(miss.entry);
  EXPECT_EQ(cache_.Peek(1, 0), Cache::LineState::kDirty);
  Bring(2);
  Write(2, Config::WRITE_BACK);
  EXPECT_EQ(cache_.Peek(2, 0), Cache::LineState::kDirty);
  // The fetch and the write-back both need a place.
  EXPECT_EQ(Read(3, 0, /*room=*/1).cause, ReservationFail::kMissQueue);
  const CacheOutcome read = Read(3, 0, /*room=*/2);
  EXPECT_TRUE(read.eviction.dirty);
  EXPECT_EQ(read.eviction.line, 1);
  EXPECT_EQ(cache_.counters().write_backs, 1);
}

TEST_F(CacheTest, AWriteThatMeetsALineOnItsWayMakesItDirty) {
  for (const auto allocate : {Config::ON_MISS, Config::ON_FILL}) {
    Use(allocate);
    const CacheOutcome read = Read(1);
    EXPECT_TRUE(Write(1, Config::WRITE_BACK).waits);
    Fill(read.entry);
    EXPECT_EQ(cache_.Peek(1, 0), Cache::LineState::kDirty);
  }
}

TEST_F(CacheTest, AWriteOfAWholeLineFetchesNothing) {
  for (const auto allocate : {Config::ON_MISS, Config::ON_FILL}) {
    Use(allocate);
    const CacheOutcome write = Access(1, CacheOperation::kWriteLine, Config::WRITE_BACK, 0, /*room=*/0);
    EXPECT_EQ(write.result, CacheResult::kMiss);
    EXPECT_FALSE(write.fetch || write.waits || write.forward);
    EXPECT_EQ(cache_.Peek(1, 0), Cache::LineState::kDirty);
    EXPECT_EQ(cache_.mshrs().used(), 0);
  }
}

TEST_F(CacheTest, OccupancyOfTheMshrsIsTimeWeighted) {
  now_ = 10;
  const uint16_t first = Read(1).entry;
  now_ = 13;
  const uint16_t second = Read(2).entry;
  now_ = 20;
  Fill(first);
  now_ = 21;
  Fill(second);
  EXPECT_THAT(cache_.mshrs().Occupancy(30), ElementsAre(10 + 9, 3 + 1, 7));
}

}  // namespace
}  // namespace heddle::replay
