// The structures of dynamic warp formation by themselves: warp pool, PC-warp table, its entries, register banks.
#include <gtest/gtest.h>

#include <initializer_list>

#include "replay/policies/divergence/dynamic_warps/dwf_counters.h"
#include "replay/policies/divergence/dynamic_warps/formation_lookup.h"
#include "replay/policies/divergence/dynamic_warps/pc_warp_table.h"
#include "replay/policies/divergence/dynamic_warps/register_banks.h"
#include "replay/policies/divergence/dynamic_warps/warp_pool.h"
#include "replay/seams/warp_table.h"

namespace heddle::replay {
namespace {

DwfCounter PoolClass(int number) { return static_cast<DwfCounter>(kPoolCycles + number); }

TEST(WarpPool, CountsWarpsAndTheCyclesThatTheyWait) {
  DwfCounters counters;
  WarpPool pool(/*entries=*/0, /*instructions=*/8, counters);
  pool.Enter(3, /*pc=*/1, /*now=*/10);
  pool.Enter(4, 1, 12);
  pool.Enter(5, 2, 12);
  EXPECT_FALSE(pool.full());
  EXPECT_TRUE(pool.Contains(4));
  pool.Leave(4, 1, 30);
  EXPECT_FALSE(pool.Contains(4));
  pool.Leave(3, 1, 31);
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(counters[kMaxPool], 3u);
  EXPECT_EQ(counters[kMaxDistinctPcs], 2u);
  EXPECT_EQ(counters[kLongestInPool], 21u);
  EXPECT_EQ(counters[PoolClass(0)], 31u);  // from cycle 0 on: never 16 warps
}

TEST(WarpPool, HistogramCreditsTheOccupancyBeforeTheChange) {
  DwfCounters counters;
  WarpPool pool(0, 1, counters);
  for (SlotId slot = 0; slot < 16; ++slot) pool.Enter(slot, 0, 0);
  pool.Enter(16, 0, 100);  // 16 warps in cycles 0 to 99
  pool.Leave(16, 0, 150);
  EXPECT_EQ(counters[PoolClass(0)], 0u);
  EXPECT_EQ(counters[PoolClass(1)], 150u);
  for (SlotId slot = 100; slot < 300; ++slot) pool.Enter(slot, 0, 150);
  pool.Leave(100, 0, 160);
  EXPECT_EQ(counters[PoolClass(kPoolClasses - 1)], 10u);  // the last class is open above
}

TEST(WarpPool, AFullPoolSpillsFirstInFirstOut) {
  DwfCounters counters;
  WarpPool pool(/*entries=*/2, 4, counters);
  pool.Enter(0, 0, 0);
  EXPECT_FALSE(pool.full());
  pool.Enter(1, 0, 0);
  EXPECT_TRUE(pool.full());
  pool.Spill(9);
  pool.Spill(7);
  EXPECT_FALSE(pool.Contains(9));
  EXPECT_EQ(pool.TakeSpilled(), 9);
  EXPECT_EQ(pool.TakeSpilled(), 7);
  EXPECT_EQ(pool.TakeSpilled(), kNoSlot);
  EXPECT_EQ(counters[kSpills], 2u);
  EXPECT_EQ(counters[kMaxSpilled], 2u);
}

PcWarpTable::Setup TableOf(uint32_t entries, uint32_t ways) {
  PcWarpTable::Setup setup;
  setup.scopes = 2;
  setup.instructions = 16;
  setup.entries = entries;
  setup.ways = ways;
  return setup;
}

TEST(PcWarpTable, OneWarpPerScopePcAndDepth) {
  WarpTable warps(64);
  PcWarpTable table(TableOf(0, 1));
  warps.position[1] = Position(5, 0);
  warps.position[2] = Position(5, 1);
  warps.position[3] = Position(5, 0);
  EXPECT_FALSE(table.Insert(/*scope=*/0, 1, /*pc=*/5));
  EXPECT_FALSE(table.Insert(0, 2, 5));
  EXPECT_FALSE(table.Insert(1, 3, 5));
  EXPECT_EQ(table.Find(0, Position(5, 0), warps), 1);
  EXPECT_EQ(table.Find(0, Position(5, 1), warps), 2);
  EXPECT_EQ(table.Find(1, Position(5, 0), warps), 3);
  EXPECT_EQ(table.Find(1, Position(5, 1), warps), kNoSlot);
  EXPECT_EQ(table.Find(0, Position(6, 0), warps), kNoSlot);
  table.Close(1, 5);
  EXPECT_EQ(table.Find(0, Position(5, 0), warps), kNoSlot);
  EXPECT_EQ(table.Find(0, Position(5, 1), warps), 2);
  EXPECT_FALSE(table.AnyLeftBehind(5));  // it was not another's doing
}

TEST(PcWarpTable, AWarpThatLosesItsEntryIsLeftBehindUntilItIssues) {
  WarpTable warps(64);
  PcWarpTable table(TableOf(/*entries=*/2, /*ways=*/2));
  for (const SlotId slot : {1, 2, 3}) warps.position[slot] = Position(slot, 0);
  table.Insert(0, 1, 1);
  table.Insert(0, 2, 2);
  table.Use(1, 1);  // so warp 2 is the least recently used
  EXPECT_TRUE(table.Insert(0, 3, 3));
  EXPECT_EQ(table.Find(0, Position(2, 0), warps), kNoSlot);
  EXPECT_EQ(table.Find(0, Position(1, 0), warps), 1);
  EXPECT_TRUE(table.AnyLeftBehind(2));
  table.Remove(2, 2);
  EXPECT_FALSE(table.AnyLeftBehind(2));
  table.Remove(1, 1);
  EXPECT_EQ(table.Find(0, Position(1, 0), warps), kNoSlot);
  EXPECT_FALSE(table.AnyLeftBehind(1));
}

TEST(FormationLookup, ASetIsChosenByThePc) {
  FormationLookup lookup(/*entries=*/4, /*ways=*/2);  // two sets
  EXPECT_EQ(lookup.Insert(/*pc=*/0, 10), kNoSlot);
  EXPECT_EQ(lookup.Insert(2, 11), kNoSlot);
  EXPECT_EQ(lookup.Insert(1, 12), kNoSlot);  // the other set
  EXPECT_EQ(lookup.Insert(4, 13), 10);
  lookup.Erase(2, 11);
  EXPECT_EQ(lookup.Insert(6, 14), kNoSlot);  // a free entry comes before a used one
}

TEST(FormationLookup, WithoutEntriesThereIsNoLimit) {
  FormationLookup lookup(0, 4);
  for (SlotId slot = 0; slot < 1000; ++slot) EXPECT_EQ(lookup.Insert(7, slot), kNoSlot);
}

Lanes Threads(std::initializer_list<ThreadId> threads) {
  Lanes lanes;
  size_t lane = 0;
  for (const ThreadId thread : threads) {
    lanes.mask |= LaneMask{1} << lane;
    lanes.thread[lane++] = thread;
  }
  return lanes;
}

TEST(RegisterBanks, TheFullestBankDecides) {
  using Penalty = RegisterBanks::Penalty;
  const Lanes apart = Threads({0, 5, 2, 7});    // banks 0, 1, 2, 3 of warps of four
  const Lanes crowded = Threads({0, 4, 8, 1});  // three threads of bank 0
  EXPECT_EQ(RegisterBanks(Penalty::kCount, 2, 4).ExtraCycles(apart), 0);
  EXPECT_EQ(RegisterBanks(Penalty::kCount, 2, 4).ExtraCycles(crowded), 6);
  EXPECT_EQ(RegisterBanks(Penalty::kCountMinusOne, 2, 4).ExtraCycles(crowded), 4);
  EXPECT_EQ(RegisterBanks(Penalty::kNone, 2, 4).ExtraCycles(crowded), 0);
}

}  // namespace
}  // namespace heddle::replay
